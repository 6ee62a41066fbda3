//! Pages per registrable domain, for the limit `max_per_domain`.
//!
//! The hosts of a domain are fetched from at the same time, so the pages on their way count, too: a request
//! takes one of the domain's places and gives it back if no page comes of it. While others hold the last
//! places, a URL waits instead of being refused, so exactly `max_per_domain` pages are fetched if there are as
//! many. Only the domains of hosts in memory are in memory; the others are in the log of hosts, under a key of
//! their own.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::hosts::{HostMemory, HostRecord};
use crate::url::domain_of;
use crate::{Result, Signature};

/// The pages of a domain.
#[derive(Debug, Default)]
pub struct Domain {
    fetched: Cell<u64>,
    on_their_way: Cell<u64>,
    changed: Cell<bool>,
}

impl Domain {
    /// The number of pages fetched.
    pub fn fetched(&self) -> u64 {
        self.fetched.get()
    }

    /// Takes a place for a page; `false` if all `limit` places are taken (0: there is no limit).
    pub fn take(&self, limit: u64) -> bool {
        let is_free = limit == 0 || self.fetched.get() + self.on_their_way.get() < limit;
        self.on_their_way.set(self.on_their_way.get() + u64::from(is_free));
        is_free
    }

    /// Gives a place back, or keeps it for a page that was fetched.
    pub fn settle(&self, is_fetched: bool) {
        self.on_their_way.set(self.on_their_way.get().saturating_sub(1));
        self.fetched.set(self.fetched.get() + u64::from(is_fetched));
        self.changed.set(self.changed.get() || is_fetched);
    }
}

/// The domains of the hosts in memory.
#[derive(Default)]
pub struct Domains(HashMap<u64, Rc<Domain>>);

impl Domains {
    /// The domain of a URL.
    pub fn of(&mut self, url: &str, memory: &mut HostMemory) -> Result<Rc<Domain>> {
        let key = Signature::of(format!("domain {}", domain_of(url)).as_bytes()).0;
        if let Some(domain) = self.0.get(&key) {
            return Ok(Rc::clone(domain));
        }
        let fetched = Cell::new(memory.recall(key)?.fetched);
        let domain = Rc::new(Domain { fetched, ..Domain::default() });
        self.0.insert(key, Rc::clone(&domain));
        Ok(domain)
    }

    /// Stores the counts that changed, and forgets the domains of which no host is in memory.
    pub fn save(&mut self, memory: &mut HostMemory) {
        self.0.retain(|key, domain| {
            if domain.changed.replace(false) {
                memory.remember(*key, &HostRecord { fetched: domain.fetched(), ..HostRecord::default() });
            }
            Rc::strong_count(domain) > 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pulse;
    use crate::sorted::State;

    #[test]
    fn places_are_taken_once_and_given_back() {
        let domain = Domain::default();
        assert!(domain.take(2) && domain.take(2));
        assert!(!domain.take(2));
        domain.settle(false);
        assert!(domain.take(2));
        domain.settle(true);
        domain.settle(true);
        assert!(!domain.take(2) && domain.take(0));
        assert_eq!(domain.fetched(), 2);
    }

    #[test]
    fn the_hosts_of_a_domain_share_its_count_which_outlives_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut memory =
            HostMemory::open(folder.path(), &HashMap::new(), &State::default(), 1 << 16, &Pulse::STEADY)
                .unwrap();
        let mut domains = Domains::default();
        let mut of = |url| domains.of(url, &mut memory).unwrap();
        let (one, other) = (of("http://a.example.co.uk/"), of("https://b.example.co.uk:81/x"));
        assert!(Rc::ptr_eq(&one, &other) && !Rc::ptr_eq(&one, &of("http://a.co.uk/")));
        one.take(0);
        one.settle(true);
        domains.save(&mut memory);
        assert_eq!(domains.0.len(), 1);
        drop((one, other));
        domains.save(&mut memory);
        assert!(domains.0.is_empty());
        assert_eq!(domains.of("http://c.example.co.uk/", &mut memory).unwrap().fetched(), 1);
    }
}
