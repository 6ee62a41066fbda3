//! Writes a front-coded list to a file while its keys come in: the blocks wait in a scratch file until the offsets that
//! stand before them are known. Memory: 8 bytes per block.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::FrontCoded;
use super::front_coded::Encoder;
use super::saved::header;
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

const BUFFER: usize = 1 << 16;

/// A front-coded list that is being written.
pub struct FrontCodedWriter {
    path: PathBuf,
    encoder: Encoder,
    blocks: Vec<u8>,
    scratch: File,
    checksum: crc32fast::Hasher,
}

impl FrontCodedWriter {
    /// Starts a list in blocks of `block` keys that will be at `path` once finished.
    pub fn create(path: &Path, block: u32) -> Result<FrontCodedWriter> {
        let folder = path.parent().unwrap_or(Path::new("."));
        Ok(FrontCodedWriter {
            path: path.to_path_buf(),
            encoder: Encoder::new(block)?,
            blocks: Vec::with_capacity(2 * BUFFER),
            scratch: tempfile::tempfile_in(folder).map_err(Error::io(folder))?,
            checksum: crc32fast::Hasher::new(),
        })
    }

    /// Appends a key, which must be greater than the one before.
    pub fn push(&mut self, key: &[u8]) -> Result<()> {
        self.encoder.push(key, &mut self.blocks)?;
        if self.blocks.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        self.checksum.update(&self.blocks);
        self.scratch.write_all(&self.blocks).map_err(Error::io(&self.path))?;
        self.blocks.clear();
        Ok(())
    }

    /// Syncs the file and renames it to its final path; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        let blocks = self.scratch.stream_position().map_err(Error::io(&self.path))?;
        self.scratch.seek(SeekFrom::Start(0)).map_err(Error::io(&self.path))?;
        let head = self.encoder.head();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&head);
        checksum.combine(&self.checksum);
        let mut file = NewFile::create(&self.path)?;
        file.append(&header::<FrontCoded>(head.len() as u64 + blocks, checksum.finalize()))?;
        file.append(&head)?;
        std::io::copy(&mut self.scratch, &mut file).map_err(Error::io(&self.path))?;
        file.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionaries::Kept;

    #[test]
    fn writes_the_same_file_as_from_memory() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        for count in [0, 1, 16, 17, 30_000] {
            let keys: Vec<String> = (0..count).map(|number| format!("a longer key {number:08}")).collect();
            let mut writer = FrontCodedWriter::create(&one, 16).unwrap();
            keys.iter().for_each(|key| writer.push(key.as_bytes()).unwrap());
            let length = writer.finish().unwrap();
            Kept::<FrontCoded>::built(FrontCoded::build(keys.iter(), 16).unwrap())
                .unwrap()
                .save(&other)
                .unwrap();
            let written = std::fs::read(&one).unwrap();
            assert_eq!(written.len() as u64, length);
            assert!(written == std::fs::read(&other).unwrap(), "{count} keys");
        }
    }
}
