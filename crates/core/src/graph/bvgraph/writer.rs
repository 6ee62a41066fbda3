//! Writing: references are chosen in parallel, chunk by chunk; the lists are written in order.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::bits::BigEndianWriter;
use super::{file, properties};
use crate::codes::bits::Bits;
use crate::codes::words::{Gamma, Words};
use crate::disk::new_file::NewFile;
use crate::graph::coding::{Codes, Difference, Lengths, Lists, Options, Part, choose};
use crate::{Error, Pulse, Result};

/// How many nodes have their references chosen together.
const CHUNK: usize = 1 << 12;
/// How many chunks are processed together, for each thread.
const TOGETHER: usize = 4;

/// A bit stream that goes to a file.
struct Stream {
    file: NewFile,
    bits: BigEndianWriter,
    checksum: crc32fast::Hasher,
    length: u64,
}

impl Stream {
    fn create(path: &Path) -> Result<Stream> {
        let checksum = crc32fast::Hasher::new();
        Ok(Stream { file: NewFile::create(path)?, bits: BigEndianWriter::default(), checksum, length: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.checksum.update(bytes);
        self.file.append(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = self.bits.take();
        self.append(&bytes)
    }

    fn finish(mut self) -> Result<u32> {
        let bytes = std::mem::take(&mut self.bits).finish();
        self.append(&bytes)?;
        self.file.finish()?;
        Ok(self.checksum.finalize())
    }
}

impl Bits for Stream {
    fn write(&mut self, value: u64, width: u32) {
        self.bits.write(value, width);
        self.length += u64::from(width);
    }

    fn write_unary(&mut self, zeros: u64) {
        self.bits.write_unary(zeros);
        self.length += zeros + 1;
    }
}

/// Writes a graph as WebGraph does, in node order.
pub struct BvGraphWriter {
    basename: PathBuf,
    graph: Stream,
    offsets: Stream,
    options: Options,
    nodes: usize,
    arcs: u64,
    /// The lists that are not written yet, and the first of them.
    pending: (Vec<u64>, Vec<u32>),
    first: usize,
}

impl BvGraphWriter {
    /// Starts the files of a graph with `nodes` nodes.
    pub fn create(basename: &Path, nodes: usize, options: Options) -> Result<BvGraphWriter> {
        if nodes as u64 > 1 << 32 {
            return Err(Error::Invalid(format!("a graph has at most 2^32 nodes, not {nodes}")));
        }
        let mut offsets = Stream::create(&file(basename, "offsets"))?;
        Gamma.write(0, &mut offsets);
        Ok(BvGraphWriter {
            basename: basename.to_path_buf(),
            graph: Stream::create(&file(basename, "graph"))?,
            offsets,
            options: options.check()?,
            nodes,
            arcs: 0,
            pending: (vec![0], Vec::new()),
            first: 0,
        })
    }

    /// Appends the next node: its successors, increasing and distinct.
    pub fn push(&mut self, successors: &[u32]) -> Result<()> {
        let node = self.first + self.pending.0.len() - 1;
        let increasing = successors.is_sorted_by(|one, other| one < other);
        if node >= self.nodes
            || !increasing
            || successors.last().is_some_and(|last| *last as usize >= self.nodes)
        {
            let reason = format!("node {node} and its successors are not of a graph of {} nodes", self.nodes);
            return Err(Error::Invalid(reason));
        }
        self.pending.1.extend_from_slice(successors);
        self.pending.0.push(self.pending.1.len() as u64);
        if self.pending.0.len() > CHUNK * TOGETHER * rayon::current_num_threads() {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the pending lists.
    fn flush(&mut self) -> Result<()> {
        let (offsets, targets) = std::mem::replace(&mut self.pending, (vec![0], Vec::new()));
        let nodes = offsets.len() - 1;
        let chunk = |start: usize| {
            let offsets = &offsets[start..=(start + CHUNK).min(nodes)];
            let targets = &targets[offsets[0] as usize..offsets[offsets.len() - 1] as usize];
            Lists { first: self.first + start, offsets, targets, weights: None }
        };
        let (codes, options) = (Codes::default(), self.options);
        let starts: Vec<usize> = (0..nodes).step_by(CHUNK).collect();
        let references: Vec<Vec<u8>> =
            starts.par_iter().map(|start| choose(chunk(*start), &Lengths::of(&codes), &options)).collect();
        let mut difference = Difference::default();
        for (start, references) in starts.iter().zip(references) {
            let lists = chunk(*start);
            for (index, distance) in references.iter().enumerate() {
                let reference = lists.reference(index, usize::from(*distance));
                difference.compute(lists.list(index), reference, options.interval);
                let before = self.graph.length;
                difference.numbers(lists.first + index, &options, |part: Part, number| {
                    codes.single(part).write(number, &mut self.graph);
                });
                Gamma.write(self.graph.length - before, &mut self.offsets);
            }
            self.graph.flush()?;
            self.offsets.flush()?;
        }
        self.arcs += targets.len() as u64;
        self.first += nodes;
        Ok(())
    }

    /// Syncs the files and renames them into place, the properties last; returns arcs and bits per link.
    pub fn finish(mut self, pulse: &Pulse) -> Result<(u64, f64)> {
        pulse.beat()?;
        self.flush()?;
        if self.first != self.nodes {
            let reason = format!("only {} of {} nodes were written", self.first, self.nodes);
            return Err(Error::Invalid(reason));
        }
        let (length, arcs) = (self.graph.length, self.arcs);
        let checksums = (self.graph.finish()?, self.offsets.finish()?);
        let text = properties::text(self.nodes as u64, arcs, length, self.options, checksums);
        let mut properties = NewFile::create(&file(&self.basename, "properties"))?;
        properties.append(text.as_bytes())?;
        properties.finish()?;
        Ok((arcs, length as f64 / arcs.max(1) as f64))
    }
}
