//! Unary and Elias's codes γ, δ, ω.

use super::LONGEST;
use super::{TOO_LONG, Words, zeros};
use crate::codes::bits::{BitSource, Bits, WINDOW, lowest};

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
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        bits.read_unary()
    }
}

/// n ones and a zero: as strings, codewords are in the order of their numbers.
#[derive(Clone, Copy)]
pub struct UnaryOrdered;

impl Words for UnaryOrdered {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        Unary.length(number)
    }

    #[inline]
    fn write(self, mut number: u64, bits: &mut impl Bits) {
        while number >= 32 {
            bits.write(u64::from(u32::MAX), 32);
            number -= 32;
        }
        bits.write((1 << number) - 1, number as u32);
        bits.write(0, 1);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        Unary.peek(!window)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let mut ones = 0;
        while bits.read(1)? == 1 {
            ones += 1;
        }
        Some(ones)
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
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let log = bits.read_unary()?;
        reduced(log, bits)
    }
}

/// Decodes a number n given λ(n + 1) = `log`.
#[inline]
fn reduced(log: u64, bits: &mut impl BitSource) -> Option<u64> {
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
        // The length in γ by a table lookup: decoding its zeros would take as long as the rest of the work.
        let [log, length] = LOGARITHMS[window as usize % LOGARITHMS.len()];
        let (log, length) = (u32::from(log), u32::from(length));
        let number = (1 << log | lowest(window >> (length - log), log)) - 1;
        (number, if length == 0 { TOO_LONG } else { length })
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let log = Gamma.read(bits)?;
        reduced(log, bits)
    }
}

/// For each prefix of a codeword of δ: λ(n+1) and the length of the codeword; zeros if that exceeds a window.
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
            // The highest bit, which marks a block, comes first.
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

    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
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
