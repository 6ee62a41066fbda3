//! The compressed graph: the successor list of every node, as a bit stream.
//!
//! The file consists of blocks of 64 nodes (see [`super::blocks`]); after its signatures a block has the
//! successor lists of its nodes, concatenated, in a little-endian bit stream padded to 32-bit words. A list
//! is its outdegree k in γ code and, if k > 0, its k gaps in Rice code with parameter ⌊log₂(n/k)⌋: successor
//! − previous successor − 1, where the one before the first is −1.
//!
//! Nodes are numbered by signature, that is, at random: the successors of a node are k of n numbers drawn
//! uniformly, their gaps are geometric with p = k/n, for which Golomb codes are optimal; Rice codes are the
//! Golomb codes that need no division. A list takes about k (log₂(n/k) + 1.5) bits, while the lower bound for
//! random numbers is log₂ C(n, k) ≈ k (log₂(n/k) + 1.44). In bits per link, on the 103 689 links of
//! wiki-Vote:
//!
//! ```text
//! γ 12.55   δ 11.33   ζ₃ 10.17   Rice 8.52   Golomb 8.50   (at least 8.05)
//! ```
//!
//! To read one list, the lists before it in its block are decoded: on average 32 lists, a few microseconds;
//! more if the block has a huge list. Sequential reading wastes nothing.
//!
//! Sources: Solomon Golomb, "Run-length encodings", 1966; Robert Rice, "Some practical universal noiseless
//! coding techniques", 1979; Paolo Boldi and Sebastiano Vigna, "The WebGraph framework I", 2004.

use std::path::Path;

use super::blocks::{BLOCK, BlockWriter, Blocks};
use super::{Node, Successors};
use crate::codes::bits::{BitReader, BitWriter};
use crate::codes::lists;
use crate::codes::words::{Gamma, Rice, Words};
use crate::disk::format::Format;
use crate::{Error, Pulse, Result, Signature};

const GRAPH: Format = Format { kind: *b"GRPH", version: 1 };
const BLOCKS_PER_BEAT: usize = 256;
/// Bytes per word; a block is a whole number of words.
const WORD: usize = 4;

/// The Rice code of a list of `outdegree` successors (at least one, at most `nodes`).
fn rice(nodes: u64, outdegree: u64) -> Rice {
    Rice((nodes / outdegree).ilog2())
}

/// Writes the successor lists of a graph, in node order.
pub struct GraphWriter {
    blocks: BlockWriter,
    nodes: u64,
    arcs: u64,
    signatures: Vec<Signature>,
    /// The successors of the nodes of a block, concatenated, and where each list ends.
    successors: Vec<Node>,
    ends: Vec<usize>,
}

impl GraphWriter {
    /// Starts the file of a graph with `nodes` nodes.
    pub fn create(path: &Path, nodes: usize) -> Result<GraphWriter> {
        Ok(GraphWriter {
            blocks: BlockWriter::create(path, GRAPH)?,
            nodes: nodes as u64,
            arcs: 0,
            signatures: Vec::with_capacity(BLOCK),
            successors: Vec::new(),
            ends: Vec::with_capacity(BLOCK),
        })
    }

    /// Appends a node, whose signature is greater than all before, and its distinct, increasing successors.
    pub fn push(&mut self, signature: Signature, successors: &[Node]) -> Result<()> {
        if self.signatures.len() == BLOCK {
            self.write_block()?;
        }
        self.arcs += successors.len() as u64;
        self.signatures.push(signature);
        self.successors.extend_from_slice(successors);
        self.ends.push(self.successors.len());
        Ok(())
    }

    /// Renames the file into place; returns the number of arcs and the length of the file.
    pub fn finish(mut self) -> Result<(u64, u64)> {
        self.write_block()?;
        Ok((self.arcs, self.blocks.finish(self.arcs)?))
    }

    fn write_block(&mut self) -> Result<()> {
        let mut start = 0;
        let lists = self.ends.iter().map(|end| &self.successors[std::mem::replace(&mut start, *end)..*end]);
        let content = content_of(lists, self.nodes);
        self.blocks.push(&self.signatures, &content)?;
        self.signatures.clear();
        self.successors.clear();
        self.ends.clear();
        Ok(())
    }
}

/// Encodes the lists of a block, in a graph of `nodes` nodes.
fn content_of<'a>(lists: impl Iterator<Item = &'a [Node]>, nodes: u64) -> Vec<u8> {
    let mut content = Vec::new();
    let mut bits = BitWriter::new(&mut content);
    for list in lists {
        let outdegree = list.len() as u64;
        Gamma.write(outdegree, &mut bits);
        if outdegree == 0 {
            continue;
        }
        let rice = rice(nodes, outdegree);
        let mut least = 0;
        for successor in list {
            rice.write(u64::from(successor.0) - least, &mut bits);
            least = u64::from(successor.0) + 1;
        }
    }
    bits.finish();
    content.resize(content.len().next_multiple_of(WORD), 0);
    content
}

/// Decodes the lists of a block.
struct Lists<'a> {
    bits: BitReader<'a>,
    nodes: u64,
    gaps: Vec<u32>,
}

impl<'a> Lists<'a> {
    fn new(content: &'a [u8], nodes: usize) -> Lists<'a> {
        Lists { bits: BitReader::new(content), nodes: nodes as u64, gaps: Vec::new() }
    }

    /// Decodes the next list into `list`; `None` if the bytes do not decode.
    #[inline]
    fn next(&mut self, list: &mut Vec<Node>) -> Option<()> {
        list.clear();
        let outdegree = Gamma.read(&mut self.bits)?;
        if outdegree == 0 {
            return Some(());
        }
        if outdegree > self.nodes {
            return None;
        }
        lists::read(rice(self.nodes, outdegree), &mut self.bits, outdegree as usize, &mut self.gaps)?;
        let mut least = 0;
        for gap in &self.gaps {
            let successor = least + u64::from(*gap);
            if successor >= self.nodes {
                return None;
            }
            list.push(Node(successor as u32));
            least = successor + 1;
        }
        Some(())
    }
}

/// A compressed graph, memory-mapped.
pub struct Graph(Blocks);

impl Graph {
    /// Opens a graph of `committed` bytes.
    pub fn open(path: &Path, committed: u64) -> Result<Graph> {
        Blocks::open(path, GRAPH, committed).map(Graph)
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u64 {
        self.0.total()
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Bits per link in the lists, not counting signatures and directory, which are a cost per node.
    pub fn bits_per_link(&self) -> f64 {
        self.0.content_bytes() as f64 * 8.0 / self.arcs().max(1) as f64
    }

    /// The node with this signature.
    pub fn find(&self, signature: Signature) -> Result<Option<Node>> {
        self.0.find(signature)
    }

    /// The signature of a node.
    pub fn signature(&self, node: Node) -> Result<Signature> {
        self.must_exist(node)?;
        let (block, slot) = self.0.locate(node)?;
        Ok(block.signature(slot))
    }

    /// The successors of a node, increasing.
    pub fn successors(&self, node: Node) -> Result<Vec<Node>> {
        self.must_exist(node)?;
        let (block, slot) = self.0.locate(node)?;
        let mut lists = Lists::new(block.content, self.nodes());
        let mut list = Vec::new();
        for _ in 0..=slot {
            lists.next(&mut list).ok_or_else(|| self.no_list(block.offset))?;
        }
        Ok(list)
    }

    fn must_exist(&self, node: Node) -> Result<()> {
        if node.index() < self.nodes() {
            return Ok(());
        }
        Err(Error::Invalid(format!("there is no node {} in a graph of {}", node.0, self.nodes())))
    }

    fn no_list(&self, offset: u64) -> Error {
        self.0.damage(offset, "a block does not hold the lists of its nodes")
    }
}

impl Successors for Graph {
    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn scan(&self, pulse: &Pulse, mut visit: impl FnMut(Node, &[Node])) -> Result<()> {
        let mut list = Vec::new();
        for index in 0..self.0.count() {
            if index.is_multiple_of(BLOCKS_PER_BEAT) {
                pulse.beat()?;
            }
            let block = self.0.block(index)?;
            let mut lists = Lists::new(block.content, self.nodes());
            for slot in 0..block.len() {
                lists.next(&mut list).ok_or_else(|| self.no_list(block.offset))?;
                visit(Node((index * BLOCK + slot) as u32), &list);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsi_bitstream::prelude::{BitWrite, BufBitWriter, GammaWrite, LE, MemWordWriterVec, RiceWrite};
    use proptest::prelude::*;

    /// Nodes with increasing signatures and successor lists of any density.
    fn graphs() -> impl Strategy<Value = Vec<(u64, Vec<u32>)>> {
        prop::collection::btree_set(any::<u64>(), 0..200).prop_flat_map(|signatures| {
            let nodes = signatures.len() as u32;
            let list = prop::collection::btree_set(0..nodes.max(1), 0..=(nodes as usize).min(40));
            let lists = prop::collection::vec(list, signatures.len());
            lists.prop_map(move |lists| {
                let lists = lists.into_iter().map(|list| list.into_iter().collect());
                signatures.iter().copied().zip(lists).collect()
            })
        })
    }

    fn write(path: &Path, graph: &[(u64, Vec<u32>)]) -> u64 {
        let mut writer = GraphWriter::create(path, graph.len()).unwrap();
        for (signature, list) in graph {
            let list: Vec<Node> = list.iter().copied().map(Node).collect();
            writer.push(Signature(*signature), &list).unwrap();
        }
        let (arcs, length) = writer.finish().unwrap();
        assert_eq!(arcs as usize, graph.iter().map(|(_, list)| list.len()).sum::<usize>());
        length
    }

    fn read(path: &Path, committed: u64) -> Result<Vec<(u64, Vec<u32>)>> {
        let graph = Graph::open(path, committed)?;
        let mut read = Vec::new();
        graph.scan(&Pulse::STEADY, |node, list| read.push((node, list.iter().map(|n| n.0).collect())))?;
        read.into_iter().map(|(node, list)| Ok((graph.signature(node)?.0, list))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn gives_back_what_was_written(model in graphs(), stranger in any::<u64>()) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("links.graph");
            let length = write(&path, &model);
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
            prop_assert_eq!(&read(&path, length).unwrap(), &model);
            let graph = Graph::open(&path, length).unwrap();
            prop_assert_eq!(graph.nodes(), model.len());
            for (number, (signature, list)) in model.iter().enumerate() {
                let node = graph.find(Signature(*signature)).unwrap().unwrap();
                prop_assert_eq!(node.index(), number);
                let successors: Vec<u32> = graph.successors(node).unwrap().iter().map(|n| n.0).collect();
                prop_assert_eq!(&successors, list);
            }
            let known = model.iter().any(|(signature, _)| *signature == stranger);
            prop_assert_eq!(graph.find(Signature(stranger)).unwrap().is_some(), known);
            prop_assert!(graph.successors(Node(model.len() as u32)).is_err());
        }

        #[test]
        fn damage_is_never_served(model in graphs(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("links.graph");
            let length = write(&path, &model);
            let whole = std::fs::read(&path).unwrap();
            let at = at.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            std::fs::write(&path, &flipped).unwrap();
            prop_assert!(read(&path, length).is_err());
            // Other blocks are still readable, and correct.
            if let Ok(graph) = Graph::open(&path, length) {
                for (number, (_, list)) in model.iter().enumerate() {
                    if let Ok(successors) = graph.successors(Node(number as u32)) {
                        prop_assert_eq!(&successors.iter().map(|n| n.0).collect::<Vec<_>>(), list);
                    }
                }
            }
            std::fs::write(&path, &whole[..at]).unwrap();
            let cut_off = matches!(read(&path, length), Err(Error::Corrupt { .. }));
            prop_assert!(cut_off);
            prop_assert!(read(&path, at as u64).is_err());
        }
    }

    proptest! {
        #[test]
        fn lists_are_the_words_of_dsi_bitstream(lists in prop::collection::vec(prop::collection::btree_set(0u32..5000, 0..60), 0..20)) {
            let nodes = 5000u64;
            let mut peer = BufBitWriter::<LE, _>::new(MemWordWriterVec::new(Vec::<u32>::new()));
            for list in &lists {
                peer.write_gamma(list.len() as u64).unwrap();
                let mut least = 0;
                for successor in list {
                    peer.write_rice(u64::from(*successor) - least, (nodes / list.len() as u64).ilog2() as usize).unwrap();
                    least = u64::from(*successor) + 1;
                }
            }
            peer.flush().unwrap();
            let words = peer.into_inner().unwrap().into_inner();
            let lists: Vec<Vec<Node>> = lists.iter().map(|list| list.iter().copied().map(Node).collect()).collect();
            let content = content_of(lists.iter().map(Vec::as_slice), nodes);
            prop_assert_eq!(content, words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        }
    }

    #[test]
    fn a_writer_that_gives_up_leaves_the_old_file_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("links.graph");
        let length = write(&path, &[(7, vec![])]);
        drop(GraphWriter::create(&path, 3).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(read(&path, length).unwrap(), [(7, vec![])]);
    }
}
