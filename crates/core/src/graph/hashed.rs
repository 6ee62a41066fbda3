//! Sorting by hash, in bounded memory.
//!
//! Items are sorted in 64 MiB of memory, or, beyond, in 64 ranges of hashes, which are scratch files: hashes are uniform,
//! so a range has a 64th of the items. Each item is written and read once.

use std::path::{Path, PathBuf};

use super::scratch::{RunReader, RunWriter};
use crate::{Pulse, Result};

/// Ranges of hashes, by their highest bits.
const RANGE_BITS: u32 = 6;
const MEMORY: usize = 64 << 20;

/// An item that is sorted, first of all by its hash.
pub trait Hashed: Ord + Copy {
    /// The hash.
    fn hash(&self) -> u64;

    /// Writes it to a scratch file.
    fn write(&self, run: &mut RunWriter) -> Result<()>;

    /// Reads it back.
    fn read(run: &mut RunReader) -> Result<Self>;
}

/// Sorts items by hash.
pub struct HashSorter<T> {
    folder: PathBuf,
    items: Vec<T>,
    ranges: Vec<RunWriter>,
}

impl<T: Hashed> HashSorter<T> {
    /// A sorter that writes scratch files without names in `folder`.
    pub fn new(folder: &Path) -> HashSorter<T> {
        HashSorter { folder: folder.to_path_buf(), items: Vec::new(), ranges: Vec::new() }
    }

    /// Adds an item; they come in any order, also more than once.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<()> {
        self.items.push(item);
        if self.items.len() < MEMORY / size_of::<T>() { Ok(()) } else { self.spill() }
    }

    /// Moves the items to the scratch files of their ranges.
    pub fn spill(&mut self) -> Result<()> {
        while self.ranges.len() < 1 << RANGE_BITS {
            self.ranges.push(RunWriter::create(&self.folder)?);
        }
        for item in self.items.drain(..) {
            item.write(&mut self.ranges[(item.hash() >> (u64::BITS - RANGE_BITS)) as usize])?;
        }
        Ok(())
    }

    /// Calls `visit` with the distinct items of each range of hashes, sorted, in the order of the ranges.
    pub fn finish(mut self, pulse: &Pulse, mut visit: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        if !self.ranges.is_empty() {
            self.spill()?;
        }
        let mut items = self.items;
        let mut visit = |items: &mut Vec<T>| {
            pulse.beat()?;
            items.sort_unstable();
            items.dedup();
            visit(items)
        };
        if self.ranges.is_empty() {
            return visit(&mut items);
        }
        for range in self.ranges {
            let mut range = range.finish()?.read()?;
            items.clear();
            while !range.is_at_end() {
                items.push(T::read(&mut range)?);
            }
            visit(&mut items)?;
        }
        Ok(())
    }
}
