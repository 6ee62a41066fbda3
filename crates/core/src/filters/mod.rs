//! Filters: approximate sets of keys in a fixed number of bits, with false positives.
//!
//! | kind | forgets | bits per key at 1 % | cache misses per key |
//! | --- | --- | --- | --- |
//! | [`Bloom`] | never | 9.6 | one per hash function |
//! | [`BlockedBloom`] | never | 9.9 | one |
//! | [`StableBloom`] | the oldest keys, gradually | not applicable: its size is fixed | K + 1, or K + P |
//!
//! All identify a key by its 64-bit [`Signature`] alone, so that no rate is below n / 2^64; process keys in
//! batches, prefetching the cache lines of later keys; and have the same image in memory and on disk (see
//! `storage.rs`).

mod block_error;
mod blocked;
mod bloom;
pub(crate) mod probe;
mod stability;
mod stable;
mod storage;

use std::path::Path;

use crate::{Error, Pulse, Result, Signature};

pub use blocked::BlockedBloom;
pub use bloom::Bloom;
pub use probe::Hashing;
pub use stability::{Decay, Stability};
pub use stable::{Draws, StableBloom};
pub use storage::Storage;

/// The maximum number of hash functions: with that many, signature collisions dominate the error.
pub const MOST_HASHES: u32 = 64;
/// The maximum number of bits (8 TiB).
pub const MOST_BITS: u64 = 1 << 46;

/// The number of keys between two beats of the pulse: some milliseconds.
const KEYS_PER_BEAT: usize = 1 << 16;

/// The requested size of a Bloom filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Large enough for `capacity` keys with a false-positive rate of `error`.
    Keys {
        /// The number of keys.
        capacity: u64,
        /// The false-positive rate at capacity.
        error: f64,
    },
    /// An explicit number of bits (a blocked filter rounds up to a multiple of the block) and hash functions.
    Bits {
        /// The number of bits.
        bits: u64,
        /// The number of hash functions.
        hashes: u32,
    },
    /// An explicit number of bits, with the number of hash functions that is best for `capacity` keys.
    Load {
        /// The number of bits.
        bits: u64,
        /// The number of keys.
        capacity: u64,
    },
}

impl Size {
    /// The size specified in one of the three ways.
    pub fn from_either(
        capacity: Option<u64>,
        error: Option<f64>,
        bits: Option<u64>,
        hashes: Option<u32>,
    ) -> Result<Size> {
        match (capacity, error, bits, hashes) {
            (Some(capacity), Some(error), None, None) => Size::Keys { capacity, error }.checked(),
            (None, None, Some(bits), Some(hashes)) => Size::Bits { bits, hashes }.checked(),
            (Some(capacity), None, Some(bits), None) => Size::Load { bits, capacity }.checked(),
            _ => Err(Error::Invalid(
                "give two: capacity and error, bits and hashes, or bits and capacity".into(),
            )),
        }
    }

    /// This size, if it is valid.
    pub fn checked(self) -> Result<Size> {
        match self {
            Size::Keys { capacity: 0, .. } | Size::Load { capacity: 0, .. } => {
                Err(Error::Invalid("the capacity must be at least 1".into()))
            }
            Size::Keys { error, .. } if !(error > 0.0 && error < 1.0) => {
                Err(Error::Invalid(format!("the error must be between 0 and 1, and {error} is not")))
            }
            Size::Bits { bits, hashes } => {
                check_bits(bits)?;
                check_hashes(hashes)?;
                Ok(self)
            }
            Size::Load { bits, .. } => check_bits(bits).map(|()| self),
            Size::Keys { .. } => Ok(self),
        }
    }
}

fn check_bits(bits: u64) -> Result<()> {
    if (1..=MOST_BITS).contains(&bits) {
        return Ok(());
    }
    Err(Error::Invalid(format!("a filter has from 1 to {MOST_BITS} bits, and {bits} were asked for")))
}

fn check_hashes(hashes: u32) -> Result<()> {
    if (1..=MOST_HASHES).contains(&hashes) {
        return Ok(());
    }
    Err(Error::Invalid(format!("a filter has from 1 to {MOST_HASHES} hashes, and {hashes} were asked for")))
}

/// The interface of every filter. `seen` receives one answer per key.
pub trait Filter: Send + Sync {
    /// Adds the keys in order, and reports for each whether it was already present (up to false positives).
    fn add(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;

    /// Adds the keys.
    fn update(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<()>;

    /// Reports for each key whether it is present (up to false positives).
    fn contains(&self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;

    /// The number of bits.
    fn bits(&self) -> u64;

    /// The number of hash functions.
    fn hashes(&self) -> u32;

    /// The fraction of the bits (or cells) that are not 0; scans them all.
    fn fill(&self) -> f64;

    /// The current false-positive rate, from the fill; scans all bits.
    fn expected_error(&self) -> f64;

    /// The parameters of a stable filter.
    fn stability(&self) -> Option<Stability> {
        None
    }

    /// A copy of the filter in memory.
    fn copy(&self) -> Result<Box<dyn Filter>>;

    /// The image of the filter.
    fn storage(&self) -> &Storage;

    /// The image of the filter, mutable.
    fn storage_mut(&mut self) -> &mut Storage;

    /// How many keys were added: in a stable filter all of them, in the others those that were reported new.
    fn count(&self) -> u64 {
        self.storage().count()
    }

    /// Saves the filter to a new file.
    fn save(&self, path: &Path) -> Result<()> {
        self.storage().save(path)
    }

    /// Makes a filter in a mapped file durable; does nothing for one in memory.
    fn flush(&mut self) -> Result<()> {
        self.storage_mut().flush()
    }
}

#[cfg(test)]
mod tests;
