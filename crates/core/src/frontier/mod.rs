//! The crawl frontier: the URLs that wait to be fetched, and which host is to be visited next.
//!
//! ```text
//!  new URLs --> host queues (on disk) --> line --> workbench (bounded) --> token: a host and its address
//! ```
//!
//! **Contract.** Every URL pushed is popped exactly once: within a host by level, then first in, first out, or
//! last in, first out, as [`VisitingOrder`] says.
//! No host and no address has two tokens at the same time, and none is taken before its politeness delay is
//! over, even if it left the workbench in between. [`Frontier::next_moment`] returns exactly when there will
//! be something to take.
//!
//! **Memory** is 80 to 90 bytes per host with URLs (4 more in the line), 16 MiB for the cache of the queues,
//! and up to 600 bytes per host in the workbench, of which there are at most `max_hosts`; none per URL.
//!
//! **Fairness.** If the workbench is full, hosts wait in a line, first come, first served, and a host from
//! which `quantum` URLs were popped since it entered must go to the end of it. If a visit pops at most v
//! URLs, then no stay takes more than s = `quantum` + v − 1 of them while others wait; so the host at place k
//! of the line (from 1) enters after at most (`max_hosts` + k − 1) · s pops, however many URLs the others
//! have. (A host that is given back with `keep` stays as long as it is kept; its stay is not bounded here.)
//! Hosts that are backing off do not fill the workbench either: one that may not be visited for more than a
//! minute makes way for those that wait, and joins the line when its moment has come, or returns as soon as
//! the line is empty.
//!
//! **Single owner.** Everything here belongs to the one thread that fetches: with thousands of visits on one
//! event loop there is no second thread to share it with, so it needs neither locks nor lock-free structures,
//! and being exact costs nothing. Threads meet at the bounded lock-free channels before and after it. Time is
//! passed in as an argument, so there is no clock here either.
//!
//! **Not durable.** The log of the URLs is the source of truth; the frontier is rebuilt from it.
//!
//! The design is that of Mercator's front and back queues (Heydon and Najork, 1999) in the form of BUbiNG's
//! workbench with host queues on disk (Boldi, Marino, Santini and Vigna, *BUbiNG: massive crawling for the
//! masses*, 2018), with a line and a quantum in place of BUbiNG's required front size.

mod blocks;
mod heap;
mod hosts;
mod queues;
#[cfg(test)]
mod tests;
mod workbench;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;
use std::path::Path;

use crate::Result;
use crate::collection::layout::HOST_QUEUES;
use hosts::{Hosts, State};
use queues::HostQueues;
use workbench::{Visit, Workbench};

pub use queues::{LEVELS, VisitingOrder};

/// Microseconds on a monotonic clock.
pub type Moment = u64;

/// How long a host may stay idle in the workbench while others wait: longer than a normal politeness delay,
/// shorter than the back-off after a failure.
const PATIENCE: Moment = 60_000_000;

/// The signature of an origin: of its scheme, host name and port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(pub u64);

/// Options of a frontier.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The capacity of the workbench in hosts; at least 1.
    pub max_hosts: usize,
    /// How many URLs of a host may be popped before it must make way for waiting hosts.
    pub quantum: u32,
    /// In which order the URLs of a host are popped.
    pub visit: VisitingOrder,
}

/// The exclusive right to visit a host at its address, until it is given back.
#[must_use = "a host whose token is lost is never visited again"]
#[derive(Debug)]
pub struct Token {
    /// The host.
    pub host: HostKey,
    /// Its address.
    pub address: IpAddr,
    visit: Visit,
}

/// The state of a frontier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// URLs waiting in the queues.
    pub urls: u64,
    /// Hosts in the workbench, including those being resolved or taken.
    pub hosts_in_workbench: usize,
    /// Hosts with URLs that are not in the workbench: in the line, or backing off.
    pub hosts_waiting: usize,
    /// Addresses that have hosts in the workbench or are in their politeness delay.
    pub addresses: usize,
    /// Tokens taken.
    pub hosts_taken: usize,
    /// Hosts in the workbench without an address yet.
    pub resolving: usize,
    /// An upper bound on the memory used, in bytes.
    pub bytes: usize,
}

/// The host queues, the line and the workbench.
pub struct Frontier {
    options: Options,
    queues: HostQueues,
    hosts: Hosts,
    workbench: Workbench,
    line: VecDeque<u32>,
    /// Hosts backing off, by the moment at which they join the line; empty while there is capacity.
    parked: BinaryHeap<Reverse<(Moment, u32)>>,
    inside: usize,
    resolving: usize,
    /// Hosts that entered and whose address has not been requested.
    admitted: VecDeque<u32>,
    /// Hosts that left and were not reported.
    leaving: VecDeque<u32>,
}

impl Frontier {
    /// An empty frontier, with an unnamed scratch file in a collection's folder.
    pub fn new(folder: &Path, options: Options) -> Result<Frontier> {
        Ok(Frontier {
            options: Options { max_hosts: options.max_hosts.max(1), ..options },
            queues: HostQueues::create(&folder.join(HOST_QUEUES), options.visit)?,
            hosts: Hosts::default(),
            workbench: Workbench::default(),
            line: VecDeque::new(),
            parked: BinaryHeap::new(),
            inside: 0,
            resolving: 0,
            admitted: VecDeque::new(),
            leaving: VecDeque::new(),
        })
    }

    /// Enqueues a URL, given by its offset in the log, at a level of its host. Level 0 is served first;
    /// offsets are expected to increase within a host and level (see [`oldest`](Self::oldest)).
    pub fn push(&mut self, host: HostKey, level: u8, offset: u64) -> Result<()> {
        let number = self.hosts.find_or_add(host, self.workbench.now())?;
        self.queues.push(number, level, offset)?;
        let host = self.hosts.get_mut(number);
        match host.state {
            State::Idle => {
                host.state = State::InLine;
                self.line.push_back(number);
                self.let_in();
            }
            State::Placed if level < self.workbench.level(host.seat) => {
                self.workbench.set_level(host.seat, level);
            }
            _ => {}
        }
        Ok(())
    }

    /// A host that entered the workbench and needs its address, with its first URL, from which its name can
    /// be read. Each is returned once; it waits for [`place`](Self::place).
    pub fn next_admitted(&mut self) -> Option<(HostKey, u64)> {
        let number = self.admitted.pop_front()?;
        let host = self.hosts.get_mut(number);
        host.state = State::Resolving;
        self.queues.first(number).map(|offset| (host.key, offset))
    }

    /// Places a host at its address, to be visited from `ready` on, or later if its politeness delay lasts
    /// longer. A host that does not wait for an address is unchanged.
    ///
    /// A host whose name does not resolve can be placed at an address that stands for none, such as
    /// `0.0.0.0`, until it is to be retried or its URLs are to be dropped: the token shows the address.
    pub fn place(&mut self, host: HostKey, address: IpAddr, ready: Moment) {
        let Some(number) = self.hosts.find(host) else { return };
        let level = self.queues.first_level(number).unwrap_or(0);
        let host = self.hosts.get_mut(number);
        if host.state != State::Resolving {
            return;
        }
        host.state = State::Placed;
        host.seat = self.workbench.place(number, level, address, host.ready.max(ready));
        self.resolving -= 1;
    }

    /// Takes the best host that may be visited now, with its address. Time is monotonic: a `now` earlier than
    /// the last one counts as the last one.
    pub fn take(&mut self, now: Moment) -> Option<Token> {
        while let Some(&Reverse((moment, number))) = self.parked.peek()
            && moment <= now
        {
            self.parked.pop();
            self.hosts.get_mut(number).state = State::InLine;
            self.line.push_back(number);
        }
        let visit = self.workbench.take(now)?;
        let host = self.hosts.get_mut(visit.host);
        host.state = State::Taken;
        Some(Token { host: host.key, address: visit.address, visit })
    }

    /// Dequeues the next URL of a taken host, any number of times in a visit.
    pub fn pop(&mut self, token: &Token) -> Result<Option<u64>> {
        let offset = self.queues.pop(token.visit.host)?;
        if offset.is_some() {
            let host = self.hosts.get_mut(token.visit.host);
            host.served = host.served.saturating_add(1);
        }
        Ok(offset)
    }

    /// Ends a visit, with the moments from which the host and the address may be visited again. The host
    /// leaves the workbench if it has no URL, or if others wait and it has used up its quantum or is to back
    /// off for long; `keep` retains it, for work that is not in its queue (which counts as level 0 if the
    /// queue is empty).
    pub fn give_back(&mut self, token: Token, host_ready: Moment, address_ready: Moment, keep: bool) {
        let visit = token.visit;
        let level = self.queues.first_level(visit.host);
        let host = self.hosts.get_mut(visit.host);
        host.ready = host.ready.max(host_ready);
        let is_parked = host.ready > self.workbench.now().saturating_add(PATIENCE);
        let is_over = host.served >= self.options.quantum || is_parked;
        if keep || (level.is_some() && (!is_over || self.line.is_empty())) {
            host.state = State::Placed;
            self.workbench.give_back(visit, level.unwrap_or(0), host.ready, address_ready);
            return;
        }
        self.workbench.leave(visit, address_ready);
        if level.is_none() {
            host.state = State::Idle;
        } else if is_parked {
            host.state = State::Parked;
            self.parked.push(Reverse((host.ready, visit.host)));
        } else {
            host.state = State::InLine;
            self.line.push_back(visit.host);
        }
        if !host.is_leaving {
            host.is_leaving = true;
            self.leaving.push_back(visit.host);
        }
        self.inside -= 1;
        self.let_in();
    }

    /// Ends a visit without a request, of a host that is to be placed at another address: it leaves the workbench, and
    /// joins the line if it has URLs.
    pub fn place_anew(&mut self, token: Token) {
        let visit = token.visit;
        self.workbench.leave(visit, 0);
        let has_urls = self.queues.first_level(visit.host).is_some();
        self.hosts.get_mut(visit.host).state = if has_urls { State::InLine } else { State::Idle };
        if has_urls {
            self.line.push_back(visit.host);
        }
        self.inside -= 1;
        self.let_in();
    }

    /// Holds an address, as the token of a visit would, for an errand: one request to a host that need not be
    /// in the frontier, such as a redirect of another host's robots.txt. Returns whether it was held: not if
    /// the address is taken.
    pub fn hold(&mut self, address: IpAddr, now: Moment) -> bool {
        self.workbench.hold(address, now)
    }

    /// Releases an address that was held.
    pub fn release(&mut self, address: IpAddr) {
        self.workbench.release_address(address);
    }

    /// The moment from which one request to a host is polite, at an address that is held or, if it is the
    /// `own` one of a visit, taken by the caller.
    pub fn ready_for_errand(&mut self, host: HostKey, address: IpAddr, own: bool) -> Moment {
        let known = self.hosts.find(host);
        let host = known.map_or(0, |number| self.hosts.get_mut(number).ready);
        if own { host } else { host.max(self.workbench.ready(address)) }
    }

    /// Starts the politeness delay of a host and an address after an errand.
    pub fn let_rest(&mut self, host: HostKey, address: IpAddr, host_ready: Moment, address_ready: Moment) {
        if let Some(number) = self.hosts.find(host) {
            let host = self.hosts.get_mut(number);
            host.ready = host.ready.max(host_ready);
            if host.state == State::Placed {
                self.workbench.postpone(host.seat, host.ready);
            }
        }
        self.workbench.let_rest(address, address_ready);
    }

    /// A host that left the workbench and has not come back, so that the state kept for its visits can be
    /// dropped. Each is returned once for each time it left, unless it comes back first; call it until it
    /// returns `None`, since until then the host is remembered.
    pub fn next_evicted(&mut self) -> Option<HostKey> {
        while let Some(number) = self.leaving.pop_front() {
            let host = self.hosts.get_mut(number);
            host.is_leaving = false;
            if !host.state.is_inside() {
                return Some(host.key);
            }
        }
        None
    }

    /// The moment from which [`take`](Self::take) will return a token, if nothing else happens before; the
    /// last `now` if that has come already. `None`: not before a host is placed or given back.
    pub fn next_moment(&self) -> Option<Moment> {
        self.workbench.next_moment()
    }

    /// The smallest offset waiting in the queues (excluding popped ones), in one pass over the hosts' FIFOs
    /// in memory. Exact if offsets increase within a host and level; otherwise it may be too small, never too
    /// large.
    pub fn oldest(&self) -> Option<u64> {
        self.queues.oldest()
    }

    /// The number of waiting URLs of a host.
    pub fn waiting(&self, host: HostKey) -> u64 {
        self.hosts.find(host).map_or(0, |number| self.queues.len(number))
    }

    /// The state of the frontier.
    pub fn stats(&self) -> Stats {
        let lists = [&self.line, &self.admitted, &self.leaving];
        let lists = lists.map(|list| list.capacity() * size_of::<u32>()).iter().sum::<usize>();
        let parked = self.parked.capacity() * size_of::<(Moment, u32)>();
        Stats {
            urls: self.queues.urls(),
            hosts_in_workbench: self.inside,
            hosts_waiting: self.line.len() + self.parked.len(),
            addresses: self.workbench.addresses(),
            hosts_taken: self.workbench.taken(),
            resolving: self.resolving,
            bytes: self.queues.bytes() + self.hosts.bytes() + self.workbench.bytes() + lists + parked,
        }
    }

    /// Admits hosts while there is capacity: those of the line, then those backing off.
    fn let_in(&mut self) {
        while self.inside < self.options.max_hosts {
            let parked = &mut self.parked;
            let next = self.line.pop_front().or_else(|| parked.pop().map(|Reverse((_, number))| number));
            let Some(number) = next else { return };
            let host = self.hosts.get_mut(number);
            host.state = State::Admitted;
            host.served = 0;
            self.inside += 1;
            self.resolving += 1;
            self.admitted.push_back(number);
        }
    }
}
