//! The pending links of a base: those whose target is no node, by target.
//!
//! When a page is new, they say which older pages link to it, so that the log of links is not read again. They
//! are in blocks by the signature of the target (see [`super::super::blocks`]), whose content has for each target
//! its sources, increasing, as the gaps of 2 · node + 1 if the source does not vouch for the link, else + 0, in
//! variable byte code; before them their length in bytes.
//!
//! They are sorted in bounded memory (see [`super::super::hashed`]).

use std::path::{Path, PathBuf};

use crate::codes::variable_byte;
use crate::disk::format::Format;
use crate::graph::blocks::{BLOCK, BlockWriter, Blocks};
use crate::graph::hashed::{HashSorter, Hashed};
use crate::graph::scratch::{RunReader, RunWriter};
use crate::{Pulse, Result, Signature};

const PENDING: Format = Format { kind: *b"PEND", version: 1 };
const BLOCKS_PER_BEAT: usize = 256;

/// A pending link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pending {
    pub target: Signature,
    pub source: u32,
    /// Whether the source does not vouch for it.
    pub nofollow: bool,
}

impl Hashed for Pending {
    fn hash(&self) -> u64 {
        self.target.0
    }

    fn write(&self, run: &mut RunWriter) -> Result<()> {
        run.bytes(&self.target.0.to_le_bytes())?;
        run.number(u64::from(self.source) << 1 | u64::from(self.nofollow))
    }

    fn read(run: &mut RunReader) -> Result<Pending> {
        let target = Signature(u64::from_le_bytes(run.array()?));
        let code = run.number()?;
        Ok(Pending { target, source: (code >> 1) as u32, nofollow: code & 1 == 1 })
    }
}

/// The pending links of a base, memory-mapped.
pub struct PendingLinks {
    blocks: Blocks,
    /// The number of nodes of the base.
    nodes: usize,
}

impl PendingLinks {
    pub fn open(path: &Path, committed: u64, nodes: usize) -> Result<PendingLinks> {
        Ok(PendingLinks { blocks: Blocks::open(path, PENDING, committed)?, nodes })
    }

    /// Calls `visit` with each link to a target.
    pub fn to(&self, target: Signature, visit: &mut dyn FnMut(Pending)) -> Result<()> {
        let Some(place) = self.blocks.find(target)? else { return Ok(()) };
        let (block, slot) = self.blocks.locate(place)?;
        let mut content = block.content;
        let mut sources = None;
        for _ in 0..=slot {
            sources = variable_byte::read_bytes(&mut content);
        }
        sources
            .and_then(|sources| self.decode(target, sources, visit))
            .ok_or_else(|| self.damage(block.offset))
    }

    /// Calls `visit` with every link.
    pub fn each(&self, pulse: &Pulse, visit: &mut dyn FnMut(Pending) -> Result<()>) -> Result<()> {
        for index in 0..self.blocks.count() {
            if index.is_multiple_of(BLOCKS_PER_BEAT) {
                pulse.beat()?;
            }
            let block = self.blocks.block(index)?;
            let (mut content, mut outcome) = (block.content, Ok(()));
            for slot in 0..block.len() {
                let sources = variable_byte::read_bytes(&mut content);
                let decoded = sources.and_then(|sources| {
                    self.decode(block.signature(slot), sources, &mut |link| {
                        if outcome.is_ok() {
                            outcome = visit(link);
                        }
                    })
                });
                decoded.ok_or_else(|| self.damage(block.offset))?;
            }
            outcome?;
        }
        Ok(())
    }

    fn damage(&self, offset: u64) -> crate::Error {
        self.blocks.damage(offset, "a block does not hold its links")
    }

    fn decode(&self, target: Signature, mut sources: &[u8], visit: &mut dyn FnMut(Pending)) -> Option<()> {
        let mut code = 0u64;
        while !sources.is_empty() {
            code = code.checked_add(variable_byte::read(&mut sources)?)?;
            let source = u32::try_from(code >> 1).ok().filter(|source| (*source as usize) < self.nodes)?;
            visit(Pending { target, source, nofollow: code & 1 == 1 });
        }
        Some(())
    }
}

/// Sorts pending links and writes them.
pub struct PendingWriter {
    path: PathBuf,
    links: HashSorter<Pending>,
}

impl PendingWriter {
    pub fn new(path: &Path) -> PendingWriter {
        let folder = path.parent().unwrap_or(Path::new("."));
        PendingWriter { path: path.to_path_buf(), links: HashSorter::new(folder) }
    }

    /// Adds a link; links come in any order, also more than once.
    #[inline]
    pub fn push(&mut self, link: Pending) -> Result<()> {
        self.links.push(link)
    }

    /// Writes the file; returns its length.
    pub fn finish(self, pulse: &Pulse) -> Result<u64> {
        let mut file = PendingFile {
            blocks: BlockWriter::create(&self.path, PENDING)?,
            targets: Vec::new(),
            content: Vec::new(),
        };
        self.links.finish(pulse, |links| file.append(links, pulse))?;
        file.push()?;
        file.blocks.finish()
    }
}

/// The file, and the block that is being filled.
struct PendingFile {
    blocks: BlockWriter,
    targets: Vec<Signature>,
    content: Vec<u8>,
}

impl PendingFile {
    /// Appends links to targets greater than all before.
    fn append(&mut self, links: &[Pending], pulse: &Pulse) -> Result<()> {
        let mut sources = Vec::new();
        for (count, links) in links.chunk_by(|one, other| one.target == other.target).enumerate() {
            if count.is_multiple_of(BLOCKS_PER_BEAT * BLOCK) {
                pulse.beat()?;
            }
            sources.clear();
            let mut last = 0;
            for link in links {
                let code = u64::from(link.source) << 1 | u64::from(link.nofollow);
                variable_byte::write(code - last, &mut sources);
                last = code;
            }
            self.targets.push(links[0].target);
            variable_byte::write_bytes(&sources, &mut self.content);
            if self.targets.len() == BLOCK {
                self.push()?;
            }
        }
        Ok(())
    }

    fn push(&mut self) -> Result<()> {
        self.blocks.push(&self.targets, &self.content)?;
        self.targets.clear();
        self.content.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_the_links_sorted_in_memory_or_in_ranges(
            links in prop::collection::vec((prop_oneof![0u64..9, any::<u64>()], prop_oneof![0u32..5, any::<u32>()], any::<bool>()), 0..300),
            spills in prop::collection::vec(0usize..300, 0..3),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("pending");
            let link = |&(target, source, nofollow): &_| Pending { target: Signature(target), source, nofollow };
            let links: Vec<Pending> = links.iter().map(link).collect();
            let mut writer = PendingWriter::new(&path);
            for (index, link) in links.iter().enumerate() {
                writer.push(*link).unwrap();
                if spills.contains(&index) {
                    writer.links.spill().unwrap();
                }
            }
            let length = writer.finish(&Pulse::STEADY).unwrap();
            let mut expected = links.clone();
            expected.sort();
            expected.dedup();
            let kept = PendingLinks::open(&path, length, 1 << 32).unwrap();
            let mut found = Vec::new();
            kept.each(&Pulse::STEADY, &mut |link| { found.push(link); Ok(()) }).unwrap();
            prop_assert_eq!(&found, &expected);
            for target in links.iter().map(|link| link.target).chain([Signature(3), Signature(u64::MAX)]) {
                let mut found = Vec::new();
                kept.to(target, &mut |link| found.push(link)).unwrap();
                let expected: Vec<_> = expected.iter().copied().filter(|link| link.target == target).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
