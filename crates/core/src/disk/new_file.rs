//! A file that is written whole and then renamed: nobody ever sees half of one.
//!
//! It grows under a temporary name beside its own; [`NewFile::finish`] syncs it, renames it and syncs the
//! folder. One that is dropped before that is removed, and what had its name before stays as it was.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// A file in the making.
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl NewFile {
    /// Starts a file that will be at `path` when it is finished.
    pub fn create(path: &Path) -> Result<NewFile> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".new");
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary).map_err(Error::io(&temporary))?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(NewFile { path: path.to_path_buf(), temporary, file, length: 0 })
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io(&self.temporary))
    }

    /// How many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.length
    }

    /// Makes the file durable and puts it in its place; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .map_err(Error::io(&self.path))?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io(folder))?;
        Ok(self.length)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // A file that was finished has another name by now; one that was not is of no use to anybody.
        let _ = fs::remove_file(&self.temporary);
    }
}
