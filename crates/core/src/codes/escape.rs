//! PFOR-DELTA as in the notes: blocks of one small width, with an escape value for numbers that do not fit.
//!
//! ```text
//! block        u8 width b, u8 width a of the exceptions (0 if there are none)
//! numbers      128 (256) numbers of b bits, interleaved in lanes; 2^b − 1 stands for an exception
//! exceptions   the exceptions in order, a bits each
//! rest         as that of the plain blocks
//! ```
//!
//! The width b is the least that holds nine tenths of the numbers, not counting the escape value; an
//! exception is written in full, in a bits, as many as the largest needs. The two vectors are read together:
//! at each escape in the first, the next exception of the second is taken. [`pfor`](super::pfor) is its
//! successor.
//!
//! Source: Zukowski, Héman, Nes and Boncz, "Super-scalar RAM-CPU cache compression", 2006.

use std::marker::PhantomData;

use bitpacking::{BitPacker, BitPacker4x, BitPacker8x};

use super::bits::{BitReader, BitWriter, Bits};
use super::blocks::{self, Block};

/// A block with escapes.
pub struct Escaped<P>(PhantomData<P>);

/// Blocks of 128 with escapes.
pub type Escaped128 = Escaped<BitPacker4x>;
/// Blocks of 256 with escapes.
pub type Escaped256 = Escaped<BitPacker8x>;

const WIDEST: u8 = 32;

fn width_of(number: u32) -> u8 {
    (u32::BITS - number.leading_zeros()) as u8
}

/// The width of the numbers and that of the exceptions.
fn plan(block: &[u32]) -> (u8, u8) {
    let widest = block.iter().map(|number| width_of(*number)).max().unwrap_or(0);
    let fitting = |width: u8| block.iter().filter(|number| **number < escape(width)).count();
    let nine_tenths = (block.len() * 9).div_ceil(10);
    // If hardly any number fits in fewer bits, all have the full width and there is no escape.
    match (1..widest).find(|width| fitting(*width) >= nine_tenths) {
        Some(width) => (width, widest),
        None => (widest, 0),
    }
}

/// The escape value of a width.
fn escape(width: u8) -> u32 {
    ((1u64 << width) - 1) as u32
}

impl<P: BitPacker> Block for Escaped<P> {
    const LENGTH: usize = P::BLOCK_LEN;

    fn bytes(block: &[u32]) -> usize {
        let (width, wide) = plan(block);
        let exceptions =
            if wide > 0 { block.iter().filter(|number| **number >= escape(width)).count() } else { 0 };
        2 + P::compressed_block_size(width) + (exceptions * usize::from(wide)).div_ceil(8)
    }

    fn write(block: &[u32], bytes: &mut Vec<u8>) {
        let (width, wide) = plan(block);
        bytes.extend([width, wide]);
        if wide == 0 {
            return blocks::pack::<P>(block, width, bytes);
        }
        let escape = escape(width);
        let escaped: Vec<u32> = block.iter().map(|number| (*number).min(escape)).collect();
        blocks::pack::<P>(&escaped, width, bytes);
        let mut bits = BitWriter::new(bytes);
        for number in block.iter().filter(|number| **number >= escape) {
            bits.write(u64::from(*number), u32::from(wide));
        }
        bits.finish();
    }

    #[inline]
    fn read(bytes: &mut &[u8], block: &mut [u32]) -> Option<()> {
        let (&[width, wide], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        blocks::unpack::<P>(bytes, width, block)?;
        if wide == 0 {
            return Some(());
        }
        if wide > WIDEST || width >= WIDEST {
            return None;
        }
        let escape = escape(width);
        let mut bits = BitReader::new(bytes);
        for number in block.iter_mut().filter(|number| **number == escape) {
            *number = bits.read(u32::from(wide))? as u32;
        }
        *bytes = bits.end()?;
        Some(())
    }
}
