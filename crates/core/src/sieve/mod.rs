//! The sieve: URLs go in as often as they turn up, and each comes out exactly once, in the order in
//! which they were first seen.
//!
//! Every kind is a structure that *decides* whether a URL is new and one *queue* of those that are (see
//! [`queue`]), on disk and in first-seen order. The kinds differ in where the signatures live and in when
//! they decide:
//!
//! | kind | signatures | decides | memory |
//! | --- | --- | --- | --- |
//! | `memory` | a compact table | at once | 9.4 to 11.8 bytes a URL |
//! | `mercator` | an array, and a sorted file | when the array is full | fixed: 25 bytes a slot |
//! | `offline` | a sorted file | when asked | fixed: 16 bytes an entry of a run |
//! | `bloom`, `blocked-bloom` | a filter | at once, with false positives | fixed by capacity and error |
//!
//! (`lsm`, on RocksDB, is the Python class `crivello.sieve.lsm`, over the same queue.)
//!
//! A URL is known by its [`Signature`]: among n different URLs about n²/2u pairs collide, with u = 2^64,
//! and of each such pair the later URL never comes out. A collision shows where two URLs are at hand with
//! one signature: in the cache of recent signatures, and among the entries of one flush.
//!
//! **Crash safety.** [`Sieve::checkpoint`] makes the files durable and names each with its length. Files
//! are append-only or written whole under a new number, so a sieve that is opened again with what a
//! checkpoint named, after whatever crash, is the sieve of that checkpoint: no URL lost, and none given
//! out twice but those taken after it.
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

/// The contract of every sieve: of the URLs added, with their tags, each is given out exactly once, in the
/// order of its first addition and with the tag of that one.
pub trait Sieve: Send + Sync {
    /// Adds a batch.
    fn add(&mut self, batch: &Batch, pulse: &Pulse) -> Result<()>;

    /// Gives out at most `n` entries; none only when nothing that was added is left.
    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries>;

    /// Gives out at most `n` entries of those that were decided about already; it never waits for a flush.
    fn take_ready(&mut self, n: usize) -> Result<Entries>;

    /// Decides about everything that was added.
    fn flush(&mut self, pulse: &Pulse) -> Result<()>;

    /// Makes everything durable, and tells what to commit. It waits for the disk, never for a flush.
    fn checkpoint(&mut self) -> Result<Checkpoint>;

    /// Where the next entry to give out stands, or will stand.
    fn next(&self) -> u64;

    /// How the sieve stands.
    fn stats(&self) -> Stats;

    /// How a filter stands; None where the answers are exact. It may read all of the filter's bits.
    fn error(&self) -> Option<FilterError> {
        None
    }
}

/// What a sieve wants the manifest to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The files by their names in the collection, with their lengths; None: to be removed, once committed.
    pub files: Vec<(String, Option<u64>)>,
    /// What to remember beside them.
    pub state: State,
}

/// What a sieve is opened with.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// The collection's folder.
    pub folder: &'a Path,
    /// The committed files of the collection; without a queue among them the sieve is a new one.
    pub files: &'a Files,
    /// The state that was committed with them.
    pub state: &'a State,
    /// Where giving out starts: an offset that an entry carried, or None: where the commit left off.
    pub start: Option<u64>,
}

impl Opening<'_> {
    /// What the commit remembers under a name; 0 for a new sieve.
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

/// The numbers of a commit, by name.
pub type State = HashMap<String, u64>;

/// How a sieve stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many different URLs were found so far.
    pub seen: u64,
    /// How many of them were not yet given out.
    pub waiting: u64,
    /// How many were added and not yet decided about.
    pub pending: u64,
    /// How many bytes of memory the deciding structure has.
    pub bytes: usize,
    /// How many flushes there were.
    pub flushes: u64,
    /// How many seconds they took in all.
    pub flush_seconds: f64,
    /// How many URLs were held back though only their signature had been seen, as far as this shows.
    pub collisions: u64,
}

/// How a filter stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FilterError {
    /// Which part of its bits is set.
    pub fill: f64,
    /// How often it takes a new URL for an old one by now.
    pub false_positive_rate: f64,
}

/// All that there is to tell of a sieve with its cache; as JSON it has the same shape for every kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    kind: String,
    #[serde(flatten)]
    stats: Stats,
    cache_hit_rate: f64,
    /// n²/2u, with n URLs seen and u = 2^64.
    expected_collisions: f64,
    /// For filters only.
    #[serde(flatten)]
    error: Option<FilterError>,
}

impl Description {
    fn new(kind: &str, stats: Stats, cache: &RecentSignatures, error: Option<FilterError>) -> Description {
        Description {
            kind: kind.to_owned(),
            cache_hit_rate: cache.hits() as f64 / cache.lookups().max(1) as f64,
            expected_collisions: (stats.seen as f64).powi(2) / 65f64.exp2(),
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
