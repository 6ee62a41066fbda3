//! Minimal binary code, and the Golomb and Rice codes, with unary quotients and minimal binary remainders.

use super::{LONGEST, TOO_LONG, Words, zeros};
use crate::codes::bits::{BitSource, Bits, WINDOW, lowest};

/// Minimal binary code of the numbers below a bound.
#[derive(Clone, Copy)]
pub struct Minimal {
    bound: u64,
    /// The length of the shorter codewords.
    shorter: u32,
    /// How many numbers have them.
    limit: u64,
}

impl Minimal {
    /// The code of the numbers below `bound`, which is at least one.
    #[inline]
    pub fn new(bound: u64) -> Minimal {
        let shorter = bound.ilog2();
        Minimal { bound, shorter, limit: (1u64 << shorter << 1).wrapping_sub(bound) }
    }
}

impl Words for Minimal {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        (number < self.bound).then(|| u64::from(self.shorter) + u64::from(number >= self.limit))
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        if number < self.limit {
            bits.write(number, self.shorter);
        } else {
            let moved = number + self.limit;
            bits.write(moved >> 1, self.shorter);
            bits.write(moved & 1, 1);
        }
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        if self.shorter >= WINDOW {
            return (0, TOO_LONG);
        }
        let short = lowest(window, self.shorter);
        let long = (short << 1 | (window >> self.shorter & 1)).wrapping_sub(self.limit);
        let is_long = short >= self.limit;
        (if is_long { long } else { short }, self.shorter + u32::from(is_long))
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let short = bits.read(self.shorter)?;
        if short < self.limit {
            return Some(short);
        }
        Some((short << 1 | bits.read(1)?) - self.limit)
    }
}

/// The Golomb code of a modulus, at least one.
#[derive(Clone, Copy)]
pub struct Golomb {
    modulus: u64,
    remainder: Minimal,
}

impl Golomb {
    /// The code of a modulus, at least one.
    pub fn new(modulus: u64) -> Golomb {
        Golomb { modulus, remainder: Minimal::new(modulus) }
    }
}

impl Words for Golomb {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        let quotient = number / self.modulus;
        let length = quotient.checked_add(1 + self.remainder.length(number % self.modulus)?)?;
        (length <= LONGEST).then_some(length)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        bits.write_unary(number / self.modulus);
        self.remainder.write(number % self.modulus, bits);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let quotient = zeros(window);
        let (remainder, length) = self.remainder.peek(window >> quotient >> 1);
        let number = u64::from(quotient).wrapping_mul(self.modulus).wrapping_add(remainder);
        (number, length + quotient + 1)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let quotient = bits.read_unary()?;
        quotient.checked_mul(self.modulus)?.checked_add(self.remainder.read(bits)?)
    }
}

/// The Rice code: Golomb of modulus 2^k, k below 64.
#[derive(Clone, Copy)]
pub struct Rice(pub u32);

impl Words for Rice {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        let length = (number >> self.0).checked_add(1 + u64::from(self.0))?;
        (length <= LONGEST).then_some(length)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        bits.write_unary(number >> self.0);
        bits.write(number & ((1 << self.0) - 1), self.0);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let quotient = zeros(window);
        let low = lowest(window >> quotient >> 1, self.0);
        (u64::from(quotient) << self.0 | low, quotient + 1 + self.0)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let quotient = bits.read_unary()?;
        let low = bits.read(self.0)?;
        (quotient <= u64::MAX >> self.0).then_some(quotient << self.0 | low)
    }
}
