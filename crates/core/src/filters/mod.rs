//! Filters: sets of keys in a fixed number of bits, which sometimes say yes where the answer is no.
//!
//! | kind | forgets | bits per key at 1 % | cache misses per key |
//! | --- | --- | --- | --- |
//! | [`Bloom`] | never | 9.6 | one per hash function |
//! | [`BlockedBloom`] | never | 9.9 | one |
//! | [`StableBloom`] | the oldest, a little with every key | none: its size is fixed | K + 1 |
//!
//! All know a key by its 64-bit [`Signature`] alone, so that none errs less than n / 2^64; take keys in
//! batches, fetching the cache lines of later keys while they work on one; and have the same image in
//! memory and on disk (see `storage.rs`).

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
pub use stability::Stability;
pub use stable::StableBloom;
pub use storage::Storage;

/// No filter has more hash functions: with as many, a Bloom filter errs less than 64-bit signatures do.
pub const MOST_HASHES: u32 = 64;
/// No filter has more bits (8 TiB).
pub const MOST_BITS: u64 = 1 << 46;

/// How many keys are handled between two beats of the pulse: some milliseconds.
const KEYS_PER_BEAT: usize = 1 << 16;

/// How large a Bloom filter is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// As large as `capacity` keys with false positives at rate `error` need.
    Keys {
        /// How many keys.
        capacity: u64,
        /// The rate of false positives when they are all there.
        error: f64,
    },
    /// As many bits (a blocked filter rounds up to whole blocks) and hash functions.
    Bits {
        /// How many bits.
        bits: u64,
        /// How many hash functions.
        hashes: u32,
    },
}

impl Size {
    /// The size that a caller describes in one of the two ways.
    pub fn from_either(
        capacity: Option<u64>,
        error: Option<f64>,
        bits: Option<u64>,
        hashes: Option<u32>,
    ) -> Result<Size> {
        match (capacity, error, bits, hashes) {
            (Some(capacity), Some(error), None, None) => Size::Keys { capacity, error }.checked(),
            (None, None, Some(bits), Some(hashes)) => Size::Bits { bits, hashes }.checked(),
            _ => Err(Error::Invalid("give either capacity and error, or bits and hashes".to_owned())),
        }
    }

    /// This size, if there is such a filter.
    pub fn checked(self) -> Result<Size> {
        match self {
            Size::Keys { capacity: 0, .. } => Err(Error::Invalid("the capacity must be at least 1".into())),
            Size::Keys { error, .. } if !(error > 0.0 && error < 1.0) => {
                Err(Error::Invalid(format!("the error must be between 0 and 1, and {error} is not")))
            }
            Size::Bits { bits, hashes } => {
                check_bits(bits)?;
                check_hashes(hashes)?;
                Ok(self)
            }
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

/// What every filter does. `seen` has one answer per key.
pub trait Filter: Send + Sync {
    /// Adds the keys in their order, and answers for each whether it seemed to be there before.
    fn add(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;

    /// Adds the keys.
    fn update(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<()>;

    /// Answers for each key whether it seems to be there.
    fn contains(&self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;

    /// How many bits the filter has.
    fn bits(&self) -> u64;

    /// How many hash functions a key has.
    fn hashes(&self) -> u32;

    /// The fraction of the bits (or cells) that are not 0; reads them all.
    fn fill(&self) -> f64;

    /// The probability that a key that was never added seems to be there now; reads all the bits.
    fn expected_error(&self) -> f64;

    /// The parameters of a filter that forgets.
    fn stability(&self) -> Option<Stability> {
        None
    }

    /// The same filter in memory.
    fn copy(&self) -> Result<Box<dyn Filter>>;

    /// Where its bits lie.
    fn storage(&self) -> &Storage;

    /// Where its bits lie, to change it.
    fn storage_mut(&mut self) -> &mut Storage;

    /// How many keys were added: in a filter that forgets all of them, in the others those that seemed new.
    fn count(&self) -> u64 {
        self.storage().count()
    }

    /// Writes the filter to a file of its own.
    fn save(&self, path: &Path) -> Result<()> {
        self.storage().save(path)
    }

    /// Makes a filter in a mapped file durable; one in memory has nothing to do.
    fn flush(&mut self) -> Result<()> {
        self.storage_mut().flush()
    }
}

#[cfg(test)]
mod tests;
