//! The index of a run and the directories of its tables, as they are in the file.
//!
//! Both are read through the map of the file, so that they take memory of the file cache and none of the process. They are
//! small: of a block of 4 KiB an entry of 12 bytes, and in a directory 8 to 16 bytes.

use std::ops::Range;

use super::BLOCK;
use crate::duplicates::hamming::table::first;

/// The directory has this many values of the leading bits for a block, as a logarithm.
const FINER: u32 = 2;
const NUMBER: usize = size_of::<u32>();

/// An entry of the index: the first entry of a block, and its checksum.
pub type IndexEntry = [u8; 12];

/// The first entry of the block.
#[inline]
pub fn first_key(entry: &IndexEntry) -> u64 {
    u64::from_le_bytes([entry[0], entry[1], entry[2], entry[3], entry[4], entry[5], entry[6], entry[7]])
}

/// The checksum of the block.
pub fn checksum(entry: &IndexEntry) -> u32 {
    u32::from_le_bytes([entry[8], entry[9], entry[10], entry[11]])
}

/// Which blocks begin with each value of the leading bits.
#[derive(Clone, Copy)]
pub struct Directory<'a> {
    bytes: &'a [[u8; NUMBER]],
    bits: u32,
}

impl<'a> Directory<'a> {
    /// The directory of a table of `blocks` blocks, from its bytes.
    pub fn new(bytes: &'a [u8], blocks: usize) -> Directory<'a> {
        Directory { bytes: bytes.as_chunks().0, bits: Directory::bits(blocks) }
    }

    /// The number of blocks of a section.
    pub fn blocks(entries: u64) -> usize {
        entries.div_ceil(BLOCK as u64) as usize
    }

    /// The number of leading bits.
    fn bits(blocks: usize) -> u32 {
        blocks.max(1).ilog2() + FINER
    }

    /// How many numbers it has: of each value the first block from it on, and the number of blocks.
    pub fn numbers(blocks: usize) -> usize {
        (1 << Directory::bits(blocks)) + 1
    }

    /// Its length in bytes.
    pub fn length(blocks: usize) -> usize {
        Directory::numbers(blocks) * NUMBER
    }

    /// The blocks that begin with the leading bits of a key.
    #[inline]
    pub fn beginning(&self, key: u64) -> Range<usize> {
        let bucket = first(key, self.bits) as usize;
        self.block(bucket)..self.block(bucket + 1)
    }

    /// Whether it is that of an index.
    pub fn is_of(&self, index: &[IndexEntry]) -> bool {
        let (mut filling, mut is_right) = (Filling::new(index.len()), true);
        for (block, entry) in index.iter().enumerate() {
            is_right &= filling.up_to(first_key(entry)).all(|bucket| self.block(bucket) == block);
        }
        is_right && filling.rest().all(|bucket| self.block(bucket) == index.len())
    }

    #[inline]
    fn block(&self, bucket: usize) -> usize {
        self.bytes.get(bucket).map_or(0, |block| u32::from_le_bytes(*block) as usize)
    }
}

/// Which numbers of a directory each block gives, block by block.
pub struct Filling {
    blocks: usize,
    done: usize,
}

impl Filling {
    /// Of a directory of `blocks` blocks.
    pub fn new(blocks: usize) -> Filling {
        Filling { blocks, done: 0 }
    }

    /// The places of the number of the next block, which begins with a key.
    pub fn up_to(&mut self, key: u64) -> Range<usize> {
        let end = first(key, Directory::bits(self.blocks)) as usize + 1;
        self.advance(end)
    }

    /// The places of the number of blocks, after the last one.
    pub fn rest(&mut self) -> Range<usize> {
        self.advance(Directory::numbers(self.blocks))
    }

    fn advance(&mut self, end: usize) -> Range<usize> {
        let start = self.done;
        self.done = end.max(start);
        start..self.done
    }
}
