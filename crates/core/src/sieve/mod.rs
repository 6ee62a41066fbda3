//! The sieve (URL-seen test and frontier queue in one): URLs are added as often as they are found, and each
//! is emitted exactly once, in first-seen order.
//!
//! Every kind is a structure that *decides* whether a URL is new, and one *queue* of the new ones (see
//! [`queue`]), on disk and in first-seen order. The kinds differ in where the signatures are and when they
//! decide:
//!
//! | kind | signatures | decides | memory |
//! | --- | --- | --- | --- |
//! | `memory` | a compact hash table | immediately | 9.4 to 11.8 bytes a URL |
//! | `mercator` | an array, and a sorted file | when the array is full | fixed: 25 bytes a slot |
//! | `offline` | a sorted file | on request | fixed: 24 bytes an entry of a run |
//! | `bloom`, `blocked-bloom` | a filter | immediately, with false positives | fixed by capacity and error |
//!
//! (`lsm`, on RocksDB, is the Python class `crivello.sieve.lsm`, over the same queue.)
//!
//! A URL is identified by its [`Signature`] of b bits, 64 unless set otherwise: a new URL collides with one of n
//! with probability n/u, and among n distinct URLs about n²/2u pairs collide, with u = 2^b; of each such pair
//! the later URL is never emitted. A collision is detected where two URLs with one
//! signature are at hand: in the cache of recent signatures, and among the entries of one flush.
//!
//! **Crash safety.** [`Sieve::checkpoint`] makes the files durable and names each with its length. Files are
//! append-only or written once under a new number, so a sieve that is reopened from a checkpoint, after any
//! crash, is the sieve of that checkpoint: no URL is lost, and none is emitted twice except those dequeued
//! after it.
//!
//! The ideas are Mercator's (Heydon and Najork, *Mercator: a scalable, extensible web crawler*, 1999) in
//! the form of BUbiNG (Boldi, Marino, Santini and Vigna, *BUbiNG: massive crawling for the masses*, 2018).

mod batch;
mod cache;
mod direct;
mod files;
mod front;
mod mercator;
mod merge;
mod offline;
pub mod queue;
mod screened;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::collection::layout::URLS;
use crate::{Error, Pulse, Result};

pub use batch::{Batch, Entries, Entry, unpack};
pub use cache::RecentSignatures;
pub use direct::{DirectSieve, Membership};
pub use front::{Front, Kind, Options, open};
pub use mercator::MercatorSieve;
pub use offline::OfflineSieve;
pub use screened::ScreenedQueue;

/// The contract of every sieve: each URL added is emitted exactly once, in the order of its first addition
/// and with the tag of that addition.
pub trait Sieve: Send + Sync {
    /// Adds a batch.
    fn add(&mut self, batch: &Batch, pulse: &Pulse) -> Result<()>;

    /// Dequeues at most `n` entries; none only if nothing that was added is left.
    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries>;

    /// Dequeues at most `n` entries that are already decided; it never waits for a flush.
    fn take_ready(&mut self, n: usize) -> Result<Entries>;

    /// Decides about everything that was added.
    fn flush(&mut self, pulse: &Pulse) -> Result<()>;

    /// Makes everything durable, and returns what to commit. It waits for the disk, never for a flush.
    fn checkpoint(&mut self) -> Result<Checkpoint>;

    /// The queue offset of the next entry to dequeue, now or in the future.
    fn next(&self) -> u64;

    /// The statistics of the sieve.
    fn stats(&self) -> Stats;

    /// The filter's false-positive rate; `None` if the sieve is exact. It may read all of the filter's bits.
    fn error(&self) -> Option<FilterError> {
        None
    }
}

/// What a sieve wants committed to the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The files by their names in the collection, with their lengths; `None`: to be removed, once committed.
    pub files: Vec<(String, Option<u64>)>,
    /// Its state beside the files.
    pub state: State,
}

/// What a sieve is opened with.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// The collection's folder.
    pub folder: &'a Path,
    /// The committed files of the collection; if the queue is not among them, the sieve is new.
    pub files: &'a Files,
    /// The state committed with them.
    pub state: &'a State,
    /// The offset, taken from an earlier entry, at which dequeuing starts; `None`: where the commit left off.
    pub start: Option<u64>,
}

impl Opening<'_> {
    /// A number of the committed state; 0 for a new sieve.
    fn remembered(&self, name: &str) -> Result<u64> {
        if !self.files.contains_key(URLS) {
            return Ok(0);
        }
        let missing = || Error::Invalid(format!("the sieve's state does not say {name}"));
        self.state.get(name).copied().ok_or_else(missing)
    }
}

/// The files of a commit with their lengths.
pub type Files = HashMap<String, u64>;

/// The committed numbers, by name.
pub type State = HashMap<String, u64>;

/// The statistics of a sieve.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// The number of distinct URLs found so far.
    pub seen: u64,
    /// The number of those not yet emitted.
    pub waiting: u64,
    /// The number of additions not yet decided.
    pub pending: u64,
    /// The memory of the deciding structure, in bytes.
    pub bytes: usize,
    /// The number of flushes.
    pub flushes: u64,
    /// Their total duration, in seconds.
    pub flush_seconds: f64,
    /// The number of URLs rejected because of a signature collision, as far as detected.
    pub collisions: u64,
}

/// The state of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FilterError {
    /// The share of its bits that are set.
    pub fill: f64,
    /// The current false-positive rate: how often a new URL is taken for a seen one.
    pub false_positive_rate: f64,
}

/// The description of a sieve with its cache; its JSON has the same shape for every kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    kind: String,
    #[serde(flatten)]
    stats: Stats,
    cache_hit_rate: f64,
    signature_bits: u32,
    /// n²/2u, with n URLs seen and u = 2^b for signatures of b bits.
    expected_collisions: f64,
    /// For filters only.
    #[serde(flatten)]
    error: Option<FilterError>,
}

impl Description {
    fn new(
        kind: &str,
        signature_bits: u32,
        stats: Stats,
        cache: &RecentSignatures,
        error: Option<FilterError>,
    ) -> Description {
        Description {
            kind: kind.to_owned(),
            cache_hit_rate: cache.hits() as f64 / cache.lookups().max(1) as f64,
            signature_bits,
            expected_collisions: (stats.seen as f64).powi(2) / (f64::from(signature_bits) + 1.0).exp2(),
            stats: Stats { bytes: stats.bytes + cache.bytes(), ..stats },
            error,
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
