//! Two-level skip lists: the metadata of blocks of postings, readable without decoding them.
//!
//! Each block, of as many postings as the segment's quantum, has its last document, its start in each of the
//! three components, and its block-max bound ([`maxima`](crate::index::format::maxima)). Groups of 32 blocks
//! have the same fields; a bit-packed table ([`crate::index::format::rows`]) stores them in as few bits as
//! they need, those of a block relative to the start of its group. That is about 70 bits per block, half a
//! bit per posting, and only for lists of more than one block.
//!
//! ```text
//! list of up to 32 blocks   the rows of its blocks
//! longer list               the rows of its groups, then for each group the rows of its blocks
//! ```
//!
//! Finding a block takes time logarithmic in the distance: galloping search over the groups, then binary
//! search within one group.

use super::maxima::Maxima;
use super::rows::{Rows, write_rows};
use crate::index::DocId;

/// Blocks per group.
const GROUP: usize = 32;
const BLOCK_COLUMNS: usize = 8;
const GROUP_COLUMNS: usize = 9;
/// The column of a group that holds the offset of the rows of its blocks.
const PLACE: usize = 8;

/// The metadata of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its last document.
    pub last: DocId,
    /// Where the block starts in the pointers, counts and positions of the list, in bytes.
    pub starts: [u64; 3],
    /// The bound on its scores.
    pub maxima: Maxima,
}

/// Appends the skip list of a posting list to `bytes`.
pub fn write(blocks: &[Block], bytes: &mut Vec<u8>) {
    let groups: Vec<&[Block]> = blocks.chunks(GROUP).collect();
    let mut last = 0;
    let mut rows = Vec::new();
    let mut summaries = Vec::with_capacity(groups.len());
    for group in &groups {
        let (Some(first), Some(end)) = (group.first(), group.last()) else { continue };
        let [pointers, counts, positions] = first.starts;
        let joined = Maxima::joined(group.iter().map(|block| block.maxima)).fields();
        let [a, b, c, d] = joined;
        summaries.push([end.last.0.into(), pointers, counts, positions, a, b, c, d, rows.len() as u64]);
        // The only group of a short list is relative to 0, because no group row stores its start.
        let base = if groups.len() > 1 { first.starts } else { [0; 3] };
        let row = |block: &Block| {
            let [a, b, c, d] = block.maxima.fields();
            let [pointers, counts, positions] = std::array::from_fn(|part| block.starts[part] - base[part]);
            [u64::from(block.last.0) - last, pointers, counts, positions, a, b, c, d]
        };
        write_rows(group.iter().map(row), &mut rows);
        last = u64::from(end.last.0);
    }
    if groups.len() > 1 {
        write_rows(summaries.iter().copied(), bytes);
    }
    bytes.extend_from_slice(&rows);
}

/// The skip list of a posting list.
///
/// The last documents of the group used last are kept decoded: a traversal usually asks for its neighbours
/// next.
pub struct Skips<'a> {
    bytes: &'a [u8],
    blocks: usize,
    groups: Option<Rows<GROUP_COLUMNS>>,
    group: Option<Group<'a>>,
}

impl<'a> Skips<'a> {
    /// Opens the skip list of `blocks` blocks, two or more; `None` if the bytes do not contain it.
    pub fn open(bytes: &'a [u8], blocks: usize) -> Option<Skips<'a>> {
        let groups = match blocks.div_ceil(GROUP) {
            0 | 1 => {
                Rows::<BLOCK_COLUMNS>::open(bytes, blocks)?;
                None
            }
            groups => Some(Rows::open(bytes, groups)?),
        };
        Some(Skips { bytes, blocks, groups, group: None })
    }

    /// The skip list of a posting list with a single block, which has none.
    pub fn none() -> Skips<'static> {
        Skips { bytes: &[], blocks: 1, groups: None, group: None }
    }

    /// The number of blocks.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Where a block starts in each component; `None` past the last or if the bytes do not decode.
    #[inline]
    pub fn starts(&mut self, block: usize) -> Option<[u64; 3]> {
        (block < self.blocks).then_some(())?;
        Some(self.group(block / GROUP)?.starts_of(block % GROUP))
    }

    /// The last document of a block, and the bound on its scores; `None` as for [`Skips::starts`].
    #[inline]
    pub fn bounds(&mut self, block: usize) -> Option<(DocId, Maxima)> {
        (block < self.blocks).then_some(())?;
        let group = self.group(block / GROUP)?;
        Some((DocId(group.lasts[block % GROUP]), group.maxima_of(block % GROUP)))
    }

    /// The last document of a block; `None` as for [`Skips::starts`].
    #[inline]
    pub fn last(&mut self, block: usize) -> Option<DocId> {
        (block < self.blocks).then_some(())?;
        Some(DocId(self.group(block / GROUP)?.lasts[block % GROUP]))
    }

    /// The first block from `from` on whose last document is not before `target`, or the number of blocks.
    pub fn seek(&mut self, from: usize, target: DocId) -> Option<usize> {
        if from >= self.blocks {
            return Some(self.blocks);
        }
        let groups = self.blocks.div_ceil(GROUP);
        let mut number = from / GROUP;
        if self.groups.is_some() {
            let (mut low, mut step) = (number, 1);
            while low + step < groups && self.last_of_group(low + step - 1)? < target {
                low += step;
                step *= 2;
            }
            let mut high = (low + step).min(groups);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.last_of_group(middle)? < target {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            number = low;
        }
        if number >= groups {
            return Some(self.blocks);
        }
        let first = number * GROUP;
        let low = from.max(first) - first;
        let group = self.group(number)?;
        let after = group.lasts[low..group.blocks].partition_point(|last| *last < target.0);
        Some(first + low + after)
    }

    /// The bound on the scores of the whole list; `None` if it has one block or the bytes do not decode.
    pub fn maxima(&mut self) -> Option<Maxima> {
        match self.groups {
            None if self.bytes.is_empty() => None,
            None => {
                let group = self.group(0)?;
                Some(Maxima::joined((0..group.blocks).map(|block| group.maxima_of(block))))
            }
            Some(rows) => Some(Maxima::joined((0..self.blocks.div_ceil(GROUP)).map(|group| {
                Maxima::from_fields(std::array::from_fn(|field| rows.get(self.bytes, group, field + 4)))
            }))),
        }
    }

    fn last_of_group(&self, group: usize) -> Option<DocId> {
        let rows = self.groups.as_ref()?;
        Some(DocId(rows.get(self.bytes, group, 0) as u32))
    }

    #[inline]
    fn group(&mut self, number: usize) -> Option<&Group<'a>> {
        if self.group.as_ref().is_none_or(|group| group.number != number) {
            self.group = Some(self.load(number)?);
        }
        self.group.as_ref()
    }

    fn load(&self, number: usize) -> Option<Group<'a>> {
        let blocks = (self.blocks - number * GROUP).min(GROUP);
        let Some(groups) = &self.groups else {
            return Group::open(number, blocks, self.bytes, 0, [0; 3]);
        };
        let field = |column| groups.get(self.bytes, number, column);
        let tables = groups.bytes(self.blocks.div_ceil(GROUP)) as usize;
        let place = usize::try_from(field(PLACE)).ok()?;
        let bytes = self.bytes.get(tables.checked_add(place)?..)?;
        let before = number.checked_sub(1).map_or(0, |before| groups.get(self.bytes, before, 0));
        Group::open(number, blocks, bytes, before, [field(1), field(2), field(3)])
    }
}

/// The rows of a group and what they are relative to.
struct Group<'a> {
    number: usize,
    blocks: usize,
    bytes: &'a [u8],
    rows: Rows<BLOCK_COLUMNS>,
    starts: [u64; 3],
    /// The last document of each block.
    lasts: [u32; GROUP],
}

impl<'a> Group<'a> {
    fn open(
        number: usize,
        blocks: usize,
        bytes: &'a [u8],
        before: u64,
        starts: [u64; 3],
    ) -> Option<Group<'a>> {
        let rows = Rows::<BLOCK_COLUMNS>::open(bytes, blocks)?;
        let mut lasts = [0; GROUP];
        for (block, last) in lasts[..blocks].iter_mut().enumerate() {
            *last = before.saturating_add(rows.get(bytes, block, 0)).min(u64::from(u32::MAX)) as u32;
        }
        Some(Group { number, blocks, bytes, rows, starts, lasts })
    }

    fn starts_of(&self, block: usize) -> [u64; 3] {
        let field = |part: usize| self.rows.get(self.bytes, block, part + 1);
        std::array::from_fn(|part| self.starts[part].saturating_add(field(part)))
    }

    fn maxima_of(&self, block: usize) -> Maxima {
        Maxima::from_fields(std::array::from_fn(|field| self.rows.get(self.bytes, block, field + 4)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_blocks() -> impl Strategy<Value = Vec<Block>> {
        let block = (1u32..5000, [0u64..900, 0u64..900, 0u64..9000], 1u32..300, 1u32..9000);
        prop::collection::vec(block, 2..200).prop_map(|rows| {
            let (mut last, mut starts) = (0, [0; 3]);
            let place = |(gap, lengths, count, length): (u32, [u64; 3], u32, u32)| {
                last += gap;
                let block = Block {
                    last: DocId(last),
                    starts,
                    maxima: Maxima::of([(count, length), (count / 2 + 1, length / 2)].into_iter()),
                };
                starts = std::array::from_fn(|part| starts[part] + lengths[part]);
                block
            };
            rows.into_iter().map(place).collect()
        })
    }

    /// All metadata of a block.
    fn get(skips: &mut Skips<'_>, block: usize) -> Option<Block> {
        let (last, maxima) = skips.bounds(block)?;
        Some(Block { last, starts: skips.starts(block)?, maxima })
    }

    proptest! {
        #[test]
        fn is_a_linear_search(blocks in some_blocks(), from in any::<prop::sample::Index>(), target in 0u32..600_000) {
            let mut bytes = Vec::new();
            write(&blocks, &mut bytes);
            let mut skips = Skips::open(&bytes, blocks.len()).unwrap();
            for (number, block) in blocks.iter().enumerate() {
                prop_assert_eq!(get(&mut skips, number), Some(*block));
            }
            prop_assert_eq!(get(&mut skips, blocks.len()), None);
            let from = from.index(blocks.len());
            let model = (from..blocks.len()).find(|block| blocks[*block].last.0 >= target);
            prop_assert_eq!(skips.seek(from, DocId(target)), Some(model.unwrap_or(blocks.len())));
            let score = |count: u32, length: u32| count as f32 / (count as f32 + length as f32);
            let all = skips.maxima().unwrap();
            prop_assert!(blocks.iter().all(|block| all.bound(score) >= block.maxima.bound(score)));
        }

        #[test]
        fn damaged_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), blocks in 2usize..200, target in any::<u32>()) {
            if let Some(mut skips) = Skips::open(&bytes, blocks) {
                (0..blocks).for_each(|block| { get(&mut skips, block); });
                if let Some(found) = skips.seek(0, DocId(target)) {
                    prop_assert!(found <= blocks);
                }
                skips.maxima();
            }
        }
    }
}
