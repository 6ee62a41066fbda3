//! The queue and the cache for a sieve whose set is implemented elsewhere: `lsm`, on RocksDB.
//!
//! Adding takes two steps: [`ScreenedQueue::screen`] returns the signatures to look up, and
//! [`ScreenedQueue::accept`] takes the answers: which of them are new.

use std::collections::HashSet;

use super::files::NumberedFiles;
use super::queue::Queue;
use super::{Batch, Checkpoint, Description, Entries, Opening, RecentSignatures, Stats};
use crate::disk::log::LogWriter;
use crate::{Error, Result, Signature};

/// A queue whose decisions are made by the caller.
pub struct ScreenedQueue {
    cache: RecentSignatures,
    batch: Batch,
    /// The first entry of each signature in the batch.
    candidates: Vec<usize>,
    queue: Queue,
    writer: LogWriter,
    files: NumberedFiles,
}

impl ScreenedQueue {
    /// Opens the queue as it was committed, with a cache of the given number of signatures.
    pub fn open(opening: Opening, cache: usize) -> Result<ScreenedQueue> {
        let (queue, writer) = Queue::open(opening)?;
        Ok(ScreenedQueue {
            cache: RecentSignatures::new(cache),
            batch: Batch::default(),
            candidates: Vec::new(),
            queue,
            writer,
            files: NumberedFiles::new(opening),
        })
    }

    /// Adds a URL to the batch, unless it is in the cache.
    pub fn offer(&mut self, url: &str, tag: u32) {
        let bytes = url.as_bytes();
        let (signature, check) = (Signature::of(bytes), Signature::check(bytes));
        if !self.cache.touch(signature, check) {
            self.batch.push(signature, check, tag, bytes);
        }
    }

    /// The distinct signatures of the batch, with the checks of their URLs.
    pub fn screen(&mut self) -> Vec<(Signature, u16)> {
        let mut met = HashSet::with_capacity(self.batch.len());
        let (signatures, checks) = (self.batch.signatures(), self.batch.checks());
        self.candidates.clear();
        self.candidates.extend((0..signatures.len()).filter(|&index| met.insert(signatures[index])));
        self.candidates.iter().map(|&index| (signatures[index], checks[index])).collect()
    }

    /// Appends the screened URLs that are new; returns their offsets.
    pub fn accept(&mut self, is_new: &[bool]) -> Result<Vec<u64>> {
        if is_new.len() != self.candidates.len() {
            return Err(Error::Invalid("as many answers are needed as there were questions".to_owned()));
        }
        let mut offsets = Vec::new();
        for (&index, _) in self.candidates.iter().zip(is_new).filter(|(_, is_new)| **is_new) {
            offsets.push(self.writer.append_sealed(self.batch.records(index, index + 1))?);
        }
        self.queue.publish(self.writer.flush()?, offsets.len() as u64);
        self.discard();
        Ok(offsets)
    }

    /// Drops a batch that is decided.
    fn discard(&mut self) {
        self.batch.clear();
        self.candidates.clear();
    }

    /// Drops a batch that could not be decided, and clears the cache, which already contains it.
    pub fn give_up(&mut self) {
        self.discard();
        self.cache.clear();
    }

    /// See [`super::Sieve::take`].
    pub fn take(&mut self, n: usize) -> Result<Entries> {
        self.queue.take(n)
    }

    /// Makes the queue durable, and returns what to commit.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.files.checkpoint(&self.queue, Vec::new())
    }

    /// See [`super::Sieve::next`].
    pub fn next(&self) -> u64 {
        self.queue.next()
    }

    /// The statistics of the queue and the cache.
    pub fn stats(&self) -> Stats {
        Stats {
            seen: self.queue.appended(),
            waiting: self.queue.waiting(),
            collisions: self.cache.collisions(),
            ..Stats::default()
        }
    }

    /// The description of a sieve of this kind, from its queue and cache.
    pub fn describe(&self, kind: &str) -> Description {
        Description::new(kind, Signature::BITS, self.stats(), &self.cache, None)
    }
}
