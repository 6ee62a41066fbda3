//! The ζ codes, for numbers with a power-law distribution: ≈ 1/x^(1+1/k).

use super::{Minimal, TOO_LONG, Words, zeros};
use crate::codes::bits::{BitSource, Bits, WINDOW, lowest};

/// Boldi and Vigna's ζ with parameter k, from 1 to 63.
#[derive(Clone, Copy)]
pub struct Zeta(pub u32);

impl Zeta {
    /// For a number with n + 1 at least 2^hk and less than 2^(h+1)k: the remainder in minimal binary.
    fn rest(self, h: u32) -> Minimal {
        let least = 1u64 << (h * self.0);
        // The last of the intervals ends at 2^64, which wraps to zero.
        Minimal::new((least << self.0).wrapping_sub(least))
    }
}

impl Words for Zeta {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        let next = number.checked_add(1)?;
        let h = next.ilog2() / self.0;
        let rest = self.rest(h).length(next - (1 << (h * self.0)))?;
        Some(u64::from(h) + 1 + rest)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        let next = number + 1;
        let h = next.ilog2() / self.0;
        bits.write_unary(u64::from(h));
        self.rest(h).write(next - (1 << (h * self.0)), bits);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let h = zeros(window);
        let log = h * self.0;
        // The remainder is minimal binary of a bound 2^log (2^k − 1): its shorter codewords are those below
        // 2^log, that is, those whose last k − 1 bits are zero. Testing these alone is the fastest way to the
        // length.
        let last = h + 1 + log;
        if last + self.0 > WINDOW {
            return (0, TOO_LONG);
        }
        let is_long = lowest(window >> last, self.0 - 1) != 0;
        let length = last + self.0 - 1 + u32::from(is_long);
        let rest = window >> (h + 1);
        let shorter = log + self.0 - 1;
        let short = lowest(rest, shorter);
        let least = 1 << log;
        let long = (short << 1 | (rest >> shorter & 1)).wrapping_sub(least);
        (least + if is_long { long } else { short } - 1, length)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let h = bits.read_unary()?;
        if h * u64::from(self.0) > 63 {
            return None;
        }
        let h = h as u32;
        let rest = self.rest(h).read(bits)?;
        Some((1 << (h * self.0)) - 1 + rest)
    }
}

/// ζ with a compile-time parameter: the loops multiply by it at every codeword.
#[derive(Clone, Copy)]
pub struct FixedZeta<const K: u32>;

impl<const K: u32> Words for FixedZeta<K> {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        Zeta(K).length(number)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        Zeta(K).write(number, bits);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        Zeta(K).peek(window)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        Zeta(K).read(bits)
    }
}
