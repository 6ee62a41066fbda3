//! A run: the sorted postings of a chunk, in memory or in a file without a name.
//!
//! ```text
//! term   shared bytes, length of the rest, the rest, its zones as bits, and for each of them:
//! zone   frequency, occurrences, length of the postings, the postings
//! ```
//!
//! all numbers in variable byte code; of each posting the gap between documents, the count and the gaps
//! between positions, as in [`crate::index::build::postings`]. That is 2 to 3 bytes an occurrence less than the text they
//! come from: a run has about a third of the bytes of its chunk. One term in 256 shares nothing with the one before and
//! is remembered with its place, so that threads can merge different stretches of the terms. Its hash decides, so that
//! all runs remember the same terms, and those of a collection do not depend on how it was cut into chunks.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use memmap2::Mmap;

use crate::codes::variable_byte as number;
use crate::index::format::terms::shared_bytes;
use crate::index::format::zone::{Zone, ZoneSet};
use crate::{Error, Result, Signature};

/// The place of one term in this many is remembered.
const SAMPLE: u64 = 256;

/// Writes a run term after term.
#[derive(Default)]
pub struct RunWriter {
    bytes: Vec<u8>,
    samples: Vec<(Box<[u8]>, usize)>,
    previous: Vec<u8>,
}

impl RunWriter {
    /// Begins a term, which comes after the ones before and is in these zones.
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

    /// Ends the run of a chunk of so many documents.
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
    /// How many documents the chunk has.
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

    /// How many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        let samples = self.samples.iter().map(|(term, _)| term.len() + 32).sum::<usize>();
        samples + if let Data::Memory(bytes) = &self.data { bytes.len() } else { 0 }
    }

    /// Moves the postings to a file without a name in `folder`.
    pub fn spill(&mut self, folder: &Path) -> Result<()> {
        let Data::Memory(bytes) = &self.data else { return Ok(()) };
        if bytes.is_empty() {
            return Ok(());
        }
        let write = || {
            let mut file: File = tempfile::tempfile_in(folder)?;
            file.write_all(bytes)?;
            // SAFETY: the file has no name, so nobody else can write to it or cut it.
            unsafe { Mmap::map(&file) }
        };
        self.data = Data::File(write().map_err(Error::io(folder))?);
        Ok(())
    }

    /// Some of the terms, in order, evenly spread.
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

/// The postings of a term in a zone, as a run has them.
#[derive(Clone, Copy)]
pub struct RunList<'a> {
    /// In how many documents the term is.
    pub frequency: u32,
    /// How often it is there.
    pub occurrences: u64,
    bytes: &'a [u8],
}

impl RunList<'_> {
    /// Calls `visit` with every document, counted from the start of the chunk, and its positions.
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

/// Runs are written and read by the same process: only a fault of the machine breaks one.
#[cold]
fn broken() -> Error {
    Error::Invalid("the postings of a run do not decode".into())
}

/// A walk over the terms of a run.
pub struct RunTerms<'a> {
    bytes: &'a [u8],
    /// The term that [`RunTerms::advance`] came to.
    pub term: Vec<u8>,
    /// The zones it is in.
    pub zones: ZoneSet,
}

impl<'a> RunTerms<'a> {
    /// Moves to the next term, whose lists are put into `lists`; false at the end.
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
