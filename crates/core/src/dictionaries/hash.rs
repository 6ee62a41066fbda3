//! From a key to the numbers that the structures of this part need of it.
//!
//! A key is hashed once, to 128 bits by XXH3-128 with seed 0, a published and frozen function. With n keys two
//! of them have the same hash with probability n² / 2^129: 10^10 keys, once in 10^18. Everything else is made from
//! those bits: the shard of the key from the highest ones of the high half, its signature from the lowest ones
//! of the same half, and its place in the graph from both halves and a seed, so that another seed gives
//! another graph without reading the keys again.

use twox_hash::XxHash3_128;

use crate::signature::hash::{random, reduce};

/// 2^64 divided by the golden ratio, and odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An odd number with as many ones as zeros: a multiplication by it loses nothing.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// The most bits that a signature can have.
pub const MOST_SIGNATURE_BITS: u32 = 32;

/// The hash that stands for a key.
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

    /// Which of `shards` shards the key is in.
    #[inline]
    pub(super) fn shard(self, shards: u32) -> u32 {
        reduce(self.high, u64::from(shards)) as u32
    }

    /// The signature of the key: `bits` bits, at most [`MOST_SIGNATURE_BITS`].
    #[inline]
    pub(super) fn signature(self, bits: u32) -> u64 {
        self.high & ((1 << bits) - 1)
    }

    /// A random number for the key's place in its shard, another one with another seed.
    ///
    /// With one seed it differs where either half of the hash alone differs.
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
        // These are frozen with the format.
        assert_eq!([empty.local(0), empty.local(1)], [0xe533_6195_748b_3d91, 0xf3f4_dff9_c156_5013]);
    }

    #[test]
    fn shards_and_signatures_are_the_ends_of_the_high_half() {
        let hash = KeyHash { high: 0xf000_0000_0000_000b, low: 0 };
        assert_eq!([1, 2, 16, 100].map(|shards| hash.shard(shards)), [0, 1, 15, 93]);
        assert_eq!([0, 1, 3, 4, 32].map(|bits| hash.signature(bits)), [0, 1, 3, 11, 11]);
    }
}
