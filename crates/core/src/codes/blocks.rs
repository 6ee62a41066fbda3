//! Bit-packed blocks of 128 or 256 numbers, each with the width of its largest (SIMD bit packing).
//!
//! ```text
//! block   u8 width w, then 16 w (32 w) bytes: 128 (256) numbers of w bits, interleaved in four (eight) lanes
//! rest    one more block of 128 if the others have 256 and enough is left, then a short list
//! ```
//!
//! A block costs w + 1/16 (1/32) bits per number and decodes four (eight) numbers per instruction, about 0.2
//! ns each (Lemire and Boytsov, *Decoding billions of integers per second through vectorization*, 2015; crate
//! `bitpacking`).

use std::marker::PhantomData;

use bitpacking::{BitPacker, BitPacker4x, BitPacker8x};

use super::short;
use crate::Result;

/// The widest number.
const WIDEST: u8 = 32;

/// A way to write full blocks.
pub trait Block {
    /// Numbers per block.
    const LENGTH: usize;
    /// How many bytes `block` takes.
    fn bytes(block: &[u32]) -> usize;
    /// Appends a block.
    fn write(block: &[u32], bytes: &mut Vec<u8>);
    /// Decodes a block off the front of `bytes`.
    fn read(bytes: &mut &[u8], block: &mut [u32]) -> Option<()>;
}

/// A block of one width, packed by `P`.
pub struct Plain<P>(PhantomData<P>);

impl<P: BitPacker> Block for Plain<P> {
    const LENGTH: usize = P::BLOCK_LEN;

    fn bytes(block: &[u32]) -> usize {
        1 + P::compressed_block_size(P::new().num_bits(block))
    }

    fn write(block: &[u32], bytes: &mut Vec<u8>) {
        let width = P::new().num_bits(block);
        bytes.push(width);
        pack::<P>(block, width, bytes);
    }

    #[inline]
    fn read(bytes: &mut &[u8], block: &mut [u32]) -> Option<()> {
        let (&width, rest) = bytes.split_first()?;
        *bytes = rest;
        unpack::<P>(bytes, width, block)
    }
}

/// Appends a block of numbers below 2^width.
pub fn pack<P: BitPacker>(block: &[u32], width: u8, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.resize(start + P::compressed_block_size(width), 0);
    P::new().compress(block, &mut bytes[start..], width);
}

/// Decodes a block of numbers below 2^width off the front of `bytes`.
#[inline]
pub fn unpack<P: BitPacker>(bytes: &mut &[u8], width: u8, block: &mut [u32]) -> Option<()> {
    if width > WIDEST {
        return None;
    }
    let (packed, rest) = bytes.split_at_checked(P::compressed_block_size(width))?;
    P::new().decompress(packed, block, width);
    *bytes = rest;
    Some(())
}

/// Plain blocks of 128.
pub type Plain128 = Plain<BitPacker4x>;
/// Plain blocks of 256.
pub type Plain256 = Plain<BitPacker8x>;

/// Where the full blocks of kind `B` end in a list of `n` numbers, and where those of kind `S` after them
/// end.
fn ends<B: Block, S: Block>(n: usize) -> (usize, usize) {
    let first = n / B::LENGTH * B::LENGTH;
    (first, first + (n - first) / S::LENGTH * S::LENGTH)
}

/// How many bytes `numbers` take in blocks of kind `B`, the rest in smaller ones of kind `S`.
pub fn bytes<B: Block, S: Block>(numbers: &[u32]) -> usize {
    let (first, second) = ends::<B, S>(numbers.len());
    numbers[..first].chunks_exact(B::LENGTH).map(B::bytes).sum::<usize>()
        + numbers[first..second].chunks_exact(S::LENGTH).map(S::bytes).sum::<usize>()
        + short::bytes(&numbers[second..])
}

/// Appends `numbers` in blocks of kind `B`, the rest in smaller ones of kind `S`.
pub fn write<B: Block, S: Block>(numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
    let (first, second) = ends::<B, S>(numbers.len());
    numbers[..first].chunks_exact(B::LENGTH).for_each(|block| B::write(block, bytes));
    numbers[first..second].chunks_exact(S::LENGTH).for_each(|block| S::write(block, bytes));
    short::write(&numbers[second..], bytes)
}

/// Decodes `n` numbers off the front of `bytes` into `numbers`, replacing its contents.
pub fn read<B: Block, S: Block>(bytes: &mut &[u8], n: usize, numbers: &mut Vec<u32>) -> Option<()> {
    numbers.clear();
    // A block takes at least a byte, so a corrupt `n` cannot cause a huge allocation.
    if n.div_ceil(B::LENGTH) > bytes.len() {
        return None;
    }
    numbers.resize(n, 0);
    let (first, second) = ends::<B, S>(n);
    for block in numbers[..first].chunks_exact_mut(B::LENGTH) {
        B::read(bytes, block)?;
    }
    for block in numbers[first..second].chunks_exact_mut(S::LENGTH) {
        S::read(bytes, block)?;
    }
    short::read(bytes, &mut numbers[second..])
}
