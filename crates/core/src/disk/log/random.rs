//! Random access to records of a log by their offsets, without mapping it: the pages of a map that were read
//! would count as memory of the process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{MAX_PAYLOAD, RECORD_HEADER, Record, Sealed};
use crate::{Error, Result};

/// The size of the first read: most records are shorter.
const GUESS: usize = 512;

/// Reads records by their offsets; they must have been flushed.
pub struct LogAccess {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl LogAccess {
    /// Opens a log that exists.
    pub fn open(path: &Path) -> Result<LogAccess> {
        let file = File::open(path).map_err(Error::io(path))?;
        Ok(LogAccess { path: path.to_path_buf(), file, buffer: vec![0; GUESS] })
    }

    /// The record at an offset.
    pub fn get(&mut self, offset: u64) -> Result<Record<'_>> {
        let held = self.read(offset, 0)?;
        let header = self.buffer[..held].first_chunk().ok_or_else(|| self.damaged(offset))?;
        let length = Sealed::length(header);
        if length > RECORD_HEADER + MAX_PAYLOAD {
            return Err(self.damaged(offset));
        }
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        if held < length && self.read(offset, held)? < length {
            return Err(self.damaged(offset));
        }
        Sealed { offset, bytes: &self.buffer[..length] }.open(&self.path)
    }

    /// Fills the buffer after the `held` bytes; returns how many bytes it holds then.
    fn read(&mut self, offset: u64, mut held: usize) -> Result<usize> {
        while held < self.buffer.len() {
            match self.file.read_at(&mut self.buffer[held..], offset + held as u64) {
                Ok(0) => break,
                Ok(read) => held += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&self.path)(error)),
            }
        }
        Ok(held)
    }

    fn damaged(&self, offset: u64) -> Error {
        Error::corrupt(&self.path, offset, "a record is cut off")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;
    use crate::disk::format::Format;
    use crate::disk::log::LogWriter;

    #[test]
    fn finds_each_record_by_its_offset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut writer = LogWriter::open(&path, Format { kind: *b"TEST", version: 1 }, 0).unwrap();
        let payloads: Vec<Vec<u8>> =
            [0, 3, 495, 496, 497, 5000, 7].iter().map(|length| vec![*length as u8; *length]).collect();
        let offsets: Vec<u64> =
            payloads.iter().map(|payload| writer.append(Signature(1), payload).unwrap()).collect();
        let length = writer.flush().unwrap();
        let mut access = LogAccess::open(&path).unwrap();
        for (offset, payload) in offsets.iter().zip(&payloads).rev() {
            assert_eq!(access.get(*offset).unwrap().payload, payload);
        }
        assert!(matches!(access.get(length), Err(Error::Corrupt { .. })));
        assert!(matches!(access.get(offsets[5] + 1), Err(Error::Corrupt { .. })));
    }
}
