//! A file of nodes in blocks, looked up by signature: the common structure of the graph and the ranks.
//!
//! Nodes are sorted by signature, 64 to a block. After the header (see [`crate::disk::format`]):
//!
//! ```text
//! blocks      each: the signatures of its nodes, u64 each, then what the kind of file adds
//! directory   for each block: u64 first signature, u64 offset, u32 CRC-32 of the block
//! footer      u64 nodes, u64 zero, u32 CRC-32 of the directory and of these two
//! ```
//!
//! all little-endian. So a node costs 8 bytes and 20/64 of the directory beside its content. (Coding the gaps
//! between signatures would cost 64 − log₂ n + 2 bits, 5.3 bytes instead of 8 for ten million nodes, and a
//! decoding at every access.)
//!
//! Opening reads only the directory; a block is verified when it is first read, once per opening. What does
//! not match its checksum is an error with its offset, never a value. The file is written completely under a
//! temporary name, synced and renamed: readers never see half of one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Node;
use crate::disk::format::Format;
use crate::disk::new_file::NewFile;
use crate::signature::interpolation::{at_most, find};
use crate::{Error, Result, Signature};

/// The number of nodes per block; the last one may have fewer.
pub const BLOCK: usize = 64;

/// [`Node`] has 32 bits.
pub const MOST_NODES: u64 = 1 << 32;

const SIGNATURE: usize = 8;
const ENTRY: usize = 20;
const FOOTER: usize = 20;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at + 4)) << 32 | u64::from(u32_at(bytes, at))
}

/// Writes the blocks in order.
pub struct BlockWriter {
    file: NewFile,
    directory: Vec<u8>,
    nodes: u64,
}

impl BlockWriter {
    /// Starts a file that will be at `path` once finished.
    pub fn create(path: &Path, format: Format) -> Result<BlockWriter> {
        let mut file = NewFile::create(path)?;
        file.append(&format.header())?;
        Ok(BlockWriter { file, directory: Vec::new(), nodes: 0 })
    }

    /// Appends a block: `BLOCK` signatures greater than all before (fewer only in the last) and its content.
    pub fn push(&mut self, signatures: &[Signature], content: &[u8]) -> Result<()> {
        let Some(first) = signatures.first() else { return Ok(()) };
        let keys: Vec<u8> = signatures.iter().flat_map(|signature| signature.0.to_le_bytes()).collect();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&keys);
        checksum.update(content);
        self.directory.extend(first.0.to_le_bytes());
        self.directory.extend(self.file.written().to_le_bytes());
        self.directory.extend(checksum.finalize().to_le_bytes());
        self.nodes += signatures.len() as u64;
        self.file.append(&keys)?;
        self.file.append(content)
    }

    /// Syncs the file and renames it to its final path; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        let mut tail = std::mem::take(&mut self.directory);
        tail.extend(self.nodes.to_le_bytes());
        tail.extend(0u64.to_le_bytes());
        tail.extend(crc32fast::hash(&tail).to_le_bytes());
        self.file.append(&tail)?;
        self.file.finish()
    }
}

/// A block that matches its checksum.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    /// Its offset in the file.
    pub offset: u64,
    /// The bytes after the signatures, defined by the kind of file.
    pub content: &'a [u8],
    keys: &'a [u8],
}

impl Block<'_> {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.keys.len() / SIGNATURE
    }

    /// The signature of one of its nodes.
    pub fn signature(&self, slot: usize) -> Signature {
        Signature(u64_at(self.keys, slot * SIGNATURE))
    }
}

/// A complete file, memory-mapped.
pub struct Blocks {
    path: PathBuf,
    map: memmap2::Mmap,
    nodes: usize,
    checked: Vec<AtomicBool>,
}

impl Blocks {
    /// Maps the committed bytes of a file and checks its directory.
    pub fn open(path: &Path, format: Format, committed: u64) -> Result<Blocks> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual < committed {
            let reason = format!("it ends here, and {committed} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        // SAFETY: a file of blocks is written completely under another name and renamed, so the bytes under
        // this map never change; `committed` is within the file.
        let map = unsafe { memmap2::MmapOptions::new().len(committed as usize).map(&file) };
        let map = map.map_err(Error::io(path))?;
        format.check(path, &map)?;
        let mut blocks = Blocks { path: path.to_path_buf(), map, nodes: 0, checked: Vec::new() };
        blocks.read_directory()?;
        Ok(blocks)
    }

    fn read_directory(&mut self) -> Result<()> {
        let footer = self.map.len().saturating_sub(FOOTER);
        if footer < Format::HEADER {
            return Err(self.damage(Format::HEADER as u64, "its footer is cut off"));
        }
        let nodes = u64_at(&self.map, footer);
        let count = nodes.div_ceil(BLOCK as u64);
        let room = (footer - Format::HEADER) as u64;
        if nodes > MOST_NODES || nodes * SIGNATURE as u64 + count * ENTRY as u64 > room {
            return Err(self.damage(footer as u64, "its number of nodes does not fit in it"));
        }
        let start = footer - count as usize * ENTRY;
        let checksum = footer + 2 * SIGNATURE;
        if crc32fast::hash(&self.map[start..checksum]) != u32_at(&self.map, checksum) {
            return Err(self.damage(start as u64, "its directory does not match its checksum"));
        }
        self.nodes = nodes as usize;
        self.checked = (0..count).map(|_| AtomicBool::new(false)).collect();
        Ok(())
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of blocks.
    pub fn count(&self) -> usize {
        self.checked.len()
    }

    /// A block, verified.
    pub fn block(&self, index: usize) -> Result<Block<'_>> {
        let offset = self.block_start(index);
        let end = if index + 1 < self.count() { self.block_start(index + 1) } else { self.directory_start() };
        let keys = SIGNATURE * BLOCK.min(self.nodes - index * BLOCK);
        let bytes = self.map.get(offset..end).filter(|bytes| bytes.len() >= keys);
        let bytes = bytes.ok_or_else(|| self.damage(offset as u64, "a block is cut off"))?;
        // Two threads may check the same block; what they store is the same.
        if !self.checked[index].load(Ordering::Relaxed) {
            if crc32fast::hash(bytes) != u32_at(&self.map, self.entry(index) + 2 * SIGNATURE) {
                return Err(self.damage(offset as u64, "a block does not match its checksum"));
            }
            self.checked[index].store(true, Ordering::Relaxed);
        }
        let (keys, content) = bytes.split_at(keys);
        Ok(Block { offset: offset as u64, content, keys })
    }

    /// The block of a node, and its slot in it.
    pub fn locate(&self, node: Node) -> Result<(Block<'_>, usize)> {
        Ok((self.block(node.index() / BLOCK)?, node.index() % BLOCK))
    }

    /// The node with this signature.
    pub fn find(&self, signature: Signature) -> Result<Option<Node>> {
        let first = |index| Signature(u64_at(&self.map, self.entry(index)));
        let Some(index) = at_most(self.count(), first, signature).checked_sub(1) else { return Ok(None) };
        let block = self.block(index)?;
        let slot = find(block.len(), |slot| block.signature(slot), signature);
        Ok(slot.map(|slot| Node((index * BLOCK + slot) as u32)))
    }

    /// The error for damage at an offset of this file.
    pub fn damage(&self, offset: u64, reason: &str) -> Error {
        Error::corrupt(&self.path, offset, reason)
    }

    fn directory_start(&self) -> usize {
        self.entry(0)
    }

    fn entry(&self, index: usize) -> usize {
        self.map.len() - FOOTER - (self.count() - index) * ENTRY
    }

    fn block_start(&self, index: usize) -> usize {
        u64_at(&self.map, self.entry(index) + SIGNATURE) as usize
    }
}
