//! Writing a run: the tree is loaded from the bottom, one open block a level.

use std::path::Path;
use std::sync::Arc;

use super::{FORMAT, Footer, Pointer, Run};
use crate::Result;
use crate::disk::new_file::NewFile;
use crate::sorted::block::{BlockBuilder, common};
use crate::sorted::cache::Cache;
use crate::sorted::{Options, RunState, filter};

/// The size of a data block before compression.
const DATA: usize = 1 << 14;
/// The size of an index block before compression.
const INDEX: usize = 1 << 12;

/// A run being written.
pub struct RunWriter {
    file: NewFile,
    number: u64,
    filtered: fn(&[u8]) -> &[u8],
    data: BlockBuilder,
    /// The open index blocks, from the lowest level.
    levels: Vec<Level>,
    /// The hashes for the next part of the filter.
    hashes: Vec<u64>,
    footer: Footer,
    sealed: Vec<u8>,
}

/// An open index block, and what is below it.
#[derive(Default)]
struct Level {
    block: BlockBuilder,
    entries: u64,
    bytes: u64,
}

impl RunWriter {
    /// Begins the run with this number.
    pub fn create(folder: &Path, options: &Options, number: u64) -> Result<RunWriter> {
        let mut file = NewFile::create(&folder.join((options.name)(number)))?;
        file.append(&FORMAT.header())?;
        Ok(RunWriter {
            file,
            number,
            filtered: options.filtered,
            data: BlockBuilder::default(),
            levels: Vec::new(),
            hashes: Vec::new(),
            footer: Footer::default(),
            sealed: Vec::new(),
        })
    }

    /// Appends an entry; keys come in increasing order. Without a value the key is removed.
    pub fn add(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        if self.data.size() >= DATA {
            let separator = separator(self.data.last(), key);
            self.finish_data(&separator)?;
        }
        if self.footer.entries == 0 {
            self.footer.first = key.to_vec();
        }
        self.data.add(key, value);
        let hash = filter::hash((self.filtered)(key));
        if self.hashes.last() != Some(&hash) {
            self.hashes.push(hash);
        }
        self.footer.entries += 1;
        self.footer.removals += u64::from(value.is_none());
        self.footer.content += (key.len() + value.map_or(0, <[u8]>::len)) as u64;
        Ok(())
    }

    /// Syncs the run and gives it its name; `None` if it has no entries.
    pub fn finish(
        mut self,
        folder: &Path,
        options: &Options,
        cache: &Arc<Cache>,
        level: u32,
    ) -> Result<Option<Run>> {
        if self.footer.entries == 0 {
            return Ok(None);
        }
        let last = self.data.last().to_vec();
        self.finish_data(&last)?;
        let mut depth = 0;
        while depth + 1 < self.levels.len() {
            if self.levels[depth].block.entries() > 0 {
                self.finish_index(depth)?;
            }
            depth += 1;
        }
        self.footer.root = self.seal_index(depth)?;
        self.footer.height = depth as u64 + 1;
        self.footer.last = last;
        let footer = self.footer.encode();
        self.file.append(&footer)?;
        let bytes = self.file.finish()?;
        let state = RunState { number: self.number, level, bytes };
        Run::open(folder, options, cache, state).map(Some)
    }

    fn finish_data(&mut self, separator: &[u8]) -> Result<()> {
        let entries = self.data.entries() as u64;
        self.data.seal(&mut self.sealed);
        let pointer = self.append(entries)?;
        self.insert(0, separator, pointer)
    }

    /// Appends the sealed block.
    fn append(&mut self, entries: u64) -> Result<Pointer> {
        let (offset, length) = (self.file.written(), self.sealed.len() as u64);
        self.file.append(&self.sealed)?;
        Ok(Pointer { offset, length, entries, bytes: length, filter: 0, lines: 0 })
    }

    /// Adds a block to the index, under a key that is not less than any of it.
    fn insert(&mut self, depth: usize, separator: &[u8], pointer: Pointer) -> Result<()> {
        if self.levels.len() == depth {
            self.levels.push(Level::default());
        }
        let mut value = Vec::new();
        pointer.write(&mut value);
        let level = &mut self.levels[depth];
        level.block.add(separator, Some(&value));
        level.entries += pointer.entries;
        level.bytes += pointer.bytes;
        // At once, because the filter so far has exactly the keys below the lowest level's block.
        if level.block.size() >= INDEX && level.block.entries() > 1 {
            self.finish_index(depth)?;
        }
        Ok(())
    }

    fn finish_index(&mut self, depth: usize) -> Result<()> {
        let separator = self.levels[depth].block.last().to_vec();
        let pointer = self.seal_index(depth)?;
        self.insert(depth + 1, &separator, pointer)
    }

    /// Appends the open block of a level, the lowest with its part of the filter.
    fn seal_index(&mut self, depth: usize) -> Result<Pointer> {
        let Level { mut block, entries, bytes } = std::mem::take(&mut self.levels[depth]);
        let filter = self.file.written();
        let mut lines = 0;
        if depth == 0 {
            let part = filter::lines(&self.hashes);
            self.hashes.clear();
            self.file.append(&part)?;
            lines = (part.len() / filter::LINE) as u64;
        }
        block.seal(&mut self.sealed);
        let pointer = self.append(entries)?;
        let filter_bytes = pointer.offset - filter;
        let filter = if lines > 0 { filter } else { 0 };
        Ok(Pointer { bytes: bytes + filter_bytes + pointer.length, filter, lines, ..pointer })
    }
}

/// A short key that is at least `last` and less than `next`.
fn separator(last: &[u8], next: &[u8]) -> Vec<u8> {
    let shared = common(last, next);
    match (last.get(shared), next.get(shared)) {
        (Some(one), Some(other)) if one + 1 < *other => {
            let mut separator = last[..=shared].to_vec();
            separator[shared] += 1;
            separator
        }
        _ => last.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_separator_is_between(one in prop::collection::vec(0u8..4, 0..6), other in prop::collection::vec(0u8..4, 0..6)) {
            prop_assume!(one != other);
            let (last, next) = if one < other { (one, other) } else { (other, one) };
            let separator = separator(&last, &next);
            prop_assert!(last <= separator && separator < next && separator.len() <= last.len());
        }
    }
}
