//! The dictionary: terms in order, front-coded in blocks of 32, with the place of each term's lists.
//!
//! ```text
//! block  where its first term's lists start: pointers, counts, positions, skips
//! term   bytes shared with the term before (0 for the first of a block), length of the rest, the rest,
//!        frequency, occurrences − frequency, and the lengths of its pointers, counts and positions
//! index  for each block: its first term, and the length of the block
//! ```
//!
//! all numbers in variable byte code. The length of the skip entries follows from the frequency.
//! The index is kept in memory as two offsets a block beside the mapped terms: 12 bytes for 32 terms.
//! Finding a term is a binary search in the index and a walk over half a block: a few hundred nanoseconds.

use super::postings::{Lists, Spool};
use super::skips;
use crate::Result;
use crate::code::variable_byte as number;

/// How many terms share a block.
const BLOCK: u64 = 32;

/// Writes the dictionary.
pub struct TermsWriter {
    pub(super) terms: Spool,
    pub(super) index: Spool,
    count: u64,
    previous: Vec<u8>,
    block: Vec<u8>,
    first: Vec<u8>,
}

impl TermsWriter {
    /// Writes to these two sections.
    pub fn new(terms: Spool, index: Spool) -> TermsWriter {
        TermsWriter { terms, index, count: 0, previous: Vec::new(), block: Vec::new(), first: Vec::new() }
    }

    /// Adds a term, which must come after the one before.
    pub fn push(&mut self, term: &[u8], lists: &Lists) -> Result<()> {
        let mut shared = 0;
        if self.count.is_multiple_of(BLOCK) {
            self.end_block()?;
            self.first.extend_from_slice(term);
            for start in [lists.pointers.start, lists.counts.start, lists.positions.start, lists.skips.start]
            {
                number::write(start, &mut self.block);
            }
        } else {
            shared = term.iter().zip(&self.previous).take_while(|(left, right)| left == right).count();
        }
        number::write(shared as u64, &mut self.block);
        number::write_bytes(&term[shared..], &mut self.block);
        number::write(u64::from(lists.frequency), &mut self.block);
        number::write(lists.occurrences - u64::from(lists.frequency), &mut self.block);
        for range in [&lists.pointers, &lists.counts, &lists.positions] {
            number::write(range.end - range.start, &mut self.block);
        }
        self.previous.clear();
        self.previous.extend_from_slice(term);
        self.count += 1;
        Ok(())
    }

    /// Ends the last block; returns how many terms there are.
    pub fn finish(&mut self) -> Result<u64> {
        self.end_block()?;
        Ok(self.count)
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

/// The index of the blocks.
pub struct TermIndex {
    /// The first terms of all blocks, one after the other.
    firsts: Vec<u8>,
    /// Where each first term ends in `firsts`.
    ends: Vec<u32>,
    /// Where each block ends in its section.
    blocks: Vec<u64>,
}

impl TermIndex {
    /// The index in the bytes of its section; `None` where they do not decode.
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

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The bytes of a block in the section of terms.
    pub fn range(&self, block: usize) -> std::ops::Range<u64> {
        let start = block.checked_sub(1).map_or(0, |before| self.blocks[before]);
        start..self.blocks[block]
    }

    /// The block that holds `term`, if any does; `None` where it comes before all terms.
    pub fn block_of(&self, term: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle) <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    fn first(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.firsts[start as usize..self.ends[block] as usize]
    }
}

/// Reads the terms of a block in order.
pub struct BlockReader<'a> {
    bytes: &'a [u8],
    /// Where the next term's lists start.
    lists: Lists,
    /// The term read last.
    pub term: Vec<u8>,
}

impl<'a> BlockReader<'a> {
    /// Reads the block in these bytes; `None` where they do not decode.
    pub fn new(mut bytes: &'a [u8]) -> Option<BlockReader<'a>> {
        let mut from = || number::read(&mut bytes).map(|start| start..start);
        let (pointers, counts, positions, skips) = (from()?, from()?, from()?, from()?);
        let lists = Lists { frequency: 0, occurrences: 0, pointers, counts, positions, skips };
        Some(BlockReader { bytes, lists, term: Vec::new() })
    }

    /// Whether there are more terms.
    pub fn has_more(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// The lists of the next term, which is then in `term`; `None` where the bytes do not decode.
    pub fn read(&mut self) -> Option<Lists> {
        let shared = usize::try_from(number::read(&mut self.bytes)?).ok()?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(number::read_bytes(&mut self.bytes)?);
        let lists = &mut self.lists;
        lists.frequency = number::read_u32(&mut self.bytes).filter(|frequency| *frequency > 0)?;
        lists.occurrences = number::read(&mut self.bytes)?.checked_add(u64::from(lists.frequency))?;
        for range in [&mut lists.pointers, &mut lists.counts, &mut lists.positions] {
            *range = range.end..range.end.checked_add(number::read(&mut self.bytes)?)?;
        }
        lists.skips = lists.skips.end..lists.skips.end.checked_add(skips::length(lists.frequency))?;
        Some(lists.clone())
    }
}
