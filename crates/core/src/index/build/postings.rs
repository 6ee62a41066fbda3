//! Writing postings: for each term and zone the documents that contain it, how often, and at which positions.
//!
//! The three components go to separate sections, because a query that needs no positions should not read
//! them. Each is cut into blocks of as many postings as the segment's quantum, and written in the code that
//! the segment has for it ([`crate::index::format::codes`]):
//!
//! ```text
//! pointers    d₀ − p, d₁ − d₀ − 1, …         p: one past the last document of the preceding block, or 0
//! counts      c₀ − 1, c₁ − 1, …
//! positions   the first of each document: x₀, …; then of each document: x₁ − x₀ − 1, x₂ − x₁ − 1, …
//! ```
//!
//! so that runs of consecutive documents cost almost nothing. First positions are spread over the whole
//! document, and gaps are small: encoded separately, each kind is closer to one distribution. In a block of
//! eight documents or more, a byte before the positions says whether each kind is written as differences to
//! the preceding document ([`crate::index::format::template`]). A list in which no document repeats the term
//! has no counts, and a single document or position is stored in the dictionary entry instead
//! ([`crate::index::format::lists`]). [`crate::index::read::cursor`] reads them back.

use crate::Result;
use crate::disk::spool::Spool;
use crate::index::DocId;
use crate::index::format::codes::Codes;
use crate::index::format::lists::{COMPONENTS, List};
use crate::index::format::maxima::Maxima;
use crate::index::format::skips;
use crate::index::format::skips::Block;
use crate::index::format::template;
use crate::index::format::template::LEAST_RELATED;

/// The postings of one term in one zone, as the integers to encode.
#[derive(Default)]
pub struct Numbers {
    /// One past the last document.
    next: u32,
    /// Gaps between documents.
    pub pointers: Vec<u32>,
    /// Counts minus one.
    pub counts: Vec<u32>,
    /// First positions.
    pub firsts: Vec<u32>,
    /// Gaps between positions.
    pub gaps: Vec<u32>,
    /// Document lengths in tokens, for the block maxima.
    lengths: Vec<u32>,
}

impl Numbers {
    /// Adds a document of `length` tokens in the zone, which contains the term at `positions`: they increase
    /// and are not empty. Documents increase too.
    #[inline]
    pub fn push(&mut self, document: DocId, length: u32, positions: &[u32]) {
        self.pointers.push(document.0 - self.next);
        self.next = document.0 + 1;
        self.counts.push(positions.len() as u32 - 1);
        self.firsts.push(positions[0]);
        self.gaps.extend(positions.windows(2).map(|pair| pair[1] - pair[0] - 1));
        self.lengths.push(length);
    }

    /// Clears the postings but remembers the last document.
    pub fn clear(&mut self) {
        self.pointers.clear();
        self.counts.clear();
        self.firsts.clear();
        self.gaps.clear();
        self.lengths.clear();
    }
}

/// Writes posting lists one after the other.
pub struct PostingsWriter<'a> {
    codes: &'a Codes,
    /// The output of each component.
    pub components: [Spool; COMPONENTS],
    starts: [u64; COMPONENTS],
    blocks: Vec<Block>,
    numbers: Numbers,
    frequency: u32,
    occurrences: u64,
    /// Whether some document of the list may repeat the term: must be known before its first block is
    /// written.
    repeats: bool,
    bytes: Vec<u8>,
    /// Buffers for first positions and gaps as differences.
    firsts: Vec<u32>,
    gaps: Vec<u32>,
}

impl<'a> PostingsWriter<'a> {
    /// A writer with these codes and output spools.
    pub fn new(codes: &'a Codes, components: [Spool; COMPONENTS]) -> PostingsWriter<'a> {
        let starts = std::array::from_fn(|component| components[component].length());
        PostingsWriter {
            codes,
            components,
            starts,
            blocks: Vec::new(),
            numbers: Numbers::default(),
            frequency: 0,
            occurrences: 0,
            repeats: false,
            bytes: Vec::new(),
            firsts: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Starts a list; `repeats` says whether some document of it may contain the term more than once.
    pub fn begin(&mut self, repeats: bool) {
        self.repeats = repeats;
    }

    /// Adds a posting to the current list; see [`Numbers::push`].
    #[inline]
    pub fn push(&mut self, document: DocId, length: u32, positions: &[u32]) -> Result<()> {
        self.numbers.push(document, length, positions);
        self.frequency += 1;
        self.occurrences += positions.len() as u64;
        if self.numbers.pointers.len() == self.codes.quantum as usize {
            self.end_block()?;
        }
        Ok(())
    }

    /// Ends the list; returns where it is, or `None` if it has no postings.
    pub fn end(&mut self) -> Result<Option<List>> {
        if self.frequency == 0 {
            return Ok(None);
        }
        let Numbers { pointers, firsts, .. } = &self.numbers;
        let alone = |numbers: &[u32]| numbers.first().copied().unwrap_or_default();
        let document = if self.frequency == 1 { alone(pointers) } else { 0 };
        let position = if self.occurrences == 1 { alone(firsts) } else { 0 };
        if !self.numbers.pointers.is_empty() {
            self.end_block()?;
        }
        if self.blocks.len() > 1 {
            self.bytes.clear();
            skips::write(&self.blocks, &mut self.bytes);
            self.components[3].append(&self.bytes)?;
        }
        let ranges = std::array::from_fn(|component| {
            let end = self.components[component].length();
            std::mem::replace(&mut self.starts[component], end)..end
        });
        let list = List {
            frequency: std::mem::take(&mut self.frequency),
            occurrences: std::mem::take(&mut self.occurrences),
            counted: self.repeats,
            document,
            position,
            ranges,
            shard: 0,
        };
        self.blocks.clear();
        self.numbers.next = 0;
        Ok(Some(list))
    }

    fn end_block(&mut self) -> Result<()> {
        let numbers = &self.numbers;
        let alone = self.frequency == 1;
        // Only a list of several blocks stores maxima, and whether there will be several is known once one
        // is full.
        let full = numbers.pointers.len() == self.codes.quantum as usize;
        if full || !self.blocks.is_empty() {
            let postings = numbers.counts.iter().zip(&numbers.lengths);
            self.blocks.push(Block {
                last: DocId(numbers.next - 1),
                starts: std::array::from_fn(|part| self.components[part].length() - self.starts[part]),
                maxima: Maxima::of(postings.map(|(count, length)| (count + 1, *length))),
            });
        }
        if !alone {
            self.bytes.clear();
            self.codes.write(0, &numbers.pointers, &mut self.bytes)?;
            self.components[0].append(&self.bytes)?;
        }
        if !alone && self.repeats {
            self.bytes.clear();
            self.codes.write(1, &numbers.counts, &mut self.bytes)?;
            self.components[1].append(&self.bytes)?;
        }
        if self.occurrences > 1 {
            self.bytes.clear();
            let related = numbers.firsts.len() >= LEAST_RELATED;
            let firsts = related && template::relate_firsts(&numbers.firsts, &mut self.firsts);
            let gaps = related && template::relate_gaps(&numbers.gaps, &numbers.counts, &mut self.gaps);
            if related {
                self.bytes.push(u8::from(firsts) | u8::from(gaps) << 1);
            }
            let written = if firsts { &self.firsts } else { &numbers.firsts };
            self.codes.write(2, written, &mut self.bytes)?;
            if !numbers.gaps.is_empty() {
                let written = if gaps { &self.gaps } else { &numbers.gaps };
                self.codes.write(3, written, &mut self.bytes)?;
            }
            self.components[2].append(&self.bytes)?;
        }
        self.numbers.clear();
        Ok(())
    }
}
