//! The instantaneous codes for single naturals: each gives a number its word.
//!
//! With λ(x) = ⌊log₂ x⌋, for a natural n:
//!
//! ```text
//! unary         n zeros and a one                                               n + 1
//! γ             λ(n+1) in unary, then n+1 without its highest bit               2λ(n+1) + 1
//! δ             λ(n+1) in γ, then n+1 without its highest bit                   2λ(λ(n+1)+1) + 1 + λ(n+1)
//! ζ_k           h = λ(n+1)/k in unary, then n+1−2^hk in minimal binary          about (1 + 1/k) λ(n+1) + k
//! ω             n+1, before it its λ, before that its λ …, then a zero          λ(n+1) + λλ(n+1) + … + 1
//! Golomb, m     n / m in unary, then n mod m in minimal binary                  ⌊n/m⌋ + 1 + ⌊or⌈log₂ m
//! Rice, k       Golomb with m = 2^k                                             ⌊n/2^k⌋ + 1 + k
//! minimal, u    n < 2^s−u in s−1 bits, else n−u+2^s in s, s = ⌈log₂ u⌉          s − 1 or s
//! blocks of b   b−1 bits of n in each, and a bit that says whether more come   b ⌈bits of n / (b−1)⌉
//! prefix of b   how many blocks more in ones and a zero, then all bits of n     the same
//! ```
//!
//! The bits are those of dsi-bitstream in little-endian order, which the tests check word for word: a word is
//! a few pieces, one after the other, and each piece has its lowest bit first. On paper (see
//! [`super::mathematics::word`]) the pieces are the same and have their highest bit first. Every word of at most [`super::bits::WINDOW`] bits is decoded by
//! [`Words::peek`] out of one window without a loop over bits; a longer one by [`Words::read`], piece by piece.
//!
//! Sources: Peter Elias, "Universal codeword sets and representations of the integers", 1975; Solomon Golomb,
//! "Run-length encodings", 1966; Paolo Boldi and Sebastiano Vigna, "Codes for the World-Wide Web", 2005.

mod blocks;
mod elias;
mod golomb;
mod zeta;

pub use blocks::{Blocks, Prefixed, blocks};
pub use elias::{Delta, Gamma, Omega, Unary};
pub use golomb::{Golomb, Minimal, Rice};
pub use zeta::{FixedZeta, Zeta};

use super::bits::{BitReader, Bits};

/// The longest word that is written: what a number would take beyond this is a mistake in the choice of the code.
pub const LONGEST: u64 = 1 << 16;

/// What [`Words::peek`] returns as the length of a word that a window may not hold.
const TOO_LONG: u32 = 1 << 16;

/// A code that has a word for every single number.
pub trait Words: Copy {
    /// How long the word of `number` is; `None` where the code has none, or one longer than [`LONGEST`].
    fn length(self, number: u64) -> Option<u64>;

    /// Appends the word of `number`, which has one.
    fn write(self, number: u64, bits: &mut impl Bits);

    /// The number whose word begins `window`, and the word's length. Where that is more than the bits of the
    /// window that are of the stream, the number means nothing.
    fn peek(self, window: u64) -> (u64, u32);

    /// Takes a word of any length.
    fn read(self, bits: &mut BitReader) -> Option<u64>;
}

/// The zeros before the first one, at most 63.
#[inline(always)]
fn zeros(window: u64) -> u32 {
    (window | 1 << 63).trailing_zeros()
}

/// How many bits `number` has, at least one.
#[inline(always)]
fn width(number: u64) -> u32 {
    (number | 1).ilog2() + 1
}

#[cfg(test)]
mod tests;
