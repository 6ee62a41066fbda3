//! The nodes of a base, by signature: their numbers, and what they stand for.
//!
//! The content of a block (see [`super::super::blocks`]) has for each node its number, u32; the signature of the URL that
//! it stands for, u64, 0 if none; and a byte: 1 if it is a page, plus 2 if a merge of several collections found that it has
//! the text of another page; little-endian.

use std::path::{Path, PathBuf};

use super::BaseFiles;
use crate::dictionaries::FrontCodedWriter;
use crate::disk::format::Format;
use crate::graph::blocks::{BLOCK, Block, BlockWriter, Blocks};
use crate::graph::hashed::{HashSorter, Hashed};
use crate::graph::scratch::{RunReader, RunWriter};
use crate::{Pulse, Result, Signature};

const NODES: Format = Format { kind: *b"PAGE", version: 1 };
const CONTENT: usize = 13;
/// URLs in a block of the front-coded list.
const IN_BLOCK: u32 = 16;

/// A node of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaseNode {
    /// The signature of its URL.
    pub signature: Signature,
    /// Its number.
    pub node: u32,
    /// Whether it is a page.
    pub is_page: bool,
    /// The URL that it stands for.
    pub alias: Option<Signature>,
    /// Whether it has the text of another page, as far as a merge has found out.
    pub is_copy: bool,
}

impl BaseNode {
    fn encode(&self) -> [u8; CONTENT] {
        let mut entry = [0; CONTENT];
        entry[..4].copy_from_slice(&self.node.to_le_bytes());
        entry[4..12].copy_from_slice(&self.alias.map_or(0, |alias| alias.0).to_le_bytes());
        entry[12] = u8::from(self.is_page) | u8::from(self.is_copy) << 1;
        entry
    }

    fn decode(signature: Signature, entry: &[u8; CONTENT]) -> BaseNode {
        let [a, b, c, d, alias @ .., kind] = *entry;
        let alias = u64::from_le_bytes(alias);
        BaseNode {
            signature,
            node: u32::from_le_bytes([a, b, c, d]),
            is_page: kind & 1 == 1,
            alias: (alias != 0).then_some(Signature(alias)),
            is_copy: kind & 2 == 2,
        }
    }
}

impl Hashed for BaseNode {
    fn hash(&self) -> u64 {
        self.signature.0
    }

    fn write(&self, run: &mut RunWriter) -> Result<()> {
        run.bytes(&self.signature.0.to_le_bytes())?;
        run.bytes(&self.encode())
    }

    fn read(run: &mut RunReader) -> Result<BaseNode> {
        Ok(BaseNode::decode(Signature(u64::from_le_bytes(run.array()?)), &run.array()?))
    }
}

/// The nodes of a base, memory-mapped.
pub struct Nodes(Blocks);

impl Nodes {
    /// Maps the committed bytes of a file.
    pub fn open(path: &Path, committed: u64) -> Result<Nodes> {
        Ok(Nodes(Blocks::open(path, NODES, committed)?))
    }

    /// The number of nodes.
    pub fn count(&self) -> usize {
        self.0.nodes()
    }

    /// The node with a signature.
    pub fn find(&self, signature: Signature) -> Result<Option<BaseNode>> {
        let Some(place) = self.0.find(signature)? else { return Ok(None) };
        let (block, slot) = self.0.locate(place)?;
        self.node(&block, slot).map(Some)
    }

    /// Every node, by increasing signature.
    pub fn each(&self, pulse: &Pulse, mut visit: impl FnMut(BaseNode)) -> Result<()> {
        for index in 0..self.0.count() {
            if index.is_multiple_of(256) {
                pulse.beat()?;
            }
            let block = self.0.block(index)?;
            for slot in 0..block.len() {
                visit(self.node(&block, slot)?);
            }
        }
        Ok(())
    }

    fn node(&self, block: &Block<'_>, slot: usize) -> Result<BaseNode> {
        let entry = block.content.as_chunks::<CONTENT>().0.get(slot);
        let node = entry.map(|entry| BaseNode::decode(block.signature(slot), entry));
        node.filter(|node| (node.node as usize) < self.count())
            .ok_or_else(|| self.0.damage(block.offset, "a block does not hold its nodes"))
    }
}

/// Writes the nodes of a base and their keys.
pub struct NodeWriter {
    path: PathBuf,
    urls: FrontCodedWriter,
    nodes: HashSorter<BaseNode>,
}

impl NodeWriter {
    pub fn create(files: &BaseFiles) -> Result<NodeWriter> {
        let folder = files.nodes.parent().unwrap_or(Path::new("."));
        Ok(NodeWriter {
            path: files.nodes.clone(),
            urls: FrontCodedWriter::create(&files.urls, IN_BLOCK)?,
            nodes: HashSorter::new(folder),
        })
    }

    /// Appends the key of the next node.
    pub fn push_key(&mut self, key: &[u8]) -> Result<()> {
        self.urls.push(key)
    }

    /// Adds a node; they come in any order.
    pub fn push(&mut self, node: BaseNode) -> Result<()> {
        self.nodes.push(node)
    }

    /// Writes the files; returns their lengths: urls and nodes.
    pub fn finish(self, pulse: &Pulse) -> Result<[u64; 2]> {
        let urls = self.urls.finish()?;
        let mut writer = BlockWriter::create(&self.path, NODES)?;
        let mut rest: Vec<BaseNode> = Vec::with_capacity(BLOCK);
        let mut push = |block: &[BaseNode]| {
            let signatures: Vec<Signature> = block.iter().map(|node| node.signature).collect();
            let content: Vec<u8> = block.iter().flat_map(BaseNode::encode).collect();
            writer.push(&signatures, &content)
        };
        self.nodes.finish(pulse, |nodes| {
            for node in nodes {
                rest.push(*node);
                if rest.len() == BLOCK {
                    push(&rest)?;
                    rest.clear();
                }
            }
            Ok(())
        })?;
        push(&rest)?;
        Ok([urls, writer.finish()?])
    }
}
