//! The instantaneous codes for single naturals: each maps a number to its codeword.
//!
//! With λ(x) = ⌊log₂ x⌋, for a natural n:
//!
//! ```text
//! unary         n zeros and a one                                               n + 1
//! its ordered   n ones and a zero: a greater number has a greater word           n + 1
//! γ             λ(n+1) in unary, then n+1 without its highest bit               2λ(n+1) + 1
//! δ             λ(n+1) in γ, then n+1 without its highest bit                   2λ(λ(n+1)+1) + 1 + λ(n+1)
//! ζ_k           h = λ(n+1)/k in unary, then n+1−2^hk in minimal binary          about (1 + 1/k) λ(n+1) + k
//! ω             n+1, before it its λ, before that its λ …, then a zero          λ(n+1) + λλ(n+1) + … + 1
//! Golomb, m     n / m in unary, then n mod m in minimal binary                  ⌊n/m⌋ + 1 + ⌊or⌈log₂ m
//! Rice, k       Golomb with m = 2^k                                             ⌊n/2^k⌋ + 1 + k
//! π_k           λ(n+1) in Rice with k, then n+1 without its highest bit            ⌊λ(n+1)/2^k⌋ + 1 + k + λ(n+1)
//! minimal, u    n < 2^s−u in s−1 bits, else n−u+2^s in s, s = ⌈log₂ u⌉          s − 1 or s
//! blocks of b   b−1 bits of n in each, and a bit that says whether more come   b ⌈bits of n / (b−1)⌉
//! prefix of b   how many blocks more in ones and a zero, then all bits of n     the same
//! ```
//!
//! The bits are those of dsi-bitstream in little-endian order, which the tests check codeword by codeword: a
//! codeword is a sequence of a few fields, each with its lowest bit first. As text (see
//! [`super::mathematics::word`]) the fields are the same but have their highest bit first. Every codeword of
//! at most [`super::bits::WINDOW`] bits is decoded by [`Words::peek`] from one window without a loop over
//! bits; a longer one by [`Words::read`], field by field.
//!
//! Sources: Peter Elias, "Universal codeword sets and representations of the integers", 1975; Solomon Golomb,
//! "Run-length encodings", 1966; Paolo Boldi and Sebastiano Vigna, "Codes for the World-Wide Web", 2005;
//! Alberto Apostolico and Guido Drovandi, "Graph compression by BFS", 2009.

mod blocks;
mod elias;
mod golomb;
mod pi;
mod zeta;

pub use blocks::{Blocks, Prefixed, blocks};
pub use elias::{Delta, Gamma, Omega, Unary, UnaryOrdered};
pub use golomb::{Golomb, Minimal, Rice};
pub use pi::Pi;
pub use zeta::{FixedZeta, Zeta};

use super::bits::{BitSource, Bits};

/// The longest codeword that is written: beyond this the code was chosen by mistake.
pub const LONGEST: u64 = 1 << 16;

/// What [`Words::peek`] returns as the length of a codeword that may exceed a window.
const TOO_LONG: u32 = 1 << 16;

/// A code with a codeword for every single number.
pub trait Words: Copy {
    /// The codeword length of `number`; `None` if the code has none, or one longer than [`LONGEST`].
    fn length(self, number: u64) -> Option<u64>;

    /// Appends the codeword of `number`, which must have one.
    fn write(self, number: u64, bits: &mut impl Bits);

    /// The number whose codeword starts `window`, and the codeword's length. If that exceeds the valid bits
    /// of the window, the number is meaningless.
    fn peek(self, window: u64) -> (u64, u32);

    /// Reads a codeword of any length.
    fn read(self, bits: &mut impl BitSource) -> Option<u64>;
}

/// The number of zeros before the first one, at most 63.
#[inline(always)]
fn zeros(window: u64) -> u32 {
    (window | 1 << 63).trailing_zeros()
}

/// The bit width of `number`, at least one.
#[inline(always)]
fn width(number: u64) -> u32 {
    (number | 1).ilog2() + 1
}

#[cfg(test)]
mod tests;
