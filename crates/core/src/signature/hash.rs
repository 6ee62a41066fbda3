//! Pseudorandom numbers from a signature: SplitMix64, and the reduction of 64 bits to a range.
//!
//! A number below m is (x m) / 2^64, Lemire's reduction, which uses the high bits: unlike a remainder it
//! needs no division and has no bad m.
//!
//! Sources: Daniel Lemire, "Fast random integer generation in an interval", 2019; Guy Steele, Doug Lea and
//! Christine Flood, "Fast splittable pseudorandom number generators", 2014.

/// 2^64 divided by the golden ratio, and odd: the step of SplitMix64.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output at `index` (from 0) of SplitMix64 with this state.
#[inline]
pub fn random(state: u64, index: u64) -> u64 {
    let mixed = state.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Maps a 64-bit number uniformly to one below `range`.
#[inline]
pub fn reduce(number: u64, range: u64) -> u64 {
    ((u128::from(number) * u128::from(range)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_generator() {
        // The reference values of SplitMix64 with seed 0.
        assert_eq!(random(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random(0, 1), 0x6e78_9e6a_a1b9_65f4);
    }
}
