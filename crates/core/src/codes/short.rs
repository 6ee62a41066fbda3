//! Lists too short for a block: the remainder of longer lists, and most lists of an index.
//!
//! A single number is in variable byte code. Otherwise the first four bits say how the others are written:
//!
//! ```text
//! 0 to 12   the width of each number
//! 13        five bits more: the width less 13
//! 14        variable nibble code
//! 15        variable byte code
//! ```
//!
//! and the shortest is chosen, so that a list costs at most half a byte more than the best of them, and a
//! list of zeros takes half a byte.

use super::bits::{BitReader, BitWriter, Bits, lowest, window};
use super::lists;
use super::words::{Blocks, Words};
use crate::Result;

const ESCAPE: u32 = 13;
const NIBBLES: u32 = 14;
const BYTES: u32 = 15;

/// How a list is written, and how many bits that takes.
fn choose(numbers: &[u32]) -> (u32, u32, usize) {
    let all = numbers.iter().fold(0, |all, number| all | number);
    let width = 32 - all.leading_zeros();
    let selector = width.min(ESCAPE);
    let packed = 4 + if width < ESCAPE { 0 } else { 5 } + numbers.len() * width as usize;
    let of_blocks = |block: u32| {
        let length = |number: &u32| Blocks(block).length(u64::from(*number)).unwrap_or(0) as usize;
        4 + numbers.iter().map(length).sum::<usize>()
    };
    let (nibbles, bytes) = (of_blocks(4), of_blocks(8));
    if packed.div_ceil(8) <= nibbles.min(bytes).div_ceil(8) {
        (selector, width, packed)
    } else if nibbles <= bytes {
        (NIBBLES, 0, nibbles)
    } else {
        (BYTES, 0, bytes)
    }
}

/// How many bytes `numbers` take.
pub fn bytes(numbers: &[u32]) -> usize {
    match numbers {
        [] => 0,
        [number] => super::words::blocks(u64::from(*number), 8) as usize,
        _ => choose(numbers).2.div_ceil(8),
    }
}

/// Appends `numbers`.
pub fn write(numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
    let mut bits = BitWriter::new(bytes);
    if numbers.len() == 1 {
        lists::write(Blocks(8), numbers, &mut bits)?;
    } else if !numbers.is_empty() {
        let (selector, width, _) = choose(numbers);
        bits.write(u64::from(selector), 4);
        match selector {
            NIBBLES => lists::write(Blocks(4), numbers, &mut bits)?,
            BYTES => lists::write(Blocks(8), numbers, &mut bits)?,
            _ => {
                if selector == ESCAPE {
                    bits.write(u64::from(width - ESCAPE), 5);
                }
                for number in numbers {
                    bits.write(u64::from(*number), width);
                }
            }
        }
    }
    bits.finish();
    Ok(())
}

/// Decodes as many numbers off the front of `bytes` as there are `places`.
pub fn read(bytes: &mut &[u8], places: &mut [u32]) -> Option<()> {
    let mut bits = BitReader::new(bytes);
    if places.len() == 1 {
        lists::fill(Blocks(8), &mut bits, places)?;
    } else if !places.is_empty() {
        match bits.read(4)? as u32 {
            NIBBLES => lists::fill(Blocks(4), &mut bits, places)?,
            BYTES => lists::fill(Blocks(8), &mut bits, places)?,
            selector => {
                let more = if selector == ESCAPE { bits.read(5)? as u32 } else { 0 };
                unpack(&mut bits, selector + more, places)?;
            }
        }
    }
    *bytes = bits.end()?;
    Some(())
}

/// Decodes numbers of one width, at most 32.
pub fn unpack(bits: &mut BitReader, width: u32, places: &mut [u32]) -> Option<()> {
    let all = places.len().checked_mul(width as usize)?;
    if width > 32 || all > bits.left() {
        return None;
    }
    let (bytes, start) = bits.position();
    let mut at = start;
    for place in places {
        *place = lowest(window(bytes, at), width) as u32;
        at += width as usize;
    }
    bits.skip(all);
    Some(())
}
