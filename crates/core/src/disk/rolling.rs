//! Numbered append-only files with rotation: when one is full it is closed, and the next is begun.
//!
//! Like every file of a collection they are append-only and valid up to their committed lengths. Full files
//! were synced when they were closed; [`RollingFile::flush`] returns a handle to sync the newest with, while
//! it is being written to.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::file::DurableFile;
use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// The writer of the numbered files.
pub struct RollingFile {
    folder: PathBuf,
    name: fn(u32) -> String,
    size: u64,
    number: u32,
    length: u64,
    out: BufWriter<DurableFile>,
    full: Vec<(String, u64)>,
}

/// The files to commit with their lengths, and the handle to sync before.
pub type Flushed = (Vec<(String, u64)>, DurableFile);

impl RollingFile {
    /// Resumes the committed files; a file is full at `size` bytes.
    pub fn open(
        folder: &Path,
        name: fn(u32) -> String,
        size: u64,
        files: &HashMap<String, u64>,
    ) -> Result<RollingFile> {
        let number = (1..).take_while(|number| files.contains_key(&name(*number))).last().unwrap_or(1);
        let length = files.get(&name(number)).copied().unwrap_or(0);
        let out = open_file(&folder.join(name(number)), length)?;
        Ok(RollingFile { folder: folder.to_path_buf(), name, size, number, length, out, full: Vec::new() })
    }

    /// Begins the next file if this one is full; returns whether the file is empty.
    pub fn make_room(&mut self) -> Result<bool> {
        if self.length >= self.size {
            self.out.flush().map_err(Error::io(self.path()))?;
            self.out.get_ref().sync()?;
            self.full.push(((self.name)(self.number), self.length));
            self.number += 1;
            self.length = 0;
            self.out = open_file(&self.path(), 0)?;
        }
        Ok(self.length == 0)
    }

    /// Appends bytes; returns the number of the file and the offset in it.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(u32, u64)> {
        self.out.write_all(bytes).map_err(Error::io(self.path()))?;
        let offset = self.length;
        self.length += bytes.len() as u64;
        Ok((self.number, offset))
    }

    /// Flushes everything to the operating system; returns the files with their lengths, and a handle of the
    /// newest.
    pub fn flush(&mut self) -> Result<Flushed> {
        self.out.flush().map_err(Error::io(self.path()))?;
        let handle = self.out.get_ref().handle()?;
        let mut files = std::mem::take(&mut self.full);
        files.push(((self.name)(self.number), self.length));
        Ok((files, handle))
    }

    /// Flushes everything to the operating system, where readers find it, without committing anything.
    pub fn show(&mut self) -> Result<()> {
        self.out.flush().map_err(Error::io(self.path()))
    }

    /// The newest file.
    pub fn path(&self) -> PathBuf {
        self.folder.join((self.name)(self.number))
    }
}

fn open_file(path: &Path, length: u64) -> Result<BufWriter<DurableFile>> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(Error::io(path))?;
    let mut file = DurableFile::open(path)?;
    file.cut(length)?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32) -> String {
        format!("some/file-{number}")
    }

    #[test]
    fn rolls_over_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut rolling = RollingFile::open(folder.path(), name, 5, &HashMap::new()).unwrap();
        let mut places = Vec::new();
        for _ in 0..3 {
            rolling.make_room().unwrap();
            places.push(rolling.append(b"abc").unwrap());
        }
        assert_eq!(places, [(1, 0), (1, 3), (2, 0)]);
        let (files, _) = rolling.flush().unwrap();
        assert_eq!(files, [(name(1), 6), (name(2), 3)]);
        let mut rolling = RollingFile::open(folder.path(), name, 5, &files.into_iter().collect()).unwrap();
        assert!(!rolling.make_room().unwrap());
        assert_eq!(rolling.append(b"d").unwrap(), (2, 3));
        rolling.flush().unwrap();
        assert_eq!(std::fs::read(folder.path().join(name(2))).unwrap(), b"abcd");
    }
}
