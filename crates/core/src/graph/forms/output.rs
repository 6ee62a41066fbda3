//! Text output: plain, gzip or Zstandard, by the extension of the file; written whole and renamed.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::disk::new_file::NewFile;
use crate::{Error, Result};

/// The size of a block: what is compressed at once.
const BLOCK: usize = 1 << 20;

enum Encoder {
    Plain(NewFile),
    Gzip(Box<GzEncoder<NewFile>>),
    /// Each block is a frame.
    Zstandard(NewFile),
}

/// A text file being written.
pub struct Output {
    path: std::path::PathBuf,
    encoder: Encoder,
    block: Vec<u8>,
}

impl Output {
    /// Starts a file that will be at `path` once finished.
    pub fn create(path: &Path) -> Result<Output> {
        let file = NewFile::create(path)?;
        let encoder = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Encoder::Gzip(Box::new(GzEncoder::new(file, Compression::fast()))),
            Some("zst") => Encoder::Zstandard(file),
            _ => Encoder::Plain(file),
        };
        Ok(Output { path: path.to_owned(), encoder, block: Vec::with_capacity(BLOCK + (BLOCK >> 2)) })
    }

    /// Appends text.
    #[inline]
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.block.extend_from_slice(text.as_bytes());
        if self.block.len() < BLOCK { Ok(()) } else { self.flush() }
    }

    /// Appends a number.
    #[inline]
    pub fn number(&mut self, mut number: u64) -> Result<()> {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.block.extend_from_slice(&digits[at..]);
        if self.block.len() < BLOCK { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let written = match &mut self.encoder {
            Encoder::Plain(file) => file.write_all(&self.block),
            Encoder::Gzip(encoder) => encoder.write_all(&self.block),
            Encoder::Zstandard(file) => {
                file.write_all(&compress_to_vec(&self.block[..], CompressionLevel::Fastest))
            }
        };
        self.block.clear();
        written.map_err(Error::io(&self.path))
    }

    /// Syncs the file and renames it to its final path; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        match self.encoder {
            Encoder::Plain(file) | Encoder::Zstandard(file) => file.finish(),
            Encoder::Gzip(encoder) => encoder.finish().map_err(Error::io(&self.path))?.finish(),
        }
    }
}
