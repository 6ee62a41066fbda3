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
use crate::{Error, Pulse, Result, Signature};

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
    /// The number of bits of a signature.
    #[serde(rename = "sieve_signature_bits")]
    pub(crate) signature_bits: u32,
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
    let Options { memory, cache, capacity, error, signature_bits } = options;
    check_width(opening, signature_bits)?;
    let size = Size::Keys { capacity, error };
    let sieve: Box<dyn Sieve> = match kind.parse()? {
        Kind::Memory => Box::new(DirectSieve::open(opening, SignatureSet::default(), pulse)?),
        Kind::Bloom => Box::new(DirectSieve::open(opening, Bloom::new(size, Hashing::Enhanced)?, pulse)?),
        Kind::BlockedBloom => Box::new(DirectSieve::open(opening, BlockedBloom::new(size)?, pulse)?),
        Kind::Mercator => Box::new(MercatorSieve::open(opening, memory, pulse)?),
        Kind::Offline => Box::new(OfflineSieve::open(opening, memory)?),
    };
    let (cache, batch) = (RecentSignatures::new(cache), Batch::default());
    Ok(Front { kind: kind.to_owned(), signature_bits, sieve, cache, batch })
}

/// The name under which the width of signatures is committed, unless it is 64.
const SIGNATURE_BITS: &str = "signature_bits";

/// A sieve knows its URLs by signatures of one width.
fn check_width(opening: Opening, bits: u32) -> Result<()> {
    if !(16..=64).contains(&bits) {
        return Err(Error::Invalid(format!("a signature has from 16 to 64 bits, not {bits}")));
    }
    let committed = opening.state.get(SIGNATURE_BITS).copied().unwrap_or(64);
    if opening.files.contains_key(URLS) && committed != u64::from(bits) {
        return Err(Error::Invalid(format!(
            "the sieve was made with signatures of {committed} bits, and cannot go on with {bits}"
        )));
    }
    Ok(())
}

/// A sieve with its cache.
pub struct Front {
    kind: String,
    signature_bits: u32,
    sieve: Box<dyn Sieve>,
    cache: RecentSignatures,
    batch: Batch,
}

impl Front {
    /// Adds a URL to the batch, unless it is in the cache.
    #[inline]
    pub fn offer(&mut self, url: &str, tag: u32) {
        let bytes = url.as_bytes();
        let signature = Signature::of(bytes).narrowed(self.signature_bits);
        let check = Signature::check(bytes);
        if !self.cache.touch(signature, check) {
            self.batch.push(signature, check, tag, bytes);
        }
    }

    /// Adds a bare signature to the batch, with an empty URL: for benchmarks.
    #[inline]
    pub fn offer_signature(&mut self, signature: Signature) {
        let signature = signature.narrowed(self.signature_bits);
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
        let mut checkpoint = self.sieve.checkpoint()?;
        if self.signature_bits != 64 {
            checkpoint.state.insert(SIGNATURE_BITS.to_owned(), u64::from(self.signature_bits));
        }
        Ok(checkpoint)
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
        Description::new(&self.kind, self.signature_bits, self.stats(), &self.cache, self.sieve.error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const URLS_ADDED: u64 = 3000;

    fn options(signature_bits: u32) -> Options {
        Options { memory: 1 << 16, cache: 100, capacity: 100_000, error: 1e-8, signature_bits }
    }

    /// Of n URLs with signatures from u values, u (1 − (1 − 1/u)^n) are distinct: n − n²/2u, about.
    #[test]
    fn as_many_urls_are_lost_as_signatures_collide() {
        let values = 16f64.exp2();
        let expected = values * -(URLS_ADDED as f64 * (-1.0 / values).ln_1p()).exp_m1();
        assert!((URLS_ADDED as f64 - expected - (URLS_ADDED as f64).powi(2) / 2.0 / values).abs() < 2.0);
        let mut of_kinds = Vec::new();
        for (kind, _) in Kind::ALL {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(folder.path().join(URLS).parent().unwrap()).unwrap();
            let nothing = HashMap::new();
            let opening = Opening { folder: folder.path(), files: &nothing, state: &nothing, start: None };
            let mut front = open(kind, opening, options(16), &Pulse::STEADY).unwrap();
            for number in 0..URLS_ADDED {
                front.offer(&format!("http://a.example/{number}"), 0);
            }
            front.settle(&Pulse::STEADY).unwrap();
            let mut emitted = 0;
            while let entries = front.take(1000, &Pulse::STEADY).unwrap()
                && !entries.is_empty()
            {
                emitted += entries.len() as u64;
            }
            assert!((emitted as f64 - expected).abs() < 40.0, "{kind}: {emitted} instead of {expected}");
            of_kinds.push(emitted);
            let checkpoint = front.checkpoint().unwrap();
            drop(front);
            let files: HashMap<String, u64> =
                checkpoint.files.into_iter().filter_map(|(name, length)| Some((name, length?))).collect();
            let again = Opening { files: &files, state: &checkpoint.state, ..opening };
            assert!(matches!(open(kind, again, options(64), &Pulse::STEADY), Err(Error::Invalid(_))));
            let front = open(kind, again, options(16), &Pulse::STEADY).unwrap();
            assert_eq!(front.stats().seen, emitted);
        }
        assert!(of_kinds.windows(2).all(|pair| pair[0] == pair[1]), "{of_kinds:?}");
        let opening = Opening {
            folder: std::path::Path::new("x"),
            files: &HashMap::new(),
            state: &HashMap::new(),
            start: None,
        };
        assert!(matches!(open("memory", opening, options(15), &Pulse::STEADY), Err(Error::Invalid(_))));
    }
}
