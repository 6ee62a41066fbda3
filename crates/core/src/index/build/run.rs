//! A run: the sorted postings of a chunk, in memory or in an unnamed file.
//!
//! ```text
//! term   shared bytes, length of the rest, the rest, its zones as bits, and for each of them:
//! zone   frequency, occurrences, length of the postings, the postings
//! ```
//!
//! all numbers in variable byte code; for each posting the gap between documents, the count and the gaps
//! between positions, as in [`crate::index::build::postings`]. That is 2 to 3 bytes per occurrence less than
//! the text: a run has about a third of the bytes of its chunk. One term in 256 is a restart point: it shares
//! no prefix with the term before, and its offset is kept, so that threads can merge disjoint term ranges.
//! The hash of the term decides, so all runs have the same restart points, and those of a collection do not
//! depend on how it was cut into chunks.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use memmap2::Mmap;

use crate::codes::variable_byte as number;
use crate::index::format::terms::shared_bytes;
use crate::index::format::zone::{Zone, ZoneSet};
use crate::{Error, Result, Signature};

/// One term in this many is a restart point.
const SAMPLE: u64 = 256;

/// Writes a run, term by term.
#[derive(Default)]
pub struct RunWriter {
    bytes: Vec<u8>,
    samples: Vec<(Box<[u8]>, usize)>,
    previous: Vec<u8>,
}

impl RunWriter {
    /// Starts a term, which must sort after the previous one and occurs in these zones.
    pub fn begin_term(&mut self, term: &[u8], zones: ZoneSet) {
        let mut shared = 0;
        if Signature::of(term).0.is_multiple_of(SAMPLE) {
            self.samples.push((term.into(), self.bytes.len()));
        } else {
            shared = shared_bytes(&self.previous, term);
        }
        number::write(shared as u64, &mut self.bytes);
        number::write_bytes(&term[shared..], &mut self.bytes);
        self.bytes.push(zones.bits());
        self.previous.clear();
        self.previous.extend_from_slice(term);
    }

    /// Adds the postings of the next zone of the term.
    pub fn push_zone(&mut self, frequency: u32, occurrences: u64, postings: &[u8]) {
        number::write(u64::from(frequency), &mut self.bytes);
        number::write(occurrences, &mut self.bytes);
        number::write_bytes(postings, &mut self.bytes);
    }

    /// Finishes the run of a chunk with `documents` documents.
    pub fn finish(mut self, documents: u32) -> Run {
        self.bytes.shrink_to_fit();
        Run { documents, data: Data::Memory(self.bytes), samples: self.samples }
    }
}

enum Data {
    Memory(Vec<u8>),
    File(Mmap),
}

/// The sorted postings of a chunk.
pub struct Run {
    /// The number of documents in the chunk.
    pub documents: u32,
    data: Data,
    samples: Vec<(Box<[u8]>, usize)>,
}

impl Run {
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Memory(bytes) => bytes,
            Data::File(map) => map,
        }
    }

    /// The memory used, in bytes.
    pub fn memory(&self) -> usize {
        let samples = self.samples.iter().map(|(term, _)| term.len() + 32).sum::<usize>();
        samples + if let Data::Memory(bytes) = &self.data { bytes.len() } else { 0 }
    }

    /// Spills the postings to an unnamed file in `folder`.
    pub fn spill(&mut self, folder: &Path) -> Result<()> {
        let Data::Memory(bytes) = &self.data else { return Ok(()) };
        if bytes.is_empty() {
            return Ok(());
        }
        let write = || {
            let mut file: File = tempfile::tempfile_in(folder)?;
            file.write_all(bytes)?;
            // SAFETY: the file has no name, so no other process can write to it or truncate it.
            unsafe { Mmap::map(&file) }
        };
        self.data = Data::File(write().map_err(Error::io(folder))?);
        Ok(())
    }

    /// An evenly spread sample of the terms, in order.
    pub fn samples(&self) -> impl Iterator<Item = &[u8]> {
        self.samples.iter().map(|(term, _)| &**term)
    }

    /// The terms from `first` on.
    pub fn terms_from(&self, first: &[u8]) -> RunTerms<'_> {
        let sample = self.samples.partition_point(|(term, _)| &**term <= first).checked_sub(1);
        let start = sample.map_or(0, |sample| self.samples[sample].1);
        RunTerms { bytes: &self.bytes()[start..], term: Vec::new(), zones: ZoneSet::default() }
    }
}

/// The posting list of a term in a zone, as a run stores it.
#[derive(Clone, Copy)]
pub struct RunList<'a> {
    /// The document frequency of the term.
    pub frequency: u32,
    /// The number of occurrences.
    pub occurrences: u64,
    bytes: &'a [u8],
}

impl RunList<'_> {
    /// Calls `visit` with every document, numbered from the start of the chunk, and its positions.
    pub fn each(
        mut self,
        positions: &mut Vec<u32>,
        mut visit: impl FnMut(u32, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut document = 0;
        for _ in 0..self.frequency {
            let mut next = || number::read_u32(&mut self.bytes).ok_or_else(broken);
            document += next()?;
            let count = next()?;
            positions.clear();
            let mut position = 0;
            for _ in 0..count {
                position += next()?;
                positions.push(position);
                position += 1;
            }
            visit(document, positions)?;
            document += 1;
        }
        Ok(())
    }
}

/// Runs are written and read by the same process: only a hardware fault corrupts one.
#[cold]
fn broken() -> Error {
    Error::Invalid("the postings of a run do not decode".into())
}

/// An iterator over the terms of a run.
pub struct RunTerms<'a> {
    bytes: &'a [u8],
    /// The current term, set by [`RunTerms::advance`].
    pub term: Vec<u8>,
    /// The zones it is in.
    pub zones: ZoneSet,
}

impl<'a> RunTerms<'a> {
    /// Moves to the next term and puts its posting lists into `lists`; returns false at the end.
    pub fn advance(&mut self, lists: &mut Vec<(Zone, RunList<'a>)>) -> Result<bool> {
        lists.clear();
        if self.bytes.is_empty() {
            return Ok(false);
        }
        self.read(lists).ok_or_else(broken)?;
        Ok(true)
    }

    fn read(&mut self, lists: &mut Vec<(Zone, RunList<'a>)>) -> Option<()> {
        let shared = number::read(&mut self.bytes)? as usize;
        self.term.truncate(shared);
        self.term.extend_from_slice(number::read_bytes(&mut self.bytes)?);
        let (&bits, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        self.zones = ZoneSet::from_bits(bits)?;
        for zone in self.zones.zones() {
            let frequency = number::read_u32(&mut self.bytes)?;
            let occurrences = number::read(&mut self.bytes)?;
            lists.push((
                zone,
                RunList { frequency, occurrences, bytes: number::read_bytes(&mut self.bytes)? },
            ));
        }
        Some(())
    }
}
