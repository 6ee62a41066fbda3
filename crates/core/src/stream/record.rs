//! The verdicts of a judge, line by line, to be checked afterwards: 9 bytes for each judged line.
//!
//! ```text
//! bytes 0..8  u64 signature of the key, little-endian
//! byte  8     1 if it was judged to be a duplicate, otherwise 0
//! ```
//!
//! It is a temporary file, written and read by the same process: it has no header and is not synced.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result, Signature};

/// The file being written.
pub struct Record {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Record {
    /// A new file.
    pub fn create(path: &Path) -> Result<Record> {
        let file = File::create_new(path).map_err(Error::io(path))?;
        Ok(Record { file: BufWriter::with_capacity(1 << 17, file), path: path.to_owned() })
    }

    /// Appends the verdicts on some keys.
    pub fn append(&mut self, keys: &[Signature], seen: &[bool]) -> Result<()> {
        for (key, seen) in keys.iter().zip(seen) {
            let mut entry = [0; 9];
            entry[..8].copy_from_slice(&key.0.to_le_bytes());
            entry[8] = u8::from(*seen);
            self.file.write_all(&entry).map_err(Error::io(&self.path))?;
        }
        Ok(())
    }

    /// Flushes the buffer.
    pub fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(Error::io(&self.path))
    }
}
