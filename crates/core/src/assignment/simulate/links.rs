//! Where the links of an agent's pages go: a random receiver each, and an outbox for each receiver.

use super::{Machine, Outcome, nanoseconds};
use crate::signature::hash::{random, reduce};

/// The URLs that wait for one receiver.
#[derive(Clone, Copy)]
struct Outbox {
    opened: u64,
    urls: u32,
}

const EMPTY: Outbox = Outbox { opened: 0, urls: 0 };

/// Where the links of an agent's pages go.
pub struct Links<'a> {
    alias: &'a Alias,
    own: usize,
    state: u64,
    drawn: u64,
    outboxes: Vec<Outbox>,
}

impl<'a> Links<'a> {
    /// Of the agent with a rank, which draws from a state of its own.
    pub fn new(alias: &'a Alias, own: usize, state: u64) -> Links<'a> {
        Links { alias, own, state, drawn: 0, outboxes: vec![EMPTY; alias.columns.len()] }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        random(self.state, self.drawn)
    }

    /// The links of a page that was processed at a time.
    pub fn page(&mut self, time: u64, machine: &Machine, outcome: &mut Outcome) {
        if machine.links == 0.0 {
            return;
        }
        let flush = nanoseconds(machine.flush);
        // A mean of 2.3 is 2 links, and a third one with probability 0.3.
        let more = f64::from((self.draw() >> 32) as u32) < machine.links.fract() * 2f64.powi(32);
        for _ in 0..machine.links as u64 + u64::from(more) {
            let number = self.draw();
            let receiver = self.alias.pick(number);
            if receiver == self.own {
                outcome.kept += 1;
                continue;
            }
            outcome.sent += 1;
            let outbox = &mut self.outboxes[receiver];
            if outbox.urls > 0 && time >= outbox.opened + flush {
                outcome.messages += 1;
                *outbox = EMPTY;
            }
            if outbox.urls == 0 {
                outbox.opened = time;
            }
            outbox.urls += 1;
            if outbox.urls == machine.batch {
                outcome.messages += 1;
                *outbox = EMPTY;
            }
        }
    }

    /// Sends what is left.
    pub fn close(&self, outcome: &mut Outcome) {
        outcome.messages += self.outboxes.iter().filter(|outbox| outbox.urls > 0).count() as u64;
    }
}

/// Draws from a discrete distribution in constant time: Walker's alias method.
pub struct Alias {
    columns: Vec<(f64, u32)>,
}

impl Alias {
    pub fn new(shares: &[f64]) -> Alias {
        let total: f64 = shares.iter().sum();
        let scale = if total > 0.0 { shares.len() as f64 / total } else { 0.0 };
        let mut columns: Vec<(f64, u32)> =
            shares.iter().enumerate().map(|(rank, share)| (share * scale, rank as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).partition(|&rank| columns[rank].0 < 1.0);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            columns[low].1 = high as u32;
            columns[high].0 -= 1.0 - columns[low].0;
            if columns[high].0 < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        // What is left over is 1 up to rounding.
        small.into_iter().chain(large).for_each(|rank| columns[rank].0 = 1.0);
        Alias { columns }
    }

    #[inline]
    pub fn pick(&self, number: u64) -> usize {
        let column = reduce(number, self.columns.len() as u64) as usize;
        let fraction = random(number, 0) as f64 * 2f64.powi(-64);
        let (threshold, other) = self.columns[column];
        if fraction < threshold { column } else { other as usize }
    }
}
