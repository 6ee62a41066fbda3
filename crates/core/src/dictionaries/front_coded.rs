//! The front-coded list: sorted keys, each stored as its difference from the previous one.
//!
//! The other dictionaries do not store their keys; this one does, for uses that must list them, search them
//! by prefix, or be exact. Keys are grouped into blocks: the first of a block is stored in full, every other
//! one as the length of its common prefix with the previous key, and the remaining suffix. Looking up a rank
//! takes a binary search over the blocks' first keys and a scan of one block; looking up the key of a rank
//! only the scan. A block costs an offset of ⌈log₂ length⌉ bits, so larger blocks are smaller and slower
//! (Witten, Moffat and Bell, *Managing Gigabytes*, 1999).
//!
//! ```text
//! bytes  0..8   u64 keys
//! bytes  8..12  u32 keys in a block
//! bytes 12..16  u32 bits of an offset
//! bytes 16..24  u64 bytes of the blocks
//! bytes 24..    the offset of each block, packed (see `bits`), and 8 bytes of zeros
//! then          the blocks: of each key the length of the common prefix (not of the first in a block), the length of
//!               the rest, both in variable byte code, and the rest
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use super::bits::{PADDING, pack, packed_length, unpack};
use crate::codes::variable_byte;
use crate::{Error, Result};

const HEADER: usize = 24;

/// The maximum block size in keys.
const MOST_IN_BLOCK: u32 = 1 << 16;

/// The header of such a list, used to read its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontCoded {
    keys: u64,
    block: u32,
    offset_bits: u32,
    /// The offset of the first block.
    blocks: usize,
}

/// Encodes a list key by key: the blocks go to the caller, and what stands before them is known at the end.
pub(super) struct Encoder {
    block: u32,
    keys: u64,
    previous: Vec<u8>,
    offsets: Vec<u64>,
    /// The bytes of the blocks so far.
    length: u64,
}

impl Encoder {
    pub fn new(block: u32) -> Result<Encoder> {
        if !(1..=MOST_IN_BLOCK).contains(&block) {
            let reason = format!("a block has from 1 to {MOST_IN_BLOCK} keys, not {block}");
            return Err(Error::Invalid(reason));
        }
        Ok(Encoder { block, keys: 0, previous: Vec::new(), offsets: Vec::new(), length: 0 })
    }

    /// Appends the code of the next key to `blocks`.
    pub fn push(&mut self, key: &[u8], blocks: &mut Vec<u8>) -> Result<()> {
        if self.keys > 0 && *self.previous >= *key {
            let reason =
                format!("key {} does not come after the one before: sort them, each once", self.keys);
            return Err(Error::Invalid(reason));
        }
        let before = blocks.len();
        let mut shared = 0;
        if self.keys.is_multiple_of(u64::from(self.block)) {
            self.offsets.push(self.length);
        } else {
            shared = common_prefix(&self.previous, key);
            variable_byte::write(shared as u64, blocks);
        }
        variable_byte::write_bytes(&key[shared..], blocks);
        self.length += (blocks.len() - before) as u64;
        self.previous.clear();
        self.previous.extend_from_slice(key);
        self.keys += 1;
        Ok(())
    }

    /// The bytes before the blocks.
    pub fn head(self) -> Vec<u8> {
        let offset_bits = self.length.checked_ilog2().map_or(0, |log| log + 1);
        let mut bytes = Vec::with_capacity(HEADER + self.offsets.len() * 8 + PADDING);
        bytes.extend_from_slice(&self.keys.to_le_bytes());
        bytes.extend_from_slice(&self.block.to_le_bytes());
        bytes.extend_from_slice(&offset_bits.to_le_bytes());
        bytes.extend_from_slice(&self.length.to_le_bytes());
        pack(self.offsets.into_iter(), offset_bits, &mut bytes);
        bytes.extend_from_slice(&[0; PADDING]);
        bytes
    }
}

impl FrontCoded {
    /// The bytes of the list of `keys`, which must be in increasing order, in blocks of `block`.
    pub fn build<K: AsRef<[u8]>>(mut keys: impl Iterator<Item = K>, block: u32) -> Result<Vec<u8>> {
        let (mut encoder, mut blocks) = (Encoder::new(block)?, Vec::new());
        keys.try_for_each(|key| encoder.push(key.as_ref(), &mut blocks))?;
        let mut bytes = encoder.head();
        bytes.append(&mut blocks);
        Ok(bytes)
    }

    /// Reads the header; `None` if the bytes are not such a list.
    pub fn open(bytes: &[u8]) -> Option<FrontCoded> {
        let (keys, rest) = bytes.split_first_chunk()?;
        let (block, rest) = rest.split_first_chunk()?;
        let (offset_bits, rest) = rest.split_first_chunk()?;
        let (length, _) = rest.split_first_chunk()?;
        let keys = u64::from_le_bytes(*keys);
        let (block, offset_bits) = (u32::from_le_bytes(*block), u32::from_le_bytes(*offset_bits));
        let length = u64::from_le_bytes(*length);
        // A key takes at least one byte.
        if !(1..=MOST_IN_BLOCK).contains(&block) || offset_bits > 64 || keys > length {
            return None;
        }
        let offsets = packed_length(keys.div_ceil(u64::from(block)), offset_bits)?;
        let blocks = offsets.checked_add(HEADER + PADDING)?;
        let end = blocks.checked_add(usize::try_from(length).ok()?)?;
        (bytes.len() == end).then_some(FrontCoded { keys, block, offset_bits, blocks })
    }

    /// The number of keys.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The keys with ranks in a range, in order; `None` if the bytes are damaged or a rank is out of range.
    pub fn keys(&self, bytes: &[u8], ranks: Range<u64>) -> Option<Vec<Vec<u8>>> {
        if ranks.end > self.keys {
            return None;
        }
        let mut found = Vec::new();
        let mut rank = ranks.start;
        while rank < ranks.end {
            let block = rank / u64::from(self.block);
            let mut walk = self.walk(bytes, block)?;
            let end = ranks.end.min((block + 1) * u64::from(self.block));
            for at in block * u64::from(self.block)..end {
                let key = walk.next()?;
                if at >= rank {
                    found.push(key.to_vec());
                }
            }
            rank = end;
        }
        Some(found)
    }

    /// The key with a rank; `None` if the bytes are damaged or the rank is out of range.
    pub fn get(&self, bytes: &[u8], rank: u64) -> Option<Vec<u8>> {
        self.keys(bytes, rank..rank.checked_add(1)?)?.pop()
    }

    /// The rank of a key, or, as an error, its insertion point; `None` if the bytes are damaged.
    pub fn rank(&self, bytes: &[u8], key: &[u8]) -> Option<std::result::Result<u64, u64>> {
        let mut equal = false;
        let rank = self.partition(bytes, |other| match other.cmp(key) {
            Ordering::Less => true,
            order => {
                equal |= order == Ordering::Equal;
                false
            }
        })?;
        Some(if equal { Ok(rank) } else { Err(rank) })
    }

    /// The ranks of the keys with a prefix; `None` if the bytes are damaged.
    pub fn prefix(&self, bytes: &[u8], prefix: &[u8]) -> Option<Range<u64>> {
        let start = self.partition(bytes, |key| key < prefix)?;
        let end = self.partition(bytes, |key| key < prefix || key.starts_with(prefix))?;
        Some(start..end.max(start))
    }

    /// The partition point: the number of leading keys for which `before` holds. It is also called with the
    /// next one.
    fn partition(&self, bytes: &[u8], mut before: impl FnMut(&[u8]) -> bool) -> Option<u64> {
        let (mut low, mut high) = (0, self.keys.div_ceil(u64::from(self.block)));
        while low < high {
            let middle = low + (high - low) / 2;
            let first = variable_byte::read_bytes(&mut self.block(bytes, middle)?)?;
            match before(first) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        // The partition point is in the last block whose first key is `before`, or at its end.
        let Some(block) = low.checked_sub(1) else { return Some(0) };
        let start = block * u64::from(self.block);
        let end = self.keys.min(start + u64::from(self.block));
        let mut walk = self.walk(bytes, block)?;
        for rank in start..end {
            if !before(walk.next()?) {
                return Some(rank);
            }
        }
        Some(end)
    }

    /// The bytes from the start of a block on.
    fn block<'a>(&self, bytes: &'a [u8], block: u64) -> Option<&'a [u8]> {
        let offset = usize::try_from(unpack(bytes, HEADER, block, self.offset_bits)?).ok()?;
        bytes.get(self.blocks.checked_add(offset)?..)
    }

    fn walk<'a>(&self, bytes: &'a [u8], block: u64) -> Option<Walk<'a>> {
        Some(Walk { rest: self.block(bytes, block)?, key: Vec::new(), begun: false })
    }
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// An iterator over the keys of a block.
struct Walk<'a> {
    rest: &'a [u8],
    key: Vec<u8>,
    begun: bool,
}

impl Walk<'_> {
    /// The next key; overwritten by the following call.
    fn next(&mut self) -> Option<&[u8]> {
        if self.begun {
            let shared = usize::try_from(variable_byte::read(&mut self.rest)?).ok()?;
            if shared > self.key.len() {
                return None;
            }
            self.key.truncate(shared);
        }
        self.begun = true;
        self.key.extend_from_slice(variable_byte::read_bytes(&mut self.rest)?);
        Some(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0u8..4, 0..7)
    }

    fn build(keys: &[Vec<u8>], block: u32) -> Vec<u8> {
        FrontCoded::build(keys.iter().map(Vec::as_slice), block).unwrap()
    }

    proptest! {
        #[test]
        fn is_a_sorted_list(keys in prop::collection::btree_set(key(), 0..120), block in 1u32..20, asked in key(), from in 0usize..120) {
            let keys: Vec<Vec<u8>> = BTreeSet::into_iter(keys).collect();
            let bytes = build(&keys, block);
            let list = FrontCoded::open(&bytes).unwrap();
            prop_assert_eq!(list.len(), keys.len() as u64);
            for (rank, key) in keys.iter().enumerate() {
                prop_assert_eq!(list.get(&bytes, rank as u64), Some(key.clone()));
            }
            prop_assert_eq!(list.get(&bytes, keys.len() as u64), None);
            let model = keys.binary_search(&asked).map(|rank| rank as u64).map_err(|rank| rank as u64);
            prop_assert_eq!(list.rank(&bytes, &asked), Some(model));
            let range = list.prefix(&bytes, &asked).unwrap();
            let with: Vec<Vec<u8>> = keys.iter().filter(|key| key.starts_with(&asked)).cloned().collect();
            prop_assert_eq!(list.keys(&bytes, range), Some(with));
            let from = from.min(keys.len());
            prop_assert_eq!(list.keys(&bytes, from as u64..keys.len() as u64), Some(keys[from..].to_vec()));
        }

        #[test]
        fn damaged_bytes_answer_or_are_refused(
            keys in prop::collection::btree_set(key(), 0..60), block in 1u32..20, asked in key(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9), cut in any::<prop::sample::Index>()
        ) {
            let whole = build(&keys.into_iter().collect::<Vec<_>>(), block);
            prop_assert!(FrontCoded::open(&whole[..cut.index(whole.len())]).is_none());
            let mut damaged = whole.clone();
            for (at, byte) in damage {
                damaged[at.index(whole.len())] = byte;
            }
            let opened = FrontCoded::open(&whole).unwrap();
            for list in [Some(opened), FrontCoded::open(&damaged)].into_iter().flatten() {
                list.rank(&damaged, &asked);
                list.prefix(&damaged, &asked);
                list.keys(&damaged, 0..list.len());
            }
        }
    }

    #[test]
    fn what_is_not_sorted_is_refused() {
        for keys in [["b", "a"], ["a", "a"]] {
            let outcome = FrontCoded::build(keys.iter().map(|key| key.as_bytes()), 4);
            assert!(matches!(outcome, Err(Error::Invalid(reason)) if reason.starts_with("key 1 ")));
        }
        assert!(FrontCoded::build(std::iter::empty::<&[u8]>(), 0).is_err());
    }
}
