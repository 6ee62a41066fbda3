//! Fingerprints within a Hamming distance of a given one, among any number of them, in constant memory.
//!
//! The newest fingerprints are in a [`NearTable`]. When it is full it is spilled to a sorted map: for each of the
//! four blocks of 16 bits of a fingerprint, the fingerprints whose block has the same first [`GROUP_BITS`] bits are
//! one entry, under (block, those bits, position in the journal). Two fingerprints that differ in at most three bits
//! agree on a block, so the four groups of a fingerprint have all its neighbours. The answers are those of one
//! [`NearTable`] with all of them: the nearest, and among equals the earliest.
//!
//! With n fingerprints, and r runs of the map, a search reads 4 r blocks of 16 KiB and compares n / 2^12
//! fingerprints; a fingerprint takes 64 bytes on disk before compression.
//!
//! Source: Gurmeet Singh Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007.

use std::path::Path;

use crate::Result;
use crate::collection::layout;
use crate::duplicates::NearTable;
use crate::sorted::{Checkpoint, Options, SortedMap, State};

const BLOCKS: usize = 4;
/// The leading bits of a block that a group shares: so few that a group has several fingerprints of a spill.
const GROUP_BITS: usize = 14;
/// The memory of a fingerprint in the table, and during a spill in the map.
const BYTES: usize = 112;
/// A fingerprint, and the offset of its row.
const ENTRY: usize = 16;

/// The fingerprints of the texts.
pub struct NearMap {
    recent: NearTable,
    /// The number of recent fingerprints that are kept.
    most: usize,
    /// The position in the journal after the last row.
    position: u64,
    older: SortedMap,
}

impl NearMap {
    /// Opens the map as it was committed.
    pub fn open(folder: &Path, memory: usize, state: &State) -> Result<NearMap> {
        let older = SortedMap::open(folder, NearMap::options(memory / 2), state)?;
        let most = (memory / 2 / BYTES).max(1);
        Ok(NearMap { recent: NearTable::default(), most, position: older.applied(), older })
    }

    /// How the map is kept.
    pub fn options(memory: usize) -> Options {
        Options { memory, name: layout::near, filtered: |key| &key[..key.len().min(3)], keep: None }
    }

    /// The position in the journal from which it is to be replayed.
    pub fn applied(&self) -> u64 {
        self.older.applied()
    }

    /// Adds the fingerprint of the row at an offset of the journal.
    pub fn add(&mut self, simhash: u64, offset: u64) -> Result<()> {
        if self.recent.len() >= self.most {
            self.spill()?;
        }
        self.recent.add(simhash, offset)
    }

    /// Says that the rows up to a position have been added, as far as they have fingerprints.
    pub fn pass(&mut self, position: u64) {
        self.position = self.position.max(position);
        if self.recent.is_empty() {
            self.older.pass(self.position);
        }
    }

    /// The offset and the distance of the nearest fingerprint within `distance`; ties go to the earliest.
    pub fn nearest(&self, simhash: u64, distance: u32) -> Result<Option<(u64, u32)>> {
        let recent = self.recent.nearest(simhash, distance)?;
        let mut nearest = recent.map(|(offset, distance)| (distance, offset));
        for block in 0..BLOCKS {
            let group = group(simhash, block);
            let mut entries = self.older.range(&key(block, group), Some(&key(block, group + 1)))?;
            while let Some((_, value)) = entries.advance()? {
                for (other, offset) in fingerprints(value) {
                    let found = ((other ^ simhash).count_ones(), offset);
                    if found.0 <= distance && nearest.is_none_or(|nearest| found < nearest) {
                        nearest = Some(found);
                    }
                    // An equal fingerprint is in every group, and spills come in their order.
                    if found.0 == 0 {
                        return Ok(Some((offset, 0)));
                    }
                }
            }
        }
        Ok(nearest.map(|(distance, offset)| (offset, distance)))
    }

    /// See [`crate::collection::TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<Checkpoint> {
        if is_last {
            self.spill()?;
        }
        self.older.checkpoint()
    }

    /// Moves the recent fingerprints to the map; of equal ones the first, which is the one that is found.
    fn spill(&mut self) -> Result<()> {
        if self.recent.is_empty() {
            return Ok(());
        }
        let mut value = Vec::new();
        for block in 0..BLOCKS {
            let entry = |(simhash, offset)| (group(simhash, block), simhash, offset);
            let mut entries: Vec<(u16, u64, u64)> = self.recent.iter().map(entry).collect();
            entries.sort_unstable();
            entries.dedup_by_key(|(_, simhash, _)| *simhash);
            for entries in entries.chunk_by(|one, other| one.0 == other.0) {
                value.clear();
                for (_, simhash, offset) in entries {
                    value.extend(simhash.to_be_bytes());
                    value.extend(offset.to_be_bytes());
                }
                let key = [&key(block, entries[0].0)[..], &self.position.to_be_bytes()].concat();
                self.older.put(&key, Some(&value), self.position)?;
            }
        }
        self.recent = NearTable::default();
        self.older.flush()
    }
}

fn group(simhash: u64, block: usize) -> u16 {
    (simhash >> (16 * block)) as u16 >> (16 - GROUP_BITS)
}

fn key(block: usize, group: u16) -> [u8; 3] {
    let [high, low] = group.to_be_bytes();
    [block as u8, high, low]
}

/// The fingerprints of an entry, each with the offset of its row.
pub fn fingerprints(value: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    value.chunks_exact(ENTRY).map(unpack)
}

fn unpack(entry: &[u8]) -> (u64, u64) {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    (number(&entry[..ENTRY / 2]), number(&entry[ENTRY / 2..]))
}
