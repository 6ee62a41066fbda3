//! The front of every sieve: the current batch, and the cache of recent signatures, whose hits go no further.
//!
//! A cached signature was added during the life of this process: after a crash the cache is empty.

use serde::Deserialize;

use super::{
    Batch, Checkpoint, Description, DirectSieve, Entries, MercatorSieve, OfflineSieve, Opening,
    RecentSignatures, Sieve, Stats,
};
use crate::collection::layout::URLS;
use crate::filters::{BlockedBloom, Bloom, Hashing, Size};
use crate::settings::{choices, section};
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};

choices! {
    /// The native kinds of sieve.
    pub enum Kind, "sieve of the kind" {
        /// Signatures in an array and a sorted file, merged when the array is full: fixed memory.
        Mercator = "mercator",
        /// Signatures in a compact hash table: about ten bytes a URL.
        Memory = "memory",
        /// Signatures in a sorted file, merged on request: fixed memory.
        Offline = "offline",
        /// A Bloom filter: fixed memory, false positives.
        Bloom = "bloom",
        /// A Bloom filter with the bits of a URL in one cache line: faster, slightly more false positives.
        BlockedBloom = "blocked-bloom",
    }
}

/// The sieve's settings, named as in the section `[crawl]` of the settings.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Options {
    /// The memory budget of `mercator` and `offline`, in bytes.
    #[serde(rename = "sieve_memory")]
    pub(crate) memory: usize,
    /// The number of recent signatures cached.
    #[serde(rename = "sieve_cache")]
    pub(crate) cache: usize,
    /// The number of URLs that the filter of `bloom` and `blocked-bloom` is sized for.
    #[serde(rename = "sieve_capacity")]
    pub(crate) capacity: u64,
    /// The filter's false-positive rate at that number.
    #[serde(rename = "sieve_error")]
    pub(crate) error: f64,
}

impl Options {
    /// Reads these settings from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        section("the sieve", json)
    }
}

/// Opens the sieve of the given kind as it was committed.
pub fn open(kind: &str, opening: Opening, options: Options, pulse: &Pulse) -> Result<Front> {
    let Options { memory, cache, capacity, error } = options;
    let size = Size::Keys { capacity, error };
    let sieve: Box<dyn Sieve> = match kind.parse()? {
        Kind::Memory => Box::new(DirectSieve::open(opening, SignatureSet::default(), pulse)?),
        Kind::Bloom => Box::new(DirectSieve::open(opening, Bloom::new(size, Hashing::Enhanced)?, pulse)?),
        Kind::BlockedBloom => Box::new(DirectSieve::open(opening, BlockedBloom::new(size)?, pulse)?),
        Kind::Mercator => Box::new(MercatorSieve::open(opening, memory, pulse)?),
        Kind::Offline => Box::new(OfflineSieve::open(opening, memory)?),
    };
    Ok(Front { kind: kind.to_owned(), sieve, cache: RecentSignatures::new(cache), batch: Batch::default() })
}

/// A sieve with its cache.
pub struct Front {
    kind: String,
    sieve: Box<dyn Sieve>,
    cache: RecentSignatures,
    batch: Batch,
}

impl Front {
    /// Adds a URL to the batch, unless it is in the cache.
    #[inline]
    pub fn offer(&mut self, url: &str, tag: u32) {
        let bytes = url.as_bytes();
        let (signature, check) = (Signature::of(bytes), Signature::check(bytes));
        if !self.cache.touch(signature, check) {
            self.batch.push(signature, check, tag, bytes);
        }
    }

    /// Adds a bare signature to the batch, with an empty URL: for benchmarks.
    #[inline]
    pub fn offer_signature(&mut self, signature: Signature) {
        if !self.cache.touch(signature, 0) {
            self.batch.push(signature, 0, 0, b"");
        }
    }

    /// Adds the batch to the sieve.
    pub fn settle(&mut self, pulse: &Pulse) -> Result<()> {
        let settled = self.sieve.add(&self.batch, pulse);
        if settled.is_err() {
            self.give_up();
        }
        self.batch.clear();
        settled
    }

    /// Drops the batch, and clears the cache, which already contains it.
    pub fn give_up(&mut self) {
        self.batch.clear();
        self.cache.clear();
    }

    /// See [`Sieve::take`].
    pub fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries> {
        self.sieve.take(n, pulse)
    }

    /// See [`Sieve::take_ready`].
    pub fn take_ready(&mut self, n: usize) -> Result<Entries> {
        self.sieve.take_ready(n)
    }

    /// See [`Sieve::flush`].
    pub fn flush(&mut self, pulse: &Pulse) -> Result<()> {
        self.sieve.flush(pulse)
    }

    /// See [`Sieve::checkpoint`].
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.sieve.checkpoint()
    }

    /// See [`Sieve::next`].
    pub fn next(&self) -> u64 {
        self.sieve.next()
    }

    /// The sieve's statistics, including the collisions detected by the cache.
    pub fn stats(&self) -> Stats {
        let stats = self.sieve.stats();
        Stats { collisions: stats.collisions + self.cache.collisions(), ..stats }
    }

    /// The description of the sieve.
    pub fn describe(&self) -> Description {
        Description::new(&self.kind, self.stats(), &self.cache, self.sieve.error())
    }
}
