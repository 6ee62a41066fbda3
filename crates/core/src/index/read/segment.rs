//! A segment, open for reading: memory-mapped, nothing decoded before it is needed.
//!
//! Opening reads the directory, the checksums, the ranks, the term index and the document columns: a few
//! milliseconds per gigabyte. Memory: the term index, about a byte per term, and a bit for each page. Any
//! number of threads may read concurrently.

use std::ops::Range;
use std::path::Path;

use super::cursor::Cursor;
use crate::dictionaries::Ranks;
use crate::index::DocId;
use crate::index::format::Card;
use crate::index::format::codes::Codes;
use crate::index::format::directory::{Directory, SEGMENT, Section, Totals};
use crate::index::format::documents::{DocumentBlock, DocumentIndex, StoredDocument};
use crate::index::format::facts::FactTable;
use crate::index::format::lists::{List, Lists};
use crate::index::format::pages::Pages;
use crate::index::format::rows::Rows;
use crate::index::format::sites::Sites;
use crate::index::format::terms;
use crate::index::format::terms::{BlockReader, TermIndex};
use crate::index::format::zone::{ZONES, Zone};
use crate::{Error, Pulse, Result, Signature};

/// The name of a segment's file and its committed length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// The name, in the folder of the index.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
}

impl SegmentFile {
    /// Opens the segment.
    pub fn open(&self, folder: &Path) -> Result<Segment> {
        Segment::open(&folder.join(&self.name), self.length)
    }
}

/// A segment open for reading.
pub struct Segment {
    pages: Pages,
    directory: Directory,
    term_index: TermIndex,
    ranks: Ranks,
    codes: Codes,
    lengths: Rows<ZONES>,
    pub(in crate::index) facts: FactTable,
    pub(in crate::index) sites: Sites,
}

impl Segment {
    /// Opens the segment of `length` bytes at `path`.
    pub fn open(path: &Path, length: u64) -> Result<Segment> {
        SEGMENT.check_current(path)?;
        let (pages, directory) = Pages::open(path, length, Directory::LENGTH)?;
        let directory = Directory::decode(&directory)
            .ok_or_else(|| pages.damage(length, "its directory makes no sense"))?;
        let section = |section: Section| pages.get(directory.range(section));
        let damage = |section: Section, reason| pages.damage(directory.range(section).start, reason);
        let term_index = TermIndex::read(section(Section::TermIndex)?)
            .ok_or_else(|| damage(Section::TermIndex, "the index of terms does not decode"))?;
        let ranks = Ranks::open(section(Section::Ranks)?)
            .ok_or_else(|| damage(Section::Ranks, "the ranks of terms do not decode"))?;
        let codes = Codes::from_bytes(section(Section::Codes)?)
            .ok_or_else(|| damage(Section::Codes, "the codes do not decode"))?;
        let lengths = Rows::open(section(Section::Lengths)?, directory.totals.documents as usize)
            .ok_or_else(|| damage(Section::Lengths, "the lengths do not decode"))?;
        let facts = Rows::open(section(Section::Facts)?, directory.totals.documents as usize)
            .ok_or_else(|| damage(Section::Facts, "the facts do not decode"))?;
        let sites = Sites::open(section(Section::Sites)?)
            .ok_or_else(|| damage(Section::Sites, "the names of the sites do not decode"))?;
        section(Section::Simhashes)?;
        let segment = Segment { pages, directory, term_index, ranks, codes, lengths, facts, sites };
        segment.check_lengths()?;
        Ok(segment)
    }

    /// The counts of the segment.
    pub fn totals(&self) -> &Totals {
        &self.directory.totals
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.pages.length()
    }

    /// The document ids, including replaced documents.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = DocId> + use<> {
        (0..self.directory.totals.documents as u32).map(DocId)
    }

    /// The codes of the postings.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The function from a term to its rank.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// The length of a zone of a document, in tokens.
    #[inline]
    pub fn words(&self, document: DocId, zone: Zone) -> Result<u32> {
        Ok(self.lengths.get(self.opened(Section::Lengths), document.0 as usize, zone as usize) as u32)
    }

    /// The signature of a document's URL.
    #[inline]
    pub fn signature(&self, document: DocId) -> Result<Signature> {
        self.signature_at(Section::Signatures, u64::from(document.0))
    }

    /// The tombstones: signatures of URLs whose documents in older segments are deleted.
    pub fn deleted(&self) -> impl Iterator<Item = Result<Signature>> {
        let range = self.directory.range(Section::Deleted);
        (0..(range.end - range.start) / 8).map(|place| self.signature_at(Section::Deleted, place))
    }

    /// The metadata of a document.
    pub fn card(&self, document: DocId) -> Result<Card> {
        let mut words = [0; ZONES];
        for zone in Zone::ALL {
            words[zone as usize] = self.words(document, zone)?;
        }
        Ok(Card { signature: self.signature(document)?, words, facts: self.facts(document) })
    }

    /// The posting lists of a term, if any document contains it.
    pub fn find(&self, term: &str) -> Result<Option<Lists>> {
        let Some(rank) = self.ranks.get(self.opened(Section::Ranks), Ranks::hash(term.as_bytes())) else {
            return Ok(None);
        };
        let block = (rank / terms::BLOCK) as usize;
        let mut reader = self.block_of_terms(block)?;
        for _ in 0..=rank % terms::BLOCK {
            reader.advance().ok_or_else(|| self.damaged_terms(block))?;
        }
        Ok((reader.term == term.as_bytes()).then_some(reader.lists))
    }

    /// A cursor over a posting list.
    pub fn cursor(&self, list: List) -> Result<Cursor<'_>> {
        Cursor::new(self, list)
    }

    /// The terms in order.
    pub fn terms(&self) -> Terms<'_> {
        Terms { segment: self, block: 0, reader: None }
    }

    /// The terms in order, starting at or somewhat before `first`.
    pub fn terms_from(&self, first: &[u8]) -> Terms<'_> {
        Terms { segment: self, block: self.term_index.block_of(first), reader: None }
    }

    /// An evenly spread sample of the terms, in order.
    pub fn sample_terms(&self) -> impl Iterator<Item = &[u8]> {
        self.term_index.firsts().step_by(8)
    }

    /// The place of a document among the stored documents.
    pub fn place(&self, document: DocId) -> Result<u32> {
        let order = self.directory.range(Section::Order);
        if order.is_empty() {
            return Ok(document.0);
        }
        let start = u64::from(document.0) * 4;
        let bytes = self.section(Section::Order, start..start + 4)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// Calls `show` with the stored fields of a document.
    pub fn stored<T>(&self, document: DocId, show: impl FnOnce(StoredDocument<'_>) -> T) -> Result<T> {
        let place = DocId(self.place(document)?);
        let index = self.document_index()?;
        let number = index.block_of(place);
        let block = self.block_of_documents(index, number)?;
        let within = place.0.checked_sub(index.first(number).0);
        let stored = within.and_then(|within| block.documents().nth(within as usize)).flatten();
        stored.map(show).ok_or_else(|| self.damage(Section::Documents, 0, "a document is missing"))
    }

    /// The number of blocks of stored documents.
    pub fn stored_blocks(&self) -> Result<usize> {
        Ok(self.document_index()?.blocks())
    }

    /// The range of places in a block of stored documents.
    pub fn places_in(&self, block: usize) -> Result<Range<u32>> {
        let index = self.document_index()?;
        let first = index.first(block).0;
        // Dropped documents may remain among the stored ones, so only the last block has an open end.
        let next =
            if block + 1 < index.blocks() { index.first(block + 1).0 } else { self.stored_documents()? };
        Ok(first..next.max(first))
    }

    /// A block of stored documents, still compressed.
    pub fn packed(&self, block: usize) -> Result<&[u8]> {
        let range = self.document_index()?.range(block);
        self.section(Section::Documents, range)
    }

    /// A block of stored documents, decompressed.
    pub fn unpacked(&self, block: usize) -> Result<DocumentBlock> {
        self.block_of_documents(self.document_index()?, block)
    }

    /// The number of stored documents, including dropped ones.
    fn stored_documents(&self) -> Result<u32> {
        let index = self.document_index()?;
        let Some(last) = index.blocks().checked_sub(1) else { return Ok(0) };
        let within = self.block_of_documents(index, last)?.documents().count() as u32;
        Ok(index.first(last).0.saturating_add(within))
    }

    /// Verifies every checksum.
    pub(in crate::index) fn verify_pages(&self, pulse: &Pulse) -> Result<()> {
        self.pages.verify(pulse)
    }

    /// The size of a section in bytes.
    pub fn section_bytes(&self, section: Section) -> u64 {
        let range = self.directory.range(section);
        range.end - range.start
    }

    /// Bytes of a section, by their offset in it.
    #[inline]
    pub(in crate::index) fn section(&self, section: Section, range: Range<u64>) -> Result<&[u8]> {
        let whole = self.directory.range(section);
        let (start, end) = (whole.start.saturating_add(range.start), whole.start.saturating_add(range.end));
        if end > whole.end {
            return Err(self.damage(section, range.start, "a list does not end in its section"));
        }
        self.pages.get(start..end)
    }

    /// A section that was checked as a whole on opening.
    #[inline]
    pub(in crate::index) fn opened(&self, section: Section) -> &[u8] {
        self.pages.unchecked(self.directory.range(section))
    }

    /// The error for stored documents that do not decode.
    #[cold]
    pub(in crate::index) fn damaged_documents(&self) -> Error {
        self.damage(Section::Documents, 0, "a document does not decode")
    }

    /// The error for corruption found at an offset in a section.
    #[cold]
    pub(in crate::index) fn damage(&self, section: Section, place: u64, reason: &str) -> Error {
        self.pages.damage(self.directory.range(section).start.saturating_add(place), reason)
    }

    fn signature_at(&self, section: Section, place: u64) -> Result<Signature> {
        let bytes = self.section(section, place * 8..place * 8 + 8)?;
        Ok(Signature(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))))
    }

    /// Checks that the sections with a fixed width per document have one entry for each.
    fn check_lengths(&self) -> Result<()> {
        let documents = self.directory.totals.documents;
        for (section, width) in [(Section::Signatures, 8), (Section::Simhashes, 8), (Section::Order, 4)] {
            let length = self.section_bytes(section);
            let in_order = section == Section::Order && length == 0;
            if length != documents * width && !in_order {
                return Err(self.damage(section, 0, "a section has not one entry for each document"));
            }
        }
        if self.ranks.len() != self.directory.totals.terms {
            return Err(self.damage(Section::Ranks, 0, "there is not one rank for each term"));
        }
        Ok(())
    }

    fn document_index(&self) -> Result<DocumentIndex<'_>> {
        self.pages.get(self.directory.range(Section::DocumentIndex)).map(DocumentIndex)
    }

    fn block_of_documents(&self, index: DocumentIndex<'_>, number: usize) -> Result<DocumentBlock> {
        if number >= index.blocks() {
            return Err(self.damage(Section::DocumentIndex, 0, "a block of documents is missing"));
        }
        let range = index.range(number);
        let place = range.start;
        let block = DocumentBlock::read(self.section(Section::Documents, range)?);
        block.ok_or_else(|| self.damage(Section::Documents, place, "a block of documents does not decode"))
    }

    fn block_of_terms(&self, block: usize) -> Result<BlockReader<'_>> {
        let bytes = self.bytes_of_terms(block)?;
        BlockReader::new(bytes, self.codes.quantum).ok_or_else(|| self.damaged_terms(block))
    }

    fn bytes_of_terms(&self, block: usize) -> Result<&[u8]> {
        let range = self.term_index.range(block).ok_or_else(|| self.damaged_terms(block))?;
        self.section(Section::Terms, range)
    }

    #[cold]
    fn damaged_terms(&self, block: usize) -> Error {
        let place = self.term_index.range(block).map_or(0, |range| range.start);
        self.damage(Section::Terms, place, "a block of terms does not decode")
    }
}

/// An iterator over the terms of a segment.
pub struct Terms<'a> {
    segment: &'a Segment,
    /// The block after the current one.
    block: usize,
    reader: Option<BlockReader<'a>>,
}

impl Terms<'_> {
    /// Moves to the next term; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        if !self.reader.as_ref().is_some_and(BlockReader::has_more) {
            if self.block >= self.segment.term_index.blocks() {
                self.reader = None;
                return Ok(false);
            }
            self.open(self.block)?;
        }
        let decoded = self.reader.as_mut().and_then(BlockReader::advance);
        decoded.map(|()| true).ok_or_else(|| self.segment.damaged_terms(self.block - 1))
    }

    /// Moves to the first term from the current one on that is not before `target`; returns false at the end.
    /// The cost is logarithmic in the number of blocks skipped, plus a scan of one block.
    pub fn seek(&mut self, target: &[u8]) -> Result<bool> {
        if let Some(block) = self.segment.term_index.block_from(self.block, target) {
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
        let bytes = self.segment.bytes_of_terms(block)?;
        let decoded = match &mut self.reader {
            Some(reader) => reader.restart(bytes),
            None => {
                BlockReader::new(bytes, self.segment.codes.quantum).map(|reader| self.reader = Some(reader))
            }
        };
        self.block = block + 1;
        decoded.ok_or_else(|| self.segment.damaged_terms(block))
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
