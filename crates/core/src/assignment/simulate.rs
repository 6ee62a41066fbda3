//! A discrete-event model of agents that crawl: slots, politeness per host and address, and the exchange of URLs.
//!
//! An agent has s slots. A request takes f seconds of a slot, then the page takes c seconds of the agent's only
//! processor, in order of arrival, and the slot is free again when it is processed. A host rests for d seconds between the end of a request and the next one, an
//! address for a time of its own. So an agent fetches at most
//!
//! ```text
//! min( s / (f + c),  1 / c,  Σ over addresses of min( 1 / (f + rest),  hosts / (f + d) ) )   pages per second.
//! ```
//!
//! A page has links to other hosts that were not seen of late. Each goes to an agent at random, in proportion to
//! given shares; those of others are collected per receiver, and sent when there are `batch` of them, or when the
//! first has waited `flush` seconds. With Poisson arrivals at rate λ and batches that never fill, that is
//! λ / (1 + λ · flush) messages per second and receiver.
//!
//! Not in the model: discovery (all URLs of a host are known when it starts), errors, times of requests that vary.
//!
//! An event is a page: O(log of hosts and slots) and its links, about 0.3 microseconds. Times are whole nanoseconds, so a run
//! depends on its input alone. Agents are independent of each other, and run in parallel.

mod links;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use serde::Deserialize;

use crate::settings::section;
use crate::signature::hash::random;
use crate::{Error, Pulse, Result};
use links::{Alias, Links};

const SECOND: f64 = 1e9;
/// The events between two beats of the pulse.
const EVENTS_PER_BEAT: u64 = 1 << 12;
/// The largest number of bins of the rates.
const MOST_BINS: usize = 1 << 16;

/// What all agents have in common; times are in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The requests that an agent has open at a time.
    pub slots: usize,
    /// How long a request takes.
    pub fetch: f64,
    /// How long a page takes the processor.
    pub process: f64,
    /// How long a host rests.
    pub delay: f64,
    /// The links of a page to URLs of other hosts that are not in the cache of recent ones, on average.
    pub links: f64,
    /// The URLs in a full message.
    pub batch: u32,
    /// How long a URL waits for its message to be full, at most.
    pub flush: f64,
    /// When the run ends; requests that would begin later do not.
    pub until: f64,
    /// The width of the bins in which pages are counted.
    pub bin: f64,
}

impl Machine {
    /// From a JSON object with all fields.
    pub fn from_json(json: &[u8]) -> Result<Machine> {
        section("the model", json)
    }
}

/// The hosts of the agents that are simulated, agent by agent.
#[derive(Clone, Copy, Debug)]
pub struct Hosts<'a> {
    /// Where the hosts of each agent begin, and the last ones end.
    pub offsets: &'a [u64],
    /// The pages of each host.
    pub pages: &'a [u32],
    /// The address of each host.
    pub addresses: &'a [u32],
    /// When each host becomes the agent's, in seconds.
    pub starts: &'a [f64],
    /// A number of pages of each host; when it is reached is reported. Empty if nobody asks.
    pub marks: &'a [u32],
    /// For each address how long it rests, in seconds.
    pub rests: &'a [f64],
    /// The rank of each simulated agent among all agents.
    pub ranks: &'a [u32],
    /// For each agent, simulated or not, the share of the links that point to it.
    pub shares: &'a [f64],
}

/// What became of one agent.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The pages fetched.
    pub pages: u64,
    /// When the last one was processed, in seconds.
    pub end: f64,
    /// The time that slots were taken, all together, in seconds.
    pub busy: f64,
    /// The URLs sent to other agents.
    pub sent: u64,
    /// The messages they were sent in.
    pub messages: u64,
    /// The URLs to other hosts that the agent kept.
    pub kept: u64,
    /// The pages processed in each bin.
    pub bins: Vec<u64>,
    /// For each host the pages fetched.
    pub fetched: Vec<u32>,
    /// For each host when its last page was processed, in seconds; 0 if none was.
    pub finished: Vec<f64>,
    /// For each host when its mark was reached; 0 if it was not.
    pub reached: Vec<f64>,
}

/// Simulates every agent of `hosts`; `seed` decides where links point to.
pub fn simulate(machine: &Machine, hosts: &Hosts, seed: u64, pulse: &Pulse) -> Result<Vec<Outcome>> {
    check(machine, hosts)?;
    let alias = Alias::new(hosts.shares);
    let run = |agent: usize| {
        let range = hosts.offsets[agent] as usize..hosts.offsets[agent + 1] as usize;
        let rank = hosts.ranks[agent];
        let links = Links::new(&alias, rank as usize, random(seed, rank.into()));
        Agent::new(machine, hosts, range, links).run(pulse)
    };
    (0..hosts.ranks.len()).into_par_iter().map(run).collect()
}

/// The pages of all agents together in each bin.
pub fn bins(outcomes: &[Outcome]) -> Vec<u64> {
    let mut sums = vec![0; outcomes.iter().map(|outcome| outcome.bins.len()).max().unwrap_or(0)];
    for outcome in outcomes {
        sums.iter_mut().zip(&outcome.bins).for_each(|(sum, pages)| *sum += pages);
    }
    sums
}

fn check(machine: &Machine, hosts: &Hosts) -> Result<()> {
    let count = hosts.pages.len();
    let times = [machine.fetch, machine.process, machine.delay, machine.links, machine.flush];
    let checks = [
        (
            machine.slots > 0 && machine.batch > 0,
            "there is at least one slot, and a message has at least one URL",
        ),
        (times.iter().all(|time| (0.0..1e9).contains(time)), "times are from 0 to 10^9 seconds"),
        (machine.fetch > 0.0 && machine.bin > 0.0, "a request and a bin take some time"),
        (machine.until > 0.0, "the run takes some time"),
        (
            hosts.addresses.len() == count
                && hosts.starts.len() == count
                && (hosts.marks.is_empty() || hosts.marks.len() == count),
            "every host has pages, an address and a start",
        ),
        (
            hosts.offsets.len() == hosts.ranks.len() + 1
                && hosts.offsets.is_sorted()
                && hosts.offsets.last().is_some_and(|&last| last == count as u64),
            "the offsets divide the hosts among the agents",
        ),
        (
            hosts.ranks.iter().all(|&rank| (rank as usize) < hosts.shares.len()),
            "every simulated agent has a share",
        ),
        (
            hosts.addresses.iter().all(|&address| (address as usize) < hosts.rests.len()),
            "every address has a rest",
        ),
        (
            hosts.rests.iter().chain(hosts.starts).all(|time| (0.0..1e9).contains(time)),
            "times are from 0 to 10^9 seconds",
        ),
        (hosts.shares.iter().all(|share| (0.0..1e300).contains(share)), "shares are not negative"),
    ];
    match checks.iter().find(|(right, _)| !right) {
        None => Ok(()),
        Some((_, rule)) => Err(Error::Invalid(format!("the model cannot run: {rule}"))),
    }
}

/// One agent while it runs. Hosts and addresses have numbers of its own.
struct Agent<'a> {
    machine: &'a Machine,
    hosts: Hosts<'a>,
    first: usize,
    outcome: Outcome,
    /// For each address its rest, when it may be visited again, and its hosts that have pages, by when they may.
    addresses: Vec<Address>,
    /// The addresses with a host, by when a request may be made.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// When each slot is free.
    slots: BinaryHeap<Reverse<u64>>,
    processor: u64,
    links: Links<'a>,
}

#[derive(Default)]
struct Address {
    rest: u64,
    next: u64,
    hosts: BinaryHeap<Reverse<(u64, u32)>>,
}

fn nanoseconds(seconds: f64) -> u64 {
    // Saturates: infinity is the end of time.
    (seconds * SECOND).round() as u64
}

impl<'a> Agent<'a> {
    fn new(machine: &'a Machine, hosts: &Hosts<'a>, range: std::ops::Range<usize>, links: Links<'a>) -> Self {
        let count = range.len();
        let mut by_address: Vec<(u32, u32)> =
            (0..count).map(|host| (hosts.addresses[range.start + host], host as u32)).collect();
        by_address.sort_unstable();
        let mut addresses = Vec::new();
        for group in by_address.chunk_by(|one, other| one.0 == other.0) {
            let waiting = group.iter().filter(|(_, host)| hosts.pages[range.start + *host as usize] > 0);
            let entry = |(_, host): &(u32, u32)| {
                Reverse((nanoseconds(hosts.starts[range.start + *host as usize]), *host))
            };
            let rest = nanoseconds(hosts.rests[group[0].0 as usize]);
            addresses.push(Address { rest, next: 0, hosts: waiting.map(entry).collect() });
        }
        let marks = if hosts.marks.is_empty() { 0 } else { count };
        let mut agent = Agent {
            machine,
            hosts: *hosts,
            first: range.start,
            outcome: Outcome {
                fetched: vec![0; count],
                finished: vec![0.0; count],
                reached: vec![0.0; marks],
                ..Outcome::default()
            },
            addresses,
            ready: BinaryHeap::new(),
            slots: (0..machine.slots).map(|_| Reverse(0)).collect(),
            processor: 0,
            links,
        };
        (0..agent.addresses.len() as u32).for_each(|address| agent.enqueue(address));
        agent
    }

    fn enqueue(&mut self, number: u32) {
        let address = &self.addresses[number as usize];
        if let Some(Reverse((time, _))) = address.hosts.peek() {
            self.ready.push(Reverse((address.next.max(*time), number)));
        }
    }

    fn run(mut self, pulse: &Pulse) -> Result<Outcome> {
        let Machine { fetch, process, delay, until, bin, .. } = *self.machine;
        let [fetch, process, delay, until, bin] = [fetch, process, delay, until, bin].map(nanoseconds);
        while let Some(Reverse((polite, number))) = self.ready.pop() {
            // Both are ascending: addresses come in order, and a slot is never free earlier than before.
            let start = self.slots.peek().map_or(polite, |Reverse(free)| polite.max(*free));
            if start >= until {
                break;
            }
            let address = &mut self.addresses[number as usize];
            let Some(Reverse((_, host))) = address.hosts.pop() else { continue };
            let end = start + fetch;
            let done = end.max(self.processor) + process;
            self.processor = done;
            self.slots.pop();
            self.slots.push(Reverse(done));
            address.next = end + address.rest;
            let fetched = &mut self.outcome.fetched[host as usize];
            *fetched += 1;
            if *fetched < self.hosts.pages[self.first + host as usize] {
                address.hosts.push(Reverse((end + delay, host)));
            }
            self.count(host as usize, start, done, bin.max(1));
            self.links.page(done, self.machine, &mut self.outcome);
            self.enqueue(number);
            if self.outcome.pages.is_multiple_of(EVENTS_PER_BEAT) {
                pulse.beat()?;
            }
        }
        self.links.close(&mut self.outcome);
        Ok(self.outcome)
    }

    fn count(&mut self, host: usize, start: u64, done: u64, bin: u64) {
        let outcome = &mut self.outcome;
        let seconds = done as f64 / SECOND;
        outcome.pages += 1;
        outcome.end = seconds;
        outcome.busy += (done - start) as f64 / SECOND;
        outcome.finished[host] = seconds;
        if self.hosts.marks.get(self.first + host) == Some(&outcome.fetched[host]) {
            outcome.reached[host] = seconds;
        }
        let bin = ((done / bin) as usize).min(MOST_BINS - 1);
        if outcome.bins.len() <= bin {
            outcome.bins.resize(bin + 1, 0);
        }
        outcome.bins[bin] += 1;
    }
}

#[cfg(test)]
mod tests;
