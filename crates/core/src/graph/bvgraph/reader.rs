//! Reading, in node order.

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::bits::{BigEndianReader, Positioned};
use super::file;
use super::properties::Properties;
use crate::codes::bits::BitReader;
use crate::codes::streamed::Single;
use crate::codes::words::{Gamma, Words};
use crate::graph::coding::{self, Buffers, Head, Part, Source};
use crate::graph::{Adjacency, Node};
use crate::{Error, Pulse, Result};

/// How many lists are read between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 12;
/// WebGraph pads its streams to words of at most this many bits.
const PADDING: u64 = 128;

/// The files of a graph, mapped.
pub struct BvGraph {
    path: PathBuf,
    graph: Option<Mmap>,
    offsets: Option<Option<Mmap>>,
    offsets_path: PathBuf,
    properties: Properties,
}

/// Maps a file; `None` if it is empty.
fn map(path: &Path) -> Result<Option<Mmap>> {
    let file = File::open(path).map_err(Error::io(path))?;
    if file.metadata().map_err(Error::io(path))?.len() == 0 {
        return Ok(None);
    }
    // SAFETY: the bytes are only read, each through checks that hold for any bytes; a program that changes the
    // file meanwhile gets errors or other arcs.
    unsafe { Mmap::map(&file) }.map(Some).map_err(Error::io(path))
}

/// A stream of numbers in the codes of the parts.
struct Numbers<B> {
    bits: B,
    /// Outdegrees, references, blocks, intervals, residuals.
    codes: [Single; 5],
}

impl<B: Positioned> Source for Numbers<B> {
    #[inline]
    fn number(&mut self, part: Part) -> Option<u64> {
        let code = match part {
            Part::Outdegree => 0,
            Part::Reference => 1,
            Part::BlockCount | Part::Block => 2,
            Part::IntervalCount | Part::FirstInterval | Part::Interval | Part::IntervalLength => 3,
            Part::FirstResidual | Part::Residual | Part::Weight => 4,
        };
        self.codes[code].read(&mut self.bits)
    }

    #[inline]
    fn gaps(&mut self, places: &mut [u32]) -> Option<()> {
        for place in places {
            *place = u32::try_from(self.codes[4].read(&mut self.bits)?).ok()?;
        }
        Some(())
    }
}

impl BvGraph {
    /// Opens the files `BASENAME.properties`, `.graph` and, if it exists, `.offsets`; verifies the checksums of files
    /// that have them.
    pub fn open(basename: &Path) -> Result<BvGraph> {
        let properties = Properties::read(&file(basename, "properties"))?;
        let (path, offsets_path) = (file(basename, "graph"), file(basename, "offsets"));
        let graph = map(&path)?;
        let offsets = if offsets_path.exists() { Some(map(&offsets_path)?) } else { None };
        if let Some((of_graph, of_offsets)) = properties.checksums {
            if crc32fast::hash(graph.as_deref().unwrap_or_default()) != of_graph {
                return Err(Error::corrupt(&path, 0, "it does not match its checksum"));
            }
            let matches =
                |map: &Option<Mmap>| crc32fast::hash(map.as_deref().unwrap_or_default()) == of_offsets;
            if !offsets.as_ref().is_none_or(matches) {
                return Err(Error::corrupt(&offsets_path, 0, "it does not match its checksum"));
            }
        }
        Ok(BvGraph { path, graph, offsets, offsets_path, properties })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.properties.nodes
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u64 {
        self.properties.arcs
    }

    /// Bits per link in the lists; 0 if there are no arcs.
    pub fn bits_per_link(&self) -> f64 {
        let bits = self.graph.as_deref().map_or(0, |bytes| bytes.len() as u64 * 8);
        self.properties.length.unwrap_or(bits) as f64 / self.arcs().max(1) as f64
    }

    /// Calls `visit` with every node and its successors. An error at the end means that what was visited may be
    /// another graph than the one that was written.
    pub fn scan(&self, pulse: &Pulse, mut visit: impl FnMut(Node, &[u32])) -> Result<()> {
        let bytes = self.graph.as_deref().unwrap_or_default();
        if self.properties.little_endian {
            self.scan_bits(BitReader::new(bytes), pulse, &mut visit)
        } else {
            self.scan_bits(BigEndianReader::new(bytes), pulse, &mut visit)
        }
    }

    fn scan_bits<B: Positioned>(
        &self,
        bits: B,
        pulse: &Pulse,
        visit: &mut impl FnMut(Node, &[u32]),
    ) -> Result<()> {
        let Properties { nodes, arcs, window, interval, codes, .. } = &self.properties;
        let mut numbers = Numbers { bits, codes: *codes };
        let mut offsets = self.offsets.as_ref().map(|map| {
            let bytes = map.as_deref().unwrap_or_default();
            Offsets {
                path: &self.offsets_path,
                bits: BigEndianReader::new(bytes),
                length: bytes.len(),
                sum: 0,
            }
        });
        let mut ring = vec![Vec::new(); window + 1];
        let mut buffers = Buffers::default();
        let mut left = *arcs;
        for node in 0..*nodes {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
                pulse.set(node as u64, *nodes as u64);
            }
            let start = numbers.bits.position();
            offsets.as_mut().map_or(Ok(()), |offsets| offsets.expect(start))?;
            let mut list = std::mem::take(&mut ring[node % (window + 1)]);
            let read = (|| {
                let Head { outdegree, reference } = coding::head(&mut numbers, *window)?;
                if outdegree > *nodes || outdegree as u64 > left || reference > node {
                    return None;
                }
                left -= outdegree as u64;
                list.resize(outdegree, 0);
                if outdegree == 0 {
                    return Some(());
                }
                let reference = (reference > 0).then(|| &ring[(node - reference) % (window + 1)][..]);
                coding::body(&mut numbers, (node, *nodes), *interval, reference, &mut list, &mut buffers)
            })();
            read.ok_or_else(|| {
                self.damage(start, format!("it does not hold the successors of node {node}"))
            })?;
            visit(Node(node as u32), &list);
            ring[node % (window + 1)] = list;
        }
        let end = numbers.bits.position();
        if left > 0 {
            let reason = format!("its lists have {left} arcs fewer than its properties say");
            return Err(self.damage(end, reason));
        }
        if self.properties.length.is_some_and(|length| length != end) {
            return Err(self.damage(end, "its lists end here, and its properties give another length"));
        }
        let bytes = self.graph.as_deref().unwrap_or_default().len();
        padding(&mut numbers.bits, bytes)
            .ok_or_else(|| self.damage(end, "its lists end here, and more bits follow"))?;
        offsets.map_or(Ok(()), |offsets| offsets.finish(end))
    }

    fn damage(&self, bit: u64, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, bit / 8, reason)
    }

    /// The adjacency lists in memory.
    pub fn adjacency(&self, pulse: &Pulse) -> Result<Adjacency> {
        let mut offsets = Vec::with_capacity(self.nodes() + 1);
        let mut targets = Vec::new();
        offsets.push(0);
        self.scan(pulse, |_, list| {
            targets.extend_from_slice(list);
            offsets.push(targets.len() as u64);
        })?;
        Ok(Adjacency::trusted(offsets, targets, None))
    }
}

/// The offsets of the lists, compared one by one with where the lists are.
struct Offsets<'a> {
    path: &'a Path,
    bits: BigEndianReader<'a>,
    length: usize,
    sum: u64,
}

impl Offsets<'_> {
    /// Reads the next offset, which must be `start`.
    fn expect(&mut self, start: u64) -> Result<()> {
        let at = self.bits.position();
        let next = Gamma.read(&mut self.bits).and_then(|gap| self.sum.checked_add(gap));
        if next != Some(start) {
            let reason = format!("a list starts at bit {start} of the graph, and this offset is another");
            return Err(Error::corrupt(self.path, at / 8, reason));
        }
        self.sum = start;
        Ok(())
    }

    /// Reads the last offset, the end of the lists.
    fn finish(mut self, end: u64) -> Result<()> {
        self.expect(end)?;
        let at = self.bits.position() / 8;
        padding(&mut self.bits, self.length)
            .ok_or_else(|| Error::corrupt(self.path, at, "the offsets end here, and more bits follow"))
    }
}

/// Reads the zeros that pad a stream of `bytes` bytes to a word; `None` if there is more.
fn padding(bits: &mut impl Positioned, bytes: usize) -> Option<()> {
    let left = (bytes as u64 * 8).checked_sub(bits.position()).filter(|left| *left < PADDING)?;
    let all_zero = (0..left).all(|_| bits.read(1) == Some(0));
    all_zero.then_some(())
}
