//! Scratch files of external sorting: sorted runs, written once and read once or twice, in variable byte code.
//!
//! A run is a file without a name (`O_TMPFILE`, or unlinked as soon as it is made), so it is gone when it is
//! dropped, whether by an error, Ctrl-C or the end of the process. Nothing is synced.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::codes::variable_byte;
use crate::{Error, Result};

/// The size of the buffer of a run that is written or read.
pub const BUFFER: usize = 1 << 16;

/// A run that is being written.
pub struct RunWriter {
    folder: PathBuf,
    file: File,
    bytes: Vec<u8>,
    length: u64,
}

impl RunWriter {
    /// An empty run on the disk of `folder`.
    pub fn create(folder: &Path) -> Result<RunWriter> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder))?;
        Ok(RunWriter { folder: folder.to_owned(), file, bytes: Vec::with_capacity(2 * BUFFER), length: 0 })
    }

    /// Appends a number.
    #[inline]
    pub fn number(&mut self, number: u64) -> Result<()> {
        variable_byte::write(number, &mut self.bytes);
        if self.bytes.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    /// Appends bytes, without their length.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    /// The run, ready to be read.
    pub fn finish(mut self) -> Result<Run> {
        self.flush()?;
        Ok(Run { folder: self.folder, file: self.file, length: self.length })
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.bytes).map_err(Error::io(&self.folder))?;
        self.length += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }
}

/// A run on disk.
pub struct Run {
    folder: PathBuf,
    file: File,
    length: u64,
}

impl Run {
    /// Reads it from the start.
    pub fn read(mut self) -> Result<RunReader> {
        self.file.seek(SeekFrom::Start(0)).map_err(Error::io(&self.folder))?;
        Ok(RunReader { left: self.length, run: self, bytes: Vec::new(), at: 0 })
    }
}

/// A run that is being read.
pub struct RunReader {
    run: Run,
    /// The bytes of the file that are not in the buffer yet.
    left: u64,
    bytes: Vec<u8>,
    at: usize,
}

impl RunReader {
    /// Whether everything was read.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.left == 0 && self.at == self.bytes.len()
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Result<u64> {
        self.ensure(10)?;
        let mut rest = &self.bytes[self.at..];
        let number = variable_byte::read(&mut rest);
        self.at = self.bytes.len() - rest.len();
        number.ok_or_else(|| self.ends_early())
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.ensure(N)?;
        let bytes = *self.bytes[self.at..].first_chunk().ok_or_else(|| self.ends_early())?;
        self.at += N;
        Ok(bytes)
    }

    /// The next `length` bytes, appended to `into`.
    pub fn bytes(&mut self, length: usize, into: &mut Vec<u8>) -> Result<()> {
        self.ensure(length)?;
        let bytes = self.bytes.get(self.at..self.at + length).ok_or_else(|| self.ends_early())?;
        into.extend_from_slice(bytes);
        self.at += length;
        Ok(())
    }

    /// Fills the buffer to at least `wanted` bytes, or to the end of the run.
    #[inline]
    fn ensure(&mut self, wanted: usize) -> Result<()> {
        if self.bytes.len() - self.at >= wanted || self.left == 0 { Ok(()) } else { self.fill(wanted) }
    }

    fn fill(&mut self, wanted: usize) -> Result<()> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let more = self.left.min(BUFFER.max(wanted) as u64);
        let read = (&self.run.file).take(more).read_to_end(&mut self.bytes);
        if read.map_err(Error::io(&self.run.folder))? as u64 != more {
            return Err(self.ends_early());
        }
        self.left -= more;
        Ok(())
    }

    fn ends_early(&self) -> Error {
        Error::corrupt(&self.run.folder, self.run.length - self.left, "a scratch file ends too early")
    }
}
