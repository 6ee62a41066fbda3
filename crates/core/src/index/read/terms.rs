//! The terms of a segment in order: those of its file or, if it is divided by terms, of all its files.

use super::segment::Segment;
use crate::Result;
use crate::index::format::lists::List;
use crate::index::format::terms::BlockReader;
use crate::index::format::zone::Zone;

/// An iterator over the terms of a segment.
pub struct Terms<'a> {
    /// The files that hold the terms, in order.
    holders: &'a [Segment],
    /// The current one.
    shard: usize,
    /// The block after the current one.
    block: usize,
    reader: Option<BlockReader<'a>>,
}

impl<'a> Terms<'a> {
    /// The terms from a block of a file on.
    pub(super) fn new(holders: &'a [Segment], shard: usize, block: usize) -> Terms<'a> {
        Terms { holders, shard, block, reader: None }
    }

    /// Moves to the next term; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        if !self.reader.as_ref().is_some_and(BlockReader::has_more) {
            while self.block >= self.segment().term_index.blocks() {
                self.reader = None;
                if self.shard + 1 >= self.holders.len() {
                    return Ok(false);
                }
                (self.shard, self.block) = (self.shard + 1, 0);
            }
            self.open(self.block)?;
        }
        let decoded = self.reader.as_mut().and_then(BlockReader::advance);
        decoded.ok_or_else(|| self.segment().damaged_terms(self.block - 1))?;
        if let Some(reader) = &mut self.reader
            && self.shard > 0
        {
            reader.lists.iter_mut().for_each(|(_, list)| list.shard = self.shard as u16);
        }
        Ok(true)
    }

    /// Moves to the first term from the current one on that is not before `target`; returns false at the end.
    /// The cost is logarithmic in the number of blocks skipped, plus a scan of one block.
    pub fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let after = self.holders.partition_point(|shard| shard.first_term() <= target);
        if after > self.shard + 1 {
            (self.shard, self.block, self.reader) = (after - 1, 0, None);
        }
        if let Some(block) = self.segment().term_index.block_from(self.block, target) {
            self.open(block)?;
        } else if self.reader.is_some() && self.term() >= target {
            return Ok(true);
        }
        while self.advance()? {
            if self.term() >= target {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn open(&mut self, block: usize) -> Result<()> {
        let segment = self.segment();
        let bytes = segment.bytes_of_terms(block)?;
        let decoded = match &mut self.reader {
            Some(reader) => reader.restart(bytes),
            None => BlockReader::new(bytes, segment.codes.quantum).map(|reader| self.reader = Some(reader)),
        };
        self.block = block + 1;
        decoded.ok_or_else(|| segment.damaged_terms(block))
    }

    fn segment(&self) -> &'a Segment {
        &self.holders[self.shard]
    }

    /// The current term.
    pub fn term(&self) -> &[u8] {
        self.reader.as_ref().map_or(&[], |reader| &reader.term)
    }

    /// Its posting lists.
    pub fn lists(&self) -> &[(Zone, List)] {
        self.reader.as_ref().map_or(&[], |reader| &reader.lists)
    }
}
