//! The hosts known to the frontier, each with a small number.
//!
//! Open addressing with linear probing over the numbers: a key is its own hash. 32 bytes per host and 5 to 11
//! for the table. A host without waiting URLs is kept only for the moment from which it may be visited again;
//! if the table is full, those whose moment has passed are evicted before it grows. So the known hosts are
//! those with URLs, those in their politeness delay, and at most as many again.

use super::{HostKey, Moment};
use crate::{Error, Result};

/// The state of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Without waiting URLs.
    Idle,
    /// In the line before the workbench.
    InLine,
    /// Backing off for long, outside the workbench and the line.
    Parked,
    /// In the workbench, not reported yet.
    Admitted,
    /// In the workbench, waiting for its address.
    Resolving,
    /// In the workbench, at its address.
    Placed,
    /// In the workbench, its token is taken.
    Taken,
}

impl State {
    /// Whether it is in the workbench.
    pub fn is_inside(self) -> bool {
        !matches!(self, State::Idle | State::InLine | State::Parked)
    }
}

/// The state of a host.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its key.
    pub key: HostKey,
    /// The moment from which it may be visited.
    pub ready: Moment,
    /// Its seat in the workbench, if it has an address.
    pub seat: u32,
    /// How many URLs were popped since it entered the workbench.
    pub served: u32,
    /// Where it is.
    pub state: State,
    /// Whether it is queued to be reported as evicted from the workbench.
    pub is_leaving: bool,
}

const SMALLEST: usize = 64;
const FREE: u32 = u32::MAX;

/// The hosts by key and by number.
pub struct Hosts {
    hosts: Vec<Host>,
    free: Vec<u32>,
    /// The hash table of numbers; its length is a power of two.
    table: Vec<u32>,
}

impl Default for Hosts {
    fn default() -> Self {
        Hosts { hosts: Vec::new(), free: Vec::new(), table: vec![FREE; SMALLEST] }
    }
}

impl Hosts {
    /// The number of a host, if known.
    pub fn find(&self, key: HostKey) -> Option<u32> {
        Some(self.table[self.slot(key)]).filter(|&number| number != FREE)
    }

    /// The number of a host, added if unknown.
    pub fn find_or_add(&mut self, key: HostKey, now: Moment) -> Result<u32> {
        let mut slot = self.slot(key);
        if self.table[slot] != FREE {
            return Ok(self.table[slot]);
        }
        if (self.len() + 1) * 4 > self.table.len() * 3 {
            self.make_room(now);
            slot = self.slot(key);
        }
        let host = Host { key, ready: 0, seat: 0, served: 0, state: State::Idle, is_leaving: false };
        let number = match self.free.pop() {
            Some(number) => {
                self.hosts[number as usize] = host;
                number
            }
            None => {
                let full = || Error::Invalid("the frontier knows too many hosts".to_owned());
                let number = u32::try_from(self.hosts.len()).ok().filter(|&number| number != FREE);
                let number = number.ok_or_else(full)?;
                self.hosts.push(host);
                number
            }
        };
        self.table[slot] = number;
        Ok(number)
    }

    /// The state of a host, mutable.
    pub fn get_mut(&mut self, number: u32) -> &mut Host {
        &mut self.hosts[number as usize]
    }

    /// The number of known hosts.
    pub fn len(&self) -> usize {
        self.hosts.len() - self.free.len()
    }

    /// The memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.hosts.capacity() * size_of::<Host>()
            + (self.table.capacity() + self.free.capacity()) * size_of::<u32>()
    }

    /// The slot of a key, or the one where it would be inserted.
    fn slot(&self, key: HostKey) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = key.0 as usize & mask;
        while self.table[slot] != FREE && self.hosts[self.table[slot] as usize].key != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Evicts the hosts that need not be known, and grows if that did not free enough.
    #[cold]
    fn make_room(&mut self, now: Moment) {
        let kept: Vec<u32> = self.table.iter().copied().filter(|&number| number != FREE).collect();
        let is_needed = |host: &Host| host.state != State::Idle || host.is_leaving || host.ready > now;
        let (kept, forgotten): (Vec<u32>, Vec<u32>) =
            kept.into_iter().partition(|&number| is_needed(&self.hosts[number as usize]));
        self.free.extend(forgotten);
        let length = if kept.len() * 2 > self.table.len() { self.table.len() * 2 } else { self.table.len() };
        self.table.clear();
        self.table.resize(length, FREE);
        for number in kept {
            let slot = self.slot(self.hosts[number as usize].key);
            self.table[slot] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// A host keeps its number as long as it has to be known, and no two hosts share one.
        #[test]
        fn hosts_are_known_while_they_are_needed(keys in prop::collection::vec(0u64..5000, 0..3000), spread in 1u64..1 << 40) {
            let mut hosts = Hosts::default();
            let mut needed: HashMap<u64, u32> = HashMap::new();
            for (now, key) in keys.into_iter().enumerate() {
                let key = key * spread;
                let number = hosts.find_or_add(HostKey(key), now as Moment).unwrap();
                prop_assert_eq!(hosts.find(HostKey(key)), Some(number));
                prop_assert_eq!(hosts.get_mut(number).key, HostKey(key));
                match key % 3 {
                    0 => hosts.get_mut(number).state = State::InLine,
                    1 => hosts.get_mut(number).ready = Moment::MAX,
                    _ => continue,
                }
                prop_assert_eq!(*needed.entry(key).or_insert(number), number);
            }
            for (key, number) in &needed {
                prop_assert_eq!(hosts.find(HostKey(*key)), Some(*number));
            }
            prop_assert!(hosts.find(HostKey(u64::MAX)).is_none());
        }
    }

    #[test]
    fn hosts_that_are_done_with_make_room_for_others() {
        let mut hosts = Hosts::default();
        for key in 0..100_000 {
            let number = hosts.find_or_add(HostKey(key), key).unwrap();
            hosts.get_mut(number).ready = key + 10;
        }
        assert!(hosts.len() <= SMALLEST && hosts.bytes() < 10_000);
    }
}
