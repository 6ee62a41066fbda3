//! Writing postings: for each term and zone the documents that hold it, how often, and where.
//!
//! The three components go to sections of their own, because a query that needs no positions should not
//! read them. Each is cut after as many postings as the segment's quantum says, and written by the code that the
//! segment has for it ([`crate::index::format::codes`]):
//!
//! ```text
//! pointers    d₀ − p, d₁ − d₀ − 1, …         p: one past the last document of the block before, or 0
//! counts      c₀ − 1, c₁ − 1, …
//! positions   the first of each document: x₀, …; then of each document: x₁ − x₀ − 1, x₂ − x₁ − 1, …
//! ```
//!
//! so that runs of neighbours cost nothing. First positions are spread over the whole document, and gaps are
//! small: apart, each kind is closer to one distribution. In a block of eight documents or more a byte before the
//! positions says whether each kind is written as differences to the document before ([`crate::index::format::template`]). A list without repeats has no counts, and what a term
//! with a single document or position would have here is in the dictionary ([`crate::index::format::lists`]).
//! [`crate::index::read::cursor`] reads them back.

use crate::Result;
use crate::index::DocId;
use crate::index::format::codes::Codes;
use crate::index::format::lists::{COMPONENTS, List};
use crate::index::format::maxima::Maxima;
use crate::index::format::skips;
use crate::index::format::skips::Block;
use crate::index::format::spool::Spool;
use crate::index::format::template;
use crate::index::format::template::LEAST_RELATED;

/// The postings of one term in one zone at a time, as the numbers to write.
#[derive(Default)]
pub struct Numbers {
    /// One past the last document.
    next: u32,
    /// Gaps between documents.
    pub pointers: Vec<u32>,
    /// Counts, less one.
    pub counts: Vec<u32>,
    /// First positions.
    pub firsts: Vec<u32>,
    /// Gaps between positions.
    pub gaps: Vec<u32>,
    /// Words of the documents, for the maxima.
    lengths: Vec<u32>,
}

impl Numbers {
    /// Adds a document with `length` words in the zone, which holds the term at `positions`: they rise and are
    /// not empty. Documents rise too.
    #[inline]
    pub fn push(&mut self, document: DocId, length: u32, positions: &[u32]) {
        self.pointers.push(document.0 - self.next);
        self.next = document.0 + 1;
        self.counts.push(positions.len() as u32 - 1);
        self.firsts.push(positions[0]);
        self.gaps.extend(positions.windows(2).map(|pair| pair[1] - pair[0] - 1));
        self.lengths.push(length);
    }

    /// Forgets the postings but not which document was the last.
    pub fn clear(&mut self) {
        self.pointers.clear();
        self.counts.clear();
        self.firsts.clear();
        self.gaps.clear();
        self.lengths.clear();
    }
}

/// Writes lists one after the other.
pub struct PostingsWriter<'a> {
    codes: &'a Codes,
    /// The components, as they grow.
    pub components: [Spool; COMPONENTS],
    starts: [u64; COMPONENTS],
    blocks: Vec<Block>,
    numbers: Numbers,
    frequency: u32,
    occurrences: u64,
    /// Whether some document of the list may repeat the term: known before its first block is written.
    repeats: bool,
    bytes: Vec<u8>,
    /// First positions and gaps as differences.
    firsts: Vec<u32>,
    gaps: Vec<u32>,
}

impl<'a> PostingsWriter<'a> {
    /// Writes with these codes to these spools.
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

    /// Begins a list; `repeats` says whether some document of it may hold the term more than once.
    pub fn begin(&mut self, repeats: bool) {
        self.repeats = repeats;
    }

    /// Adds a posting to the list under way; see [`Numbers::push`].
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

    /// Ends the list, if it has any posting; returns where it is.
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
        };
        self.blocks.clear();
        self.numbers.next = 0;
        Ok(Some(list))
    }

    fn end_block(&mut self) -> Result<()> {
        let numbers = &self.numbers;
        let alone = self.frequency == 1;
        // Only a list of several blocks keeps maxima, and whether there will be several shows when one is full.
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
