//! Writing: chunks are compressed in parallel, and appended in order.

use std::path::Path;

use rayon::prelude::*;

use super::chunk::{Compressed, compress};
use super::{CHUNK, GRAPH, PARTS};
use crate::disk::new_file::NewFile;
use crate::graph::View;
use crate::graph::coding::{Lists, Options};
use crate::{Error, Pulse, Result};

/// How many chunks are compressed together, for each thread.
const TOGETHER: usize = 4;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of nodes.
    pub nodes: u64,
    /// The number of arcs.
    pub arcs: u64,
    /// The bits of the lists, without offsets, weights and directory.
    pub bits: u64,
    /// The bits of each [`Part`](crate::graph::Part).
    pub parts: [u64; PARTS],
    /// The length of the file in bytes.
    pub length: u64,
}

impl Written {
    /// Bits per link in the lists; 0 if there are no arcs.
    pub fn bits_per_link(&self) -> f64 {
        self.bits as f64 / self.arcs.max(1) as f64
    }

    fn add(&mut self, chunk: &Compressed) {
        self.arcs += chunk.arcs;
        self.bits += chunk.bits;
        self.parts.iter_mut().zip(chunk.parts).for_each(|(sum, bits)| *sum += bits);
    }
}

/// The lists of a chunk that is not yet compressed.
struct Pending {
    offsets: Vec<u64>,
    targets: Vec<u32>,
    weights: Vec<u32>,
}

impl Pending {
    fn new() -> Pending {
        Pending { offsets: vec![0], targets: Vec::new(), weights: Vec::new() }
    }
}

/// Writes the lists of a graph, in node order.
pub struct GraphWriter {
    file: NewFile,
    directory: Vec<u8>,
    nodes: usize,
    weighted: bool,
    options: Options,
    written: Written,
    /// Nodes pushed.
    pushed: usize,
    /// The last one may not be full.
    pending: Vec<Pending>,
}

impl GraphWriter {
    /// Starts the file of a graph with `nodes` nodes.
    pub fn create(path: &Path, nodes: usize, weighted: bool, options: Options) -> Result<GraphWriter> {
        if nodes as u64 > 1 << 32 {
            return Err(Error::Invalid(format!("a graph has at most 2^32 nodes, not {nodes}")));
        }
        let options = options.check()?;
        let mut file = NewFile::create(path)?;
        file.append(&GRAPH.header())?;
        let written = Written { nodes: nodes as u64, ..Written::default() };
        let pending = vec![Pending::new()];
        Ok(GraphWriter { file, directory: Vec::new(), nodes, weighted, options, written, pushed: 0, pending })
    }

    /// Appends the next node: its successors, increasing and distinct, and the weights of its arcs (at least 1)
    /// if the graph has weights.
    pub fn push(&mut self, successors: &[u32], weights: Option<&[u32]>) -> Result<()> {
        self.check(successors, weights)?;
        if self.pending.last().is_none_or(|last| last.offsets.len() > CHUNK) {
            if self.pending.len() >= TOGETHER * rayon::current_num_threads() {
                self.flush()?;
            }
            self.pending.push(Pending::new());
        }
        if let Some(last) = self.pending.last_mut() {
            last.targets.extend_from_slice(successors);
            last.weights.extend_from_slice(weights.unwrap_or_default());
            last.offsets.push(last.targets.len() as u64);
        }
        self.pushed += 1;
        Ok(())
    }

    fn check(&self, successors: &[u32], weights: Option<&[u32]>) -> Result<()> {
        let node = self.pushed;
        let wrong = if node >= self.nodes {
            format!("there is no node {node} in a graph of {}", self.nodes)
        } else if !successors.is_sorted_by(|one, other| one < other) {
            format!("the successors of node {node} are not increasing and distinct")
        } else if successors.last().is_some_and(|last| *last as usize >= self.nodes) {
            format!("node {node} has a successor that is not one of the {} nodes", self.nodes)
        } else if weights.map(<[u32]>::len) != self.weighted.then_some(successors.len()) {
            format!("node {node} must have a weight for each arc if the graph has weights, and else none")
        } else if weights.is_some_and(|weights| weights.contains(&0)) {
            format!("an arc of node {node} has weight 0, and weights are at least 1")
        } else {
            return Ok(());
        };
        Err(Error::Invalid(wrong))
    }

    /// Compresses what is pending, and appends it.
    fn flush(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let first = self.pushed - pending.iter().map(|chunk| chunk.offsets.len() - 1).sum::<usize>();
        let compressed: Vec<Compressed> = pending
            .par_iter()
            .enumerate()
            .filter(|(_, chunk)| chunk.offsets.len() > 1)
            .map(|(index, chunk)| {
                let lists = Lists {
                    first: first + index * CHUNK,
                    offsets: &chunk.offsets,
                    targets: &chunk.targets,
                    weights: self.weighted.then_some(&chunk.weights),
                };
                compress(lists, &self.options)
            })
            .collect();
        for chunk in compressed {
            self.directory.extend(self.file.written().to_le_bytes());
            self.directory.extend(self.written.arcs.to_le_bytes());
            self.directory.extend(chunk.bits.to_le_bytes());
            self.directory.extend(chunk.codes.indices);
            self.directory.push(0);
            self.directory.extend(crc32fast::hash(&chunk.bytes).to_le_bytes());
            self.file.append(&chunk.bytes)?;
            self.written.add(&chunk);
        }
        Ok(())
    }

    /// Syncs the file and renames it into place.
    pub fn finish(mut self, pulse: &Pulse) -> Result<Written> {
        if self.pushed != self.nodes {
            let reason = format!("only {} of {} nodes were written", self.pushed, self.nodes);
            return Err(Error::Invalid(reason));
        }
        pulse.beat()?;
        self.flush()?;
        pulse.beat()?;
        let mut tail = std::mem::take(&mut self.directory);
        tail.extend(self.written.nodes.to_le_bytes());
        tail.extend(self.written.arcs.to_le_bytes());
        tail.extend(self.written.parts.iter().flat_map(|bits| bits.to_le_bytes()));
        let Options { window, chain, interval } = self.options;
        tail.extend([u8::from(self.weighted), window, chain, interval]);
        tail.extend(crc32fast::hash(&tail).to_le_bytes());
        self.file.append(&tail)?;
        self.written.length = self.file.finish()?;
        Ok(self.written)
    }
}

/// What a graph in memory would take in a file, without writing one; the length is left 0.
pub fn bits_of(view: View, options: Options, pulse: &Pulse) -> Result<Written> {
    let options = options.check()?;
    let nodes = view.nodes();
    let chunks = nodes.div_ceil(CHUNK);
    pulse.set(0, chunks as u64);
    let start = Written { nodes: nodes as u64, ..Written::default() };
    let sum = |mut one: Written, other: Written| {
        one.arcs += other.arcs;
        one.bits += other.bits;
        one.parts.iter_mut().zip(other.parts).for_each(|(sum, bits)| *sum += bits);
        one
    };
    let all = (0..chunks).into_par_iter().map(|chunk| {
        pulse.beat()?;
        let first = chunk * CHUNK;
        let offsets = &view.offsets[first..=(first + CHUNK).min(nodes)];
        let targets = &view.targets[offsets[0] as usize..offsets[offsets.len() - 1] as usize];
        let mut written = Written::default();
        written.add(&compress(Lists { first, offsets, targets, weights: None }, &options));
        pulse.add(1);
        Ok(written)
    });
    let all = all.try_reduce(Written::default, |one, other| Ok(sum(one, other)))?;
    Ok(sum(start, all))
}
