//! Reading: a memory-mapped file, decoded chunk by chunk or list by list.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::chunk::{Access, Chunk};
use super::{CHUNK, ENTRY, FOOTER, GRAPH, PARTS};
use crate::codes::Code;
use crate::disk::format::Format;
use crate::graph::Node;
use crate::graph::adjacency::{Adjacency, Lists};
use crate::graph::coding::{Buffers, CODES, Codes, Options, Part};
use crate::{Error, Pulse, Result};

/// The bits of a part of the lists, and how many chunks have it in each code.
pub type PartBits = (Part, u64, Vec<(Code, usize)>);

/// What is done with a list and its weights.
type Visit<'a> = dyn FnMut(&[u32], Option<&[u32]>) -> Result<()> + 'a;

/// An entry of the directory.
struct Entry {
    start: usize,
    end: usize,
    /// The arcs of the chunks before.
    before: u64,
    arcs: usize,
    bits: u64,
    /// Which of the codes of the file.
    codes: u32,
    checksum: u32,
    checked: AtomicBool,
}

/// A compressed graph, memory-mapped.
pub struct GraphFile {
    path: PathBuf,
    map: memmap2::Mmap,
    nodes: usize,
    arcs: u64,
    parts: [u64; PARTS],
    weighted: bool,
    options: Options,
    /// The codes that chunks have; most have the same, so that a few stay in the cache.
    codes: Vec<Codes>,
    chunks: Vec<Entry>,
}

/// How many lists ahead the cache lines of a list are prefetched.
const AHEAD: usize = 8;

/// Reads numbers off the front of bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }
}

impl GraphFile {
    /// Opens a graph of `committed` bytes; without that, a file of its own.
    pub fn open(path: &Path, committed: Option<u64>) -> Result<GraphFile> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        let committed = committed.unwrap_or(actual);
        if actual < committed {
            let reason = format!("it ends here, and {committed} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        if committed < (Format::HEADER + FOOTER) as u64 {
            return Err(Error::corrupt(path, committed, "it is cut off"));
        }
        // SAFETY: a graph file is written completely under another name and renamed, so the bytes under this
        // map never change; `committed` is within the file.
        let map = unsafe { memmap2::MmapOptions::new().len(committed as usize).map(&file) };
        let map = map.map_err(Error::io(path))?;
        let found = GRAPH.check(path, &map)?;
        if found < GRAPH.version {
            return Err(Error::Older { path: path.to_path_buf(), found, supported: GRAPH.version });
        }
        let footer = map.len() - FOOTER;
        let mut graph = GraphFile {
            path: path.to_path_buf(),
            map,
            nodes: 0,
            arcs: 0,
            parts: [0; PARTS],
            weighted: false,
            options: Options::default(),
            codes: Vec::new(),
            chunks: Vec::new(),
        };
        graph
            .read_tail()
            .ok_or_else(|| graph.damage(footer, "its directory is damaged, or the file is cut off"))?;
        Ok(graph)
    }

    /// Reads footer and directory; `None` if they are not whole.
    fn read_tail(&mut self) -> Option<()> {
        let footer = self.map.len() - FOOTER;
        let mut fields = Fields(&self.map[footer..]);
        let (nodes, arcs) = (fields.number()?, fields.number()?);
        let chunks = nodes.div_ceil(CHUNK as u64);
        if nodes > 1 << 32 || chunks * ENTRY as u64 > (footer - Format::HEADER) as u64 {
            return None;
        }
        let directory = footer - chunks as usize * ENTRY;
        let checksum = self.map.len() - 4;
        if crc32fast::hash(&self.map[directory..checksum]).to_le_bytes() != self.map[checksum..] {
            return None;
        }
        for part in &mut self.parts {
            *part = fields.number()?;
        }
        let [weighted, window, chain, interval] = fields.bytes()?;
        (self.nodes, self.arcs, self.weighted) = (nodes as usize, arcs, weighted == 1);
        self.options = Options { window, chain, interval }.check().ok()?;
        let mut fields = Fields(&self.map[directory..footer]);
        let mut known = FxHashMap::default();
        for _ in 0..chunks {
            let (start, before, bits) =
                (usize::try_from(fields.number()?).ok()?, fields.number()?, fields.number()?);
            let indices = fields.bytes()?;
            let codes = *known.entry(indices).or_insert(self.codes.len() as u32);
            if codes as usize == self.codes.len() {
                self.codes.push(Codes::of(indices)?);
            }
            let [_, checksum @ ..] = fields.bytes::<5>()?;
            let checksum = u32::from_le_bytes(checksum);
            let checked = AtomicBool::new(false);
            if let Some(last) = self.chunks.last_mut() {
                (last.end, last.arcs) = (start, usize::try_from(before.checked_sub(last.before)?).ok()?);
            }
            let arcs = usize::try_from(arcs.checked_sub(before)?).ok()?;
            self.chunks.push(Entry { start, end: directory, before, arcs, bits, codes, checksum, checked });
        }
        let first =
            self.chunks.first().is_none_or(|chunk| chunk.start == Format::HEADER && chunk.before == 0);
        let fit = self.chunks.iter().all(|chunk| chunk.start <= chunk.end && chunk.end <= directory);
        (first && fit && (chunks > 0 || arcs == 0 && directory == Format::HEADER)).then_some(())
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Whether the arcs have weights.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// How lists refer to each other.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Bits per link in the lists, without offsets, weights and directory; 0 if there are no arcs.
    pub fn bits_per_link(&self) -> f64 {
        let bits: u64 = self.chunks.iter().map(|chunk| chunk.bits).sum();
        bits as f64 / self.arcs.max(1) as f64
    }

    /// What each part takes: its bits, and the codes that its chunks have, the most frequent first.
    pub fn parts(&self) -> Vec<PartBits> {
        let of = |part: Part| {
            let mut counts = CODES.map(|code| (code, 0));
            self.chunks.iter().for_each(|chunk| {
                counts[usize::from(self.codes[chunk.codes as usize].indices[part as usize])].1 += 1
            });
            let mut used: Vec<(Code, usize)> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
            used.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            (part, self.parts[part as usize], used)
        };
        Part::ALL.map(of).to_vec()
    }

    /// A chunk, verified.
    fn chunk(&self, index: usize) -> Result<Chunk<'_>> {
        let entry = &self.chunks[index];
        // Two threads may check the same chunk; what they store is the same.
        if !entry.checked.load(Ordering::Relaxed) {
            if crc32fast::hash(&self.map[entry.start..entry.end]) != entry.checksum {
                return Err(self.damage(entry.start, "a chunk does not match its checksum"));
            }
            entry.checked.store(true, Ordering::Relaxed);
        }
        Ok(self.unchecked(index))
    }

    /// A chunk, verified before or not.
    fn unchecked(&self, index: usize) -> Chunk<'_> {
        let entry = &self.chunks[index];
        Chunk {
            bytes: &self.map[entry.start..entry.end],
            bits: entry.bits,
            codes: &self.codes[entry.codes as usize],
            nodes: (index * CHUNK, self.nodes),
            arcs: entry.arcs,
            options: &self.options,
        }
    }

    fn damage(&self, offset: usize, reason: &str) -> Error {
        Error::corrupt(&self.path, offset as u64, reason)
    }

    fn no_lists(&self, chunk: usize) -> Error {
        self.damage(self.chunks[chunk].start, "a chunk does not hold the lists of its nodes")
    }

    /// Decodes the successors of a node into `list`, replacing its contents.
    pub fn successors(&self, node: usize, list: &mut Vec<u32>) -> Result<()> {
        self.successors_of(&[node as u64], &mut |successors| {
            list.clear();
            list.extend_from_slice(successors);
        })
    }

    /// Calls `visit` with the successors of each of these nodes.
    pub fn successors_of(&self, nodes: &[u64], visit: &mut dyn FnMut(&[u32])) -> Result<()> {
        let mut access = Access::default();
        for (position, node) in nodes.iter().enumerate() {
            if *node >= self.nodes as u64 {
                let reason = format!("there is no node {node} in a graph of {}", self.nodes);
                return Err(Error::Invalid(reason));
            }
            if let Some(later) = nodes.get(position + AHEAD).filter(|later| **later < self.nodes as u64) {
                self.unchecked(*later as usize / CHUNK).prefetch(*later as usize % CHUNK);
            }
            let (chunk, index) = (*node as usize / CHUNK, *node as usize % CHUNK);
            let found = self.chunk(chunk)?.successors(index, &mut access);
            found.ok_or_else(|| self.no_lists(chunk))?;
            visit(&access.list);
        }
        Ok(())
    }

    /// The adjacency lists in memory, decoded in parallel.
    pub fn adjacency(&self, pulse: &Pulse) -> Result<Adjacency> {
        let zeros = |length: usize| {
            let mut numbers = Vec::new();
            let refused = |_| Error::Invalid(format!("there is not enough memory for {length} arcs"));
            numbers.try_reserve_exact(length).map_err(refused)?;
            numbers.resize(length, 0);
            Ok(numbers)
        };
        let arcs = self.arcs as usize;
        let mut targets: Vec<u32> = zeros(arcs)?;
        let mut weights: Vec<u32> = zeros(if self.weighted { arcs } else { 0 })?;
        let mut offsets = vec![0u64; self.nodes + 1];
        pulse.set(0, self.chunks.len() as u64);
        let mut work = Vec::with_capacity(self.chunks.len());
        let (mut targets_left, mut weights_left) = (&mut targets[..], &mut weights[..]);
        for (ends, chunk) in offsets[1..].chunks_mut(CHUNK).zip(&self.chunks) {
            let (its_targets, after) = targets_left.split_at_mut(chunk.arcs);
            let (its_weights, weights_after) =
                weights_left.split_at_mut(if self.weighted { chunk.arcs } else { 0 });
            work.push((ends, its_targets, its_weights));
            (targets_left, weights_left) = (after, weights_after);
        }
        work.into_par_iter().enumerate().try_for_each_init(Buffers::default, |buffers, (index, work)| {
            pulse.beat()?;
            let (ends, targets, weights) = work;
            let chunk = self.chunk(index)?;
            let mut decoded = chunk.decode(targets, ends, buffers);
            if self.weighted {
                decoded = decoded.and_then(|()| chunk.weights(weights));
            }
            decoded.ok_or_else(|| self.no_lists(index))?;
            ends.iter_mut().for_each(|end| *end += self.chunks[index].before);
            pulse.add(1);
            Ok(())
        })?;
        Ok(Adjacency::trusted(offsets, targets, self.weighted.then_some(weights)))
    }

    /// Calls `visit` with the successors of every node, in node order, and their weights; in memory is one chunk.
    pub fn visit(&self, pulse: &Pulse, visit: &mut Visit) -> Result<()> {
        let (mut scratch, mut weights) = (Scratch::default(), Vec::new());
        for index in 0..self.chunks.len() {
            pulse.beat()?;
            pulse.set(index as u64, self.chunks.len() as u64);
            let chunk = self.chunk(index)?;
            self.decode(&chunk, index, &mut scratch)?;
            if self.weighted {
                weights.resize(chunk.arcs, 0);
                chunk.weights(&mut weights).ok_or_else(|| self.no_lists(index))?;
            }
            let mut start = 0;
            for end in scratch.ends.iter().map(|end| *end as usize) {
                visit(&scratch.targets[start..end], self.weighted.then(|| &weights[start..end]))?;
                start = end;
            }
        }
        Ok(())
    }

    /// Decodes everything and keeps nothing: an error if the file is damaged anywhere.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        pulse.set(0, self.chunks.len() as u64);
        (0..self.chunks.len()).into_par_iter().try_for_each_init(Scratch::default, |scratch, index| {
            pulse.beat()?;
            let chunk = self.chunk(index)?;
            self.decode(&chunk, index, scratch)?;
            if self.weighted {
                chunk.weights(&mut scratch.targets).ok_or_else(|| self.no_lists(index))?;
            }
            pulse.add(1);
            Ok(())
        })
    }

    /// Decodes the lists of a chunk.
    fn decode(&self, chunk: &Chunk, index: usize, scratch: &mut Scratch) -> Result<()> {
        scratch.targets.resize(chunk.arcs, 0);
        scratch.ends.resize(CHUNK.min(self.nodes - index * CHUNK), 0);
        let decoded = chunk.decode(&mut scratch.targets, &mut scratch.ends, &mut scratch.buffers);
        decoded.ok_or_else(|| self.no_lists(index))
    }
}

/// The lists of a chunk, and the memory that its decoding takes.
#[derive(Default)]
struct Scratch {
    targets: Vec<u32>,
    ends: Vec<u64>,
    buffers: Buffers,
}

impl Lists for GraphFile {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn arcs(&self) -> u64 {
        self.arcs
    }

    fn scan(&self, range: Range<usize>, pulse: &Pulse, visit: &mut dyn FnMut(Node, &[u32])) -> Result<()> {
        let mut scratch = Scratch::default();
        for index in range.start / CHUNK..range.end.min(self.nodes).div_ceil(CHUNK) {
            pulse.beat()?;
            self.decode(&self.chunk(index)?, index, &mut scratch)?;
            let mut start = 0;
            for (node, end) in (index * CHUNK..).zip(&scratch.ends) {
                let list = &scratch.targets[start..*end as usize];
                if range.contains(&node) {
                    visit(Node(node as u32), list);
                }
                start = *end as usize;
            }
        }
        Ok(())
    }
}
