//! The approximate dictionary: a set of keys as a static function from each key to its signature.
//!
//! With signatures of r bits, f(x) = s(x) for every key; any other x gets an arbitrary value, which equals
//! its signature with probability 2^-r (the false-positive rate). It takes c r bits per key (c: see
//! [`super::graph`]) and three cache misses, where a Bloom filter with the same false-positive rate takes
//! 1.44 r bits and r cache misses; but it is immutable. Its bytes are those of the function.

use super::function::{Plan, StaticFunction};
use super::graph::Construction;
use super::hash::{KeyHash, MOST_SIGNATURE_BITS};
use crate::{Error, Pulse, Result};

/// The header of such a set, used to read its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approximate(StaticFunction);

impl Approximate {
    /// The bytes of the set of keys with these hashes; duplicate keys are allowed.
    pub fn build(
        hashes: &[KeyHash],
        construction: Construction,
        signature_bits: u32,
        compact: bool,
        pulse: &Pulse,
    ) -> Result<Vec<u8>> {
        if !(1..=MOST_SIGNATURE_BITS).contains(&signature_bits) {
            let reason =
                format!("signatures have from 1 to {MOST_SIGNATURE_BITS} bits, not {signature_bits}");
            return Err(Error::Invalid(reason));
        }
        let plan = Plan { construction, bits: signature_bits, compact };
        StaticFunction::build(hashes, |index| hashes[index].signature(signature_bits), plan, pulse)
    }

    /// Reads the header; `None` if the bytes are not such a set.
    pub fn open(bytes: &[u8]) -> Option<Approximate> {
        let function = StaticFunction::open(bytes)?;
        (1..=MOST_SIGNATURE_BITS).contains(&function.bits()).then_some(Approximate(function))
    }

    /// Whether the key is in the set, up to false positives. `bytes` must be those passed to `open`.
    #[inline]
    pub fn contains(&self, bytes: &[u8], hash: KeyHash) -> bool {
        self.is_of(self.0.get(bytes, hash), hash)
    }

    /// Batched, faster [`contains`](Self::contains): calls `answer` with each key's index and result.
    pub fn contains_many(
        &self,
        bytes: &[u8],
        hashes: &[KeyHash],
        pulse: &Pulse,
        mut answer: impl FnMut(usize, bool),
    ) -> Result<()> {
        self.0.get_many(bytes, hashes, pulse, |index, value| answer(index, self.is_of(value, hashes[index])))
    }

    /// The function from keys to their signatures.
    pub fn function(&self) -> &StaticFunction {
        &self.0
    }

    #[inline]
    fn is_of(&self, value: Option<u64>, hash: KeyHash) -> bool {
        !self.0.is_empty() && value == Some(hash.signature(self.0.bits()))
    }
}
