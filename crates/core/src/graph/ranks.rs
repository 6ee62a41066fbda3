//! The ranks of the pages, by signature: what the search reads.
//!
//! The file consists of blocks of 64 nodes (see [`super::blocks`]); after its signatures a block has their
//! ranks, as f32, little-endian: 12 bytes per page and a third of a byte of directory. A value is the rank
//! times the number of pages, so the mean is 1 whatever the size of the collection, and the 24-bit precision
//! of an f32 is relative to the value. A lookup costs a few cache misses, plus one checksum per block on
//! first use.

use std::path::Path;

use super::blocks::{BLOCK, BlockWriter, Blocks};
use super::{Graph, Node, Successors};
use crate::disk::format::Format;
use crate::{Error, Pulse, Result, Signature};

const RANKS: Format = Format { kind: *b"RANK", version: 1 };
const VALUE: usize = 4;
const BLOCKS_PER_BEAT: usize = 1 << 12;

/// Writes the ranks of the nodes of `graph`, which sum to 1, to `target`; returns the length of the file.
pub fn write_ranks(graph: &Graph, ranks: &[f64], target: &Path, pulse: &Pulse) -> Result<u64> {
    if ranks.len() != graph.nodes() {
        return Err(Error::Invalid(format!("{} ranks for {} nodes", ranks.len(), graph.nodes())));
    }
    let signature_of = |node: usize| graph.signature(Node(node as u32));
    write(ranks.len(), signature_of, |node| ranks[node] * ranks.len() as f64, target, pulse)
}

/// Writes the ranks of some pages, which may be any nonnegative numbers, to `target`, scaled so that their
/// mean is 1; returns the length of the file. If a page is listed twice, its last rank counts.
pub fn write_page_ranks(mut pages: Vec<(Signature, f64)>, target: &Path, pulse: &Pulse) -> Result<u64> {
    if let Some((_, rank)) = pages.iter().find(|(_, rank)| !rank.is_finite() || *rank < 0.0) {
        return Err(Error::Invalid(format!("{rank} is not a rank: it must be a finite number from 0 on")));
    }
    pages.reverse();
    pages.sort_by_key(|(signature, _)| *signature);
    pages.dedup_by_key(|(signature, _)| *signature);
    let sum: f64 = pages.iter().map(|(_, rank)| rank).sum();
    let scale = if sum > 0.0 { pages.len() as f64 / sum } else { 0.0 };
    write(pages.len(), |page| Ok(pages[page].0), |page| pages[page].1 * scale, target, pulse)
}

fn write(
    pages: usize,
    signature_of: impl Fn(usize) -> Result<Signature>,
    rank_of: impl Fn(usize) -> f64,
    target: &Path,
    pulse: &Pulse,
) -> Result<u64> {
    let mut writer = BlockWriter::create(target, RANKS)?;
    for start in (0..pages).step_by(BLOCK) {
        if (start / BLOCK).is_multiple_of(BLOCKS_PER_BEAT) {
            pulse.beat()?;
        }
        let block = start..pages.min(start + BLOCK);
        let signatures: Vec<Signature> = block.clone().map(&signature_of).collect::<Result<_>>()?;
        let content: Vec<u8> = block.flat_map(|page| (rank_of(page) as f32).to_le_bytes()).collect();
        writer.push(&signatures, &content)?;
    }
    writer.finish(0)
}

/// A file of ranks, memory-mapped.
pub struct Ranks(Blocks);

impl Ranks {
    /// Opens a file of ranks of `committed` bytes.
    pub fn open(path: &Path, committed: u64) -> Result<Ranks> {
        Blocks::open(path, RANKS, committed).map(Ranks)
    }

    /// The number of pages with a rank.
    pub fn len(&self) -> usize {
        self.0.nodes()
    }

    /// Whether no page has a rank.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank of a page; the mean is 1.
    pub fn get(&self, signature: Signature) -> Result<Option<f32>> {
        let Some(node) = self.0.find(signature)? else { return Ok(None) };
        let (block, slot) = self.0.locate(node)?;
        let values = block.content.as_chunks::<VALUE>().0;
        let value = values.get(slot).ok_or_else(|| self.0.damage(block.offset, "a rank is missing"))?;
        Ok(Some(f32::from_le_bytes(*value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::compressed::GraphWriter;
    use proptest::prelude::*;
    use std::path::PathBuf;

    fn write(folder: &Path, model: &[(u64, f64)]) -> (PathBuf, u64) {
        let (links, path) = (folder.join("links.graph"), folder.join("pagerank.ranks"));
        let mut writer = GraphWriter::create(&links, model.len()).unwrap();
        for (signature, _) in model {
            writer.push(Signature(*signature), &[]).unwrap();
        }
        let graph = Graph::open(&links, writer.finish().unwrap().1).unwrap();
        let ranks: Vec<f64> = model.iter().map(|(_, rank)| *rank).collect();
        let length = write_ranks(&graph, &ranks, &path, &Pulse::STEADY).unwrap();
        assert!(write_ranks(&graph, &[ranks, vec![0.5]].concat(), &path, &Pulse::STEADY).is_err());
        (path, length)
    }

    #[test]
    fn ranks_of_pages_have_the_mean_1_and_the_last_one_of_a_page_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("given.ranks");
        let write = |pages: &[(u64, f64)]| {
            let pages = pages.iter().map(|(page, rank)| (Signature(*page), *rank)).collect();
            write_page_ranks(pages, &path, &Pulse::STEADY)
        };
        let length = write(&[(9, 5.0), (3, 1.0), (9, 3.0), (1, 2.0)]).unwrap();
        let ranks = Ranks::open(&path, length).unwrap();
        let found: Vec<_> = [1, 3, 9, 4].map(|page| ranks.get(Signature(page)).unwrap()).into();
        assert_eq!((ranks.len(), found), (3, vec![Some(1.0), Some(0.5), Some(1.5), None]));
        let length = write(&[(2, 0.0)]).unwrap();
        assert_eq!(Ranks::open(&path, length).unwrap().get(Signature(2)).unwrap(), Some(0.0));
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(write(&[(1, wrong)]).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn gives_the_rank_or_says_that_it_cannot(model in prop::collection::btree_map(any::<u64>(), 0.0..1.0f64, 1..200), stranger in any::<u64>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let pages: Vec<(u64, f64)> = model.iter().map(|(signature, rank)| (*signature, *rank)).collect();
            let (path, length) = write(dir.path(), &pages);
            let expected = |rank: &f64| Some((rank * pages.len() as f64) as f32);
            let ranks = Ranks::open(&path, length).unwrap();
            prop_assert_eq!(ranks.len(), pages.len());
            for (signature, rank) in &pages {
                prop_assert_eq!(ranks.get(Signature(*signature)).unwrap(), expected(rank));
            }
            prop_assert_eq!(ranks.get(Signature(stranger)).unwrap(), model.get(&stranger).and_then(expected));

            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, bytes).unwrap();
            if let Ok(ranks) = Ranks::open(&path, length) {
                let looks: Vec<_> = pages.iter().map(|(s, rank)| (ranks.get(Signature(*s)), expected(rank))).collect();
                prop_assert!(looks.iter().any(|(found, _)| found.is_err()));
                prop_assert!(looks.iter().all(|(found, rank)| found.as_ref().map_or(true, |found| found == rank)));
            }
        }
    }
}
