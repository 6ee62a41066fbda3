//! A chunk: its compression, and the decoding of all its lists or of one.

use super::offsets::{self, Offsets};
use super::{CHUNK, PARTS};
use crate::codes::bits::{BitReader, BitWriter};
use crate::graph::coding::{
    self, Buffers, Codes, Difference, Head, Lengths, Lists, Options, Part, Source, Tally, choose,
};
use crate::prefetch::prefetch_lines;

/// How often references and codes are chosen: the best references depend on the codes, and these on them.
const ROUNDS: usize = 2;

/// A compressed chunk.
pub struct Compressed {
    /// Lists, offsets and weights.
    pub bytes: Vec<u8>,
    /// The length of the lists in bits.
    pub bits: u64,
    /// The codes.
    pub codes: Codes,
    /// The bits of each part.
    pub parts: [u64; PARTS],
    /// The number of arcs.
    pub arcs: u64,
}

/// Compresses a chunk.
pub fn compress(lists: Lists, options: &Options) -> Compressed {
    let mut codes = Codes::default();
    let mut parts = [0; PARTS];
    let mut references = Vec::new();
    let mut difference = Difference::default();
    for _ in 0..ROUNDS {
        references = choose(lists, &Lengths::of(&codes), options);
        let mut tally = Tally::default();
        for (index, distance) in references.iter().enumerate() {
            difference.compute(
                lists.list(index),
                lists.reference(index, usize::from(*distance)),
                options.interval,
            );
            difference.numbers(lists.first + index, options, |part, number| tally.add(part, number));
        }
        lists
            .weights
            .into_iter()
            .flatten()
            .for_each(|weight| tally.add(Part::Weight, u64::from(*weight) - 1));
        (codes, parts) = tally.best();
    }
    let mut bytes = Vec::new();
    let mut ends = Vec::with_capacity(lists.len());
    let mut writer = BitWriter::new(&mut bytes);
    let lengths = Lengths::of(&codes);
    let mut bits = 0;
    for (index, distance) in references.iter().enumerate() {
        difference.compute(
            lists.list(index),
            lists.reference(index, usize::from(*distance)),
            options.interval,
        );
        difference.numbers(lists.first + index, options, |part, number| {
            codes.single(part).write(number, &mut writer);
            bits += lengths.length(part, number);
        });
        ends.push(bits);
    }
    writer.finish();
    ends.pop();
    offsets::write(&ends, bits, &mut bytes);
    if let Some(weights) = lists.weights {
        let mut writer = BitWriter::new(&mut bytes);
        let code = codes.single(Part::Weight);
        weights.iter().for_each(|weight| code.write(u64::from(*weight) - 1, &mut writer));
        writer.finish();
    }
    Compressed { bytes, bits, codes, parts, arcs: lists.arcs() as u64 }
}

/// The bits of a chunk, in its codes.
struct Cursor<'a> {
    bits: BitReader<'a>,
    codes: &'a Codes,
}

impl Source for Cursor<'_> {
    #[inline(always)]
    fn number(&mut self, part: Part) -> Option<u64> {
        self.codes.read(part, &mut self.bits)
    }

    #[inline]
    fn gaps(&mut self, places: &mut [u32]) -> Option<()> {
        self.codes.single(Part::Residual).fill(&mut self.bits, places)
    }
}

/// The cache lines prefetched for a list, and how many of them are before its own.
const LINES: usize = 4;
const LINES_BEFORE: usize = 2;

/// A list to decode: its index, its outdegree, and where its body starts and ends.
struct Link {
    index: usize,
    outdegree: usize,
    body: usize,
    end: usize,
}

/// A list read by random access, and the memory that this takes.
#[derive(Default)]
pub struct Access {
    /// The list.
    pub list: Vec<u32>,
    other: Vec<u32>,
    chain: Vec<Link>,
    buffers: Buffers,
}

/// A chunk whose bytes match their checksum.
pub struct Chunk<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The length of the lists in bits.
    pub bits: u64,
    /// The codes.
    pub codes: &'a Codes,
    /// Its first node, and the number of nodes of the graph.
    pub nodes: (usize, usize),
    /// Its number of arcs.
    pub arcs: usize,
    /// How lists refer to each other.
    pub options: &'a Options,
}

impl<'a> Chunk<'a> {
    /// The number of its nodes.
    fn len(&self) -> usize {
        CHUNK.min(self.nodes.1 - self.nodes.0)
    }

    /// The lists, and the bytes after them.
    fn split(&self) -> Option<(&'a [u8], &'a [u8])> {
        self.bytes.split_at_checked(usize::try_from(self.bits.div_ceil(8)).ok()?)
    }

    /// Decodes all lists into `targets`, which has room for exactly the arcs of the chunk; sets `ends[i]` to the
    /// end of list i there. `None` if the bytes do not hold these lists.
    pub fn decode(&self, targets: &mut [u32], ends: &mut [u64], buffers: &mut Buffers) -> Option<()> {
        let (lists, _) = self.split()?;
        let mut cursor = Cursor { bits: BitReader::new(lists), codes: self.codes };
        let mut done = 0;
        for index in 0..self.len() {
            let Head { outdegree, reference } = coding::head(&mut cursor, usize::from(self.options.window))?;
            if outdegree > 0 {
                let (before, after) = targets.split_at_mut(done);
                let place = after.get_mut(..outdegree)?;
                let reference = match reference {
                    0 => None,
                    _ => {
                        let source = index.checked_sub(reference)?;
                        let start = source.checked_sub(1).map_or(0, |before| ends[before] as usize);
                        Some(&before[start..ends[source] as usize])
                    }
                };
                let node = (self.nodes.0 + index, self.nodes.1);
                coding::body(&mut cursor, node, u64::from(self.options.interval), reference, place, buffers)?;
                done += outdegree;
            }
            ends[index] = done as u64;
        }
        (done == targets.len() && cursor.bits.position().1 as u64 == self.bits).then_some(())
    }

    /// Decodes the weights of all arcs.
    pub fn weights(&self, weights: &mut [u32]) -> Option<()> {
        let (_, after) = self.split()?;
        let (_, rest) = Offsets::read(after, self.len() - 1, self.bits)?;
        let mut bits = BitReader::new(rest);
        self.codes.single(Part::Weight).fill(&mut bits, weights)?;
        weights.iter_mut().try_for_each(|weight| {
            *weight = weight.checked_add(1)?;
            Some(())
        })?;
        bits.end().filter(|rest| rest.is_empty()).map(|_| ())
    }

    /// Decodes one list into `access.list`, replacing its contents.
    pub fn successors(&self, index: usize, access: &mut Access) -> Option<()> {
        let (lists, after) = self.split()?;
        let (offsets, _) = Offsets::read(after, self.len() - 1, self.bits)?;
        let Access { list, other, chain, buffers } = access;
        chain.clear();
        let mut next = index;
        let mut cursor = Cursor { bits: BitReader::new(lists), codes: self.codes };
        loop {
            let (start, end) = offsets.range(next)?;
            cursor.bits.seek(start);
            let Head { outdegree, reference } = coding::head(&mut cursor, usize::from(self.options.window))?;
            if outdegree > self.arcs {
                return None;
            }
            chain.push(Link { index: next, outdegree, body: cursor.bits.position().1, end });
            if reference == 0 {
                break;
            }
            next = next.checked_sub(reference)?;
            if chain.len() > usize::from(self.options.chain) {
                return None;
            }
        }
        let mut copies = false;
        while let Some(Link { index, outdegree, body, end }) = chain.pop() {
            std::mem::swap(list, other);
            list.resize(outdegree, 0);
            cursor.bits.seek(body);
            let reference = copies.then_some(&other[..]);
            if outdegree > 0 {
                let node = (self.nodes.0 + index, self.nodes.1);
                coding::body(&mut cursor, node, u64::from(self.options.interval), reference, list, buffers)?;
            }
            if cursor.bits.position().1 != end {
                return None;
            }
            copies = true;
        }
        Some(())
    }

    /// Prefetches a list and those before it, which it may copy from.
    pub fn prefetch(&self, index: usize) -> Option<()> {
        let (lists, after) = self.split()?;
        let (offsets, _) = Offsets::read(after, self.len() - 1, self.bits)?;
        let (start, _) = offsets.range(index)?;
        prefetch_lines(lists.as_ptr().wrapping_add((start / 8).saturating_sub(LINES_BEFORE * 64)), LINES);
        Some(())
    }
}
