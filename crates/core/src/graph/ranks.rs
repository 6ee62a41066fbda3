//! The ranks of the pages by a measure, by signature: what the search reads.
//!
//! The file consists of blocks of 64 pages (see [`super::blocks`]); after its signatures a block has, for each
//! page, its value by the measure and its *strength*, both f32, little-endian: 16 bytes per page and a third
//! of a byte of directory. The strength r is what the search adds to a score, as ln(1 + r); it is chosen by
//! whoever writes the file, so that measures of any scale can be used. Version 1 had the value alone, which
//! was the strength, too. A lookup costs a few cache misses, plus one checksum per block on first use.

use std::path::Path;

use super::blocks::{BLOCK, BlockWriter, Blocks};
use crate::disk::format::Format;
use crate::{Error, Pulse, Result, Signature};

const RANKS: Format = Format { kind: *b"RANK", version: 2 };
const NUMBER: usize = 4;
const BLOCKS_PER_BEAT: usize = 1 << 12;

/// The rank of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// Its value by the measure.
    pub value: f32,
    /// What ln(1 + r) is added for.
    pub strength: f32,
}

/// The place of a page among all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its value.
    pub value: f32,
    /// One more than the number of pages with a higher value.
    pub position: usize,
    /// The number of pages.
    pub pages: usize,
}

/// Writes the ranks of some pages to `target`; returns the length of the file. If a page is listed twice, its
/// last rank counts.
pub fn write_ranks(mut pages: Vec<(Signature, Rank)>, target: &Path, pulse: &Pulse) -> Result<u64> {
    for (_, Rank { value, strength }) in &pages {
        if !value.is_finite() || !strength.is_finite() || *strength < 0.0 {
            let reason = format!("{value} is not a rank: it must be a finite number");
            return Err(Error::Invalid(reason));
        }
    }
    pages.reverse();
    pages.sort_by_key(|(signature, _)| *signature);
    pages.dedup_by_key(|(signature, _)| *signature);
    let mut writer = BlockWriter::create(target, RANKS)?;
    for (index, block) in pages.chunks(BLOCK).enumerate() {
        if index.is_multiple_of(BLOCKS_PER_BEAT) {
            pulse.beat()?;
        }
        let signatures: Vec<Signature> = block.iter().map(|(signature, _)| *signature).collect();
        let numbers = block.iter().flat_map(|(_, rank)| [rank.value, rank.strength]);
        writer.push(&signatures, &numbers.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    writer.finish()
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

    /// The rank of a page.
    pub fn get(&self, signature: Signature) -> Result<Option<Rank>> {
        let Some(node) = self.0.find(signature)? else { return Ok(None) };
        let (block, slot) = self.0.locate(node)?;
        let rank = rank(block.content, block.len(), slot);
        rank.map(Some).ok_or_else(|| self.0.damage(block.offset, "a rank is missing"))
    }

    /// The place of a page among all, by one pass over the file.
    pub fn standing(&self, signature: Signature, pulse: &Pulse) -> Result<Option<Standing>> {
        let Some(Rank { value, .. }) = self.get(signature)? else { return Ok(None) };
        let mut higher = 0;
        for index in 0..self.0.count() {
            if index.is_multiple_of(BLOCKS_PER_BEAT) {
                pulse.beat()?;
            }
            let block = self.0.block(index)?;
            let ranks = (0..block.len()).filter_map(|slot| rank(block.content, block.len(), slot));
            higher += ranks.filter(|other| other.value > value).count();
        }
        Ok(Some(Standing { value, position: higher + 1, pages: self.len() }))
    }
}

fn rank(content: &[u8], pages: usize, slot: usize) -> Option<Rank> {
    let numbers = content.as_chunks::<NUMBER>().0;
    let number = |at: usize| numbers.get(at).copied().map(f32::from_le_bytes);
    if numbers.len() == pages {
        return number(slot).map(|value| Rank { value, strength: value });
    }
    Some(Rank { value: number(2 * slot)?, strength: number(2 * slot + 1)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rank(value: f32) -> Rank {
        Rank { value, strength: value.abs() * 2.0 }
    }

    #[test]
    fn the_last_rank_of_a_page_counts_and_numbers_are_finite() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("given.ranks");
        let write = |pages: &[(u64, f32)]| {
            let pages = pages.iter().map(|(page, value)| (Signature(*page), rank(*value))).collect();
            write_ranks(pages, &path, &Pulse::STEADY)
        };
        let length = write(&[(9, 5.0), (3, -1.0), (9, 3.0), (1, 2.0)]).unwrap();
        let ranks = Ranks::open(&path, length).unwrap();
        assert_eq!(ranks.len(), 3);
        let found = [1, 3, 9].map(|page| ranks.get(Signature(page)).unwrap());
        assert_eq!(found, [Some(rank(2.0)), Some(rank(-1.0)), Some(rank(3.0))]);
        assert_eq!(ranks.get(Signature(2)).unwrap(), None);
        for wrong in [f32::NAN, f32::INFINITY] {
            assert!(write(&[(1, 1.0), (2, wrong)]).is_err());
        }
        assert_eq!(Ranks::open(&path, write(&[]).unwrap()).unwrap().len(), 0);
    }

    #[test]
    fn version_1_had_the_value_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pagerank.ranks");
        let mut writer = BlockWriter::create(&path, Format { version: 1, ..RANKS }).unwrap();
        let values: Vec<u8> = [0.5f32, 1.5].iter().flat_map(|value| value.to_le_bytes()).collect();
        writer.push(&[Signature(1), Signature(2)], &values).unwrap();
        let ranks = Ranks::open(&path, writer.finish().unwrap()).unwrap();
        assert_eq!(ranks.get(Signature(2)).unwrap(), Some(Rank { value: 1.5, strength: 1.5 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn gives_back_ranks_and_standings(model in prop::collection::btree_map(any::<u64>(), 0f32..4.0, 0..200), stranger in any::<u64>()) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.ranks");
            let pages = model.iter().map(|(page, value)| (Signature(*page), rank(value.round()))).collect();
            let length = write_ranks(pages, &path, &Pulse::STEADY).unwrap();
            let ranks = Ranks::open(&path, length).unwrap();
            for (page, value) in &model {
                let value = value.round();
                prop_assert_eq!(ranks.get(Signature(*page)).unwrap(), Some(rank(value)));
                let position = 1 + model.values().filter(|other| other.round() > value).count();
                let standing = ranks.standing(Signature(*page), &Pulse::STEADY).unwrap();
                prop_assert_eq!(standing, Some(Standing { value, position, pages: model.len() }));
            }
            prop_assert_eq!(ranks.get(Signature(stranger)).unwrap().is_some(), model.contains_key(&stranger));
        }

        #[test]
        fn damage_is_never_served(model in prop::collection::btree_map(any::<u64>(), 0f32..9.0, 1..100), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.ranks");
            let pages = model.iter().map(|(page, value)| (Signature(*page), rank(*value))).collect();
            let length = write_ranks(pages, &path, &Pulse::STEADY).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(ranks) = Ranks::open(&path, length) {
                for (page, value) in &model {
                    if let Ok(found) = ranks.get(Signature(*page)) {
                        prop_assert_eq!(found, Some(rank(*value)));
                    }
                }
                let damaged = model.keys().any(|page| ranks.get(Signature(*page)).is_err());
                prop_assert!(damaged || bytes[8] != 2);
            }
        }
    }
}
