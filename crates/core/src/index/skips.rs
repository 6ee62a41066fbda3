//! Skip entries: what is known about a block of 128 postings without decoding it.
//!
//! An entry has 28 bytes, so that a search can jump among them: the block's last document, where the block
//! starts in each of the three components (from the beginning of the term's lists), and the largest count
//! and the shortest document in it, which together bound the score that the block can give. That is 1.75
//! bits a posting, paid only by terms with more than one block.

use crate::code::packed;

use super::DocId;

/// What is known about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipEntry {
    /// The last document.
    pub last: DocId,
    /// Where the block starts among the term's pointers.
    pub pointers: u32,
    /// Where it starts among the counts.
    pub counts: u32,
    /// Where it starts among the positions.
    pub positions: u64,
    /// The largest count.
    pub largest_count: u32,
    /// The words of the shortest document.
    pub shortest: u32,
}

const ENTRY: usize = 28;

impl SkipEntry {
    /// Appends the entry to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.last.0.to_le_bytes());
        bytes.extend_from_slice(&self.pointers.to_le_bytes());
        bytes.extend_from_slice(&self.counts.to_le_bytes());
        bytes.extend_from_slice(&self.positions.to_le_bytes());
        bytes.extend_from_slice(&self.largest_count.to_le_bytes());
        bytes.extend_from_slice(&self.shortest.to_le_bytes());
    }
}

/// How many bytes of skip entries a term in `frequency` documents has: none when one block holds them all.
pub fn length(frequency: u32) -> u64 {
    let blocks = (frequency as usize).div_ceil(packed::BLOCK);
    if blocks > 1 { (blocks * ENTRY) as u64 } else { 0 }
}

/// The skip entries of a term.
#[derive(Clone, Copy)]
pub struct Skips<'a>(&'a [u8]);

impl<'a> Skips<'a> {
    /// The entries in these bytes.
    pub fn new(bytes: &'a [u8]) -> Skips<'a> {
        Skips(bytes)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len() / ENTRY
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry of a block, which must be there.
    pub fn get(&self, block: usize) -> SkipEntry {
        let entry = &self.0[block * ENTRY..][..ENTRY];
        let word = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        SkipEntry {
            last: DocId(word(0)),
            pointers: word(4),
            counts: word(8),
            positions: u64::from(word(16)) << 32 | u64::from(word(12)),
            largest_count: word(20),
            shortest: word(24),
        }
    }

    /// The first block from `block` on whose last document is not before `target`, or how many blocks
    /// there are. Galloping: the logarithm of the distance, not of the list.
    pub fn seek(&self, block: usize, target: DocId) -> usize {
        let mut below = block;
        let mut step = 1;
        while below + step < self.len() && self.last(below + step) < target {
            below += step;
            step *= 2;
        }
        let (mut low, mut high) = (below, (below + step).min(self.len()));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.last(middle) < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn last(&self, block: usize) -> DocId {
        let at = block * ENTRY;
        DocId(u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(last: u32) -> SkipEntry {
        SkipEntry {
            last: DocId(last),
            pointers: last ^ 1,
            counts: last ^ 2,
            positions: u64::from(last) << 20,
            largest_count: last ^ 3,
            shortest: last ^ 4,
        }
    }

    proptest! {
        #[test]
        fn seek_is_a_linear_search(lasts in prop::collection::btree_set(0u32..2000, 1..80), from in any::<prop::sample::Index>(), target in 0u32..2100) {
            let lasts: Vec<u32> = lasts.into_iter().collect();
            let mut bytes = Vec::new();
            lasts.iter().for_each(|last| entry(*last).write(&mut bytes));
            let skips = Skips::new(&bytes);
            prop_assert_eq!(skips.len(), lasts.len());
            for (block, last) in lasts.iter().enumerate() {
                prop_assert_eq!(skips.get(block), entry(*last));
            }
            let from = from.index(lasts.len());
            let model = (from..lasts.len()).find(|block| lasts[*block] >= target).unwrap_or(lasts.len());
            prop_assert_eq!(skips.seek(from, DocId(target)), model);
        }
    }
}
