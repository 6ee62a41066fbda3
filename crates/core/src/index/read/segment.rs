//! A segment, open for reading: memory-mapped, nothing decoded before it is needed.
//!
//! Opening reads the directory, the checksums, the ranks, the term index and the document columns: a few
//! milliseconds per gigabyte. Memory: the term index, about a byte per term, and a bit for each page. Any
//! number of threads may read concurrently.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use super::cursor::{Cursor, Source};
use super::extract::Extract;
pub use super::terms::Terms;
use crate::dictionaries::Ranks;
use crate::index::DocId;
use crate::index::format::codes::Codes;
use crate::index::format::completions::Completions;
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
use crate::index::format::{Card, Piece};
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

    /// Opens the file of a shard of terms by itself, without the documents that its postings refer to.
    pub fn open_terms(&self, folder: &Path) -> Result<Segment> {
        let segment = self.open(folder)?;
        Ok(Segment { limit: u64::from(u32::MAX), ..segment })
    }

    /// Whether the file holds terms of the segment whose documents are in the file before it.
    pub fn is_of_terms(&self) -> bool {
        matches!(Piece::parse(&self.name), Some((_, Piece::Terms(_))))
    }

    /// Opens segments; the files of terms of one that is divided by terms follow the file of its documents.
    pub fn open_all(folder: &Path, files: &[SegmentFile]) -> Result<Vec<Segment>> {
        let mut segments: Vec<Segment> = Vec::with_capacity(files.len());
        for file in files {
            let opened = file.open(folder)?;
            match segments.last_mut() {
                Some(segment) if file.is_of_terms() => segment.attach(opened),
                _ => segments.push(opened),
            }
        }
        Ok(segments)
    }
}

/// A segment open for reading.
///
/// If the index is divided by terms, the segment has the documents, and each of its shards the posting lists of
/// a range of terms; the ranges are in order. If its shards are in other processes, it has the posting lists that
/// were gathered from them for a query instead.
pub struct Segment {
    file: Arc<Opened>,
    /// The counts, of the shards too.
    totals: Totals,
    /// The number of documents that postings may refer to.
    limit: u64,
    shards: Vec<Segment>,
    /// Posting lists of other processes, by term.
    gathered: Option<Vec<Arc<Extract>>>,
}

/// The file of a segment.
pub struct Opened {
    pages: Pages,
    directory: Directory,
    pub(super) term_index: TermIndex,
    ranks: Ranks,
    pub(super) codes: Codes,
    lengths: Rows<ZONES>,
    pub(in crate::index) facts: FactTable,
    pub(in crate::index) sites: Sites,
}

impl Deref for Segment {
    type Target = Opened;

    #[inline]
    fn deref(&self) -> &Opened {
        &self.file
    }
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
        let (totals, limit) = (directory.totals, directory.totals.documents);
        let file = Arc::new(Opened { pages, directory, term_index, ranks, codes, lengths, facts, sites });
        let segment = Segment { file, totals, limit, shards: Vec::new(), gathered: None };
        segment.check_lengths()?;
        Ok(segment)
    }

    /// Adds the next range of terms.
    pub(crate) fn attach(&mut self, mut shard: Segment) {
        shard.limit = self.limit;
        self.totals.terms += shard.totals.terms;
        self.totals.postings += shard.totals.postings;
        self.totals.occurrences += shard.totals.occurrences;
        self.shards.push(shard);
    }

    /// The same documents with these posting lists, which are in order of their terms, and no others.
    pub(crate) fn with_lists(&self, gathered: Vec<Arc<Extract>>) -> Segment {
        let (file, totals, limit) = (self.file.clone(), self.totals, self.limit);
        Segment { file, totals, limit, shards: Vec::new(), gathered: Some(gathered) }
    }

    /// Whether the posting lists are those gathered for a query.
    pub(crate) fn is_gathered(&self) -> bool {
        self.gathered.is_some()
    }

    /// The files that hold terms: the segment itself, or its shards.
    pub fn holders(&self) -> &[Segment] {
        if self.shards.is_empty() { std::slice::from_ref(self) } else { &self.shards }
    }

    /// The counts of the segment.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The number of documents that postings may refer to.
    pub(in crate::index) fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of its files in bytes.
    pub fn bytes(&self) -> u64 {
        self.pages.length() + self.shards.iter().map(Segment::bytes).sum::<u64>()
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

    /// What queries may be completed to.
    pub fn completions(&self) -> Result<Completions<'_>> {
        let bytes = self.pages.get(self.directory.range(Section::Completions))?;
        Completions::open(bytes)
            .ok_or_else(|| self.damage(Section::Completions, 0, "the completions do not decode"))
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
        if let Some(gathered) = &self.gathered {
            let Ok(number) = gathered.binary_search_by(|extract| extract.term().cmp(term)) else {
                return Ok(None);
            };
            let mut lists = gathered[number].lists().clone();
            lists.iter_mut().for_each(|(_, list)| list.shard = number as u16);
            return Ok(Some(lists));
        }
        if !self.shards.is_empty() {
            let after = self.shards.partition_point(|shard| shard.first_term() <= term.as_bytes());
            let Some(shard) = after.checked_sub(1) else { return Ok(None) };
            let mut found = self.shards[shard].find(term)?;
            found.iter_mut().flatten().for_each(|(_, list)| list.shard = shard as u16);
            return Ok(found);
        }
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
        let shard = list.shard as usize;
        let source = match &self.gathered {
            Some(gathered) => gathered.get(shard).map(|extract| Source::Extract(extract)),
            None => self.shards.get(shard).map(Source::Segment),
        };
        Cursor::new(source.unwrap_or(Source::Segment(self)), list)
    }

    /// The terms in order.
    pub fn terms(&self) -> Terms<'_> {
        Terms::new(self.holders(), 0, 0)
    }

    /// The terms in order, starting at or somewhat before `first`.
    pub fn terms_from(&self, first: &[u8]) -> Terms<'_> {
        let holders = self.holders();
        let shard = holders.partition_point(|shard| shard.first_term() <= first).saturating_sub(1);
        Terms::new(holders, shard, holders[shard].term_index.block_of(first))
    }

    /// An evenly spread sample of the terms, in order.
    pub fn sample_terms(&self) -> impl Iterator<Item = &[u8]> {
        self.holders().iter().flat_map(|shard| shard.term_index.firsts().step_by(8))
    }

    /// The first term; empty if there is none.
    pub(super) fn first_term(&self) -> &[u8] {
        self.term_index.firsts().next().unwrap_or_default()
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
        self.pages.verify(pulse)?;
        self.shards.iter().try_for_each(|shard| shard.verify_pages(pulse))
    }

    /// The size of a section in bytes, in all files.
    pub fn section_bytes(&self, section: Section) -> u64 {
        self.own_bytes(section) + self.shards.iter().map(|shard| shard.own_bytes(section)).sum::<u64>()
    }

    fn own_bytes(&self, section: Section) -> u64 {
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
            let length = self.own_bytes(section);
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

    pub(super) fn bytes_of_terms(&self, block: usize) -> Result<&[u8]> {
        let range = self.term_index.range(block).ok_or_else(|| self.damaged_terms(block))?;
        self.section(Section::Terms, range)
    }

    #[cold]
    pub(super) fn damaged_terms(&self, block: usize) -> Error {
        let place = self.term_index.range(block).map_or(0, |range| range.start);
        self.damage(Section::Terms, place, "a block of terms does not decode")
    }
}
