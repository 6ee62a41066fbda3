//! Reading postings: a cursor over the posting list of a term in a zone, which decodes one block at a time,
//! and each component only when it is needed.
//!
//! [`Cursor::advance`] is an array access; [`Cursor::skip_to`] searches the skip list
//! ([`crate::index::format::skips`]) and decodes one block. Positions are decoded for a whole block when
//! first needed. Memory: about 1.5 KiB per cursor, and the positions of a block.

use std::ops::Range;

use super::extract::Extract;
use super::segment::Segment;
use crate::index::DocId;
use crate::index::format::codes::Codes;
use crate::index::format::directory::Section;
use crate::index::format::lists::{COMPONENTS, List};
use crate::index::format::maxima::Maxima;
use crate::index::format::skips::Skips;
use crate::index::format::template;
use crate::index::format::template::LEAST_RELATED;
use crate::{Error, Result};

const POINTERS: usize = 0;
const COUNTS: usize = 1;
const POSITIONS: usize = 2;
const SKIPS: usize = 3;

/// The section of each component.
pub(crate) const SECTIONS: [Section; COMPONENTS] =
    [Section::Pointers, Section::Counts, Section::Positions, Section::Skips];

/// Where the bytes of a posting list are.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// In the file of a segment.
    Segment(&'a Segment),
    /// In memory: they came from another process.
    Extract(&'a Extract),
}

impl<'a> Source<'a> {
    fn codes(self) -> &'a Codes {
        match self {
            Source::Segment(segment) => segment.codes(),
            Source::Extract(extract) => extract.codes(),
        }
    }

    fn limit(self) -> u64 {
        match self {
            Source::Segment(segment) => segment.limit(),
            Source::Extract(extract) => extract.limit(),
        }
    }

    fn bytes(self, component: usize, range: Range<u64>) -> Result<&'a [u8]> {
        match self {
            Source::Segment(segment) => segment.section(SECTIONS[component], range),
            Source::Extract(extract) => extract.component(component, range),
        }
    }

    #[cold]
    fn damage(self, place: u64, reason: &str) -> Error {
        match self {
            Source::Segment(segment) => segment.damage(Section::Pointers, place, reason),
            Source::Extract(extract) => extract.damage(reason),
        }
    }
}

/// A cursor over the postings of a term in a zone; it starts on the first document.
pub struct Cursor<'a> {
    source: Source<'a>,
    codes: &'a Codes,
    list: List,
    skips: Skips<'a>,
    block: usize,
    /// The document ids of the block.
    documents: Vec<u32>,
    at: usize,
    /// The counts of the block minus one; empty until needed.
    counts: Vec<u32>,
    /// The first positions of the block; empty until needed.
    firsts: Vec<u32>,
    /// The gaps between positions of the block.
    gaps: Vec<u32>,
    /// Where the gaps of each document start.
    starts: Vec<usize>,
}

impl<'a> Cursor<'a> {
    /// A cursor on the first document of a list.
    pub fn new(source: Source<'a>, list: List) -> Result<Cursor<'a>> {
        let codes = source.codes();
        let blocks = list.blocks(codes.quantum);
        let mut cursor = Cursor {
            source,
            codes,
            skips: Skips::none(),
            block: 0,
            documents: Vec::with_capacity(codes.quantum as usize),
            at: 0,
            counts: Vec::new(),
            firsts: Vec::new(),
            gaps: Vec::new(),
            starts: Vec::new(),
            list,
        };
        if blocks > 1 {
            let bytes = source.bytes(SKIPS, cursor.list.ranges[SKIPS].clone())?;
            cursor.skips =
                Skips::open(bytes, blocks).ok_or_else(|| cursor.damage("the skips do not decode"))?;
        }
        cursor.load(0)?;
        Ok(cursor)
    }

    /// The current document, or [`DocId::END`].
    #[inline]
    pub fn document(&self) -> DocId {
        self.documents.get(self.at).map_or(DocId::END, |document| DocId(*document))
    }

    /// The document frequency of the term in the segment.
    pub fn frequency(&self) -> u32 {
        self.list.frequency
    }

    /// Moves to the next document.
    #[inline]
    pub fn advance(&mut self) -> Result<DocId> {
        self.at += 1;
        if self.at >= self.documents.len() && self.block < self.skips.blocks() {
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
            let found = self.skips.seek(self.block + 1, target);
            self.load(found.ok_or_else(|| self.damage("the skips do not decode"))?)?;
        }
        self.at += self.documents[self.at..].partition_point(|document| DocId(*document) < target);
        Ok(self.document())
    }

    /// The block-max bound of the block that may contain `target`, and its last document; `None` if the list
    /// ends before it. A list of one block has no bound.
    pub fn maxima_at(&mut self, target: DocId) -> Option<(Option<Maxima>, DocId)> {
        if self.skips.blocks() == 1 {
            return self.documents.last().map(|last| (None, DocId(*last)));
        }
        let block = self.skips.seek(self.block, target)?;
        let (last, maxima) = self.skips.bounds(block)?;
        Some((Some(maxima), last))
    }

    /// Whether the list has block-max bounds, that is, more than one block.
    #[inline]
    pub fn has_maxima(&self) -> bool {
        self.skips.blocks() > 1
    }

    /// Calls `see` with the bound of each block that may contain documents from `start` (inclusive) to `end`
    /// (exclusive); the cursor must not be past `start`.
    pub fn maxima_between(&mut self, start: DocId, end: DocId, mut see: impl FnMut(Maxima)) -> Result<()> {
        let damage = "the skips do not decode";
        let mut block = self.skips.seek(self.block, start).ok_or_else(|| self.damage(damage))?;
        while block < self.skips.blocks() {
            let (last, maxima) = self.skips.bounds(block).ok_or_else(|| self.damage(damage))?;
            see(maxima);
            if DocId(last.0.saturating_add(1)) >= end {
                break;
            }
            block += 1;
        }
        Ok(())
    }

    /// The rest of the current block: its document ids, and their counts minus one.
    #[inline]
    pub fn rest_of_block(&mut self) -> Result<(&[u32], &[u32])> {
        if self.counts.is_empty() && !self.documents.is_empty() {
            self.load_counts()?;
        }
        Ok((&self.documents[self.at..], &self.counts[self.at..]))
    }

    /// The document ids in the rest of the current block.
    #[inline]
    pub fn documents_of_block(&self) -> &[u32] {
        &self.documents[self.at..]
    }

    /// Skips `documents` documents of the current block, at most all that are left of it.
    #[inline]
    pub fn pass(&mut self, documents: usize) -> Result<DocId> {
        self.at += documents;
        if self.at >= self.documents.len() && self.block < self.skips.blocks() {
            self.load(self.block + 1)?;
        }
        Ok(self.document())
    }

    /// The bound on the scores of the whole list, if it has more than one block.
    pub fn maxima(&mut self) -> Option<Maxima> {
        self.skips.maxima()
    }

    /// The term frequency in the current document.
    #[inline]
    pub fn count(&mut self) -> Result<u32> {
        if self.counts.is_empty() {
            self.load_counts()?;
        }
        Ok(self.counts[self.at] + 1)
    }

    /// Puts the positions of the term in the current document into `positions`.
    pub fn positions(&mut self, positions: &mut Vec<u32>) -> Result<()> {
        positions.clear();
        let count = self.count()? as usize;
        if self.firsts.is_empty() {
            self.load_positions()?;
        }
        let mut position = u64::from(self.firsts[self.at]);
        positions.push(position as u32);
        let start = self.starts[self.at];
        positions.extend(self.gaps[start..start + count - 1].iter().map(|gap| {
            position += u64::from(*gap) + 1;
            position as u32
        }));
        if position > u64::from(u32::MAX) {
            return Err(self.damage("a position is past all words"));
        }
        Ok(())
    }

    /// The bytes of the current block in one component: from its start in the skip list to that of the next
    /// block.
    fn component(&mut self, part: usize) -> Result<&'a [u8]> {
        let range = self.list.ranges[part].clone();
        let start = if self.block > 0 { self.start_of(self.block, part)? } else { range.start };
        // The next block is in another group only at the end of a group.
        let end = if self.block + 1 < self.skips.blocks() {
            self.start_of(self.block + 1, part)?
        } else {
            range.end
        };
        self.source.bytes(part, start..end)
    }

    fn start_of(&mut self, block: usize, part: usize) -> Result<u64> {
        let start = self.skips.starts(block).ok_or_else(|| self.damage("the skips do not decode"))?[part];
        Ok(self.list.ranges[part].start.saturating_add(start))
    }

    /// The number of postings in the current block.
    fn postings_in_block(&self) -> usize {
        let quantum = self.codes.quantum as usize;
        (self.list.frequency as usize - self.block * quantum).min(quantum)
    }

    fn load(&mut self, block: usize) -> Result<()> {
        let passed = self.documents.last().copied().filter(|_| block == self.block + 1);
        self.block = block;
        self.at = 0;
        self.documents.clear();
        self.counts.clear();
        self.firsts.clear();
        if block >= self.skips.blocks() {
            return Ok(());
        }
        if self.list.frequency == 1 {
            self.documents.push(self.list.document);
        } else {
            let mut bytes = self.component(POINTERS)?;
            let decoded = self.codes.pointers.read(&mut bytes, self.postings_in_block(), &mut self.documents);
            decoded.ok_or_else(|| self.damage("the pointers do not decode"))?;
        }
        let before = block.checked_sub(1).and_then(|before| self.skips.last(before));
        let first = before.map_or(0, |before| u64::from(before.0) + 1);
        let gaps = self.documents.iter().map(|gap| u64::from(*gap)).sum::<u64>();
        let end = first + gaps + self.documents.len() as u64;
        let mut next = first as u32;
        for document in &mut self.documents {
            next = next.wrapping_add(*document);
            *document = next;
            next = next.wrapping_add(1);
        }
        if end > self.source.limit() {
            self.documents.clear();
            return Err(self.damage("a pointer leads past the last document"));
        }
        if passed >= self.documents.first().copied() && passed.is_some() {
            self.documents.clear();
            return Err(self.damage("the skips do not fit the pointers"));
        }
        Ok(())
    }

    fn load_counts(&mut self) -> Result<()> {
        let postings = self.postings_in_block();
        if !self.list.counted {
            self.counts.resize(postings, 0);
            return Ok(());
        }
        if self.list.frequency == 1 {
            let count = u32::try_from(self.list.occurrences).ok();
            self.counts.push(count.ok_or_else(|| self.damage("the count is too large"))? - 1);
            return Ok(());
        }
        let mut bytes = self.component(COUNTS)?;
        let decoded = self.codes.counts.read(&mut bytes, postings, &mut self.counts);
        // More repeats than the dictionary entry says, or than a count can hold, is corruption: allocate
        // nothing for it.
        let repeats = self.counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        let most = (self.list.occurrences - u64::from(self.list.frequency)).min(u64::from(u32::MAX) - 1);
        if decoded.is_none() || repeats > most {
            self.counts.clear();
            return Err(self.damage("the counts do not decode"));
        }
        Ok(())
    }

    fn load_positions(&mut self) -> Result<()> {
        self.starts.clear();
        self.gaps.clear();
        let mut total = 0;
        for count in &self.counts {
            self.starts.push(total);
            total += *count as usize;
        }
        if self.list.occurrences == 1 {
            self.firsts.push(self.list.position);
            return Ok(());
        }
        let bytes = self.component(POSITIONS)?;
        if self.read_positions(bytes, total).is_none() {
            self.firsts.clear();
            return Err(self.damage("the positions do not decode"));
        }
        Ok(())
    }

    fn read_positions(&mut self, mut bytes: &[u8], gaps: usize) -> Option<()> {
        let postings = self.postings_in_block();
        let mut related = 0;
        if postings >= LEAST_RELATED {
            (related, bytes) = bytes.split_first().map(|(related, rest)| (*related, rest))?;
        }
        self.codes.firsts.read(&mut bytes, postings, &mut self.firsts)?;
        if related & 1 > 0 {
            template::restore_firsts(&mut self.firsts);
        }
        if gaps > 0 {
            self.codes.gaps.read(&mut bytes, gaps, &mut self.gaps)?;
            if related & 2 > 0 {
                template::restore_gaps(&mut self.gaps, &self.counts);
            }
        }
        Some(())
    }

    #[cold]
    fn damage(&self, reason: &str) -> crate::Error {
        self.source.damage(self.list.ranges[POINTERS].start, reason)
    }
}

#[cfg(test)]
mod tests;
