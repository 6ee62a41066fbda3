//! Building: documents in, segments out, in bounded memory.
//!
//! A batch is analysed by all cores, each document into its occurrences sorted by term; one thread then
//! appends them to the term's list, in variable byte code, which takes about as much memory as the postings
//! will on disk. When memory passes the limit the segment is closed and another begun.
//!
//! Positions count words over the title and then the body, with a gap of [`ZONE_GAP`] between the two that
//! no phrase crosses. A word of the title is one more occurrence, like a word of the body.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::DocId;
use super::documents::StoredDocument;
use super::segment::SegmentFile;
use super::writer::SegmentWriter;
use crate::analysis::{Analyzer, Language};
use crate::code::variable_byte as number;
use crate::{Error, Pulse, Result};

/// How many positions are left free between the title and the body.
pub const ZONE_GAP: u32 = 100;

/// How many documents are analysed at a time: enough for every core, few enough to hold their terms.
const BATCH: usize = 64;

/// What an entry of the table takes beside its bytes: the key, the list, and the table's own free room.
const ENTRY: usize = 96;

/// A document to add.
#[derive(Clone, Copy, Debug)]
pub struct NewDocument<'a> {
    /// Its URL, which is its identity.
    pub url: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its text.
    pub body: &'a str,
    /// The tag of its language, if it is known.
    pub language: Option<&'a str>,
}

/// The postings of a term so far: of each document the gap, the count and the gaps between positions.
#[derive(Default)]
struct Gathered {
    next: u32,
    bytes: Vec<u8>,
}

/// Builds segments. After an error it must be dropped.
pub struct IndexBuilder {
    folder: PathBuf,
    next_segment: u64,
    memory: usize,
    table: FxHashMap<Box<[u8]>, Gathered>,
    /// What the table takes, estimated.
    used: usize,
    writer: Option<SegmentWriter>,
    written: Vec<SegmentFile>,
    documents: u64,
}

impl IndexBuilder {
    /// Builds segments in `folder`, numbered from `first_segment` on, in about `memory` bytes.
    pub fn new(folder: &Path, first_segment: u64, memory: usize) -> IndexBuilder {
        IndexBuilder {
            folder: folder.to_path_buf(),
            next_segment: first_segment,
            memory,
            table: FxHashMap::default(),
            used: 0,
            writer: None,
            written: Vec::new(),
            documents: 0,
        }
    }

    /// Adds documents.
    pub fn add(&mut self, documents: &[NewDocument<'_>], pulse: &Pulse) -> Result<()> {
        for batch in documents.chunks(BATCH) {
            pulse.beat()?;
            let analyzed: Vec<Occurrences> = batch.par_iter().map(Occurrences::of).collect();
            for (document, occurrences) in batch.iter().zip(&analyzed) {
                self.add_one(document, occurrences)?;
                if self.used + self.writer.as_ref().map_or(0, SegmentWriter::memory) > self.memory {
                    self.close(pulse)?;
                }
            }
        }
        Ok(())
    }

    /// Closes the last segment; returns all that were written since the last time, oldest first.
    pub fn finish(&mut self, pulse: &Pulse) -> Result<Vec<SegmentFile>> {
        self.close(pulse)?;
        Ok(std::mem::take(&mut self.written))
    }

    /// How many documents were added.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    fn add_one(&mut self, document: &NewDocument<'_>, occurrences: &Occurrences) -> Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => SegmentWriter::create(&self.folder, self.next_segment)?,
        };
        let NewDocument { url, title, body, language } = *document;
        let stored = StoredDocument { url, title, body, language: language.unwrap_or_default() };
        let number = writer.add_document(stored, occurrences.words)?;
        self.writer = Some(writer);
        self.documents += 1;
        occurrences.by_term(|term, positions| self.gather(number, term, positions));
        Ok(())
    }

    fn gather(&mut self, document: DocId, term: &[u8], positions: &[Occurrence]) {
        if !self.table.contains_key(term) {
            self.table.insert(term.into(), Gathered::default());
            self.used += term.len() + ENTRY;
        }
        let Some(gathered) = self.table.get_mut(term) else { return };
        let before = gathered.bytes.capacity();
        number::write(u64::from(document.0 - gathered.next), &mut gathered.bytes);
        gathered.next = document.0 + 1;
        number::write(positions.len() as u64, &mut gathered.bytes);
        let mut next = 0;
        for occurrence in positions {
            number::write(u64::from(occurrence.position - next), &mut gathered.bytes);
            next = occurrence.position + 1;
        }
        self.used += gathered.bytes.capacity() - before;
    }

    fn close(&mut self, pulse: &Pulse) -> Result<()> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let mut terms: Vec<(Box<[u8]>, Gathered)> = std::mem::take(&mut self.table).into_iter().collect();
        terms.par_sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        self.used = 0;
        let mut positions = Vec::new();
        for (count, (term, gathered)) in terms.into_iter().enumerate() {
            if count.is_multiple_of(1 << 12) {
                pulse.beat()?;
            }
            let broken = || Error::Invalid("the postings in memory are broken".into());
            write_list(&mut writer, &gathered.bytes, &mut positions)?.ok_or_else(broken)?;
            writer.end_term(&term)?;
        }
        self.written.push(writer.finish()?);
        self.next_segment += 1;
        Ok(())
    }
}

/// Writes the gathered postings of a term; `None` inside where they do not decode.
fn write_list(writer: &mut SegmentWriter, mut bytes: &[u8], positions: &mut Vec<u32>) -> Result<Option<()>> {
    let mut document = 0;
    while !bytes.is_empty() {
        positions.clear();
        let Some(gap) = number::read_u32(&mut bytes) else { return Ok(None) };
        let Some(count) = number::read_u32(&mut bytes) else { return Ok(None) };
        let mut next = 0;
        for _ in 0..count {
            let Some(gap) = number::read_u32(&mut bytes) else { return Ok(None) };
            positions.push(next + gap);
            next += gap + 1;
        }
        document += gap;
        writer.push(DocId(document), positions)?;
        document += 1;
    }
    Ok(Some(()))
}

/// Where a term is in a document.
#[derive(Clone, Copy)]
struct Occurrence {
    /// The bytes of the term among all the terms of the document.
    start: usize,
    length: usize,
    position: u32,
}

/// The terms of a document with their positions.
struct Occurrences {
    terms: Vec<u8>,
    /// In order of term and position.
    sorted: Vec<Occurrence>,
    words: u32,
}

impl Occurrences {
    fn of(document: &NewDocument<'_>) -> Occurrences {
        let analyzer = Analyzer::new(Language::of(document.language));
        let mut terms = Vec::with_capacity(document.body.len());
        let mut sorted = Vec::new();
        let mut words = 0;
        let mut first = 0;
        for zone in [document.title, document.body] {
            let in_zone = analyzer.words(zone, |word| {
                if word.term.is_empty() {
                    return;
                }
                let start = terms.len();
                terms.extend_from_slice(word.term.as_bytes());
                sorted.push(Occurrence { start, length: word.term.len(), position: first + word.position });
            });
            words += in_zone;
            first += in_zone + ZONE_GAP;
        }
        let term = |occurrence: &Occurrence| &terms[occurrence.start..][..occurrence.length];
        sorted.sort_unstable_by(|left, right| {
            term(left).cmp(term(right)).then(left.position.cmp(&right.position))
        });
        Occurrences { terms, sorted, words }
    }

    fn by_term(&self, mut visit: impl FnMut(&[u8], &[Occurrence])) {
        let term = |occurrence: &Occurrence| &self.terms[occurrence.start..][..occurrence.length];
        for group in self.sorted.chunk_by(|left, right| term(left) == term(right)) {
            visit(term(&group[0]), group);
        }
    }
}
