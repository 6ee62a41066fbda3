//! Passes over a whole run, which read the file and leave the map alone.

use std::cell::RefCell;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::index::{checksum, first_key};
use super::{BLOCK, ENTRY, Run};
use crate::signature::hash::random;
use crate::{Error, Pulse, Result};

thread_local! {
    /// What was read, as bytes and as entries; reused between reads.
    static READ: RefCell<(Vec<u8>, Vec<u64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl Run {
    /// Reads the entries of blocks of a section, and calls `look` with all of them at once.
    pub(super) fn read(&self, section: usize, blocks: Range<usize>, look: impl FnOnce(&[u64])) -> Result<()> {
        let index = self.index(section);
        let blocks = blocks.start..blocks.end.min(index.len());
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
            for (block, entry) in bytes.chunks(BLOCK * ENTRY).zip(&index[blocks]) {
                if crc32fast::hash(block) != checksum(entry) {
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
        for block in 0..self.index(0).len() {
            pulse.beat()?;
            let (mut keys, mut numbers) = (Vec::new(), Vec::new());
            self.read(0, block..block + 1, |read| keys.extend_from_slice(read))?;
            self.read(self.parts.len(), block..block + 1, |read| numbers.extend_from_slice(read))?;
            let entries = keys.iter().zip(&numbers);
            entries.into_iter().try_for_each(|(key, number)| check(part.permutation.undo(*key), *number))?;
        }
        Ok(())
    }

    /// Reads everything: checksums, the order of the keys, the directories, and whether all tables have the same
    /// fingerprints.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        let mut expected = None;
        for (table, part) in self.parts.iter().enumerate() {
            let damaged = |reason| Error::corrupt(&self.path, self.sections[table].offset as u64, reason);
            let index = self.index(table);
            let (mut before, mut sum, mut is_right) = (None, 0u64, true);
            for (block, entry) in index.iter().enumerate() {
                pulse.beat()?;
                self.read(table, block..block + 1, |keys| {
                    is_right &= keys.first() == Some(&first_key(entry));
                    for key in keys {
                        is_right &= before.is_none_or(|before| before < *key);
                        before = Some(*key);
                        sum = sum.wrapping_add(random(part.permutation.undo(*key), 0));
                    }
                })?;
            }
            if !is_right {
                return Err(damaged("its keys are not in order"));
            }
            if !self.directory(table).is_of(index) {
                return Err(damaged("its directory is not that of its keys"));
            }
            if *expected.get_or_insert(sum) != sum {
                return Err(damaged("its tables have different fingerprints"));
            }
        }
        self.each(pulse, |_, _| Ok(()))
    }
}
