//! What stands before every sieve: the batch that is being put together, and the cache of recent
//! signatures, whose hits go no further.
//!
//! Being in the cache means having been added, since the process began: after a crash the cache is empty.

use serde::Deserialize;

use super::{
    Batch, Checkpoint, Description, DirectSieve, Entries, MercatorSieve, OfflineSieve, Opening,
    RecentSignatures, Sieve, Stats,
};
use crate::filters::{BlockedBloom, Bloom, Size};
use crate::settings::{choices, section};
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};

choices! {
    /// The kinds that are native.
    pub enum Kind, "sieve of the kind" {
        /// Signatures in an array and a sorted file, merged when the array is full: fixed memory.
        Mercator = "mercator",
        /// Signatures in a compact table: about ten bytes a URL.
        Memory = "memory",
        /// Signatures in a sorted file, merged when asked: fixed memory.
        Offline = "offline",
        /// A Bloom filter: fixed memory, false positives.
        Bloom = "bloom",
        /// A Bloom filter whose bits of a URL share a cache line: faster, somewhat more false positives.
        BlockedBloom = "blocked-bloom",
    }
}

/// How a sieve is to be made, named as in the section `[crawl]` of the settings.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Options {
    /// The bytes of memory of `mercator` and `offline`.
    #[serde(rename = "sieve_memory")]
    pub(crate) memory: usize,
    /// How many recent signatures are kept.
    #[serde(rename = "sieve_cache")]
    pub(crate) cache: usize,
    /// How many URLs the filter of `bloom` and `blocked-bloom` is made for.
    #[serde(rename = "sieve_capacity")]
    pub(crate) capacity: u64,
    /// How often that filter may err when it has so many.
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
        Kind::Bloom => Box::new(DirectSieve::open(opening, Bloom::new(size)?, pulse)?),
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
    /// Puts a URL into the batch, unless it is a recent one.
    #[inline]
    pub fn offer(&mut self, url: &str, tag: u32) {
        let bytes = url.as_bytes();
        let (signature, check) = (Signature::of(bytes), Signature::check(bytes));
        if !self.cache.touch(signature, check) {
            self.batch.push(signature, check, tag, bytes);
        }
    }

    /// Puts a bare signature into the batch, with an empty URL: for measuring.
    #[inline]
    pub fn offer_signature(&mut self, signature: Signature) {
        if !self.cache.touch(signature, 0) {
            self.batch.push(signature, 0, 0, b"");
        }
    }

    /// Adds the batch.
    pub fn settle(&mut self, pulse: &Pulse) -> Result<()> {
        let settled = self.sieve.add(&self.batch, pulse);
        if settled.is_err() {
            self.give_up();
        }
        self.batch.clear();
        settled
    }

    /// Drops the batch, and the cache, to which it seems to have been added already.
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

    /// How the sieve stands, with the collisions that the cache saw.
    pub fn stats(&self) -> Stats {
        let stats = self.sieve.stats();
        Stats { collisions: stats.collisions + self.cache.collisions(), ..stats }
    }

    /// All that there is to tell of it.
    pub fn describe(&self) -> Description {
        Description::new(&self.kind, self.stats(), &self.cache, self.sieve.error())
    }
}
