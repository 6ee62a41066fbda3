//! A segment, open for reading: memory-mapped, nothing decoded before it is asked for.
//!
//! Opening reads the directory, the checksums and the index of terms: some milliseconds a gigabyte.
//! Memory: the index of terms, about a byte a term, and a bit for each page. Any number of threads may read.

use std::ops::Range;
use std::path::Path;

use super::DocId;
use super::cursor::Cursor;
use super::directory::{Directory, SEGMENT, Section, Totals};
use super::documents::{DocumentBlock, DocumentIndex, StoredDocument};
use super::pages::Pages;
use super::postings::Lists;
use super::terms::{BlockReader, TermIndex};
use crate::format::Format;
use crate::{Error, Pulse, Result, Signature};

/// The name of a segment's file and its committed length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// The name, in the folder of the index.
    pub name: String,
    /// How many bytes it has.
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
}

impl Segment {
    /// Opens the segment of `length` bytes at `path`.
    pub fn open(path: &Path, length: u64) -> Result<Segment> {
        let (pages, directory) = Pages::open(path, length, Directory::LENGTH)?;
        let directory = Directory::decode(&directory)
            .ok_or_else(|| pages.damage(length, "its directory makes no sense"))?;
        SEGMENT.check(path, pages.get(0..Format::HEADER as u64)?)?;
        let index = directory.range(Section::TermIndex);
        let term_index = TermIndex::read(pages.get(index.clone())?)
            .ok_or_else(|| pages.damage(index.start, "the index of terms does not decode"))?;
        let segment = Segment { pages, directory, term_index };
        segment.check_lengths()?;
        Ok(segment)
    }

    /// How much there is.
    pub fn totals(&self) -> &Totals {
        &self.directory.totals
    }

    /// How many bytes the file has.
    pub fn bytes(&self) -> u64 {
        self.pages.length()
    }

    /// The documents, replaced ones too.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = DocId> + use<> {
        (0..self.directory.totals.documents as u32).map(DocId)
    }

    /// How many words a document has.
    #[inline]
    pub fn words(&self, document: DocId) -> Result<u32> {
        let start = u64::from(document.0) * 4;
        let bytes = self.section(Section::Lengths, start..start + 4)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// The signature of a document's URL.
    #[inline]
    pub fn signature(&self, document: DocId) -> Result<Signature> {
        let start = u64::from(document.0) * 8;
        let bytes = self.section(Section::Signatures, start..start + 8)?;
        Ok(Signature(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))))
    }

    /// Where the lists of a term are, if any document holds it.
    pub fn find(&self, term: &str) -> Result<Option<Lists>> {
        let term = term.as_bytes();
        let Some(block) = self.term_index.block_of(term) else { return Ok(None) };
        let mut reader = self.block_of_terms(block)?;
        while reader.has_more() {
            let lists = reader.read().ok_or_else(|| self.damaged_terms(block))?;
            match reader.term.as_slice().cmp(term) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Ok(Some(lists)),
                std::cmp::Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    /// A cursor over the documents of a term.
    pub fn cursor(&self, lists: Lists) -> Result<Cursor<'_>> {
        Cursor::new(self, lists)
    }

    /// The terms in order.
    pub fn terms(&self) -> Terms<'_> {
        Terms { segment: self, block: 0, reader: None }
    }

    /// Calls `show` with what is stored of a document.
    pub fn stored<T>(&self, document: DocId, show: impl FnOnce(StoredDocument<'_>) -> T) -> Result<T> {
        let index = self.document_index()?;
        let number = index.block_of(document);
        let (block, place) = self.block_of_documents(index, number)?;
        let within = document.0.checked_sub(index.first(number).0);
        let stored = within.and_then(|within| block.documents().nth(within as usize)).flatten();
        stored.map(show).ok_or_else(|| self.damage(Section::Documents, place, "a document is missing"))
    }

    /// Calls `visit` with every document in order.
    pub fn scan(
        &self,
        pulse: &Pulse,
        mut visit: impl FnMut(DocId, StoredDocument<'_>) -> Result<()>,
    ) -> Result<()> {
        let index = self.document_index()?;
        let mut documents = self.documents();
        for number in 0..index.blocks() {
            pulse.beat()?;
            let (block, place) = self.block_of_documents(index, number)?;
            for stored in block.documents() {
                let stored = stored.zip(documents.next());
                let (stored, document) = stored
                    .ok_or_else(|| self.damage(Section::Documents, place, "a document does not decode"))?;
                visit(document, stored)?;
            }
        }
        Ok(())
    }

    /// Reads everything and checks every checksum.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.pages.verify(pulse)
    }

    /// Bytes of a section, by their place in it.
    #[inline]
    pub(super) fn section(&self, section: Section, range: Range<u64>) -> Result<&[u8]> {
        let whole = self.directory.range(section);
        let (start, end) = (whole.start.saturating_add(range.start), whole.start.saturating_add(range.end));
        if end > whole.end {
            return Err(self.damage(section, range.start, "a list does not end in its section"));
        }
        self.pages.get(start..end)
    }

    /// Damage noticed at a place in a section.
    #[cold]
    pub(super) fn damage(&self, section: Section, place: u64, reason: &str) -> Error {
        self.pages.damage(self.directory.range(section).start.saturating_add(place), reason)
    }

    /// The sections with a fixed width a document must have one entry for each.
    fn check_lengths(&self) -> Result<()> {
        let documents = self.directory.totals.documents;
        for (section, width) in [(Section::Lengths, 4), (Section::Signatures, 8)] {
            let range = self.directory.range(section);
            if range.end - range.start != documents * width {
                return Err(self.damage(section, 0, "a section has not one entry for each document"));
            }
        }
        Ok(())
    }

    fn document_index(&self) -> Result<DocumentIndex<'_>> {
        self.pages.get(self.directory.range(Section::DocumentIndex)).map(DocumentIndex)
    }

    /// A block of documents, and its place.
    fn block_of_documents(&self, index: DocumentIndex<'_>, number: usize) -> Result<(DocumentBlock, u64)> {
        if number >= index.blocks() {
            return Err(self.damage(Section::DocumentIndex, 0, "a block of documents is missing"));
        }
        let range = index.range(number);
        let place = range.start;
        let block = DocumentBlock::read(self.section(Section::Documents, range)?);
        let block = block
            .ok_or_else(|| self.damage(Section::Documents, place, "a block of documents does not decode"))?;
        Ok((block, place))
    }

    fn block_of_terms(&self, block: usize) -> Result<BlockReader<'_>> {
        let bytes = self.section(Section::Terms, self.term_index.range(block))?;
        BlockReader::new(bytes).ok_or_else(|| self.damaged_terms(block))
    }

    #[cold]
    fn damaged_terms(&self, block: usize) -> Error {
        let place = self.term_index.range(block).start;
        self.damage(Section::Terms, place, "a block of terms does not decode")
    }
}

/// A walk over the terms of a segment.
pub struct Terms<'a> {
    segment: &'a Segment,
    /// The block after the one being read.
    block: usize,
    reader: Option<BlockReader<'a>>,
}

impl Iterator for Terms<'_> {
    type Item = Result<(Vec<u8>, Lists)>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.reader.as_ref().is_some_and(BlockReader::has_more) {
            if self.block == self.segment.term_index.blocks() {
                return None;
            }
            match self.segment.block_of_terms(self.block) {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => return Some(Err(error)),
            }
            self.block += 1;
        }
        let reader = self.reader.as_mut()?;
        let lists = reader.read().ok_or_else(|| self.segment.damaged_terms(self.block - 1));
        Some(lists.map(|lists| (reader.term.clone(), lists)))
    }
}
