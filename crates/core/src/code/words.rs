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
//! [`super::mathematics::word`]) the pieces are the same and have their highest bit first. Every word of at most [`WINDOW`] bits is decoded by
//! [`Words::peek`] out of one window without a loop over bits; a longer one by [`Words::read`], piece by piece.
//!
//! Sources: Peter Elias, "Universal codeword sets and representations of the integers", 1975; Solomon Golomb,
//! "Run-length encodings", 1966; Paolo Boldi and Sebastiano Vigna, "Codes for the World-Wide Web", 2005.

use super::bits::{BitReader, Bits, WINDOW, lowest};

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

/// n zeros and a one.
#[derive(Clone, Copy)]
pub struct Unary;

impl Words for Unary {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        (number < LONGEST).then(|| number + 1)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        bits.write_unary(number);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let zeros = zeros(window);
        (u64::from(zeros), zeros + 1)
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        bits.read_unary()
    }
}

/// Elias's γ.
#[derive(Clone, Copy)]
pub struct Gamma;

impl Words for Gamma {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        Some(2 * u64::from(number.checked_add(1)?.ilog2()) + 1)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        let log = (number + 1).ilog2();
        bits.write_unary(u64::from(log));
        bits.write((number + 1) ^ (1 << log), log);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let zeros = zeros(window);
        ((1 << zeros | lowest(window >> zeros >> 1, zeros)) - 1, 2 * zeros + 1)
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let log = bits.read_unary()?;
        reduced(log, bits)
    }
}

/// Takes a number whose n + 1 has the binary logarithm `log`.
#[inline]
fn reduced(log: u64, bits: &mut BitReader) -> Option<u64> {
    if log > 63 {
        return None;
    }
    Some((1 << log | bits.read(log as u32)?) - 1)
}

/// Elias's δ.
#[derive(Clone, Copy)]
pub struct Delta;

impl Words for Delta {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        let log = u64::from(number.checked_add(1)?.ilog2());
        Some(2 * u64::from((log + 1).ilog2()) + 1 + log)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        let log = (number + 1).ilog2();
        Gamma.write(u64::from(log), bits);
        bits.write((number + 1) ^ (1 << log), log);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        // The length in γ, by a look-up: the way through its zeros would be as long as the rest of the work.
        let [log, length] = LOGARITHMS[window as usize % LOGARITHMS.len()];
        let (log, length) = (u32::from(log), u32::from(length));
        let number = (1 << log | lowest(window >> (length - log), log)) - 1;
        (number, if length == 0 { TOO_LONG } else { length })
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let log = Gamma.read(bits)?;
        reduced(log, bits)
    }
}

/// For each beginning of a word of δ: λ(n+1) and the length of the word; zeros where that is more than a window.
static LOGARITHMS: [[u8; 2]; 1 << 11] = {
    let mut entries = [[0; 2]; 1 << 11];
    let mut log: u32 = 0;
    while log <= 45 {
        let zeros = (log + 1).ilog2();
        let gamma = (1 << zeros) | ((log + 1) ^ (1 << zeros)) << (zeros + 1);
        let width = 2 * zeros + 1;
        let mut after = 0;
        while after < 1 << (11 - width) {
            entries[gamma as usize | after << width] = [log as u8, (width + log) as u8];
            after += 1;
        }
        log += 1;
    }
    entries
};

/// Boldi and Vigna's ζ with parameter k, from 1 to 63.
#[derive(Clone, Copy)]
pub struct Zeta(pub u32);

impl Zeta {
    /// For a number whose n + 1 is at least 2^hk and less than 2^(h+1)k: the rest as minimal binary.
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
        if log + self.0 + h >= WINDOW {
            return (0, TOO_LONG);
        }
        // Minimal binary of a bound 2^log (2^k − 1), whose shorter words are those below 2^log.
        let rest = window >> (h + 1);
        let shorter = log + self.0 - 1;
        let least = 1 << log;
        let short = lowest(rest, shorter);
        let long = (short << 1 | (rest >> shorter & 1)).wrapping_sub(least);
        let is_long = short >= least;
        let number = least + if is_long { long } else { short } - 1;
        (number, h + 1 + shorter + u32::from(is_long))
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let h = bits.read_unary()?;
        if h * u64::from(self.0) > 63 {
            return None;
        }
        let h = h as u32;
        let rest = self.rest(h).read(bits)?;
        Some((1 << (h * self.0)) - 1 + rest)
    }
}

/// Elias's ω.
#[derive(Clone, Copy)]
pub struct Omega;

impl Words for Omega {
    fn length(self, number: u64) -> Option<u64> {
        let mut block = number.checked_add(1)?;
        let mut length = 1;
        while block > 1 {
            let log = u64::from(block.ilog2());
            length += log + 1;
            block = log;
        }
        Some(length)
    }

    fn write(self, number: u64, bits: &mut impl Bits) {
        let mut blocks = [0; 8];
        let mut count = 0;
        let mut block = number + 1;
        while block > 1 {
            blocks[count] = block;
            count += 1;
            block = u64::from(block.ilog2());
        }
        for block in blocks[..count].iter().rev() {
            // The highest bit, which says that here is a block, comes first.
            let log = block.ilog2();
            bits.write(1, 1);
            bits.write(block ^ (1 << log), log);
        }
        bits.write(0, 1);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let mut rest = window;
        let mut block = 1;
        let mut length = 1;
        while rest & 1 == 1 {
            let log = block as u32;
            if length + log >= WINDOW {
                return (0, TOO_LONG);
            }
            block = 1 << log | lowest(rest >> 1, log);
            rest >>= log + 1;
            length += log + 1;
        }
        (block - 1, length)
    }

    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let mut block: u64 = 1;
        while bits.read(1)? == 1 {
            if block > 63 {
                return None;
            }
            block = 1 << block | bits.read(block as u32)?;
        }
        Some(block - 1)
    }
}

/// Minimal binary code of the numbers below a bound.
#[derive(Clone, Copy)]
pub struct Minimal {
    bound: u64,
    /// The length of the shorter words.
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
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let short = bits.read(self.shorter)?;
        if short < self.limit {
            return Some(short);
        }
        Some((short << 1 | bits.read(1)?) - self.limit)
    }
}

/// Golomb's code of a modulus, at least one.
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
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let quotient = bits.read_unary()?;
        quotient.checked_mul(self.modulus)?.checked_add(self.remainder.read(bits)?)
    }
}

/// Rice's code: Golomb's of modulus 2^k, k below 64.
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
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let quotient = bits.read_unary()?;
        let low = bits.read(self.0)?;
        (quotient <= u64::MAX >> self.0).then_some(quotient << self.0 | low)
    }
}

/// Blocks of 4 or 8 bits, the lowest bits of the number first; the last bit of each says whether another follows.
#[derive(Clone, Copy)]
pub struct Blocks(pub u32);

/// How many blocks of `block` bits `number` takes.
#[inline]
pub fn blocks(number: u64, block: u32) -> u32 {
    width(number).div_ceil(block - 1)
}

impl Words for Blocks {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        Some(u64::from(self.0 * blocks(number, self.0)))
    }

    #[inline]
    fn write(self, mut number: u64, bits: &mut impl Bits) {
        let payload = self.0 - 1;
        while number >> payload > 0 {
            bits.write(lowest(number, payload) | 1 << payload, self.0);
            number >>= payload;
        }
        bits.write(number, self.0);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let mut last = 1 << (self.0 - 1);
        last |= last << 32;
        last |= last << 16;
        last |= last << 8;
        last |= if self.0 == 4 { last << 4 } else { 0 };
        // The first block without a continuation ends the word.
        let length = (!window & last | 1 << 63).trailing_zeros() + 1;
        let mut number = window & !last & (u64::MAX >> (64 - length));
        // The gaps between the pieces are closed two by two, four by four …
        if self.0 == 4 {
            number = number & 0x0707_0707_0707_0707 | number >> 1 & 0x3838_3838_3838_3838;
            number = number & 0x003f_003f_003f_003f | number >> 2 & 0x0fc0_0fc0_0fc0_0fc0;
        } else {
            number = number & 0x007f_007f_007f_007f | number >> 1 & 0x3f80_3f80_3f80_3f80;
        }
        let wide = 4 * (self.0 - 1) / (1 + (self.0 == 8) as u32);
        let gap = 16 - wide;
        let low = 0x0000_ffff_0000_ffff;
        number = number & low | (number & !low) >> gap;
        number = number & 0xffff_ffff | number >> 32 << (2 * wide);
        (number, length)
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let payload = self.0 - 1;
        let (mut number, mut shift) = (0, 0);
        loop {
            let block = bits.read(self.0)?;
            let piece = lowest(block, payload);
            if shift >= 64 || piece << shift >> shift != piece {
                return None;
            }
            number |= piece << shift;
            if block >> payload == 0 {
                return Some(number);
            }
            shift += payload;
        }
    }
}

/// Blocks of 4 or 8 bits, whose number stands before them all: a one for each after the first, and a zero.
#[derive(Clone, Copy)]
pub struct Prefixed(pub u32);

impl Words for Prefixed {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        Blocks(self.0).length(number)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        let blocks = blocks(number, self.0);
        bits.write((1 << (blocks - 1)) - 1, blocks);
        let payload = blocks * (self.0 - 1);
        let padding = payload.saturating_sub(64);
        bits.write(number, payload - padding);
        bits.write(0, padding);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let blocks = window.trailing_ones() + 1;
        let length = blocks * self.0;
        if length > WINDOW {
            return (0, TOO_LONG);
        }
        (lowest(window >> blocks, length - blocks), length)
    }

    #[inline]
    fn read(self, bits: &mut BitReader) -> Option<u64> {
        let blocks = bits.window().trailing_ones() + 1;
        bits.skip(blocks as usize);
        let payload = blocks * (self.0 - 1);
        let padding = payload.saturating_sub(64);
        if padding >= self.0 - 1 {
            return None;
        }
        let number = bits.read(payload - padding)?;
        (bits.read(padding)? == 0).then_some(number)
    }
}
