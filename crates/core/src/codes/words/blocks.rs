//! Variable nibble and byte code, in both conventions: with a continuation bit in every block, and with the
//! number of blocks before them, as in UTF-8.

use super::{TOO_LONG, Words, width};
use crate::codes::bits::{BitSource, Bits, WINDOW, lowest};

/// Blocks of 4 or 8 bits, the lowest bits of the number first; the last bit of each says whether another
/// follows.
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
        // The first block without a continuation bit ends the codeword.
        let length = (!window & last | 1 << 63).trailing_zeros() + 1;
        let mut number = window & !last & (u64::MAX >> (64 - length));
        // Compacts the fields by closing the gaps between them two by two, four by four …
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
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
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

/// Blocks of 4 or 8 bits, preceded by their number: a one for each after the first, and a zero.
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
        bits.write((1 << (blocks - 1)) - 1, blocks - 1);
        bits.write(0, 1);
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
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let mut blocks = 1;
        while blocks < 64 && bits.read(1)? == 1 {
            blocks += 1;
        }
        let payload = blocks * (self.0 - 1);
        let padding = payload.saturating_sub(64);
        if padding >= self.0 - 1 {
            return None;
        }
        let number = bits.read(payload - padding)?;
        (bits.read(padding)? == 0).then_some(number)
    }
}
