//! A run: an immutable file with the tables of a layout, each in order, and the number of each fingerprint.
//!
//! ```text
//! header      see crate::disk::format, kind "HRUN"
//! sections    one a table: the permuted fingerprints in order, each once; then the numbers in the order of the
//!             first table; all of 8 bytes, little-endian
//! index       of each section, of each block of 512 entries: u64 the first entry, u32 CRC-32
//! directories of each table, of each value of the leading b bits: u32 the first block that begins with it or with a
//!             greater one; then u32 the number of blocks n. b = ⌊log₂ n⌋ + 2
//! footer      u32 distance, u32 tables, u64 entries; of each table u64 the mask of leading bits, u32 radius
//! trailer     u64 length of index and directories, u32 length of the footer, u32 CRC-32 of the three
//! ```
//!
//! Sections follow each other without gaps: a block has 4 KiB, but for the last of a section, which may be shorter. With t
//! tables a fingerprint takes 8 (t + 1) bytes on disk, and at most (28 t + 12) / 512 for the index and the directories.
//!
//! The file is mapped, and everything is read through the map: it is in the file cache of the operating system, which takes
//! that memory back when it is needed. Of its own an open run has a bit for each block, (t + 1) / 4096 bytes a fingerprint:
//! the checksum of a block is checked when it is first used, that of the index, the directories and the footer when the run
//! is opened, in one pass over them.
//!
//! A search uses one or two blocks of 4 KiB a probe, and the block of the number of what it finds. The directory says which;
//! the place in a block is found by interpolation, and the cache lines of many probes are prefetched before the first is
//! needed. Within a distance smaller than that of the layout it makes fewer probes ([`Layout::radii`]).

mod batch;
mod index;
mod merge;
mod open;
mod pass;
mod writer;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

pub use merge::{build, merge};
pub use writer::RunWriter;

use self::index::{Directory, IndexEntry, checksum, first_key};
use super::distance::near;
use super::layout::Layout;
use super::permutation::Permutation;
use crate::disk::format::Format;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::signature::interpolation::partition_from;
use crate::{Error, Result};

const FORMAT: Format = Format { kind: *b"HRUN", version: 2 };
/// The entries of a block.
const BLOCK: usize = 512;
const ENTRY: usize = size_of::<u64>();
/// The probes that are under way at a time.
const PROBES: usize = 32;
/// The most cache lines that are prefetched for a probe, beside that of its end: a page. What the processor itself
/// prefetches begins too late for a few hundred candidates.
const LINES: usize = 64;
/// The entries of a cache line.
const PER_LINE: usize = 8;
/// How far a key is from its interpolated place in a block, in most cases: at most two standard deviations, each √512 / 2.
const AROUND: usize = 22;

/// A section of entries.
struct Section {
    offset: usize,
    /// Where its index is.
    index: Range<usize>,
    /// A bit for each block whose checksum was right.
    checked: Vec<AtomicU64>,
}

/// A table of a run.
struct Part {
    permutation: Permutation<u64>,
    /// The leading bits that a probe resolves.
    prefix: u32,
    /// What prefixes within the radius differ in, those with fewer differences first.
    flips: Vec<u64>,
    /// The number of those with at most 0, 1, … differences.
    ends: Vec<usize>,
    /// Where its directory is.
    directory: Range<usize>,
}

/// A place of a table to look at: the keys from `least` to `most`, which are in some blocks.
struct Probe {
    least: u64,
    most: u64,
    blocks: Range<usize>,
    /// About where they begin and end in the blocks, with some before and after them.
    start: usize,
    end: usize,
}

/// An open run.
pub struct Run {
    path: PathBuf,
    file: File,
    map: Mmap,
    layout: Layout,
    entries: u64,
    parts: Vec<Part>,
    /// One a table, and the numbers.
    sections: Vec<Section>,
}

impl Run {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of fingerprints.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The distance and the number of the nearest fingerprint within a distance, at most that of the layout, of equally
    /// near ones the least number; `than` is what was found before.
    pub fn nearest(&self, word: u64, distance: u32, than: Option<(u32, u64)>) -> Result<Option<(u32, u64)>> {
        let mut nearest = than;
        let distance = than.map_or(distance, |(found, _)| distance.min(found));
        let (mut told, mut is_first) = (Vec::new(), true);
        let mut probes = Vec::with_capacity(PROBES);
        for (table, part, flips) in self.probed(distance) {
            let key = part.permutation.apply(word);
            for flips in flips.chunks(PROBES) {
                probes.clear();
                probes.extend(flips.iter().map(|flip| self.probe(table, key ^ flip)));
                for probe in &probes {
                    // The first probe finds an equal one.
                    if nearest.is_some_and(|(distance, _)| distance == 0) && !is_first {
                        return Ok(nearest);
                    }
                    is_first = false;
                    let most = nearest.map_or(distance, |(distance, _)| distance);
                    let mut found = Vec::new();
                    let keys = self.candidates(table, probe)?;
                    near(keys.iter().map(entry), key, most, |place, distance| {
                        found.push((distance, part.permutation.undo(entry(&keys[place]))));
                        distance
                    });
                    for (distance, word) in found {
                        // The others are in several tables, and are looked up once.
                        if nearest.is_none_or(|nearest| distance <= nearest.0) && !told.contains(&word) {
                            told.push(word);
                            let number = self.number_of(word)?.map(|number| (distance, number));
                            nearest = [nearest, number].into_iter().flatten().min();
                        }
                    }
                }
            }
        }
        Ok(nearest)
    }

    /// The distances and numbers of all fingerprints within a distance, at most that of the layout; of equal ones there is one.
    pub fn within(&self, word: u64, distance: u32) -> Result<Vec<(u32, u64)>> {
        let mut words = Vec::new();
        for (table, part, flips) in self.probed(distance) {
            let key = part.permutation.apply(word);
            for flip in flips {
                let keys = self.candidates(table, &self.probe(table, key ^ flip))?;
                near(keys.iter().map(entry), key, distance, |place, found| {
                    words.push((found, part.permutation.undo(entry(&keys[place]))));
                    distance
                });
            }
        }
        words.sort_unstable();
        words.dedup();
        let number =
            |(distance, word)| self.number_of(word).map(|number| number.map(|number| (distance, number)));
        words.into_iter().filter_map(|word| number(word).transpose()).collect()
    }

    /// The place of the keys of a table that have the prefix of a key, prefetched.
    fn probe(&self, table: usize, key: u64) -> Probe {
        let rest = u64::MAX.checked_shr(self.parts[table].prefix).unwrap_or(0);
        let (least, most) = (key & !rest, key | rest);
        let index = self.index(table);
        // Keys are different: a block that begins with the least is the first to have it.
        let first = self.blocks_to(table, least).saturating_sub(1);
        let last = partition_from(first, 1, index.len(), |block| first_key(&index[block]) <= most);
        let blocks = first..last.max(first);
        let before_last = blocks.len().saturating_sub(1) * BLOCK;
        let start = self.guess(table, first, least).saturating_sub(AROUND);
        let end = before_last + self.guess(table, blocks.end.saturating_sub(1), most) + AROUND;
        // The keys next to both ends are looked at first.
        let bytes = self.map.as_ptr().wrapping_add(self.place(table, &blocks).start);
        let lines = (end.saturating_sub(start) / PER_LINE + 1).min(LINES);
        prefetch_lines(bytes.wrapping_add(start.saturating_sub(1) * ENTRY), lines);
        prefetch(bytes.wrapping_add(end * ENTRY));
        Probe { least, most, blocks, start, end }
    }

    /// The number of blocks of a table whose first key is at most a given one.
    fn blocks_to(&self, table: usize, key: u64) -> usize {
        let beginning = self.directory(table).beginning(key);
        let index = self.index(table).get(beginning.clone()).unwrap_or_default();
        beginning.start + index.partition_point(|block| first_key(block) <= key)
    }

    /// About where a key is in a block of a table, by interpolation.
    fn guess(&self, table: usize, block: usize, key: u64) -> usize {
        let index = self.index(table);
        let Some(first) = index.get(block).map(first_key) else { return 0 };
        let next = index.get(block + 1).map_or(u64::MAX, first_key);
        let share = key.saturating_sub(first) as f64 / next.saturating_sub(first).max(1) as f64;
        (share * BLOCK as f64) as usize
    }

    /// The directory of a table.
    #[inline]
    fn directory(&self, table: usize) -> Directory<'_> {
        let bytes = self.map.get(self.parts[table].directory.clone()).unwrap_or_default();
        Directory::new(bytes, Directory::blocks(self.entries))
    }

    /// The index of a section.
    #[inline]
    fn index(&self, section: usize) -> &[IndexEntry] {
        self.map.get(self.sections[section].index.clone()).unwrap_or_default().as_chunks().0
    }

    /// The keys of a probe, and some before and after them: to compare these takes less time than to find the ends.
    fn candidates(&self, table: usize, probe: &Probe) -> Result<&[Entry]> {
        let Probe { least, most, blocks, .. } = probe;
        let keys = self.blocks(table, blocks.clone())?;
        let in_first = keys.len().min(BLOCK);
        let mut start = probe.start.min(in_first);
        if start > 0 && entry(&keys[start - 1]) >= *least {
            start = partition_from(start, AROUND, in_first, |place| entry(&keys[place]) < *least);
        }
        let mut end = probe.end.min(keys.len());
        if end < keys.len() && entry(&keys[end]) <= *most {
            end = partition_from(end, AROUND, keys.len(), |place| entry(&keys[place]) <= *most);
        }
        Ok(keys.get(start..end).unwrap_or_default())
    }

    /// The number of a fingerprint.
    fn number_of(&self, word: u64) -> Result<Option<u64>> {
        let Some(part) = self.parts.first() else { return Ok(None) };
        let key = part.permutation.apply(word);
        let block = self.blocks_to(0, key).saturating_sub(1);
        let keys = self.blocks(0, block..block + 1)?;
        let Ok(place) = keys.binary_search_by_key(&key, entry) else { return Ok(None) };
        Ok(self.blocks(self.parts.len(), block..block + 1)?.get(place).map(entry))
    }

    /// The bytes of blocks of a section.
    fn place(&self, section: usize, blocks: &Range<usize>) -> Range<usize> {
        let entries =
            (blocks.len() * BLOCK).min((self.entries as usize).saturating_sub(blocks.start * BLOCK));
        let start = self.sections[section].offset + blocks.start * BLOCK * ENTRY;
        start..start + entries * ENTRY
    }

    /// The entries of blocks of a section, whose checksums are right.
    fn blocks(&self, section: usize, blocks: Range<usize>) -> Result<&[Entry]> {
        let (index, checked) = (self.index(section), &self.sections[section].checked);
        let blocks = blocks.start..blocks.end.min(index.len());
        if blocks.is_empty() {
            return Ok(&[]);
        }
        let place = self.place(section, &blocks);
        let damaged = |reason: &str| Error::corrupt(&self.path, place.start as u64, reason);
        let bytes = self.map.get(place.clone()).ok_or_else(|| damaged("it ends too early"))?;
        for (block, bytes) in blocks.zip(bytes.chunks(BLOCK * ENTRY)) {
            let (word, bit) = (&checked[block / 64], 1 << (block % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                if crc32fast::hash(bytes) != checksum(&index[block]) {
                    return Err(damaged("the checksum of a block is wrong"));
                }
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(bytes.as_chunks::<ENTRY>().0)
    }
}

/// An entry of a section.
type Entry = [u8; ENTRY];

#[inline]
fn entry(bytes: &Entry) -> u64 {
    u64::from_le_bytes(*bytes)
}
