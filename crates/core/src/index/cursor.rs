//! Reading postings: a cursor over the documents of a term, which decodes a block at a time and no
//! component before it is asked for.
//!
//! [`Cursor::advance`] is an array access, and a block of 128 documents decodes in some 50 ns;
//! [`Cursor::skip_to`] gallops over the skip entries ([`super::skips`]) and decodes one block. Positions
//! are decoded for a whole block when first asked for. Memory: about 1.5 KiB a cursor, and the positions
//! of a block.

use std::ops::Range;

use super::DocId;
use super::directory::Section;
use super::postings::Lists;
use super::segment::Segment;
use super::skips::{SkipEntry, Skips};
use crate::Result;
use crate::code::packed;

/// A cursor over the postings of a term; it starts on the first document.
pub struct Cursor<'a> {
    segment: &'a Segment,
    lists: Lists,
    skips: Skips<'a>,
    blocks: usize,
    block: usize,
    /// The documents of the block, as numbers.
    documents: Vec<u32>,
    at: usize,
    /// The counts of the block; empty until asked for.
    counts: Vec<u32>,
    /// The gaps between positions of the block; empty until asked for.
    gaps: Vec<u32>,
    /// Where the positions of each document start in `gaps`.
    starts: Vec<usize>,
}

impl<'a> Cursor<'a> {
    /// A cursor on the first document of a term, which has at least one.
    pub fn new(segment: &'a Segment, lists: Lists) -> Result<Cursor<'a>> {
        let blocks = (lists.frequency as usize).div_ceil(packed::BLOCK);
        let skips = Skips::new(segment.section(Section::Skips, lists.skips.clone())?);
        let mut cursor = Cursor {
            segment,
            lists,
            skips,
            blocks,
            block: 0,
            documents: Vec::with_capacity(packed::BLOCK),
            at: 0,
            counts: Vec::new(),
            gaps: Vec::new(),
            starts: Vec::new(),
        };
        cursor.load(0)?;
        Ok(cursor)
    }

    /// The document under the cursor, or [`DocId::END`].
    #[inline]
    pub fn document(&self) -> DocId {
        self.documents.get(self.at).map_or(DocId::END, |document| DocId(*document))
    }

    /// In how many documents of the segment the term is.
    pub fn frequency(&self) -> u32 {
        self.lists.frequency
    }

    /// Moves to the next document.
    #[inline]
    pub fn advance(&mut self) -> Result<DocId> {
        self.at += 1;
        if self.at >= self.documents.len() && self.block < self.blocks {
            self.load(self.block + 1)?;
        }
        Ok(self.document())
    }

    /// Moves to the first document from the current one on that is not before `target`.
    #[inline]
    pub fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        if self.document() >= target {
            return Ok(self.document());
        }
        // Most skips are short: they end on the next document.
        if let Some(next) = self.documents.get(self.at + 1)
            && DocId(*next) >= target
        {
            self.at += 1;
            return Ok(DocId(*next));
        }
        if self.documents.last().is_some_and(|last| DocId(*last) < target) {
            let next = self.block + 1;
            self.load(if next < self.blocks { self.skips.seek(next, target) } else { next })?;
        }
        self.at += self.documents[self.at..].partition_point(|document| DocId(*document) < target);
        Ok(self.document())
    }

    /// How often the term is in the document under the cursor.
    #[inline]
    pub fn count(&mut self) -> Result<u32> {
        if self.counts.is_empty() {
            self.load_counts()?;
        }
        Ok(self.counts[self.at] + 1)
    }

    /// Puts the positions of the term in the document under the cursor into `positions`.
    pub fn positions(&mut self, positions: &mut Vec<u32>) -> Result<()> {
        positions.clear();
        let count = self.count()? as usize;
        if self.starts.is_empty() {
            self.load_positions()?;
        }
        let start = self.starts[self.at];
        let mut next = 0u32;
        for gap in &self.gaps[start..start + count] {
            let position = next.saturating_add(*gap);
            positions.push(position);
            next = position.saturating_add(1);
        }
        Ok(())
    }

    /// The bytes of the block under the cursor in one component: from where its skip entry says to where
    /// the next one does.
    fn component(
        &self,
        section: Section,
        list: &Range<u64>,
        offset: impl Fn(SkipEntry) -> u64,
    ) -> Result<&'a [u8]> {
        let start_of = |block: usize| list.start.saturating_add(offset(self.skips.get(block)));
        let start = if self.block > 0 { start_of(self.block) } else { list.start };
        let end = if self.block + 1 < self.blocks { start_of(self.block + 1) } else { list.end };
        self.segment.section(section, start..end)
    }

    /// How many postings the block under the cursor has.
    fn postings_in_block(&self) -> usize {
        (self.lists.frequency as usize - self.block * packed::BLOCK).min(packed::BLOCK)
    }

    fn load(&mut self, block: usize) -> Result<()> {
        self.block = block;
        self.at = 0;
        self.documents.clear();
        self.counts.clear();
        self.starts.clear();
        if block >= self.blocks {
            return Ok(());
        }
        let mut bytes =
            self.component(Section::Pointers, &self.lists.pointers, |entry| u64::from(entry.pointers))?;
        let decoded = packed::read(&mut bytes, self.postings_in_block(), &mut self.documents);
        decoded.ok_or_else(|| self.damage("the pointers do not decode"))?;
        let mut next = if block == 0 { 0 } else { u64::from(self.skips.get(block - 1).last.0) + 1 };
        for document in &mut self.documents {
            next += u64::from(*document);
            *document = next as u32;
            next += 1;
        }
        if next > self.segment.totals().documents {
            self.documents.clear();
            return Err(self.damage("a pointer leads past the last document"));
        }
        Ok(())
    }

    fn load_counts(&mut self) -> Result<()> {
        let mut bytes =
            self.component(Section::Counts, &self.lists.counts, |entry| u64::from(entry.counts))?;
        let decoded = packed::read(&mut bytes, self.postings_in_block(), &mut self.counts);
        if decoded.is_none() || self.counts.contains(&u32::MAX) {
            self.counts.clear();
            return Err(self.damage("the counts do not decode"));
        }
        Ok(())
    }

    fn load_positions(&mut self) -> Result<()> {
        let mut total = 0;
        for count in &self.counts {
            self.starts.push(total);
            total += *count as usize + 1;
        }
        let mut bytes = self.component(Section::Positions, &self.lists.positions, |entry| entry.positions)?;
        if packed::read(&mut bytes, total, &mut self.gaps).is_none() {
            self.starts.clear();
            return Err(self.damage("the positions do not decode"));
        }
        Ok(())
    }

    #[cold]
    fn damage(&self, reason: &str) -> crate::Error {
        self.segment.damage(Section::Pointers, self.lists.pointers.start, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::tests::{List, segment_of};
    use super::*;
    use proptest::prelude::*;

    fn some_list() -> impl Strategy<Value = List> {
        let positions = prop::collection::btree_set(0u32..5000, 1..6);
        let gap = prop_oneof![8 => 1u32..4, 1 => 1u32..3000];
        prop::collection::vec((gap, positions), 1..500).prop_map(|postings| {
            let mut document = 0;
            let place = |(gap, positions): (u32, std::collections::BTreeSet<u32>)| {
                document += gap;
                (document - 1, positions.into_iter().collect())
            };
            postings.into_iter().map(place).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn reads_what_was_written(list in some_list(), other in some_list()) {
            let dir = tempfile::tempdir().unwrap();
            let segment = segment_of(dir.path(), &[("apple", other), ("pear", list.clone())]);
            let lists = segment.find("pear").unwrap().unwrap();
            let mut cursor = Cursor::new(&segment, lists).unwrap();
            let mut read = Vec::new();
            while cursor.document() != DocId::END {
                let mut positions = Vec::new();
                cursor.positions(&mut positions).unwrap();
                prop_assert_eq!(cursor.count().unwrap() as usize, positions.len());
                read.push((cursor.document().0, positions));
                cursor.advance().unwrap();
            }
            prop_assert_eq!(cursor.advance().unwrap(), DocId::END);
            prop_assert_eq!(read, list);
        }

        #[test]
        fn moves_like_a_vector(list in some_list(), moves in prop::collection::vec(prop::option::of(0u32..400), 0..60)) {
            let dir = tempfile::tempdir().unwrap();
            let segment = segment_of(dir.path(), &[("pear", list.clone())]);
            let lists = segment.find("pear").unwrap().unwrap();
            let mut cursor = Cursor::new(&segment, lists).unwrap();
            let mut at = 0;
            for step in moves {
                let current = list.get(at).map_or(DocId::END, |(document, _)| DocId(*document));
                prop_assert_eq!(cursor.document(), current);
                let moved = match step {
                    None => {
                        at = (at + 1).min(list.len());
                        cursor.advance().unwrap()
                    }
                    Some(by) => {
                        let target = current.0.saturating_add(by);
                        at += list[at..].partition_point(|(document, _)| *document < target);
                        cursor.skip_to(DocId(target)).unwrap()
                    }
                };
                prop_assert_eq!(moved, list.get(at).map_or(DocId::END, |(document, _)| DocId(*document)));
                if let Some((_, positions)) = list.get(at) {
                    prop_assert_eq!(cursor.count().unwrap() as usize, positions.len());
                }
            }
        }
    }
}
