//! A block: the unit that is compressed, checked, read and cached. Sorted entries with front-coded keys.
//!
//! ```text
//! entries    varint  bytes shared with the key before, 0 at every 16th entry (a restart)
//!            varint  length of the rest of the key
//!            varint  0 if the key is removed, else 1 + the length of the value
//!            the rest of the key, the value
//! u32 each   the offsets of the restarts, little-endian
//! u32        their number
//! ```
//!
//! In the file, it is preceded by the CRC-32 of the rest and its length before compression (u32 each), and
//! compressed by LZ4 unless that makes it longer. A search is binary over the restarts, then linear.

use std::cmp::Ordering;
use std::ops::Range;

use crate::codes::variable_byte;

/// The number of entries between two restarts.
const RESTART: usize = 16;
/// The bytes before a block in a file.
const HEADER: usize = 8;
/// No block is longer: a longer one is damage.
const LONGEST: usize = super::MAX_KEY + super::MAX_VALUE + (1 << 20);

/// A block being written.
#[derive(Default)]
pub struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    entries: usize,
    last: Vec<u8>,
}

impl BlockBuilder {
    /// Adds an entry; keys come in increasing order. Without a value the key is removed.
    pub fn add(&mut self, key: &[u8], value: Option<&[u8]>) {
        let shared = if self.entries.is_multiple_of(RESTART) {
            self.restarts.push(self.bytes.len() as u32);
            0
        } else {
            common(&self.last, key)
        };
        variable_byte::write(shared as u64, &mut self.bytes);
        variable_byte::write((key.len() - shared) as u64, &mut self.bytes);
        variable_byte::write(value.map_or(0, |value| value.len() as u64 + 1), &mut self.bytes);
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.entries += 1;
    }

    /// The last key.
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    /// The size so far, uncompressed.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Replaces `out` by the block as it is in a file, and begins the next one.
    pub fn seal(&mut self, out: &mut Vec<u8>) {
        for restart in &self.restarts {
            self.bytes.extend_from_slice(&restart.to_le_bytes());
        }
        self.bytes.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        out.clear();
        out.resize(HEADER + lz4_flex::block::get_maximum_output_size(self.bytes.len()), 0);
        let packed = lz4_flex::block::compress_into(&self.bytes, &mut out[HEADER..]);
        match packed {
            Ok(packed) if packed < self.bytes.len() => out.truncate(HEADER + packed),
            _ => {
                out.truncate(HEADER);
                out.extend_from_slice(&self.bytes);
            }
        }
        out[4..HEADER].copy_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        let checksum = crc32fast::hash(&out[4..]);
        out[..4].copy_from_slice(&checksum.to_le_bytes());
        self.bytes.clear();
        self.restarts.clear();
        self.entries = 0;
        self.last.clear();
    }
}

/// The length of the common prefix.
pub fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// A block in memory, its checksum verified.
#[derive(Debug)]
pub struct Block {
    bytes: Box<[u8]>,
    /// Where the entries end, and the restarts begin.
    end: usize,
    restarts: usize,
}

/// A place in a block: an entry, or the start.
#[derive(Clone, Debug, Default)]
pub struct Place {
    next: usize,
    key: Vec<u8>,
    value: Option<Range<usize>>,
}

impl Place {
    /// The key of the entry.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Block {
    /// The block from its bytes in a file; the error is what is wrong with them.
    pub fn open(sealed: &[u8]) -> std::result::Result<Block, &'static str> {
        let (header, packed) = sealed.split_first_chunk::<HEADER>().ok_or("a block is cut off")?;
        let (checksum, length) = (u32_at(header, 0), u32_at(header, 4) as usize);
        if crc32fast::hash(&sealed[4..]) != checksum {
            return Err("a block does not match its checksum");
        }
        if length > LONGEST {
            return Err("no block is so long");
        }
        let mut bytes = vec![0; length];
        if packed.len() == length {
            bytes.copy_from_slice(packed);
        } else if !matches!(lz4_flex::block::decompress_into(packed, &mut bytes), Ok(held) if held == length)
        {
            return Err("a block does not decompress");
        }
        let framed = || {
            let (rest, count) = bytes.split_last_chunk::<4>()?;
            let restarts = u32::from_le_bytes(*count) as usize;
            Some((rest.len().checked_sub(restarts.checked_mul(4)?)?, restarts))
        };
        let (end, restarts) = framed().ok_or("a block has no room for its restarts")?;
        Ok(Block { bytes: bytes.into_boxed_slice(), end, restarts })
    }

    /// The memory it takes.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of::<Block>()
    }

    /// The value at a place; `None` if the key is removed.
    pub fn value(&self, place: &Place) -> Option<&[u8]> {
        place.value.clone().map(|range| &self.bytes[range])
    }

    /// Moves to the next entry; whether there is one. `None` if the block is damaged.
    pub fn advance(&self, place: &mut Place) -> Option<bool> {
        if place.next == self.end {
            return Some(false);
        }
        let mut rest = self.bytes.get(place.next..self.end)?;
        let shared = usize::try_from(variable_byte::read(&mut rest)?).ok()?;
        let suffix = usize::try_from(variable_byte::read(&mut rest)?).ok()?;
        let value = usize::try_from(variable_byte::read(&mut rest)?).ok()?;
        let start = self.end - rest.len();
        let middle = start.checked_add(suffix)?;
        let next = middle.checked_add(value.saturating_sub(1))?;
        if shared > place.key.len() || next > self.end {
            return None;
        }
        place.key.truncate(shared);
        place.key.extend_from_slice(&self.bytes[start..middle]);
        place.value = (value > 0).then_some(middle..next);
        place.next = next;
        Some(true)
    }

    /// Moves to the first entry whose key is at least `key`; whether there is one. `None` if the block is
    /// damaged.
    pub fn seek(&self, key: &[u8], place: &mut Place) -> Option<bool> {
        let (mut low, mut high) = (0, self.restarts);
        while low < high {
            let middle = low.midpoint(high);
            if self.restart(middle)?.1.cmp(key) == Ordering::Less { low = middle + 1 } else { high = middle }
        }
        place.key.clear();
        place.next = if low == 0 { 0 } else { self.restart(low - 1)?.0 };
        while self.advance(place)? {
            if place.key.as_slice() >= key {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The offset and the key of a restart.
    fn restart(&self, number: usize) -> Option<(usize, &[u8])> {
        let offset = u32_at(&self.bytes, self.end + 4 * number) as usize;
        let mut rest = self.bytes.get(offset..self.end)?;
        let shared = variable_byte::read(&mut rest)?;
        let suffix = usize::try_from(variable_byte::read(&mut rest)?).ok()?;
        variable_byte::read(&mut rest)?;
        (shared == 0).then_some((offset, rest.get(..suffix)?))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
