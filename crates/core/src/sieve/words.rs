//! Files of 64-bit words, written and read sequentially: the sorted signatures that a sieve has seen, and the
//! runs of its external sorts.
//!
//! After the header (see [`crate::disk::format`]) come blocks, each with its own checksum:
//!
//! ```text
//! u32  number of words, little-endian, at most 8192
//! u32  CRC-32 of the words
//! ...  the words, little-endian
//! ```
//!
//! Signatures are stored uncompressed rather than as gaps: n of them in order differ by about 2^64/n, so at
//! 200 million a gap still takes five bytes of eight, and plain words let a merge copy the ranges between two
//! new signatures unchanged.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::disk::fault;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::{Error, Pulse, Result};

const FORMAT: Format = Format { kind: *b"SIGS", version: 1 };
const BLOCK: usize = 1 << 13;
const BLOCK_HEADER: usize = 8;

/// Writes a new file of words.
pub struct WordWriter {
    path: PathBuf,
    file: DurableFile,
    words: Vec<u64>,
    bytes: Vec<u8>,
    length: u64,
}

/// A finished file of words, not necessarily synced.
pub struct WordFile {
    /// The file.
    pub file: DurableFile,
    /// Its length in bytes.
    pub length: u64,
}

impl WordWriter {
    /// Creates the file, or truncates it.
    pub fn create(path: &Path) -> Result<WordWriter> {
        let mut file = DurableFile::create(path)?;
        file.write_all(&FORMAT.header()).map_err(Error::io(path))?;
        let (words, bytes) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK_HEADER + BLOCK * 8));
        Ok(WordWriter { path: path.to_path_buf(), file, words, bytes, length: Format::HEADER as u64 })
    }

    /// Appends a word.
    #[inline]
    pub fn push(&mut self, word: u64) -> Result<()> {
        self.words.push(word);
        if self.words.len() == BLOCK { self.write_block() } else { Ok(()) }
    }

    /// Appends words.
    pub fn extend(&mut self, mut words: &[u64]) -> Result<()> {
        while !words.is_empty() {
            let (now, later) = words.split_at(words.len().min(BLOCK - self.words.len()));
            self.words.extend_from_slice(now);
            words = later;
            if self.words.len() == BLOCK {
                self.write_block()?;
            }
        }
        Ok(())
    }

    /// Writes the remaining words.
    pub fn finish(mut self) -> Result<WordFile> {
        if !self.words.is_empty() {
            self.write_block()?;
        }
        Ok(WordFile { file: self.file, length: self.length })
    }

    fn write_block(&mut self) -> Result<()> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&(self.words.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        let checksum = crc32fast::hash(&self.bytes[BLOCK_HEADER..]);
        self.bytes[4..BLOCK_HEADER].copy_from_slice(&checksum.to_le_bytes());
        self.file.write_all(&self.bytes).map_err(Error::io(&self.path))?;
        self.length += self.bytes.len() as u64;
        self.words.clear();
        Ok(())
    }
}

/// Reads a file of words.
pub struct WordReader {
    path: PathBuf,
    file: File,
    bytes: Vec<u8>,
    words: Vec<u64>,
    /// The index of the next word in `words`.
    at: usize,
    position: u64,
    length: u64,
}

impl WordReader {
    /// Opens the first `length` bytes.
    pub fn open(path: &Path, length: u64) -> Result<WordReader> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual < length {
            let reason = format!("it ends here, and {length} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        let mut header = [0; Format::HEADER];
        file.read_at(&mut header, 0).map_err(Error::io(path))?;
        FORMAT.check(path, &header)?;
        let position = Format::HEADER as u64;
        let (bytes, words) = (Vec::new(), Vec::new());
        Ok(WordReader { path: path.to_path_buf(), file, bytes, words, at: 0, position, length })
    }

    /// The next word.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<u64>> {
        if self.at == self.words.len() && !self.load()? {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(self.words[self.at - 1]))
    }

    /// Copies the words below `bound`, in a sorted file; returns whether `bound` comes next.
    pub fn copy_below(&mut self, bound: u64, target: &mut WordWriter, pulse: &Pulse) -> Result<bool> {
        loop {
            let rest = &self.words[self.at..];
            let below = count_below(rest, bound);
            target.extend(&rest[..below])?;
            self.at += below;
            if let Some(&word) = self.words.get(self.at) {
                return Ok(word == bound);
            }
            if !self.load()? {
                return Ok(false);
            }
            pulse.beat()?;
        }
    }

    /// Copies the remaining words.
    pub fn copy_rest(&mut self, target: &mut WordWriter, pulse: &Pulse) -> Result<()> {
        loop {
            target.extend(&self.words[self.at..])?;
            if !self.load()? {
                return Ok(());
            }
            pulse.beat()?;
        }
    }

    /// Reads the next block; returns false at the end.
    fn load(&mut self) -> Result<bool> {
        fault::point("flush.merging");
        self.words.clear();
        self.at = 0;
        if self.position == self.length {
            return Ok(false);
        }
        let (path, offset) = (&self.path, self.position);
        let damaged = |reason: &str| Error::corrupt(path, offset, reason);
        let left = (self.length - offset) as usize;
        self.bytes.resize(left.min(BLOCK_HEADER + BLOCK * 8), 0);
        self.file.read_exact_at(&mut self.bytes, offset).map_err(Error::io(path))?;
        let (header, rest) =
            self.bytes.split_first_chunk::<BLOCK_HEADER>().ok_or_else(|| damaged("a block is cut off"))?;
        let [a, b, c, d, checksum @ ..] = *header;
        let count = u32::from_le_bytes([a, b, c, d]) as usize;
        let block = rest.get(..count.saturating_mul(8)).ok_or_else(|| damaged("a block is cut off"))?;
        if count == 0 || crc32fast::hash(block) != u32::from_le_bytes(checksum) {
            return Err(damaged("a block does not match its checksum"));
        }
        self.words.extend(block.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        self.position += (BLOCK_HEADER + block.len()) as u64;
        Ok(true)
    }
}

/// The number of sorted words below `bound`, by exponential search: near the front it takes time logarithmic
/// in the answer, so a merge is fast for both long and short ranges.
#[inline]
fn count_below(words: &[u64], bound: u64) -> usize {
    let mut step = 1;
    while step <= words.len() && words[step - 1] < bound {
        step *= 2;
    }
    let start = step / 2;
    start + words[start..words.len().min(step)].partition_point(|&word| word < bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(path: &Path, words: &[u64]) -> u64 {
        let mut writer = WordWriter::create(path).unwrap();
        writer.extend(words).unwrap();
        writer.finish().unwrap().length
    }

    fn read(path: &Path, length: u64) -> Result<Vec<u64>> {
        let mut reader = WordReader::open(path, length)?;
        std::iter::from_fn(|| reader.advance().transpose()).collect()
    }

    proptest! {
        #[test]
        fn reads_what_was_written(count in 0usize..3 * BLOCK, seed: u64) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("words");
            let words: Vec<u64> = (0..count as u64).map(|word| word.wrapping_mul(seed)).collect();
            let length = write(&path, &words);
            prop_assert_eq!(read(&path, length).unwrap(), words);
        }

        #[test]
        fn a_flipped_bit_is_never_served(count in 1usize..2000, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("words");
            let length = write(&path, &vec![42; count]);
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, bytes).unwrap();
            prop_assert!(read(&path, length).is_err());
        }

        #[test]
        fn counts_as_a_search_does(mut words in prop::collection::vec(0u64..50, 0..100), bound in 0u64..60) {
            words.sort_unstable();
            prop_assert_eq!(count_below(&words, bound), words.partition_point(|&word| word < bound));
        }
    }

    #[test]
    fn a_short_file_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words");
        let length = write(&path, &[1, 2, 3]);
        File::options().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
        assert!(matches!(read(&path, length), Err(Error::Corrupt { .. })));
    }
}
