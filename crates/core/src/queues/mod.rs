//! Queues between threads: with a lock, lock-free as a linked list, and lock-free in an array.
//!
//! | kind | how threads exclude each other | capacity |
//! | --- | --- | --- |
//! | [`Kind::Mutex`] | a lock around a ring buffer | grows |
//! | [`Kind::MichaelScott`] | compare-and-swap on a linked list (see [`michael_scott`]) | fixed |
//! | [`Kind::Array`] | a ticket per slot of an array: crossbeam's bounded channel, between the crawl's threads | fixed |
//!
//! All are first in, first out, for any number of threads. [`measure`] compares them.

mod atomics;
mod michael_scott;
#[cfg(test)]
mod modelled;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::settings::choices;
use crate::{Error, Pulse, Result};

pub use michael_scott::MichaelScott;

choices! {
    /// A queue between threads.
    pub enum Kind, "queue" {
        /// A ring buffer behind a lock.
        Mutex = "mutex",
        /// Michael and Scott's linked list, by compare-and-swap with exponential backoff.
        MichaelScott = "michael-scott",
        /// A bounded array with a ticket per slot, as between the threads of a crawl.
        Array = "array",
    }
}

/// A first-in, first-out queue of numbers that threads share.
pub trait Queue: Sync {
    /// Appends a number; false if there is no room.
    fn push(&self, number: u64) -> bool;

    /// Removes the first number; `None` if the queue is empty.
    fn pop(&self) -> Option<u64>;
}

/// A queue of a kind, with room for `capacity` numbers.
pub fn queue(kind: Kind, capacity: u32) -> Box<dyn Queue> {
    match kind {
        Kind::Mutex => Box::new(Mutex::new(VecDeque::with_capacity(capacity as usize))),
        Kind::MichaelScott => Box::new(MichaelScott::new(capacity)),
        Kind::Array => Box::new(bounded::<u64>(capacity as usize)),
    }
}

impl Queue for Mutex<VecDeque<u64>> {
    fn push(&self, number: u64) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).push_back(number);
        true
    }

    fn pop(&self) -> Option<u64> {
        self.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Queue for MichaelScott {
    fn push(&self, number: u64) -> bool {
        MichaelScott::push(self, number)
    }

    fn pop(&self) -> Option<u64> {
        MichaelScott::pop(self)
    }
}

impl Queue for (Sender<u64>, Receiver<u64>) {
    fn push(&self, number: u64) -> bool {
        self.0.try_send(number).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        self.1.try_recv().ok()
    }
}

/// How many pairs are done between two beats of the pulse.
const PAIRS_PER_BEAT: u64 = 1 << 12;

/// The seconds that `threads` threads take for `pairs` pairs of a push and a pop each, all on one queue.
///
/// This is the measurement of Michael and Scott's paper. A thread pops after it pushed, so the queue is never
/// empty then and holds at most `threads` numbers; what comes out is checked against what went in.
pub fn measure(kind: Kind, threads: u32, pairs: u64, pulse: &Pulse) -> Result<f64> {
    if !(1..=1024).contains(&threads) || pairs == 0 {
        return Err(Error::Invalid("a measurement takes 1 to 1024 threads and at least one pair".to_owned()));
    }
    let queue = queue(kind, 2 * threads);
    let start = Barrier::new(threads as usize);
    let work = |thread: u32| -> Result<Done> {
        let (mut put, mut got) = (0u64, 0u64);
        start.wait();
        let started = Instant::now();
        for pair in 0..pairs {
            if pair.is_multiple_of(PAIRS_PER_BEAT) {
                pulse.beat()?;
            }
            let number = u64::from(thread) << 32 | pair;
            put = put.wrapping_add(number);
            while !queue.push(number) {
                std::thread::yield_now();
            }
            got = got.wrapping_add(loop {
                match queue.pop() {
                    Some(number) => break number,
                    // Others hold what was pushed, for a moment.
                    None => std::thread::yield_now(),
                }
            });
        }
        Ok(Done { put, got, started, ended: Instant::now() })
    };
    let done: Vec<Result<Done>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let joined = running.into_iter().map(|one| one.join());
        joined.map(|one| one.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let done: Vec<Done> = done.into_iter().collect::<Result<_>>()?;
    let sum = |of: fn(&Done) -> u64| done.iter().map(of).fold(0, u64::wrapping_add);
    if sum(|one| one.put) != sum(|one| one.got) {
        return Err(Error::Invalid(format!("the queue {kind} lost a number")));
    }
    // From the first start to the last end: a thread may run only when another has finished.
    let started = done.iter().map(|one| one.started).min();
    let ended = done.iter().map(|one| one.ended).max();
    Ok(started.zip(ended).map_or(0.0, |(started, ended)| ended.duration_since(started).as_secs_f64()))
}

/// What a thread has done: the sums of the numbers that it pushed and popped, and when.
struct Done {
    put: u64,
    got: u64,
    started: Instant,
    ended: Instant,
}
