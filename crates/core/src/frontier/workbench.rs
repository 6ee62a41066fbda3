//! The workbench: which hosts may be visited, and from which moment on.
//!
//! Hosts are seated at addresses. A host is ready when its politeness delay is over, and so is an address,
//! and a visit takes both: [`Workbench::take`] returns a token, and until it is given back neither its host
//! nor its address can be taken again. So no two fetches ever coincide at a host or an address, without any
//! lock.
//!
//! Of what is ready, the best goes first: of the hosts at an address by (level, the host's moment, arrival),
//! of the addresses by (level, the later of the address's and the host's moment, arrival), each represented
//! by its first host. Levels count only among those that are ready, so both orders have two stages: a heap by
//! time of those that wait, and a heap by rank of those that are ready, to which they move as time passes.
//! Every operation is O(log n), exact, and leaves nothing stale; an address without hosts is remembered until
//! its moment has come. About 60 bytes per host and 500 per address.
//!
//! The idea is BUbiNG's (Boldi, Marino, Santini and Vigna, *BUbiNG: massive crawling for the masses*, 2018),
//! whose workbench is ordered by time alone.

use std::collections::HashMap;
use std::net::IpAddr;

use super::Moment;
use super::heap::{Heap, Places, Rank};

/// A host at its address.
struct Seat {
    host: u32,
    address: u32,
    level: u8,
    is_ready: bool,
}

/// An address and those of its hosts that are not taken.
struct Address {
    ip: IpAddr,
    ready: Moment,
    is_taken: bool,
    /// By moment.
    waiting: Heap,
    /// By rank.
    ready_hosts: Heap,
}

/// A taken host and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The seat of the host, freed when the host leaves.
    pub seat: u32,
    /// The host.
    pub host: u32,
    /// Its address.
    pub address: IpAddr,
}

/// Hosts at their addresses.
#[derive(Default)]
pub struct Workbench {
    /// The latest `now` passed in.
    now: Moment,
    sequence: u64,
    seats: Vec<Seat>,
    free_seats: Vec<u32>,
    /// Each seat that is not taken is in one of the two heaps of its address.
    seat_places: Places,
    addresses: Vec<Address>,
    free_addresses: Vec<u32>,
    numbers: HashMap<IpAddr, u32>,
    /// The addresses that will have a host to take, or a better one, as time passes: by that moment.
    waiting: Heap,
    waiting_places: Places,
    /// The addresses that have a host to take: by the rank of the first.
    ready: Heap,
    ready_places: Places,
    /// The addresses without hosts that are in their politeness delay: by its end.
    resting: Heap,
    resting_places: Places,
    taken: usize,
}

impl Workbench {
    /// Seats a host at an address, to be taken from `ready` on; returns its seat. The address may be taken:
    /// the host waits until it is given back.
    pub fn place(&mut self, host: u32, level: u8, ip: IpAddr, ready: Moment) -> u32 {
        let address = self.number(ip);
        let new = Seat { host, address, level, is_ready: false };
        let seat = match self.free_seats.pop() {
            Some(seat) => {
                self.seats[seat as usize] = new;
                seat
            }
            None => {
                self.seats.push(new);
                self.seats.len() as u32 - 1
            }
        };
        self.wait(seat, ready);
        self.settle(address);
        seat
    }

    /// Sets the level of the host's next URL. The host must not be taken.
    pub fn set_level(&mut self, seat: u32, level: u8) {
        let Seat { address, is_ready, .. } = self.seats[seat as usize];
        self.seats[seat as usize].level = level;
        if is_ready {
            let hosts = &mut self.addresses[address as usize].ready_hosts;
            hosts.change(&mut self.seat_places, seat, |rank| Rank { level, ..rank });
            self.settle(address);
        }
    }

    /// Takes the first host that is ready, together with its address.
    pub fn take(&mut self, now: Moment) -> Option<Visit> {
        self.pass(now);
        let (_, address) = self.ready.first()?;
        let entry = &mut self.addresses[address as usize];
        let (_, seat) = entry.ready_hosts.first()?;
        entry.ready_hosts.remove(&mut self.seat_places, seat);
        entry.is_taken = true;
        let visit = Visit { seat, host: self.seats[seat as usize].host, address: entry.ip };
        self.seats[seat as usize].is_ready = false;
        self.taken += 1;
        self.settle(address);
        Some(visit)
    }

    /// Gives back a host and its address, each with the moment from which it may be taken again, and the
    /// level of the host's next URL.
    pub fn give_back(&mut self, visit: Visit, level: u8, host_ready: Moment, address_ready: Moment) {
        self.seats[visit.seat as usize].level = level;
        self.wait(visit.seat, host_ready);
        self.release(visit, address_ready);
    }

    /// Gives back an address, and removes its host.
    pub fn leave(&mut self, visit: Visit, address_ready: Moment) {
        self.free_seats.push(visit.seat);
        self.release(visit, address_ready);
    }

    /// Holds an address alone, whether it is in its politeness delay or not, so that no host of it is taken;
    /// returns whether it was held.
    pub fn hold(&mut self, ip: IpAddr, now: Moment) -> bool {
        self.pass(now);
        let number = self.number(ip);
        let address = &mut self.addresses[number as usize];
        if address.is_taken {
            return false;
        }
        address.is_taken = true;
        self.taken += 1;
        self.settle(number);
        true
    }

    /// Releases an address that was held.
    pub fn release_address(&mut self, ip: IpAddr) {
        if let Some(&number) = self.numbers.get(&ip) {
            self.free(number, 0);
        }
    }

    /// The moment from which an address may be visited.
    pub fn ready(&self, ip: IpAddr) -> Moment {
        self.numbers.get(&ip).map_or(0, |&number| self.addresses[number as usize].ready)
    }

    /// Starts the politeness delay of an address that is taken or held.
    pub fn let_rest(&mut self, ip: IpAddr, ready: Moment) {
        if let Some(&number) = self.numbers.get(&ip) {
            let address = &mut self.addresses[number as usize];
            address.ready = address.ready.max(ready);
        }
    }

    /// Postpones a host that is not taken.
    pub fn postpone(&mut self, seat: u32, moment: Moment) {
        let Seat { address, is_ready, .. } = self.seats[seat as usize];
        if is_ready {
            self.addresses[address as usize].ready_hosts.remove(&mut self.seat_places, seat);
            self.seats[seat as usize].is_ready = false;
        }
        self.wait(seat, moment);
        self.settle(address);
    }

    /// The moment from which [`take`](Self::take) will return something, if nothing else happens; if that has
    /// passed, the latest `now`.
    pub fn next_moment(&self) -> Option<Moment> {
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        self.waiting.first().map(|(rank, _)| rank.moment.max(self.now))
    }

    /// The latest `now` passed in.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// The level of a seat.
    pub fn level(&self, seat: u32) -> u8 {
        self.seats[seat as usize].level
    }

    /// The number of known addresses.
    pub fn addresses(&self) -> usize {
        self.numbers.len()
    }

    /// The number of taken hosts.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The memory used, in bytes.
    pub fn bytes(&self) -> usize {
        let heaps = [&self.waiting, &self.ready, &self.resting].map(Heap::bytes).iter().sum::<usize>();
        let places = [&self.seat_places, &self.waiting_places, &self.ready_places, &self.resting_places];
        let own = self.addresses.iter().map(|address| address.waiting.bytes() + address.ready_hosts.bytes());
        heaps
            + places.map(Places::bytes).iter().sum::<usize>()
            + own.sum::<usize>()
            + self.addresses.capacity() * size_of::<Address>()
            + self.seats.capacity() * size_of::<Seat>()
            + self.numbers.capacity() * size_of::<(IpAddr, u32)>()
            + (self.free_seats.capacity() + self.free_addresses.capacity()) * size_of::<u32>()
    }

    /// The number of an address, allocated if new.
    fn number(&mut self, ip: IpAddr) -> u32 {
        if let Some(&number) = self.numbers.get(&ip) {
            return number;
        }
        let (waiting, ready_hosts) = (Heap::default(), Heap::default());
        let new = Address { ip, ready: 0, is_taken: false, waiting, ready_hosts };
        let number = match self.free_addresses.pop() {
            Some(number) => {
                self.addresses[number as usize] = new;
                number
            }
            None => {
                self.addresses.push(new);
                self.addresses.len() as u32 - 1
            }
        };
        self.numbers.insert(ip, number);
        number
    }

    fn wait(&mut self, seat: u32, moment: Moment) {
        let rank = Rank { level: 0, moment, sequence: self.sequence };
        self.sequence += 1;
        let address = self.seats[seat as usize].address;
        self.addresses[address as usize].waiting.set(&mut self.seat_places, seat, rank);
    }

    fn release(&mut self, visit: Visit, ready: Moment) {
        self.free(self.seats[visit.seat as usize].address, ready);
    }

    fn free(&mut self, number: u32, ready: Moment) {
        let address = &mut self.addresses[number as usize];
        address.is_taken = false;
        address.ready = address.ready.max(ready);
        self.taken -= 1;
        self.settle(number);
    }

    /// Advances time; it never goes back.
    fn pass(&mut self, now: Moment) {
        self.now = self.now.max(now);
        while let Some((rank, address)) = self.waiting.first()
            && rank.moment <= self.now
        {
            self.settle(address);
        }
        while let Some((rank, address)) = self.resting.first()
            && rank.moment <= self.now
        {
            self.settle(address);
        }
    }

    /// Puts an address into the heap it belongs to now.
    fn settle(&mut self, number: u32) {
        let address = &mut self.addresses[number as usize];
        while let Some((rank, seat)) = address.waiting.first()
            && rank.moment <= self.now
        {
            address.waiting.remove(&mut self.seat_places, seat);
            let entry = &mut self.seats[seat as usize];
            entry.is_ready = true;
            address.ready_hosts.set(&mut self.seat_places, seat, Rank { level: entry.level, ..rank });
        }
        let first = address.ready_hosts.first().map(|(rank, _)| rank);
        let later = address.waiting.first().map(|(rank, _)| rank.moment);
        let is_ready = !address.is_taken && address.ready <= self.now;
        let rank = first.filter(|_| is_ready);
        let rank = rank.map(|rank| Rank { moment: rank.moment.max(address.ready), ..rank });
        // If a host is ready, only the address can have to wait.
        let next = if is_ready { later } else { first.map(|rank| rank.moment).or(later) };
        let next = next.filter(|_| !address.is_taken).map(|moment| moment.max(address.ready));
        let is_deserted = !address.is_taken && first.is_none() && later.is_none();
        let rest = (is_deserted && !is_ready).then_some(address.ready);
        let ip = address.ip;

        self.ready.put(&mut self.ready_places, number, rank);
        self.waiting.put(&mut self.waiting_places, number, next.map(Rank::at));
        self.resting.put(&mut self.resting_places, number, rest.map(Rank::at));
        if is_deserted && is_ready {
            self.numbers.remove(&ip);
            self.addresses[number as usize].waiting = Heap::default();
            self.addresses[number as usize].ready_hosts = Heap::default();
            self.free_addresses.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    #[derive(Clone, Debug)]
    enum Step {
        Place { address: u8, level: u8, delay: Moment },
        SetLevel { host: prop::sample::Index, level: u8 },
        Take { after: Moment },
        GiveBack { visit: prop::sample::Index, level: u8, host: Moment, address: Moment, leave: bool },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let index = any::<prop::sample::Index>;
        let step = prop_oneof![
            3 => (0u8..5, 0u8..4, 0u64..9).prop_map(|(address, level, delay)| Step::Place { address, level, delay }),
            1 => (index(), 0u8..4).prop_map(|(host, level)| Step::SetLevel { host, level }),
            4 => (0u64..4).prop_map(|after| Step::Take { after }),
            3 => (index(), 0u8..4, 0u64..9, 0u64..9, prop::bool::weighted(0.3))
                .prop_map(|(visit, level, host, address, leave)| Step::GiveBack { visit, level, host, address, leave }),
        ];
        prop::collection::vec(step, 0..200)
    }

    /// A host of the model.
    #[derive(Clone)]
    struct Host {
        seat: u32,
        number: u32,
        address: usize,
        level: u8,
        ready: Moment,
        sequence: u64,
        is_taken: bool,
    }

    /// Everything in vectors with linear searches; no address is ever forgotten.
    #[derive(Default)]
    struct Model {
        hosts: Vec<Host>,
        ready: [Moment; 5],
        taken: [bool; 5],
        sequence: u64,
    }

    impl Model {
        fn moment(&self, host: &Host) -> Moment {
            host.ready.max(self.ready[host.address])
        }

        fn free(&self) -> impl Iterator<Item = &Host> {
            self.hosts.iter().filter(|host| !host.is_taken && !self.taken[host.address])
        }

        fn first(&self, now: Moment) -> Option<u32> {
            let of_address = |address| {
                let ready =
                    self.free().filter(move |host| host.address == address && self.moment(host) <= now);
                ready.min_by_key(|host| (host.level, host.ready, host.sequence))
            };
            let firsts = (0..5).filter_map(of_address);
            firsts.min_by_key(|host| (host.level, self.moment(host), host.sequence)).map(|host| host.number)
        }

        fn next_sequence(&mut self) -> u64 {
            self.sequence += 1;
            self.sequence
        }
    }

    fn ip(address: usize) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, address as u8).into()
    }

    proptest! {
        #[test]
        fn takes_what_a_search_of_everything_would(steps in steps()) {
            let (mut workbench, mut model) = (Workbench::default(), Model::default());
            let mut visits: Vec<Visit> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for step in steps {
                match step {
                    Step::Place { address, level, delay } => {
                        let (address, ready, sequence) = (usize::from(address), now + delay, model.next_sequence());
                        let seat = workbench.place(number, level, ip(address), ready);
                        model.hosts.push(Host { seat, number, address, level, ready, sequence, is_taken: false });
                        number += 1;
                    }
                    Step::SetLevel { host, level } => {
                        let mut free: Vec<&mut Host> = model.hosts.iter_mut().filter(|host| !host.is_taken).collect();
                        if !free.is_empty() {
                            let place = host.index(free.len());
                            free[place].level = level;
                            workbench.set_level(free[place].seat, level);
                        }
                    }
                    Step::Take { after } => {
                        now += after;
                        let visit = workbench.take(now);
                        prop_assert_eq!(visit.map(|visit| visit.host), model.first(now));
                        if let Some(visit) = visit {
                            let host = model.hosts.iter_mut().find(|host| host.number == visit.host).unwrap();
                            prop_assert_eq!((visit.seat, visit.address), (host.seat, ip(host.address)));
                            host.is_taken = true;
                            model.taken[host.address] = true;
                            visits.push(visit);
                        }
                    }
                    Step::GiveBack { visit, level, host, address, leave } => {
                        if visits.is_empty() {
                            continue;
                        }
                        let visit = visits.swap_remove(visit.index(visits.len()));
                        let place = model.hosts.iter().position(|host| host.number == visit.host).unwrap();
                        let at = model.hosts[place].address;
                        model.taken[at] = false;
                        model.ready[at] = model.ready[at].max(now + address);
                        if leave {
                            model.hosts.remove(place);
                            workbench.leave(visit, now + address);
                        } else {
                            let sequence = model.next_sequence();
                            let known = &mut model.hosts[place];
                            *known = Host { level, ready: now + host, sequence, is_taken: false, ..known.clone() };
                            workbench.give_back(visit, level, now + host, now + address);
                        }
                    }
                }
                let next = model.free().map(|host| model.moment(host)).min();
                prop_assert_eq!(workbench.next_moment(), next.map(|moment| moment.max(now)));
                prop_assert_eq!(workbench.taken(), visits.len());
            }
            // State that is not needed is dropped.
            workbench.take(Moment::MAX);
            let used = (0..5).filter(|&address| model.hosts.iter().any(|host| host.address == address)).count();
            prop_assert_eq!(workbench.addresses(), used);
        }
    }
}
