//! Fingerprints that are near each other by chance.
//!
//! The expected number of fingerprints within k bits of a given one, among n of b random bits:
//!
//! ```text
//! n · Σ C(b, j) over j ≤ k / 2^b
//! ```
//!
//! With 64 bits that is one in 10,000 for 360,000 fingerprints and k = 8, and for 22 million and k = 6: a distance that
//! tells copies from other texts among a few pages does not do so among many.

use super::layout::binomial;

/// The most fingerprints of `bits` bits of which on average `share` or less are within `distance` of another one by chance.
pub fn most_within(bits: u32, distance: u32, share: f64) -> u64 {
    let near: f64 = (0..=distance.min(bits)).map(|differences| binomial(bits, differences)).sum();
    // A conversion to an integer saturates.
    (share * f64::from(bits).exp2() / near) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_numbers_of_the_comment() {
        assert_eq!(most_within(64, 8, 1e-4) / 1000, 359);
        assert_eq!(most_within(64, 6, 1e-4) / 1_000_000, 22);
        assert_eq!(most_within(64, 0, 1.0), u64::MAX);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_all_fingerprints(distance in 0u32..=12) {
            let near = (0u32..4096).filter(|word| word.count_ones() <= distance).count() as f64;
            let expected = (1000.0 * 4096.0 / near) as u64;
            prop_assert!(most_within(12, distance, 1000.0).abs_diff(expected) <= 1);
        }
    }
}
