//! Checksummed pages: a segment of any size opens immediately and still never serves damaged data.
//!
//! The file is divided into pages of 4 KiB, followed by a table with the CRC-32 of each. Opening checks the
//! table; a page is checked when it is first read, and one bit records that it was. So each page is
//! checksummed once (a third of a microsecond), and afterwards a read costs one bit test for each page it
//! spans. Damage that occurs to a page after its check, while the file is open, is not detected.
//!
//! Memory: one bit a page, 32 MiB a TiB. Disk: 4 bytes a page.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

use crate::disk::new_file::NewFile;
use crate::{Error, Pulse, Result};

/// The number of bytes per checksum.
pub const PAGE: usize = 4096;
const CHECKSUM: usize = 4;

/// Writes a file and checksums its pages.
pub struct PageWriter {
    file: NewFile,
    page: crc32fast::Hasher,
    checksums: Vec<u8>,
}

impl PageWriter {
    /// Creates a file.
    pub fn create(path: &Path) -> Result<PageWriter> {
        let file = NewFile::create(path)?;
        Ok(PageWriter { file, page: crc32fast::Hasher::new(), checksums: Vec::new() })
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(Error::io(self.file.path()))
    }

    /// The number of bytes written.
    pub fn length(&self) -> u64 {
        self.file.written()
    }

    /// Appends the table and `directory` with the CRC-32 of both, and syncs the file, to be published.
    pub fn finish(mut self, directory: &[u8]) -> Result<NewFile> {
        if !self.length().is_multiple_of(PAGE as u64) {
            self.end_page();
        }
        let mut tail = std::mem::take(&mut self.checksums);
        tail.extend_from_slice(directory);
        let checksum = crc32fast::hash(&tail);
        tail.extend_from_slice(&checksum.to_le_bytes());
        self.file.append(&tail)?;
        self.file.sync()?;
        Ok(self.file)
    }

    fn end_page(&mut self) {
        let checksum = std::mem::take(&mut self.page).finalize();
        self.checksums.extend_from_slice(&checksum.to_le_bytes());
    }
}

impl Write for PageWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = PAGE - (self.length() % PAGE as u64) as usize;
        let bytes = &bytes[..bytes.len().min(left)];
        self.file.write_all(bytes)?;
        self.page.update(bytes);
        if bytes.len() == left {
            self.end_page();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file of checksummed pages, memory-mapped.
pub struct Pages {
    path: PathBuf,
    map: Mmap,
    /// The end of the pages, where the table starts.
    body: usize,
    checked: Vec<AtomicU64>,
}

impl Pages {
    /// Maps the `length` bytes of a file that ends with `directory_length` bytes of directory, checks the
    /// table and the directory, and returns the directory, whose last eight bytes are the length of the
    /// pages.
    pub fn open(path: &Path, length: u64, directory_length: usize) -> Result<(Pages, Vec<u8>)> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual != length {
            let reason = format!("it has {actual} bytes, and {length} were committed");
            return Err(Error::corrupt(path, actual.min(length), reason));
        }
        if length == 0 {
            return Err(Error::corrupt(path, 0, "it is empty"));
        }
        // SAFETY: a segment is written completely, renamed, and never written to again; deleting it leaves
        // the mapped pages alive.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        let damaged = |reason: &str| Error::corrupt(path, length, reason);
        let summed = map.len().checked_sub(CHECKSUM).ok_or_else(|| damaged("it is cut off"))?;
        let at = summed.checked_sub(directory_length).ok_or_else(|| damaged("its directory is cut off"))?;
        let body = map[at..summed].last_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes));
        let table = body.div_ceil(PAGE as u64).checked_mul(CHECKSUM as u64);
        if table.and_then(|table| body.checked_add(table)) != Some(at as u64) {
            return Err(damaged("its directory does not fit its length"));
        }
        let body = body as usize;
        if crc32fast::hash(&map[body..summed]).to_le_bytes() != map[summed..] {
            return Err(Error::corrupt(path, body as u64, "the checksums do not match their own"));
        }
        let directory = map[at..summed].to_vec();
        let words = body.div_ceil(PAGE).div_ceil(64);
        let checked = (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok((Pages { path: path.to_path_buf(), map, body, checked }, directory))
    }

    /// The bytes of a range, verified.
    #[inline]
    pub fn get(&self, range: Range<u64>) -> Result<&[u8]> {
        if range.start > range.end || range.end > self.body as u64 {
            let reason =
                format!("{} bytes are asked for that are not there", range.end.abs_diff(range.start));
            return Err(Error::corrupt(&self.path, range.start, reason));
        }
        let range = range.start as usize..range.end as usize;
        for page in range.start / PAGE..range.end.div_ceil(PAGE) {
            if self.checked[page / 64].load(Ordering::Relaxed) & 1 << (page % 64) == 0 {
                self.check(page)?;
            }
        }
        Ok(&self.map[range])
    }

    /// The bytes of a range that [`Pages::get`] returned before, and so verified.
    #[inline]
    pub fn unchecked(&self, range: Range<u64>) -> &[u8] {
        self.map.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Checks every page.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        for page in 0..self.body.div_ceil(PAGE) {
            if page.is_multiple_of(1 << 10) {
                pulse.beat()?;
            }
            self.check(page)?;
        }
        Ok(())
    }

    /// The error for damage noticed at `offset` by a caller that knows what should be there.
    #[cold]
    pub fn damage(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, offset, reason)
    }

    /// The length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.map.len() as u64
    }

    #[cold]
    fn check(&self, page: usize) -> Result<()> {
        let start = page * PAGE;
        let bytes = &self.map[start..self.body.min(start + PAGE)];
        let at = self.body + page * CHECKSUM;
        if crc32fast::hash(bytes).to_le_bytes() != self.map[at..at + CHECKSUM] {
            return Err(self.damage(start as u64, "a page does not match its checksum"));
        }
        self.checked[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        Ok(())
    }
}

/// Recomputes the checksums of a file after its pages were changed.
#[cfg(test)]
pub(crate) fn reseal(bytes: &mut [u8], directory_length: usize) {
    let summed = bytes.len() - CHECKSUM;
    let directory = summed - directory_length;
    let body = bytes[..summed].last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)) as usize;
    for (page, place) in (0..body).step_by(PAGE).zip((body..directory).step_by(CHECKSUM)) {
        let checksum = crc32fast::hash(&bytes[page..body.min(page + PAGE)]);
        bytes[place..place + CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[body..summed]);
    bytes[summed..].copy_from_slice(&checksum.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(path: &Path, pieces: &[Vec<u8>]) -> u64 {
        let mut writer = PageWriter::create(path).unwrap();
        pieces.iter().for_each(|piece| writer.append(piece).unwrap());
        let body = writer.length();
        writer.finish(&body.to_le_bytes()).unwrap().publish().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn gives_back_what_was_written_and_never_what_was_not(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..12),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("pages");
            let length = written(&path, &pieces);
            let whole = pieces.concat();
            let (pages, _) = Pages::open(&path, length, 8).unwrap();
            pages.verify(&Pulse::STEADY).unwrap();
            prop_assert_eq!(pages.get(0..whole.len() as u64).unwrap(), whole.as_slice());
            prop_assert!(pages.get(0..whole.len() as u64 + 1).is_err());

            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            std::fs::write(&path, &bytes).unwrap();
            let opened = Pages::open(&path, length, 8);
            prop_assert!(opened.is_err() || opened.unwrap().0.get(at as u64..at as u64 + 1).is_err());
            std::fs::write(&path, &bytes[..at]).unwrap();
            prop_assert!(Pages::open(&path, length, 8).is_err());
            prop_assert!(Pages::open(&path, at as u64, 8).is_err());
        }
    }
}
