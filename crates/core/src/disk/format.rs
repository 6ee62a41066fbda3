//! The header of every Crivello file: a magic number, the kind of file, and a version.
//!
//! ```text
//! bytes 0..4   "CRVL"
//! bytes 4..8   the kind of file, four ASCII letters
//! bytes 8..12  the version of that kind's format, little-endian
//! bytes 12..16 zero
//! ```

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Error, Result};

const MAGIC: &[u8; 4] = b"CRVL";

/// The kind of a file and the newest version of it that this code reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Four ASCII letters.
    pub kind: [u8; 4],
    /// The current version, from 1.
    pub version: u32,
}

impl Format {
    /// The size of a header in bytes.
    pub const HEADER: usize = 16;

    /// The header of a file of this format.
    pub fn header(&self) -> [u8; Self::HEADER] {
        let mut header = [0; Self::HEADER];
        header[..4].copy_from_slice(MAGIC);
        header[4..8].copy_from_slice(&self.kind);
        header[8..12].copy_from_slice(&self.version.to_le_bytes());
        header
    }

    /// Checks the header of a file that must have the current version, because older ones are no longer read.
    pub fn check_current(&self, path: &Path) -> Result<()> {
        let found = self.version_of(path)?;
        if found < self.version {
            return Err(Error::Older { path: path.to_path_buf(), found, supported: self.version });
        }
        Ok(())
    }

    /// Checks the header of the file at `path`, and returns the version it was written with.
    pub fn version_of(&self, path: &Path) -> Result<u32> {
        let mut start = Vec::with_capacity(Self::HEADER);
        let file = File::open(path).map_err(Error::io(path))?;
        file.take(Self::HEADER as u64).read_to_end(&mut start).map_err(Error::io(path))?;
        self.check(path, &start)
    }

    /// Checks a header, and returns the version of the file.
    pub fn check(&self, path: &Path, start: &[u8]) -> Result<u32> {
        let kind = String::from_utf8_lossy(&self.kind).into_owned();
        if start.len() < Self::HEADER || start[..4] != *MAGIC || start[4..8] != self.kind {
            return Err(Error::corrupt(
                path,
                0,
                format!("it does not begin as a Crivello file of kind {kind}"),
            ));
        }
        let found = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
        if found == 0 || start[12..Self::HEADER] != [0; 4] {
            return Err(Error::corrupt(path, 8, format!("no such version of kind {kind}")));
        }
        if found > self.version {
            return Err(Error::Newer { path: path.to_path_buf(), found, supported: self.version });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { kind: *b"TEST", version: 2 };

    #[test]
    fn accepts_its_own_header_and_older_ones() {
        let path = Path::new("x");
        assert_eq!(FORMAT.check(path, &FORMAT.header()).unwrap(), 2);
        let older = Format { version: 1, ..FORMAT };
        assert_eq!(FORMAT.check(path, &older.header()).unwrap(), 1);
    }

    #[test]
    fn refuses_newer_foreign_and_short() {
        let path = Path::new("x");
        let newer = Format { version: 3, ..FORMAT };
        assert!(matches!(
            FORMAT.check(path, &newer.header()),
            Err(Error::Newer { found: 3, supported: 2, .. })
        ));
        let other = Format { kind: *b"OTHR", ..FORMAT };
        assert!(matches!(FORMAT.check(path, &other.header()), Err(Error::Corrupt { .. })));
        assert!(matches!(FORMAT.check(path, b"CRVL"), Err(Error::Corrupt { .. })));
    }
}
