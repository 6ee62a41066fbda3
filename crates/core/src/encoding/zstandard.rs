//! A Zstandard stream: concatenated frames, read to the end and verified against their checksums.
//!
//! Memory is a frame's window, at most 128 MiB or the given limit; a frame with a larger window is rejected.
//!
//! Source: RFC 8878.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A reader of the decompressed data of all frames.
pub struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Frames<R> {
    /// The frames of `source`.
    pub fn new(source: R) -> Self {
        Frames { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// The same, rejecting frames whose window exceeds `window` bytes.
    pub fn with_window(source: R, window: u64) -> Self {
        let mut frames = Frames::new(source);
        frames.decoder.set_max_window_size(window);
        frames
    }

    /// Advances to the next data frame; `false` at the end of the source.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(written) if self.decoder.get_calculated_checksum() != Some(written) => {
                Err(io::Error::other("a frame does not match its checksum"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside && !self.enter()? {
                return Ok(0);
            }
            self.inside = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, strategy).map_err(io::Error::other)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.check()?;
            self.inside = false;
        }
    }
}
