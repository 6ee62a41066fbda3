//! The 64-bit signature that identifies a URL everywhere in Crivello.
//!
//! With n URLs known, a new one collides with probability n / 2^64, and the expected number of
//! colliding pairs is n² / 2^65: 10^11 URLs see less than one wrong answer in 10^8.
//! The function is XXH3-64 with seed 0, a published and frozen definition, so a signature written
//! today means the same on any machine and in any later version.

pub(crate) mod hash;
pub(crate) mod interpolation;
mod set;
mod word;

use twox_hash::XxHash3_64;

pub use set::SignatureSet;

/// The signature of a URL (or of any bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Signature(pub u64);

impl Signature {
    /// The number of bits of a whole signature.
    pub const BITS: u32 = u64::BITS;

    /// The signature of `bytes`.
    #[inline]
    pub fn of(bytes: &[u8]) -> Signature {
        Signature(XxHash3_64::oneshot(bytes))
    }

    /// The signature of `bits` bits, at most 64: the highest ones, and zeros.
    #[inline]
    pub fn narrowed(self, bits: u32) -> Signature {
        Signature(self.0 & u64::MAX << (64 - bits))
    }

    /// Whether `narrow` is this signature, or what [`Signature::narrowed`] makes of it at any width; by chance
    /// also another one.
    #[inline]
    pub fn narrows_to(self, narrow: Signature) -> bool {
        self.narrowed(64 - narrow.0.trailing_zeros().min(63)) == narrow
    }

    /// A second hash of `bytes`, to detect signature collisions: one in 65,536 goes undetected.
    #[inline]
    pub fn check(bytes: &[u8]) -> u16 {
        XxHash3_64::oneshot_with_seed(CHECK_SEED, bytes) as u16
    }
}

/// Any seed but 0, which is that of the signatures.
const CHECK_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_narrowed_to_its_highest_bits() {
        let signature = Signature::of(b"");
        assert_eq!(signature.narrowed(64), signature);
        assert_eq!(signature.narrowed(16).0, 0x2d06 << 48);
        assert!((1..=64).all(|bits| bits < 3 || signature.narrows_to(signature.narrowed(bits))));
        assert!(!signature.narrows_to(Signature(0x2d07 << 48)));
    }

    #[test]
    fn is_the_published_function() {
        // The reference value of XXH3-64 for the empty input.
        assert_eq!(Signature::of(b"").0, 0x2d06_8005_38d3_94c2);
    }
}
