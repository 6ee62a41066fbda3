//! Sequential reading of a log through a buffer.
//!
//! The pages of a map that were read would count as memory of the process; a stream costs one buffer (256
//! KiB, or the largest record), whatever the log's length.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{BUFFER, MAX_PAYLOAD, RECORD_HEADER, Sealed};
use crate::disk::format::Format;
use crate::{Error, Result};

/// The records of a log between two offsets, in order.
pub struct LogStream {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    /// The offset of the next record in the buffer.
    start: usize,
    position: u64,
    end: u64,
}

impl LogStream {
    /// The records from `position` (0: the first) to `end`, which must be the end of a record.
    pub fn open(path: &Path, format: Format, position: u64, end: u64) -> Result<LogStream> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual < end {
            let reason = format!("it ends here, and {end} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        let mut header = [0; Format::HEADER];
        let length = header.len().min(actual as usize);
        file.read_exact_at(&mut header[..length], 0).map_err(Error::io(path))?;
        format.check(path, &header[..length])?;
        let position = position.max(Format::HEADER as u64);
        Ok(LogStream { path: path.to_path_buf(), file, buffer: Vec::new(), start: 0, position, end })
    }

    /// Extends the range to `end`, up to which the log was flushed meanwhile.
    pub fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// The next record, its checksum not yet verified; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<Sealed<'_>>> {
        if self.position >= self.end {
            return Ok(None);
        }
        self.fill(RECORD_HEADER)?;
        let header = self.buffer[self.start..].first_chunk();
        let length = header.map_or(usize::MAX, Sealed::length);
        if length > RECORD_HEADER + MAX_PAYLOAD {
            return Err(self.damaged("no record is so long"));
        }
        self.fill(length)?;
        let (start, offset) = (self.start, self.position);
        self.start += length;
        self.position += length as u64;
        Ok(Some(Sealed { offset, bytes: &self.buffer[start..self.start] }))
    }

    /// The offset of the next record.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ensures that at least `length` bytes of the next record are in the buffer.
    fn fill(&mut self, length: usize) -> Result<()> {
        let held = self.buffer.len() - self.start;
        if held >= length {
            return Ok(());
        }
        if self.position + length as u64 > self.end {
            return Err(self.damaged("a record is cut off"));
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let from = self.position + held as u64;
        let wanted = length.max(BUFFER).min((self.end - self.position) as usize);
        self.buffer.resize(wanted, 0);
        let read = self.file.read_exact_at(&mut self.buffer[held..], from);
        if let Err(error) = read {
            self.buffer.truncate(held);
            return Err(Error::io(&self.path)(error));
        }
        Ok(())
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::corrupt(&self.path, self.position, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;
    use crate::disk::log::LogWriter;
    use proptest::prelude::*;

    const FORMAT: Format = Format { kind: *b"TEST", version: 1 };

    proptest! {
        /// Every appended record is read once, in order, even if the log grows between two reads.
        #[test]
        fn reads_what_was_appended(rounds in prop::collection::vec(prop::collection::vec(0usize..300_000, 0..6), 0..5)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log");
            let mut writer = LogWriter::open(&path, FORMAT, 0).unwrap();
            let end = writer.flush().unwrap();
            let mut stream = LogStream::open(&path, FORMAT, 0, end).unwrap();
            for lengths in rounds {
                for length in &lengths {
                    writer.append(Signature(*length as u64), &vec![7; *length]).unwrap();
                }
                stream.extend(writer.flush().unwrap());
                for length in lengths {
                    let record = stream.advance().unwrap().unwrap().open(&path).unwrap();
                    prop_assert_eq!(record.key.0, length as u64);
                    prop_assert_eq!(record.payload, vec![7; length]);
                }
                prop_assert!(stream.advance().unwrap().is_none());
                prop_assert_eq!(stream.position(), writer.len());
            }
        }
    }
}
