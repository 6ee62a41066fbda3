//! Writing a run, section by section.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use super::index::{Directory, Filling, IndexEntry, first_key};
use super::{BLOCK, ENTRY, FORMAT};
use crate::disk::new_file::NewFile;
use crate::disk::spool::Spool;
use crate::duplicates::hamming::layout::Layout;
use crate::{Error, Result};

/// A run being written: the keys of each table in order, then the numbers in the order of the first table.
///
/// Memory: a block, and the buffers of the file and of two spools, in which the index and the directories wait.
pub struct RunWriter {
    file: NewFile,
    folder: PathBuf,
    layout: Layout,
    block: Vec<u8>,
    index: Spool,
    /// The entries of this section, and of the first.
    entries: u64,
    of_first: Option<u64>,
}

impl RunWriter {
    /// Begins a run.
    pub fn create(path: &Path, layout: &Layout) -> Result<RunWriter> {
        let mut file = NewFile::create(path)?;
        file.append(&FORMAT.header())?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(RunWriter {
            file,
            folder: folder.to_path_buf(),
            layout: layout.clone(),
            block: Vec::with_capacity(BLOCK * ENTRY),
            index: Spool::new(folder),
            entries: 0,
            of_first: None,
        })
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
        let RunWriter { file, folder, layout, index, of_first, .. } = self;
        let entries = of_first.unwrap_or(0);
        let length = index.length();
        let mut tail = Tail { file, checksum: crc32fast::Hasher::new() };
        let directories = index_of(entries, layout.leads.len(), index, &mut tail, &folder)?;
        let length = length + directories.length();
        directories.copy_to(&mut tail)?;
        let mut footer = Vec::new();
        footer.extend(layout.distance.to_le_bytes());
        footer.extend((layout.leads.len() as u32).to_le_bytes());
        footer.extend(entries.to_le_bytes());
        for lead in &layout.leads {
            footer.extend((lead.mask as u64).to_le_bytes());
            footer.extend(lead.radius.to_le_bytes());
        }
        tail.write_all(&footer).map_err(Error::io(&folder))?;
        let Tail { mut file, checksum } = tail;
        file.append(&length.to_le_bytes())?;
        file.append(&(footer.len() as u32).to_le_bytes())?;
        file.append(&checksum.finalize().to_le_bytes())?;
        file.finish()
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.index.append(&self.block[..ENTRY])?;
        self.index.append(&crc32fast::hash(&self.block).to_le_bytes())?;
        self.file.append(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

/// Copies the index of a run to its tail, and returns the directories of its tables.
fn index_of(entries: u64, tables: usize, index: Spool, tail: &mut Tail, folder: &Path) -> Result<Spool> {
    let mut directories = Spool::new(folder);
    let blocks = Directory::blocks(entries);
    let mut index = index.into_reader()?;
    for _ in 0..tables {
        let mut filling = Filling::new(blocks);
        for block in 0..blocks {
            let mut entry = IndexEntry::default();
            let copied = index.read_exact(&mut entry).and_then(|()| tail.write_all(&entry));
            copied.map_err(Error::io(folder))?;
            for _ in filling.up_to(first_key(&entry)) {
                directories.append(&(block as u32).to_le_bytes())?;
            }
        }
        for _ in filling.rest() {
            directories.append(&(blocks as u32).to_le_bytes())?;
        }
    }
    io::copy(&mut index, tail).map_err(Error::io(folder))?;
    Ok(directories)
}

/// The end of the file, with its checksum.
struct Tail {
    file: NewFile,
    checksum: crc32fast::Hasher,
}

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
