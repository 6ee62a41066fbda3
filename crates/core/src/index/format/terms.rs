//! The term dictionary: terms in order, front-coded in blocks of 32, with the location of each term's posting
//! lists.
//!
//! ```text
//! block  where the posting lists of its first term start in each of the four components
//! term   bytes shared with the term before (0 for the first of a block) and length of the rest, four bits
//!        each; from 15 on the excess in variable byte code; then the rest, and its
//!        entry (crate::index::format::lists)
//! index  for each block: its first term, and the length of the block
//! ```
//!
//! all other numbers in variable byte code. To find a term, an order-preserving minimal perfect hash returns
//! its rank, and a signature rejects most absent terms immediately ([`crate::dictionaries::Ranks`], some 1.13
//! log₂ n + r bits per term and four cache misses); rank / 32 is the block, which is scanned to the term and
//! decides. The block index, 12 bytes and a term for every 32, is in memory and serves prefix queries and
//! term listings.

use super::lists;
use super::lists::{Lists, Place};
use crate::Result;
use crate::codes::variable_byte as number;
use crate::dictionaries::{KeyHash, Ranks};
use crate::disk::spool::Spool;

/// Terms per block.
pub const BLOCK: u64 = 32;

/// The escape value of a four-bit length: the excess follows in variable byte code.
const MUCH: usize = 15;

/// The length of the longest common prefix of two terms.
pub fn shared_bytes(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Writes the term dictionary.
pub struct TermsWriter {
    pub(in crate::index) terms: Spool,
    pub(in crate::index) index: Spool,
    /// The hash of every term, in order.
    pub(in crate::index) hashes: Vec<KeyHash>,
    previous: Vec<u8>,
    block: Vec<u8>,
    first: Vec<u8>,
    /// Where the next term's posting lists start.
    place: Place,
}

impl TermsWriter {
    /// Writes to these two sections.
    pub fn new(terms: Spool, index: Spool) -> TermsWriter {
        let (previous, block, first) = (Vec::new(), Vec::new(), Vec::new());
        TermsWriter { terms, index, hashes: Vec::new(), previous, block, first, place: Place::default() }
    }

    /// Adds a term, which must sort after the previous one, with its posting lists, which start where the
    /// previous ones ended.
    pub fn push(&mut self, term: &[u8], lists: &Lists, quantum: u32) -> Result<()> {
        let mut shared = 0;
        if (self.hashes.len() as u64).is_multiple_of(BLOCK) {
            self.end_block()?;
            self.first.extend_from_slice(term);
            self.place = Place::new(self.place.ends);
            self.place.ends.iter().for_each(|start| number::write(*start, &mut self.block));
        } else {
            shared = shared_bytes(term, &self.previous);
        }
        let rest = &term[shared..];
        self.block.push((shared.min(MUCH) << 4 | rest.len().min(MUCH)) as u8);
        for length in [shared, rest.len()] {
            if let Some(over) = length.checked_sub(MUCH) {
                number::write(over as u64, &mut self.block);
            }
        }
        self.block.extend_from_slice(rest);
        lists::write(lists, quantum, &mut self.place, &mut self.block);
        self.previous.clear();
        self.previous.extend_from_slice(term);
        self.hashes.push(Ranks::hash(term));
        Ok(())
    }

    /// Finishes the last block.
    pub fn finish(&mut self) -> Result<()> {
        self.end_block()
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut entry = Vec::new();
        number::write_bytes(&self.first, &mut entry);
        number::write(self.block.len() as u64, &mut entry);
        self.index.append(&entry)?;
        self.terms.append(&self.block)?;
        self.first.clear();
        self.block.clear();
        Ok(())
    }
}

/// The block index.
pub struct TermIndex {
    /// The first terms of all blocks, one after the other.
    firsts: Vec<u8>,
    /// Where each first term ends in `firsts`.
    ends: Vec<u32>,
    /// Where each block ends in its section.
    blocks: Vec<u64>,
}

impl TermIndex {
    /// Reads the block index from its section; `None` if the bytes do not decode.
    pub fn read(mut bytes: &[u8]) -> Option<TermIndex> {
        let (mut firsts, mut ends, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0u64;
        while !bytes.is_empty() {
            firsts.extend_from_slice(number::read_bytes(&mut bytes)?);
            ends.push(u32::try_from(firsts.len()).ok()?);
            end = end.checked_add(number::read(&mut bytes)?)?;
            blocks.push(end);
        }
        Some(TermIndex { firsts, ends, blocks })
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The byte range of a block in the section of terms; `None` past the last.
    pub fn range(&self, block: usize) -> Option<std::ops::Range<u64>> {
        let start = block.checked_sub(1).map_or(Some(0), |before| self.blocks.get(before).copied())?;
        Some(start..*self.blocks.get(block)?)
    }

    /// The block that contains `term` if any does; the first if it sorts before all terms.
    pub fn block_of(&self, term: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle) <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.saturating_sub(1)
    }

    /// The last block from `least` on whose first term is not after `term`; `None` if all of those start
    /// after it.
    pub fn block_from(&self, least: usize, term: &[u8]) -> Option<usize> {
        let begins_in_time = |block: usize| block < self.blocks() && self.first(block) <= term;
        if !begins_in_time(least) {
            return None;
        }
        let (mut low, mut step) = (least, 1);
        while begins_in_time(low + step) {
            low += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if begins_in_time(low + step) {
                low += step;
            }
        }
        Some(low)
    }

    /// The first terms of the blocks, in order.
    pub fn firsts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.blocks()).map(|block| self.first(block))
    }

    fn first(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.firsts[start as usize..self.ends[block] as usize]
    }
}

/// Reads the terms of a block in order.
pub struct BlockReader<'a> {
    bytes: &'a [u8],
    quantum: u32,
    /// Where the next term's posting lists start.
    place: Place,
    /// The current term.
    pub term: Vec<u8>,
    /// Its posting lists.
    pub lists: Lists,
}

impl<'a> BlockReader<'a> {
    /// A reader of the block in these bytes; `None` if they do not decode.
    pub fn new(mut bytes: &'a [u8], quantum: u32) -> Option<BlockReader<'a>> {
        let mut place = Place::default();
        for end in &mut place.ends {
            *end = number::read(&mut bytes)?;
        }
        Some(BlockReader { bytes, quantum, place, term: Vec::new(), lists: Vec::new() })
    }

    /// Switches to another block and reuses the buffers; `None` if its bytes do not decode.
    pub fn restart(&mut self, bytes: &'a [u8]) -> Option<()> {
        let mut block = BlockReader::new(bytes, self.quantum)?;
        block.term = std::mem::take(&mut self.term);
        block.term.clear();
        block.lists = std::mem::take(&mut self.lists);
        *self = block;
        Some(())
    }

    /// Whether there are more terms.
    pub fn has_more(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Moves to the next term; `None` if the bytes do not decode.
    pub fn advance(&mut self) -> Option<()> {
        let (&lengths, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let mut length = |four_bits: u8| {
            let length = usize::from(four_bits);
            if length < MUCH {
                return Some(length);
            }
            usize::try_from(number::read(&mut self.bytes)?).ok()?.checked_add(MUCH)
        };
        let (shared, rest) = (length(lengths >> 4)?, length(lengths & 15)?);
        if shared > self.term.len() {
            return None;
        }
        let (rest, bytes) = self.bytes.split_at_checked(rest)?;
        self.bytes = bytes;
        self.term.truncate(shared);
        self.term.extend_from_slice(rest);
        lists::read(&mut self.bytes, self.quantum, &mut self.place, &mut self.lists)
    }
}
