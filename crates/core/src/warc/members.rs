//! The decompressed bytes of an archive file, member by member: a gzip member or a Zstandard frame, of which
//! each record usually has its own, or the plain file as a single member.
//!
//! A `.warc.zst` file may begin with a dictionary for all its frames, in a skippable frame with the magic
//! number 0x184D2A5D, itself compressed or not.
//!
//! Memory: one window of 256 KiB of the file, and the decoder's: for Zstandard the frame's window, at most 128 MiB.
//!
//! Source: <https://iipc.github.io/warc-specifications/specifications/warc-zstd/>.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use super::gzip::{self, Gzip};
use super::raw::Raw;

const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The skippable frame of a dictionary.
const DICTIONARY: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];
/// The magic number of a dictionary that is not compressed.
const RAW_DICTIONARY: &[u8] = &[0x37, 0xa4, 0x30, 0xec];
/// The largest dictionary that is read.
const LARGEST_DICTIONARY: u64 = 16 << 20;
/// As many bytes as a read asks for.
const CHUNK: usize = 1 << 16;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// Members of gzip.
    Gzip,
    /// Frames of Zstandard.
    Zstandard,
}

enum Decoder {
    Plain,
    Gzip(Box<Gzip>),
    Zstandard(Box<FrameDecoder>),
}

/// The members of a file.
pub(super) struct Members {
    raw: Raw,
    decoder: Decoder,
    /// The offset of the member that was begun last.
    last: u64,
    /// Whether that member has not ended.
    inside: bool,
}

impl Members {
    /// Detects the compression from the first bytes, and reads the dictionary if there is one; then goes to
    /// the member at `from`.
    pub fn open(mut raw: Raw, from: Option<u64>) -> io::Result<Members> {
        let first = raw.fill_buf()?;
        let decoder = if first.starts_with(gzip::MAGIC) {
            Decoder::Gzip(Box::new(Gzip::new()))
        } else if first.starts_with(DICTIONARY) {
            let mut decoder = Box::new(FrameDecoder::new());
            let dictionary = Dictionary::decode_dict(&dictionary(&mut raw)?).map_err(io::Error::other)?;
            decoder.add_dict(dictionary).map_err(io::Error::other)?;
            Decoder::Zstandard(decoder)
        } else if first.starts_with(ZSTANDARD) || is_skippable(first) {
            Decoder::Zstandard(Box::new(FrameDecoder::new()))
        } else {
            Decoder::Plain
        };
        from.into_iter().for_each(|from| raw.seek(from));
        Ok(Members { last: raw.position(), raw, decoder, inside: false })
    }

    /// How the file is compressed.
    pub fn compression(&self) -> Compression {
        match self.decoder {
            Decoder::Plain => Compression::Plain,
            Decoder::Gzip(_) => Compression::Gzip,
            Decoder::Zstandard(_) => Compression::Zstandard,
        }
    }

    /// The offset of the next byte in the file.
    pub fn position(&self) -> u64 {
        self.raw.position()
    }

    /// The offset of the member that was begun last.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether the next byte is the first one of a member.
    pub fn is_between(&self) -> bool {
        !self.inside
    }

    /// Goes to the member at an offset.
    pub fn seek(&mut self, offset: u64) {
        self.raw.seek(offset);
        self.inside = false;
    }

    /// The offset after the last byte of the file.
    pub fn end(&self) -> u64 {
        self.raw.end()
    }

    /// Appends the next bytes of a member, never of two, and returns their number; none at the end of the file.
    pub fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        while bytes.len() == before {
            if !self.inside && !self.enter(bytes)? {
                break;
            }
            if self.inside && self.decode(bytes)? {
                self.inside = false;
            }
        }
        Ok(bytes.len() - before)
    }

    /// Begins the next member, and decodes it if that can be done in one piece; `false` at the end of the file.
    fn enter(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            // Some writers fill the file up with zeros.
            while matches!(self.decoder, Decoder::Gzip(_))
                && let Some(zeros) = padding(self.raw.fill_buf()?)
            {
                self.raw.consume(zeros);
            }
            if self.raw.fill_buf()?.is_empty() {
                return Ok(false);
            }
            let offset = self.raw.position();
            let mut is_whole = false;
            match &mut self.decoder {
                Decoder::Plain => {}
                Decoder::Gzip(gzip) => is_whole = gzip.begin(&mut self.raw, bytes)?.is_some(),
                Decoder::Zstandard(decoder) => match decoder.init(&mut self.raw) {
                    Ok(()) => {}
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length,
                        ..
                    })) => {
                        self.raw.seek((self.raw.position() + u64::from(length)).min(self.raw.end()));
                        continue;
                    }
                    Err(error) => return Err(io::Error::other(error)),
                },
            }
            (self.last, self.inside) = (offset, !is_whole);
            return Ok(true);
        }
    }

    /// Decodes some bytes of the current member, and says whether it ended.
    fn decode(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        match &mut self.decoder {
            Decoder::Plain => {
                let read = self.raw.by_ref().take(CHUNK as u64).read_to_end(bytes)?;
                Ok(read == 0)
            }
            Decoder::Gzip(gzip) => gzip.stream(&mut self.raw, bytes),
            Decoder::Zstandard(decoder) => {
                while decoder.can_collect() == 0 && !decoder.is_finished() {
                    let strategy = BlockDecodingStrategy::UptoBlocks(1);
                    decoder.decode_blocks(&mut self.raw, strategy).map_err(io::Error::other)?;
                }
                let before = bytes.len();
                bytes.resize(before + CHUNK, 0);
                let read = decoder.read(&mut bytes[before..]);
                bytes.truncate(before + *read.as_ref().unwrap_or(&0));
                read?;
                let ended = decoder.is_finished() && decoder.can_collect() == 0;
                if ended
                    && let Some(written) = decoder.get_checksum_from_data()
                    && decoder.get_calculated_checksum() != Some(written)
                {
                    return Err(io::Error::other("a frame does not match its checksum"));
                }
                Ok(ended)
            }
        }
    }

    /// Goes to the first member after `after` whose bytes begin with what `begins` accepts; `false` if there
    /// is none, and then it is at the end of the file.
    pub fn resynchronise(&mut self, after: u64, begins: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
        let magic = match self.decoder {
            Decoder::Plain => b"WARC/".as_slice(),
            Decoder::Gzip(_) => gzip::MAGIC,
            Decoder::Zstandard(_) => ZSTANDARD,
        };
        let mut from = after;
        while let Some(candidate) = self.raw.find(magic, from)? {
            self.seek(candidate);
            let mut first = Vec::new();
            if self.read(&mut first).is_ok() && begins(&first) {
                self.seek(candidate);
                return Ok(true);
            }
            from = candidate + 1;
        }
        self.seek(self.raw.end());
        Ok(false)
    }
}

/// The number of zeros at the start, if there are any.
fn padding(bytes: &[u8]) -> Option<usize> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    (zeros > 0).then_some(zeros)
}

fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [first, 0x2a, 0x4d, 0x18, ..] if first >> 4 == 5)
}

/// The dictionary in the skippable frame at the start.
fn dictionary(raw: &mut Raw) -> io::Result<Vec<u8>> {
    let mut header = [0; 8];
    raw.read_exact(&mut header)?;
    let length = u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]]));
    if length > LARGEST_DICTIONARY {
        return Err(io::Error::other("its dictionary is too large"));
    }
    let mut bytes = vec![0; length as usize];
    raw.read_exact(&mut bytes)?;
    if bytes.starts_with(RAW_DICTIONARY) {
        return Ok(bytes);
    }
    let mut decoded = Vec::new();
    let frames = crate::encoding::zstandard::Frames::new(&bytes[..]);
    frames.take(LARGEST_DICTIONARY + 1).read_to_end(&mut decoded)?;
    Ok(decoded)
}
