//! Writing postings: for each term the documents that hold it, how often, and where.
//!
//! The three components go to sections of their own, because a query that needs no positions should not
//! read them. Each is cut after every 128 postings, and written by [`packed`]:
//!
//! ```text
//! pointers    d₀ − p, d₁ − d₀ − 1, …         p: one past the last document of the block before, or 0
//! counts      c₀ − 1, c₁ − 1, …
//! positions   of each document: x₀, x₁ − x₀ − 1, …
//! ```
//!
//! so that runs of neighbours cost nothing. [`super::cursor`] reads them back.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::DocId;
use super::skips::SkipEntry;
use crate::code::packed;
use crate::{Error, Result};

/// Where the lists of a term are, from the beginning of each section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// In how many documents the term is.
    pub frequency: u32,
    /// How often it is there.
    pub occurrences: u64,
    /// Its gaps between documents.
    pub pointers: Range<u64>,
    /// Its counts.
    pub counts: Range<u64>,
    /// Its gaps between positions.
    pub positions: Range<u64>,
    /// Its skip entries.
    pub skips: Range<u64>,
}

/// A section under way: in memory while it is small, then in a file without a name.
pub struct Spool {
    folder: PathBuf,
    file: BufWriter<SpooledTempFile>,
    length: u64,
}

const IN_MEMORY: usize = 1 << 20;
const BUFFER: usize = 1 << 16;

impl Spool {
    /// An empty one, whose file will be in `folder`.
    pub fn new(folder: &Path) -> Spool {
        let file = tempfile::spooled_tempfile_in(IN_MEMORY, folder);
        let file = BufWriter::with_capacity(BUFFER, file);
        Spool { folder: folder.to_path_buf(), file, length: 0 }
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io(&self.folder))
    }

    /// How many bytes were appended.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Copies all of it to the end of something else.
    pub fn copy_to(self, output: &mut impl Write) -> Result<()> {
        let copy = || -> io::Result<()> {
            let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            let mut file = BufReader::with_capacity(BUFFER, file);
            io::copy(&mut file.by_ref(), output).map(|_| ())
        };
        copy().map_err(Error::io(&self.folder))
    }
}

/// Writes the postings of one term after the other.
pub struct PostingsWriter {
    pub(super) pointers: Spool,
    pub(super) counts: Spool,
    pub(super) positions: Spool,
    pub(super) skips: Spool,
    /// Where the term under way starts in each section, and what it has so far.
    term: Lists,
    entries: Vec<SkipEntry>,
    block: Block,
    bytes: Vec<u8>,
}

/// The block under way, as the numbers to write.
#[derive(Default)]
struct Block {
    /// One past the last document.
    next: u32,
    pointers: Vec<u32>,
    counts: Vec<u32>,
    positions: Vec<u32>,
    largest_count: u32,
    shortest: u32,
}

impl PostingsWriter {
    /// Writes beside a segment in `folder`.
    pub fn new(folder: &Path) -> PostingsWriter {
        PostingsWriter {
            pointers: Spool::new(folder),
            counts: Spool::new(folder),
            positions: Spool::new(folder),
            skips: Spool::new(folder),
            term: Lists::default(),
            entries: Vec::new(),
            block: Block::default(),
            bytes: Vec::new(),
        }
    }

    /// Adds a document with `words` words that holds the term at `positions`, which rise and are not empty;
    /// documents rise too.
    pub fn push(&mut self, document: DocId, words: u32, positions: &[u32]) -> Result<()> {
        let block = &mut self.block;
        let count = positions.len() as u32;
        if block.pointers.is_empty() {
            (block.largest_count, block.shortest) = (count, words);
        }
        block.pointers.push(document.0 - block.next);
        block.next = document.0 + 1;
        block.counts.push(count - 1);
        let mut next = 0;
        for position in positions {
            block.positions.push(position - next);
            next = position + 1;
        }
        block.largest_count = block.largest_count.max(count);
        block.shortest = block.shortest.min(words);
        self.term.frequency += 1;
        self.term.occurrences += u64::from(count);
        if block.pointers.len() == packed::BLOCK {
            self.end_block()?;
        }
        Ok(())
    }

    /// Ends the term; returns where its lists are.
    pub fn end_term(&mut self) -> Result<Lists> {
        if !self.block.pointers.is_empty() {
            self.end_block()?;
        }
        if self.entries.len() > 1 {
            self.bytes.clear();
            self.entries.iter().for_each(|entry| entry.write(&mut self.bytes));
            self.skips.append(&self.bytes)?;
        }
        self.entries.clear();
        self.block.next = 0;
        let mut term = self.next_term();
        std::mem::swap(&mut term, &mut self.term);
        term.pointers.end = self.pointers.length();
        term.counts.end = self.counts.length();
        term.positions.end = self.positions.length();
        term.skips.end = self.skips.length();
        Ok(term)
    }

    fn next_term(&self) -> Lists {
        let from = |spool: &Spool| spool.length()..spool.length();
        Lists {
            frequency: 0,
            occurrences: 0,
            pointers: from(&self.pointers),
            counts: from(&self.counts),
            positions: from(&self.positions),
            skips: from(&self.skips),
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let block = &mut self.block;
        self.entries.push(SkipEntry {
            last: DocId(block.next - 1),
            pointers: narrow(self.pointers.length() - self.term.pointers.start)?,
            counts: narrow(self.counts.length() - self.term.counts.start)?,
            positions: self.positions.length() - self.term.positions.start,
            largest_count: block.largest_count,
            shortest: block.shortest,
        });
        let components = [
            (&mut block.pointers, &mut self.pointers),
            (&mut block.counts, &mut self.counts),
            (&mut block.positions, &mut self.positions),
        ];
        for (numbers, spool) in components {
            self.bytes.clear();
            packed::write(numbers, &mut self.bytes);
            spool.append(&self.bytes)?;
            numbers.clear();
        }
        Ok(())
    }
}

fn narrow(offset: u64) -> Result<u32> {
    u32::try_from(offset).map_err(|_| Error::Invalid("a term's list passes 4 GiB: use more segments".into()))
}
