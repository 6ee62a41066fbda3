//! A file that is written whole and then renamed: nobody ever sees half of one.
//!
//! It grows under a temporary name beside its own; [`NewFile::finish`] syncs it, renames it and syncs the
//! folder. One that is dropped before that is removed, and what had its name before stays as it was.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::file::{DurableFile, remove, rename};
use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// A file in the making.
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<DurableFile>,
    length: u64,
}

impl NewFile {
    /// Starts a file that will be at `path` when it is finished.
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

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.length
    }

    /// Makes what was written durable, under its temporary name.
    pub fn sync(&mut self) -> Result<()> {
        self.file.flush().map_err(Error::io(&self.temporary))?;
        self.file.get_ref().sync_contents()
    }

    /// Makes the file durable and puts it in its place; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.sync()?;
        self.publish()
    }

    /// Puts a file that was synced in its place; returns its length.
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
        // A file that was finished has another name by now; one that was not is of no use to anybody.
        let _ = remove(&self.temporary);
    }
}
