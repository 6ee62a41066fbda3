//! From a key to the hash values that these structures need.
//!
//! A key is hashed once, to 128 bits by XXH3-128 with seed 0, a published and frozen function. Among n keys
//! some two have the same hash with probability n² / 2^129: 10^10 keys, once in 10^18. Everything else is
//! derived from those bits: the shard from the highest bits of the high half, the signature from the lowest
//! bits of the same half, and the edge in the graph from both halves and a seed, so that another seed yields
//! another graph without rereading the keys.

use twox_hash::XxHash3_128;

use crate::signature::hash::{random, reduce};

/// 2^64 divided by the golden ratio, and odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An odd number with as many ones as zeros: multiplication by it is a bijection.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// The maximum width of a signature in bits.
pub const MOST_SIGNATURE_BITS: u32 = 32;

/// The hash that represents a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyHash {
    high: u64,
    low: u64,
}

impl KeyHash {
    /// The hash of a key.
    #[inline]
    pub fn of(key: &[u8]) -> KeyHash {
        let hash = XxHash3_128::oneshot(key);
        KeyHash { high: (hash >> 64) as u64, low: hash as u64 }
    }

    /// The key's slot in a table of `slots`.
    #[inline]
    pub(crate) fn slot(self, slots: usize) -> usize {
        reduce(self.low, slots as u64) as usize
    }

    /// The key's shard among `shards`.
    #[inline]
    pub(super) fn shard(self, shards: u32) -> u32 {
        reduce(self.high, u64::from(shards)) as u32
    }

    /// The key's signature of `bits` bits, at most [`MOST_SIGNATURE_BITS`].
    #[inline]
    pub(super) fn signature(self, bits: u32) -> u64 {
        self.high & ((1 << bits) - 1)
    }

    /// The random number from which the key's edge is drawn; it depends on the seed.
    ///
    /// With the same seed, hashes that differ in only one half yield different numbers.
    #[inline]
    pub(super) fn local(self, seed: u8) -> u64 {
        let seed = u64::from(seed).wrapping_mul(GOLDEN);
        random(self.low ^ (self.high ^ seed).wrapping_mul(SPREAD), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_function() {
        // The reference value of XXH3-128 for the empty input.
        let empty = KeyHash { high: 0x99aa_06d3_0147_98d8, low: 0x6001_c324_468d_497f };
        assert_eq!(KeyHash::of(b""), empty);
        // These values are part of the format.
        assert_eq!([empty.local(0), empty.local(1)], [0xe533_6195_748b_3d91, 0xf3f4_dff9_c156_5013]);
    }

    #[test]
    fn shards_and_signatures_are_the_ends_of_the_high_half() {
        let hash = KeyHash { high: 0xf000_0000_0000_000b, low: 0 };
        assert_eq!([1, 2, 16, 100].map(|shards| hash.shard(shards)), [0, 1, 15, 93]);
        assert_eq!([0, 1, 3, 4, 32].map(|bits| hash.signature(bits)), [0, 1, 3, 11, 11]);
    }
}
