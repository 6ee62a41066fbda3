//! Atomic file creation: a file is written completely and then renamed, so readers never see half of one.
//!
//! It is written under a temporary name next to its own; [`NewFile::finish`] syncs it, renames it and syncs
//! the folder. If it is dropped before that, it is removed, and the file it would have replaced is unchanged.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::file::{DurableFile, remove, rename};
use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// A file being written.
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<DurableFile>,
    length: u64,
}

impl NewFile {
    /// Starts a file that will be at `path` once finished.
    pub fn create(path: &Path) -> Result<NewFile> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".new");
        let temporary = PathBuf::from(temporary);
        let file = BufWriter::with_capacity(BUFFER, DurableFile::create(&temporary)?);
        Ok(NewFile { path: path.to_path_buf(), temporary, file, length: 0 })
    }

    /// Appends `bytes`.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(Error::io(&self.temporary))
    }

    /// The final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.length
    }

    /// Syncs what was written, under the temporary name.
    pub fn sync(&mut self) -> Result<()> {
        self.file.flush().map_err(Error::io(&self.temporary))?;
        self.file.get_ref().sync_contents()
    }

    /// Syncs the file and renames it to its final path; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.sync()?;
        self.publish()
    }

    /// Renames a file that was synced to its final path; returns its length.
    pub fn publish(self) -> Result<u64> {
        rename(&self.temporary, &self.path)?;
        Ok(self.length)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // A finished file no longer has this name; an unfinished one is useless.
        let _ = remove(&self.temporary);
    }
}
