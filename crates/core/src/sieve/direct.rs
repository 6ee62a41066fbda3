//! The sieves that decide immediately: a set of signatures in memory, and the queue on disk.
//!
//! With a [`SignatureSet`](super::SignatureSet) this is the kind `memory`, exact except for signature
//! collisions; with a Bloom filter it is `bloom` or `blocked-bloom`, in constant memory: a false positive is
//! a URL that is never emitted. Opening rebuilds the set from the queue's keys, so only the queue is on disk
//! (a false positive had all its bits set already, so a filter is rebuilt exactly).

use super::files::NumberedFiles;
use super::queue::{self, Queue};
use super::{Batch, Checkpoint, Entries, FilterError, Opening, Sieve, Stats};
use crate::collection::layout::URLS;
use crate::disk::fault;
use crate::disk::log::{LogStream, LogWriter};
use crate::filters::Filter;
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};

/// A set of signatures, exact or approximate.
pub trait Membership: Send + Sync {
    /// Inserts signatures in order, and reports for each whether it was present, or seems to have been.
    fn insert_all(&mut self, signatures: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;

    /// Its memory in bytes.
    fn bytes(&self) -> usize;

    /// Its false-positive rate; `None` if it is exact.
    fn error(&self) -> Option<FilterError> {
        None
    }
}

impl<F: Filter> Membership for F {
    fn insert_all(&mut self, signatures: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.add(signatures, seen, pulse)
    }

    fn bytes(&self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    fn error(&self) -> Option<FilterError> {
        Some(FilterError { fill: self.fill(), false_positive_rate: self.expected_error() })
    }
}

/// The number of queue signatures inserted per batch while rebuilding the set.
const TOGETHER: usize = 1 << 13;

/// A sieve that decides with a set in memory.
pub struct DirectSieve<Set> {
    set: Set,
    /// The set's answers for a batch.
    seen: Vec<bool>,
    queue: Queue,
    writer: LogWriter,
    files: NumberedFiles,
}

impl<Set: Membership> DirectSieve<Set> {
    /// Opens the sieve as it was committed, filling the given empty set.
    pub fn open(opening: Opening, mut set: Set, pulse: &Pulse) -> Result<Self> {
        let (queue, writer) = Queue::open(opening)?;
        let path = opening.folder.join(URLS);
        let mut records = LogStream::open(&path, queue::FORMAT, 0, queue.length())?;
        let (mut signatures, mut seen) = (Vec::with_capacity(TOGETHER), vec![false; TOGETHER]);
        loop {
            while signatures.len() < TOGETHER
                && let Some(sealed) = records.advance()?
            {
                signatures.push(sealed.open(&path)?.key);
            }
            if signatures.is_empty() {
                break;
            }
            set.insert_all(&signatures, &mut seen[..signatures.len()], pulse)?;
            signatures.clear();
            pulse.beat()?;
        }
        Ok(DirectSieve { set, seen, queue, writer, files: NumberedFiles::new(opening) })
    }
}

impl<Set: Membership> Sieve for DirectSieve<Set> {
    fn add(&mut self, batch: &Batch, pulse: &Pulse) -> Result<()> {
        self.seen.clear();
        self.seen.resize(batch.len(), false);
        self.set.insert_all(batch.signatures(), &mut self.seen, pulse)?;
        let (mut fresh, mut start) = (0, 0);
        for run in self.seen.chunk_by(|left, right| left == right) {
            let end = start + run.len();
            if !run[0] {
                self.writer.append_sealed(batch.records(start, end))?;
                fresh += run.len() as u64;
                fault::point("direct.add.between-records");
            }
            start = end;
        }
        let length = self.writer.flush()?;
        self.queue.publish(length, fresh);
        Ok(())
    }

    fn take_ready(&mut self, n: usize) -> Result<Entries> {
        self.queue.take(n)
    }

    fn take(&mut self, n: usize, _: &Pulse) -> Result<Entries> {
        self.queue.take(n)
    }

    fn flush(&mut self, _: &Pulse) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<Checkpoint> {
        fault::point("direct.checkpoint.before-sync");
        let checkpoint = self.files.checkpoint(&self.queue, Vec::new())?;
        fault::point("direct.checkpoint.after-sync");
        Ok(checkpoint)
    }

    fn next(&self) -> u64 {
        self.queue.next()
    }

    fn stats(&self) -> Stats {
        Stats {
            seen: self.queue.appended(),
            waiting: self.queue.waiting(),
            bytes: self.set.bytes(),
            ..Stats::default()
        }
    }

    fn error(&self) -> Option<FilterError> {
        self.set.error()
    }
}

impl Membership for SignatureSet {
    fn insert_all(&mut self, signatures: &[Signature], seen: &mut [bool], _: &Pulse) -> Result<()> {
        SignatureSet::insert_all(self, signatures, seen);
        Ok(())
    }

    fn bytes(&self) -> usize {
        SignatureSet::bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::{BlockedBloom, Bloom, Hashing, Size};
    use crate::sieve::tests::contract;

    /// So low that the few URLs of a test meet no false positive.
    const SIZE: Size = Size::Keys { capacity: 10_000, error: 1e-8 };

    contract::test!(memory, |opening| {
        let set = SignatureSet::default();
        Box::new(DirectSieve::open(opening, set, &Pulse::STEADY).unwrap())
    });

    contract::test!(bloom, |opening| {
        let set = Bloom::new(SIZE, Hashing::Enhanced).unwrap();
        Box::new(DirectSieve::open(opening, set, &Pulse::STEADY).unwrap())
    });

    contract::test!(blocked_bloom, |opening| {
        let set = BlockedBloom::new(SIZE).unwrap();
        Box::new(DirectSieve::open(opening, set, &Pulse::STEADY).unwrap())
    });
}
