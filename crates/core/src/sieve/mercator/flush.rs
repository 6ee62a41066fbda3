//! A flush of the Mercator sieve, in a background thread.
//!
//! 1. The signatures are sorted indirectly and stably (see [`super::sort`]).
//! 2. They are merged with the sorted file of all signatures into the next one; the first occurrence of each
//!    new signature is marked.
//! 3. The auxiliary file is read once more, and the marked URLs are appended to the queue, in their original
//!    order.
//!
//! Everything that a flush needs is moved into it and returned with its outcome, so it shares nothing with
//! the crawl but its completion.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::auxiliary::{Auxiliary, Slots};
use super::sort::sorted;
use crate::disk::fault;
use crate::disk::log::{LogStream, LogWriter};
use crate::sieve::merge::{copy_fresh, merge};
use crate::sieve::queue::FORMAT;
use crate::sieve::words::{WordFile, WordReader, WordWriter};
use crate::{Error, Pulse, Result};

/// A file of signatures of at least this size is synced by the flush, in the background, if checkpoints are
/// made: without them it may be replaced before it ever reaches the disk.
const LARGE: u64 = 1 << 26;

/// What a flush needs beside the auxiliary file, and returns.
pub struct Tools {
    /// The writing end of the queue.
    pub queue: LogWriter,
    /// An index per slot.
    pub indices: Vec<u32>,
    /// A bit per slot: whether its URL is new.
    pub marks: Vec<u64>,
    /// The spare slots, which no auxiliary file uses.
    pub slots: Slots,
}

/// The input of a flush.
pub struct Work {
    /// The entries.
    pub auxiliary: Auxiliary,
    /// The file of all signatures and its length, if there is one.
    pub seen: Option<(PathBuf, u64)>,
    /// The path of the next file of all signatures.
    pub target: PathBuf,
    /// Whether checkpoints are made.
    pub has_checkpoints: bool,
    /// Buffers and the queue.
    pub tools: Tools,
}

/// The result of a flush.
pub struct Outcome {
    /// The tools that the flush was given.
    pub tools: Tools,
    /// The new file of all signatures.
    pub seen: WordFile,
    /// Whether that file is already synced.
    pub is_durable: bool,
    /// The number of new URLs.
    pub fresh: u64,
    /// The number of rejected URLs whose check differs from that of the first URL with their signature.
    pub collisions: u64,
    /// The duration.
    pub time: Duration,
}

impl Work {
    fn run(self, pulse: &Pulse) -> Result<Outcome> {
        let started = Instant::now();
        let Work { auxiliary, seen, target, has_checkpoints, mut tools } = self;
        fault::point("flush.start");
        let Slots { signatures, checks } = &auxiliary.slots;
        let mut collisions = 0;
        tools.marks.clear();
        tools.marks.resize(signatures.len().div_ceil(64), 0);
        let marks = &mut tools.marks;
        let seen = merge(
            sorted(signatures, &mut tools.indices).map(|(key, index)| Ok([key, u64::from(index)])),
            seen.map(|(path, length)| WordReader::open(&path, length)).transpose()?,
            WordWriter::create(&target)?,
            pulse,
            |ordinal| {
                marks[ordinal as usize / 64] |= 1 << (ordinal % 64);
                Ok(())
            },
            |first, again| collisions += u64::from(checks[first as usize] != checks[again as usize]),
        )?;
        let records = LogStream::open(auxiliary.log.path(), FORMAT, 0, auxiliary.log.len())?;
        let fresh = copy_fresh(records, ones(&tools.marks).map(Ok), &mut tools.queue, pulse)?;
        let is_durable = has_checkpoints && seen.length >= LARGE;
        if is_durable {
            seen.file.sync()?;
        }
        tools.slots = auxiliary.slots.emptied();
        Ok(Outcome { tools, seen, is_durable, fresh, collisions, time: started.elapsed() })
    }
}

/// The positions of the set bits.
fn ones(words: &[u64]) -> impl Iterator<Item = u64> {
    words.iter().zip(0u64..).flat_map(|(&word, index)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| u64::from(left.trailing_zeros()))?;
            left &= left - 1;
            Some(index * 64 + bit)
        })
    })
}

#[derive(Default)]
struct Shared {
    outcome: Mutex<Option<Result<Outcome>>>,
    is_done: Condvar,
    stop: AtomicBool,
}

/// A running flush; dropping it cancels it.
pub struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts a flush.
    pub fn start(work: Work) -> Result<Running> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let target = work.target.clone();
        let run = move || {
            let outcome = work.run(&Pulse::new(&|| !theirs.stop.load(Ordering::Relaxed)));
            if let Ok(mut place) = theirs.outcome.lock() {
                *place = Some(outcome);
            }
            theirs.is_done.notify_all();
        };
        let thread = thread::Builder::new().name("sieve-flush".to_owned()).spawn(run);
        Ok(Running { shared, thread: Some(thread.map_err(Error::io(target))?) })
    }

    /// The result of the flush, if it is done.
    pub fn outcome(&mut self) -> Option<Result<Outcome>> {
        let outcome = self.shared.outcome.lock().ok()?.take();
        if outcome.is_none() && self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            self.join();
        }
        outcome
    }

    /// Waits briefly for the flush to end.
    pub fn wait(&self) {
        if let Ok(outcome) = self.shared.outcome.lock()
            && outcome.is_none()
        {
            let _ = self.shared.is_done.wait_timeout(outcome, Duration::from_millis(50));
        }
    }

    /// Propagates a panic of the flush.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bits_that_are_set() {
        assert_eq!(ones(&[0, 1 | 1 << 63, 0, 6]).collect::<Vec<_>>(), [64, 127, 193, 194]);
    }
}
