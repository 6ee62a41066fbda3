//! Writing a run, section by section.

use std::path::Path;

use rayon::slice::ParallelSliceMut;

use super::{BLOCK, ENTRY, FORMAT};
use crate::Result;
use crate::disk::new_file::NewFile;
use crate::duplicates::hamming::layout::Layout;

/// A run being written: the keys of each table in order, then the numbers in the order of the first table.
pub struct RunWriter {
    file: NewFile,
    layout: Layout,
    block: Vec<u8>,
    index: Vec<u8>,
    /// The entries of this section, and of the first.
    entries: u64,
    of_first: Option<u64>,
}

impl RunWriter {
    /// Begins a run.
    pub fn create(path: &Path, layout: &Layout) -> Result<RunWriter> {
        let mut file = NewFile::create(path)?;
        file.append(&FORMAT.header())?;
        let block = Vec::with_capacity(BLOCK * ENTRY);
        Ok(RunWriter { file, layout: layout.clone(), block, index: Vec::new(), entries: 0, of_first: None })
    }

    /// Writes a run of numbered fingerprints at once, of equal ones the one with the least number; returns its length.
    pub fn write(path: &Path, layout: &Layout, fingerprints: &[(u64, u64)]) -> Result<u64> {
        let mut writer = RunWriter::create(path, layout)?;
        let permutations = layout.permutations::<u64>();
        let Some((first, others)) = permutations.split_first() else { return writer.finish() };
        let permuted = fingerprints.iter().map(|(word, number)| (first.apply(*word), *number));
        let mut entries: Vec<(u64, u64)> = permuted.collect();
        entries.par_sort_unstable();
        entries.dedup_by_key(|(key, _)| *key);
        entries.iter().try_for_each(|(key, _)| writer.add(*key))?;
        writer.end_section()?;
        for permutation in others {
            let mut keys: Vec<u64> =
                entries.iter().map(|(key, _)| permutation.apply(first.undo(*key))).collect();
            keys.par_sort_unstable();
            keys.into_iter().try_for_each(|key| writer.add(key))?;
            writer.end_section()?;
        }
        entries.iter().try_for_each(|(_, number)| writer.add(*number))?;
        writer.finish()
    }

    /// Appends an entry to the section.
    #[inline]
    pub fn add(&mut self, entry: u64) -> Result<()> {
        self.block.extend(entry.to_le_bytes());
        self.entries += 1;
        if self.block.len() == BLOCK * ENTRY { self.end_block() } else { Ok(()) }
    }

    /// Ends a section.
    pub fn end_section(&mut self) -> Result<()> {
        self.end_block()?;
        let entries = std::mem::take(&mut self.entries);
        let first = *self.of_first.get_or_insert(entries);
        debug_assert_eq!(entries, first, "sections have the same entries");
        Ok(())
    }

    /// Ends the last section, syncs the run and gives it its name; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.end_section()?;
        let mut tail = std::mem::take(&mut self.index);
        let index = tail.len() as u64;
        tail.extend(self.layout.distance.to_le_bytes());
        tail.extend((self.layout.leads.len() as u32).to_le_bytes());
        tail.extend(self.of_first.unwrap_or(0).to_le_bytes());
        for lead in &self.layout.leads {
            tail.extend((lead.mask as u64).to_le_bytes());
            tail.extend(lead.radius.to_le_bytes());
        }
        let (footer, checksum) = (tail.len() as u64 - index, crc32fast::hash(&tail));
        tail.extend(index.to_le_bytes());
        tail.extend((footer as u32).to_le_bytes());
        tail.extend(checksum.to_le_bytes());
        self.file.append(&tail)?;
        self.file.finish()
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.index.extend(&self.block[..ENTRY]);
        self.index.extend(crc32fast::hash(&self.block).to_le_bytes());
        self.file.append(&self.block)?;
        self.block.clear();
        Ok(())
    }
}
