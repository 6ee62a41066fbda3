//! PFOR-DELTA: blocks of one small width, with the few larger numbers patched in as exceptions.
//!
//! ```text
//! block        u8 width b, plus 64 if there are exceptions; then
//! exceptions   u8 how many (e), u8 width of their high parts (h)
//! low parts    128 (256) numbers of b bits, interleaved in lanes
//! exceptions   e places, a byte each, then e high parts of h bits each
//! rest         as that of the plain blocks
//! ```
//!
//! The low b bits of every number, including an exception, are stored in its place; the other bits of an
//! exception are added afterwards. So decoding is an unrolled loop for each b and then e additions, without a
//! branch that depends on the numbers. The notes store an escape (2^b − 1) in the exception's place and the
//! whole number in the second vector: that saves the byte of the place but costs b bits per exception, one
//! value of every width, and a test for each number. They choose b so that nine tenths of the numbers fit;
//! here it is the one that minimises the block, found in one pass over a histogram of the widths, and never
//! worse.
//!
//! Sources: Zukowski, Héman, Nes and Boncz, "Super-scalar RAM-CPU cache compression", 2006; Yan, Ding and Suel,
//! "Inverted index compression and query processing with optimized document ordering", 2009 (the choice of b and
//! the high parts).

use std::marker::PhantomData;

use bitpacking::{BitPacker, BitPacker4x, BitPacker8x};

use super::bits::{BitReader, BitWriter, Bits};
use super::blocks::{self, Block};
use super::short;

/// Marks a block with exceptions.
const EXCEPTIONS: u8 = 64;

/// A block with exceptions.
pub struct Patched<P>(PhantomData<P>);

/// Patched blocks of 128.
pub type Patched128 = Patched<BitPacker4x>;
/// Patched blocks of 256.
pub type Patched256 = Patched<BitPacker8x>;

/// How a block is written.
struct Plan {
    width: u8,
    exceptions: usize,
    high: u8,
    bytes: usize,
}

/// The plan with the fewest bytes, and among those the one with the fewest exceptions.
fn plan(block: &[u32]) -> Plan {
    let mut of_width = [0; 33];
    for number in block {
        of_width[(32 - number.leading_zeros()) as usize] += 1;
    }
    let widest = (0..33).rev().find(|width| of_width[*width] > 0).unwrap_or(0);
    let mut best = Plan { width: widest as u8, exceptions: 0, high: 0, bytes: 1 + block.len() / 8 * widest };
    let mut exceptions = 0;
    for width in (0..widest).rev() {
        exceptions += of_width[width + 1];
        if exceptions > usize::from(u8::MAX) {
            break;
        }
        let high = widest - width;
        let bytes = 3 + block.len() / 8 * width + exceptions + (exceptions * high).div_ceil(8);
        if bytes < best.bytes {
            best = Plan { width: width as u8, exceptions, high: high as u8, bytes };
        }
    }
    best
}

impl<P: BitPacker> Block for Patched<P> {
    const LENGTH: usize = P::BLOCK_LEN;

    fn bytes(block: &[u32]) -> usize {
        plan(block).bytes
    }

    fn write(block: &[u32], bytes: &mut Vec<u8>) {
        let Plan { width, exceptions, high, .. } = plan(block);
        if exceptions == 0 {
            bytes.push(width);
            return blocks::pack::<P>(block, width, bytes);
        }
        bytes.extend([width | EXCEPTIONS, exceptions as u8, high]);
        let low: Vec<u32> = block.iter().map(|number| number & ((1 << width) - 1)).collect();
        blocks::pack::<P>(&low, width, bytes);
        let exceptional = || block.iter().enumerate().filter(|(_, number)| **number >> width > 0);
        bytes.extend(exceptional().map(|(place, _)| place as u8));
        let mut bits = BitWriter::new(bytes);
        for (_, number) in exceptional() {
            bits.write(u64::from(number >> width), u32::from(high));
        }
        bits.finish();
    }

    #[inline]
    fn read(bytes: &mut &[u8], block: &mut [u32]) -> Option<()> {
        let (&head, rest) = bytes.split_first()?;
        *bytes = rest;
        if head & EXCEPTIONS == 0 {
            return blocks::unpack::<P>(bytes, head, block);
        }
        let width = head ^ EXCEPTIONS;
        let (&[exceptions, high], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        if u32::from(width) + u32::from(high) > 32 || width == 32 {
            return None;
        }
        blocks::unpack::<P>(bytes, width, block)?;
        let (places, rest) = bytes.split_at_checked(usize::from(exceptions))?;
        let mut high_parts = [0; u8::MAX as usize];
        let high_parts = &mut high_parts[..places.len()];
        let mut bits = BitReader::new(rest);
        short::unpack(&mut bits, u32::from(high), high_parts)?;
        for (place, part) in places.iter().zip(high_parts) {
            *block.get_mut(usize::from(*place))? |= *part << width;
        }
        *bytes = bits.end()?;
        Some(())
    }
}
