//! The frontier: the URLs that wait to be fetched, and which host is to be visited next.
//!
//! ```text
//!  new URLs --> host queues (on disk) --> line --> workbench (bounded) --> token: a host and its address
//! ```
//!
//! **Contract.** Every URL pushed is popped exactly once: of one host by level, then first in, first out. No
//! host and no address has two tokens out, and none is taken before its polite moment, also not when it left
//! the workbench in between. [`Frontier::next_moment`] says exactly when there will be something to take.
//!
//! **Memory** is 80 to 90 bytes a host that has URLs (4 more in the line), 16 MiB for the cache of the queues,
//! and up to 600 bytes a host in the workbench, of which there are at most `max_hosts`; nothing a URL.
//!
//! **Fairness.** When the workbench is full, hosts wait in a line, first come, first served, and a host that
//! has had `quantum` URLs since it came in must go to the end of it. If a visit pops at most v URLs, then no
//! stay takes more than s = `quantum` + v − 1 of them while others wait; so the host at place k of the line
//! (from 1) is in after at most (`max_hosts` + k − 1) · s pops, however many URLs the others have. (A host that
//! is given back with `keep` stays as long as it is kept; its stay is not bounded here.) Nor do hosts that rest
//! fill the workbench: one that is to be left in peace for more than a minute makes room for those that wait,
//! and joins the line when its moment has come, or comes back as soon as the line is empty.
//!
//! **One owner.** Everything here belongs to the one thread that fetches: with thousands of visits on one
//! event loop there is no second thread to share it with, so it needs neither locks nor lock-free tricks, and
//! being exact costs nothing. Threads meet at the bounded lock-free channels before and after it. Time comes
//! in as an argument, so there is no clock here either.
//!
//! **Nothing durable.** The log of the URLs is the truth; the frontier is made again from it.
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

pub use queues::LEVELS;

/// Microseconds on a monotonic clock.
pub type Moment = u64;

/// How long a host may rest in the workbench while others wait: longer than between two visits that are
/// merely polite, shorter than after a failure.
const PATIENCE: Moment = 60_000_000;

/// The signature of a host: of its scheme, name and port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostKey(pub u64);

/// How a frontier is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many hosts may be in the workbench; at least 1.
    pub max_hosts: usize,
    /// How many URLs a host may have taken before it must let waiting hosts in.
    pub quantum: u32,
}

/// The right to visit a host at its address, which nobody else has until it is given back.
#[must_use = "a host whose token is lost is never visited again"]
#[derive(Debug)]
pub struct Token {
    /// The host.
    pub host: HostKey,
    /// Its address.
    pub address: IpAddr,
    visit: Visit,
}

/// How a frontier stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many URLs wait in the queues.
    pub urls: u64,
    /// How many hosts are in the workbench, with those that are resolved or taken.
    pub hosts_in_workbench: usize,
    /// How many hosts with URLs are not in the workbench: in the line, or resting for long.
    pub hosts_waiting: usize,
    /// How many addresses have hosts in the workbench or are to be left in peace for a while.
    pub addresses: usize,
    /// How many tokens are out.
    pub hosts_taken: usize,
    /// How many hosts of the workbench have no address yet.
    pub resolving: usize,
    /// How many bytes of memory it takes at most.
    pub bytes: usize,
}

/// The host queues, the line and the workbench.
pub struct Frontier {
    options: Options,
    queues: HostQueues,
    hosts: Hosts,
    workbench: Workbench,
    line: VecDeque<u32>,
    /// Those that rest for long, by the moment at which they join the line; none while there is room.
    parked: BinaryHeap<Reverse<(Moment, u32)>>,
    inside: usize,
    resolving: usize,
    /// Those that came in and whose address nobody was asked for.
    admitted: VecDeque<u32>,
    /// Those that left and were not reported.
    leaving: VecDeque<u32>,
}

impl Frontier {
    /// An empty frontier, with a nameless scratch file in a collection's folder.
    pub fn new(folder: &Path, options: Options) -> Result<Frontier> {
        Ok(Frontier {
            options: Options { max_hosts: options.max_hosts.max(1), ..options },
            queues: HostQueues::create(&folder.join(HOST_QUEUES))?,
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

    /// Adds a URL, by its offset in the log, to a level of its host. Level 0 is served first; offsets are
    /// expected to ascend within a host and level (see [`oldest`](Self::oldest)).
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

    /// A host that has come into the workbench and needs its address, with the URL that it will give first,
    /// from which its name can be read. Each is told once; it waits for [`place`](Self::place).
    pub fn next_admitted(&mut self) -> Option<(HostKey, u64)> {
        let number = self.admitted.pop_front()?;
        let host = self.hosts.get_mut(number);
        host.state = State::Resolving;
        self.queues.first(number).map(|offset| (host.key, offset))
    }

    /// Puts a host at its address, to be visited from `ready` on, or later if it was not to be visited before.
    /// A host that waits for no address stays as it is.
    ///
    /// A host whose name does not resolve can be put at an address that stands for none, such as `0.0.0.0`,
    /// until it is to be tried again or its URLs are to be given up: the token tells.
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

    /// Takes the best host that may be visited now, with its address. Time does not go back: an earlier `now`
    /// than the last counts as the last.
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

    /// The next URL of a taken host, any number of times in a visit.
    pub fn pop(&mut self, token: &Token) -> Result<Option<u64>> {
        let offset = self.queues.pop(token.visit.host)?;
        if offset.is_some() {
            let host = self.hosts.get_mut(token.visit.host);
            host.served = host.served.saturating_add(1);
        }
        Ok(offset)
    }

    /// Ends a visit: from which moment on the host and the address may be visited again. The host leaves the
    /// workbench if it has no URL, or if others wait and it has had its quantum or is to rest for long; `keep`
    /// holds it there, for work that is not in its queue (which goes as level 0 if that is empty).
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

    /// Holds an address, as the token of a visit would, for an errand: one request to a host that need not be
    /// here, such as a redirect of another host's robots.txt. Tells whether it could be: not while it is taken.
    pub fn hold(&mut self, address: IpAddr, now: Moment) -> bool {
        self.workbench.hold(address, now)
    }

    /// Lets go of an address that was held.
    pub fn release(&mut self, address: IpAddr) {
        self.workbench.release_address(address);
    }

    /// From which moment on one request to a host is polite, at an address that is held or, where it is the
    /// `own` one of a visit, taken by whoever asks.
    pub fn ready_for_errand(&mut self, host: HostKey, address: IpAddr, own: bool) -> Moment {
        let known = self.hosts.find(host);
        let host = known.map_or(0, |number| self.hosts.get_mut(number).ready);
        if own { host } else { host.max(self.workbench.ready(address)) }
    }

    /// Lets a host and an address rest after an errand.
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

    /// A host that left the workbench and has not come back, so that what is kept for its visits can go. Each
    /// is told once for each time it left, unless it comes back first; to be called until there is none, for
    /// until then the host is remembered.
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

    /// The moment from which [`take`](Self::take) will give a token, if nothing else happens before; one that
    /// has come already is the last `now`. None: not before a host is placed or given back.
    pub fn next_moment(&self) -> Option<Moment> {
        self.workbench.next_moment()
    }

    /// The smallest offset that waits in the queues (not of what was popped), in one pass over the hosts'
    /// FIFOs in memory. Exact while offsets ascend within a host and level; otherwise it may be too small,
    /// never too large.
    pub fn oldest(&self) -> Option<u64> {
        self.queues.oldest()
    }

    /// How many URLs of a host wait in its queue.
    pub fn waiting(&self, host: HostKey) -> u64 {
        self.hosts.find(host).map_or(0, |number| self.queues.len(number))
    }

    /// How the frontier stands.
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

    /// Lets hosts in while there is room: those of the line, then those that rest.
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
