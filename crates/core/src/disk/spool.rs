//! A part of a file that is written before those that stand before it are complete: in memory while it is small, then in an
//! unnamed temporary file.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use crate::{Error, Result};

/// An append-only buffer that is copied somewhere at the end.
pub struct Spool {
    folder: PathBuf,
    file: BufWriter<SpooledTempFile>,
    length: u64,
}

const IN_MEMORY: usize = 1 << 18;
const BUFFER: usize = 1 << 16;

impl Spool {
    /// An empty spool, whose file will be in `folder`.
    pub fn new(folder: &Path) -> Spool {
        let file = tempfile::spooled_tempfile_in(IN_MEMORY, folder);
        let file = BufWriter::with_capacity(BUFFER, file);
        Spool { folder: folder.to_path_buf(), file, length: 0 }
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io(&self.folder))
    }

    /// The number of bytes appended.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads all of it, from the beginning.
    pub fn into_reader(self) -> Result<impl Read> {
        let open = || {
            let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            Ok(BufReader::with_capacity(BUFFER, file))
        };
        open().map_err(Error::io(&self.folder))
    }

    /// Appends all of it to `output`.
    pub fn copy_to(self, output: &mut impl Write) -> Result<()> {
        let folder = self.folder.clone();
        let mut reader = self.into_reader()?;
        io::copy(&mut reader, output).map(|_| ()).map_err(Error::io(folder))
    }
}
