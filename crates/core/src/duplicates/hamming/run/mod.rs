//! A run: an immutable file with the tables of a layout, each in order, and the number of each fingerprint.
//!
//! ```text
//! header     see crate::disk::format, kind "HRUN"
//! sections   one a table: the permuted fingerprints in order, each once; then the numbers in the order of the
//!            first table; all of 8 bytes, little-endian
//! index      of each section, of each block of 512 entries: u64 the first entry, u32 CRC-32
//! footer     u32 distance, u32 tables, u64 entries; of each table u64 the mask of leading bits, u32 radius
//! trailer    u64 length of the index, u32 length of the footer, u32 CRC-32 of both
//! ```
//!
//! Sections follow each other without gaps: a block has 4 KiB, but for the last of a section, which may be shorter. With t
//! tables a fingerprint takes 8 (t + 1) bytes on disk, and 12 (t + 1) / 512 in
//! memory, for the index. The file is mapped: its blocks are in the file cache of the operating system, which takes their
//! memory back when it is needed. The checksum of a block is checked when it is first used.
//!
//! A search uses one or two blocks of 4 KiB a probe, and the block of the number of what it finds. A directory of the leading
//! bits of the blocks' first entries says which, 16 bytes a block; the place in a block is found by interpolation, and the
//! cache lines of many probes are prefetched before the first is needed. Within a distance smaller than that of the
//! layout it makes fewer probes ([`Layout::radii`]).

mod merge;
mod writer;

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, Mmap};

pub use merge::{build, merge};
pub use writer::RunWriter;

use super::distance::near;
use super::layout::{Layout, Lead};
use super::permutation::Permutation;
use super::table::{directory, first};
use crate::disk::format::Format;
use crate::prefetch::prefetch_lines;
use crate::signature::interpolation::partition_from;
use crate::{Error, Pulse, Result};

const FORMAT: Format = Format { kind: *b"HRUN", version: 1 };
/// The entries of a block.
const BLOCK: usize = 512;
const ENTRY: usize = size_of::<u64>();
const INDEX_ENTRY: usize = 12;
const LEAD: usize = 12;
const FOOTER: usize = 16;
const TRAILER: usize = 16;
/// The most tables of a run.
const MOST_TABLES: usize = 1 << 10;
/// The probes that are under way at a time.
const PROBES: usize = 32;
/// The cache lines that are prefetched for a probe: all of few candidates, with those around them. The processor itself
/// prefetches the rest of many.
const LINES: usize = 8;
/// How far a key is from its interpolated place in a block, in most cases: at most two standard deviations, each √512 / 2.
const AROUND: usize = 22;
/// The directory has this many values of the leading bits for a block, as a logarithm.
const FINER: u32 = 2;
/// A probe has at least this many keys, as a logarithm: of a prefix that has fewer, only some bits are used.
const KEYS: u32 = 3;

thread_local! {
    /// What was read, as bytes and as entries; reused between searches.
    static READ: RefCell<(Vec<u8>, Vec<u64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// A section of entries.
struct Section {
    offset: u64,
    /// The first entry of each block.
    firsts: Vec<u64>,
    checksums: Vec<u32>,
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
    /// Which blocks begin with each value of the leading bits, and the number of these bits.
    directory: Vec<u32>,
    bits: u32,
}

/// A place of a table to look at: the keys from `least` to `most`, which are in some blocks.
struct Probe {
    least: u64,
    most: u64,
    blocks: Range<usize>,
    /// About where the least is in the first block.
    guess: usize,
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
    /// Opens a run, whose index is read.
    pub fn open(path: &Path) -> Result<Run> {
        FORMAT.version_of(path)?;
        let file = File::open(path).map_err(Error::io(path))?;
        let bytes = file.metadata().map_err(Error::io(path))?.len();
        let damaged = |reason: &str| Error::corrupt(path, bytes.saturating_sub(TRAILER as u64), reason);
        let read = |offset: u64, length: u64| -> Result<Vec<u8>> {
            let is_within = offset.checked_add(length).is_some_and(|end| end <= bytes);
            let mut read = vec![0; if is_within { length as usize } else { 0 }];
            if !is_within {
                return Err(damaged("it ends too early"));
            }
            file.read_exact_at(&mut read, offset).map_err(Error::io(path))?;
            Ok(read)
        };
        let trailer = read(bytes.wrapping_sub(TRAILER as u64), TRAILER as u64)?;
        let (index, footer) = (number(&trailer[..8]), number(&trailer[8..12]));
        let length = index.saturating_add(footer);
        let tail = read((bytes - TRAILER as u64).wrapping_sub(length), length)?;
        if u64::from(crc32fast::hash(&tail)) != number(&trailer[12..]) || footer < FOOTER as u64 {
            return Err(damaged("the checksum of the index is wrong"));
        }
        let (index, footer) = tail.split_at(index as usize);
        let (distance, tables) = (number(&footer[..4]) as u32, number(&footer[4..8]) as usize);
        let entries = number(&footer[8..FOOTER]);
        if tables > MOST_TABLES || footer.len() != FOOTER + tables * LEAD {
            return Err(damaged("the footer does not decode"));
        }
        let leads = footer[FOOTER..].chunks_exact(LEAD);
        let leads = leads
            .map(|lead| Lead { mask: u128::from(number(&lead[..8])), radius: number(&lead[8..]) as u32 });
        let layout = Layout { bits: u64::BITS, distance, leads: leads.collect() };
        let blocks = entries.div_ceil(BLOCK as u64) as usize;
        if index.len() != blocks * INDEX_ENTRY * (tables + 1) {
            return Err(damaged("the index does not decode"));
        }
        let section = |place: usize| {
            let index =
                index[place * blocks * INDEX_ENTRY..][..blocks * INDEX_ENTRY].chunks_exact(INDEX_ENTRY);
            Section {
                offset: Format::HEADER as u64 + place as u64 * entries * ENTRY as u64,
                firsts: index.clone().map(|entry| number(&entry[..8])).collect(),
                checksums: index.map(|entry| number(&entry[8..]) as u32).collect(),
                checked: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            }
        };
        let sections: Vec<Section> = (0..=tables).map(section).collect();
        let bits = blocks.max(1).ilog2() + FINER;
        let resolved = entries.max(1).ilog2().saturating_sub(KEYS);
        let part = |((permutation, lead), section): ((Permutation<u64>, &Lead), &Section)| {
            let prefix = lead.prefix().min(resolved);
            let (flips, ends) = flips(prefix, lead.radius);
            Part { permutation, prefix, flips, ends, directory: directory(&section.firsts, bits), bits }
        };
        let leads = layout.permutations().into_iter().zip(&layout.leads);
        let parts = leads.zip(&sections).map(part).collect();
        // SAFETY: a run is written completely under another name and renamed, so the bytes under this map never change.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        map.advise(Advice::Random).map_err(Error::io(path))?;
        Ok(Run { path: path.to_path_buf(), file, map, layout, entries, parts, sections })
    }

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

    /// The bytes of the index and the directories, in memory.
    pub fn memory(&self) -> usize {
        let directories = self.parts.iter().map(|part| size_of_val(&part.directory[..])).sum::<usize>();
        let blocks = self.sections.iter().map(|section| section.firsts.len()).sum::<usize>();
        blocks * INDEX_ENTRY + directories
    }

    /// The distance and the number of the nearest fingerprint within a distance, at most that of the layout, of equally
    /// near ones the least number; `than` is what was found before.
    pub fn nearest(&self, word: u64, distance: u32, than: Option<(u32, u64)>) -> Result<Option<(u32, u64)>> {
        let mut nearest = than;
        let distance = than.map_or(distance, |(found, _)| distance.min(found));
        let (mut told, mut is_first) = (Vec::new(), true);
        let mut probes = Vec::with_capacity(PROBES);
        for (table, (part, radius)) in self.parts.iter().zip(self.layout.radii(distance)).enumerate() {
            let Some(radius) = radius else { continue };
            let key = part.permutation.apply(word);
            let flips = &part.flips[..part.ends[(radius as usize).min(part.ends.len() - 1)]];
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

    /// The place of the keys of a table that have the prefix of a key, prefetched.
    fn probe(&self, table: usize, key: u64) -> Probe {
        let rest = u64::MAX.checked_shr(self.parts[table].prefix).unwrap_or(0);
        let (least, most) = (key & !rest, key | rest);
        // Keys are different: a block that begins with the least is the first to have it.
        let start = self.blocks_to(table, least).saturating_sub(1);
        let blocks = start..self.blocks_to(table, most).max(start);
        let guess = self.guess(table, start, least);
        let place = self.place(table, &blocks).start + guess.saturating_sub(AROUND) * ENTRY;
        prefetch_lines(self.map.as_ptr().wrapping_add(place), LINES);
        Probe { least, most, blocks, guess }
    }

    /// The number of blocks of a table whose first key is at most a given one.
    fn blocks_to(&self, table: usize, key: u64) -> usize {
        let Part { directory, bits, .. } = &self.parts[table];
        let bucket = first(key, *bits) as usize;
        let (start, end) = (directory[bucket] as usize, directory[bucket + 1] as usize);
        start + self.sections[table].firsts[start..end].partition_point(|first| *first <= key)
    }

    /// About where a key is in a block of a table, by interpolation.
    fn guess(&self, table: usize, block: usize, key: u64) -> usize {
        let firsts = &self.sections[table].firsts;
        let Some(first) = firsts.get(block) else { return 0 };
        let next = firsts.get(block + 1).unwrap_or(&u64::MAX);
        let share = key.saturating_sub(*first) as f64 / next.saturating_sub(*first).max(1) as f64;
        (share * BLOCK as f64) as usize
    }

    /// The keys of a probe, and some before and after them: to compare these takes less time than to find the ends.
    fn candidates(&self, table: usize, probe: &Probe) -> Result<&[Entry]> {
        let Probe { least, most, blocks, guess } = probe;
        let keys = self.blocks(table, blocks.clone())?;
        let in_first = keys.len().min(BLOCK);
        let mut start = guess.saturating_sub(AROUND).min(in_first);
        if start > 0 && entry(&keys[start - 1]) >= *least {
            start = partition_from(start, AROUND, in_first, |place| entry(&keys[place]) < *least);
        }
        let before_last = (blocks.len().saturating_sub(1) * BLOCK).min(keys.len());
        let guess = self.guess(table, blocks.end.saturating_sub(1), *most);
        let mut end = (before_last + guess + AROUND).min(keys.len());
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
        let start = self.sections[section].offset as usize + blocks.start * BLOCK * ENTRY;
        start..start + entries * ENTRY
    }

    /// The entries of blocks of a section, whose checksums are right.
    fn blocks(&self, section: usize, blocks: Range<usize>) -> Result<&[Entry]> {
        let Section { firsts, checksums, checked, .. } = &self.sections[section];
        let blocks = blocks.start..blocks.end.min(firsts.len());
        if blocks.is_empty() {
            return Ok(&[]);
        }
        let place = self.place(section, &blocks);
        let damaged = |reason: &str| Error::corrupt(&self.path, place.start as u64, reason);
        let bytes = self.map.get(place.clone()).ok_or_else(|| damaged("it ends too early"))?;
        for (block, bytes) in blocks.zip(bytes.chunks(BLOCK * ENTRY)) {
            let (word, bit) = (&checked[block / 64], 1 << (block % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                if crc32fast::hash(bytes) != checksums[block] {
                    return Err(damaged("the checksum of a block is wrong"));
                }
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(bytes.as_chunks::<ENTRY>().0)
    }

    /// The same by reading, for passes over the whole run: `look` is called with all entries at once.
    fn read(&self, section: usize, blocks: Range<usize>, look: impl FnOnce(&[u64])) -> Result<()> {
        let Section { firsts, checksums, .. } = &self.sections[section];
        let blocks = blocks.start..blocks.end.min(firsts.len());
        if blocks.is_empty() {
            look(&[]);
            return Ok(());
        }
        let place = self.place(section, &blocks);
        let offset = place.start as u64;
        READ.with_borrow_mut(|(bytes, keys)| {
            bytes.resize(place.len(), 0);
            self.file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::corrupt(&self.path, offset, "it ends too early"),
                _ => Error::io(&self.path)(error),
            })?;
            for (block, checksum) in bytes.chunks(BLOCK * ENTRY).zip(&checksums[blocks]) {
                if crc32fast::hash(block) != *checksum {
                    return Err(Error::corrupt(&self.path, offset, "the checksum of a block is wrong"));
                }
            }
            keys.clear();
            keys.extend(bytes.as_chunks::<ENTRY>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
            look(keys);
            Ok(())
        })
    }

    /// Calls `check` with each fingerprint and its number.
    pub fn each(&self, pulse: &Pulse, mut check: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
        let Some(part) = self.parts.first() else { return Ok(()) };
        for block in 0..self.sections[0].firsts.len() {
            pulse.beat()?;
            let (mut keys, mut numbers) = (Vec::new(), Vec::new());
            self.read(0, block..block + 1, |read| keys.extend_from_slice(read))?;
            self.read(self.parts.len(), block..block + 1, |read| numbers.extend_from_slice(read))?;
            let entries = keys.iter().zip(&numbers);
            entries.into_iter().try_for_each(|(key, number)| check(part.permutation.undo(*key), *number))?;
        }
        Ok(())
    }

    /// Reads everything: checksums, the order of the keys, and whether all tables have the same fingerprints.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        let mut expected = None;
        for (table, part) in self.parts.iter().enumerate() {
            let (mut before, mut sum, mut is_right) = (None, 0u64, true);
            for block in 0..self.sections[table].firsts.len() {
                pulse.beat()?;
                self.read(table, block..block + 1, |keys| {
                    is_right &= keys.first() == Some(&self.sections[table].firsts[block]);
                    for key in keys {
                        is_right &= before.is_none_or(|before| before < *key);
                        before = Some(*key);
                        sum =
                            sum.wrapping_add(crate::signature::hash::random(part.permutation.undo(*key), 0));
                    }
                })?;
            }
            if !is_right {
                return Err(Error::corrupt(
                    &self.path,
                    self.sections[table].offset,
                    "its keys are not in order",
                ));
            }
            if *expected.get_or_insert(sum) != sum {
                let reason = "its tables have different fingerprints";
                return Err(Error::corrupt(&self.path, self.sections[table].offset, reason));
            }
        }
        self.each(pulse, |_, _| Ok(()))
    }
}

/// A little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// An entry of a section.
type Entry = [u8; ENTRY];

#[inline]
fn entry(bytes: &Entry) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// All differences of at most `radius` bits in the first `prefix` bits of a key, those with fewer first; and how many have at most 0,
/// 1, … of them.
fn flips(prefix: u32, radius: u32) -> (Vec<u64>, Vec<usize>) {
    let (mut flips, mut ends) = (vec![0u64], vec![1]);
    let (mut start, lowest) = (0, u64::BITS - prefix);
    for _ in 0..radius.min(prefix) {
        let end = flips.len();
        for place in start..end {
            let mask = flips[place];
            // Each mask once: by adding a one above its highest.
            let above = (u64::BITS - mask.leading_zeros()).max(lowest);
            flips.extend((above..u64::BITS).map(|bit| mask | 1 << bit));
        }
        start = end;
        ends.push(flips.len());
    }
    (flips, ends)
}
