//! The members of a gzip file: in one piece where a member lies in the window of the file, otherwise bit by bit.
//!
//! libdeflate decompresses a whole member more than twice as fast as zlib does a stream, but has to be told where it ends and
//! how long its content is. Both are guessed: the next three bytes that begin a member end this one, and the last four
//! bytes before them are its length (RFC 1952). The guess is right if the bytes decompress to that length and to the checksum
//! before it; if not, as where those three bytes are compressed data, or where zeros follow the member, nothing was
//! consumed and the member is streamed.
//!
//! Memory: a content of at most 4 MiB in one piece, 48 KiB for a stream.

use std::io::{self, BufRead};

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;
use memchr::memmem::Finder;

use super::raw::Raw;

/// The first bytes of a member: the magic number, and DEFLATE, the only method there is.
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];
/// The header, the shortest block and the trailer.
const SHORTEST: usize = 20;
/// The checksum and the length of the content, 32 bits each.
const TRAILER: usize = 8;
/// The longest content that is decompressed in one piece.
const LONGEST_WHOLE: usize = 4 << 20;
/// DEFLATE compresses at most 1,032 to 1: a longer content is no length.
const HIGHEST_RATIO: usize = 1032;
const WINDOW_BITS: u8 = 15;
/// As many bytes as are streamed at a time.
const CHUNK: usize = 1 << 16;

/// Decompresses one member after the other.
pub(super) struct Gzip {
    whole: Decompressor,
    stream: Decompress,
    magic: Finder<'static>,
}

impl Gzip {
    pub fn new() -> Gzip {
        Gzip {
            whole: Decompressor::new(),
            stream: Decompress::new_gzip(WINDOW_BITS),
            magic: Finder::new(MAGIC),
        }
    }

    /// Begins a member: appends its content and returns the length, if it was decompressed in one piece;
    /// otherwise it is to be streamed.
    pub fn begin(&mut self, raw: &mut Raw, content: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let length = self.whole(raw, content)?;
        if length.is_none() {
            self.stream = Decompress::new_gzip(WINDOW_BITS);
        }
        Ok(length)
    }

    fn whole(&mut self, raw: &mut Raw, content: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let mut end = self.end(raw)?;
        if end.is_none() {
            raw.top_up()?;
            end = self.end(raw)?;
        }
        let Some(end) = end else { return Ok(None) };
        let member = &raw.fill_buf()?[..end];
        let (_, trailer) = member.split_at(end - TRAILER);
        let number =
            |at: usize| u32::from_le_bytes([trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]]);
        let (checksum, length) = (number(0), number(4) as usize);
        if length > LONGEST_WHOLE.min(end * HIGHEST_RATIO) {
            return Ok(None);
        }
        let before = content.len();
        content.resize(before + length, 0);
        let written = self.whole.gzip_decompress(member, &mut content[before..]);
        // libdeflate ignores what follows a member: the checksum says that nothing does.
        if written != Ok(length) || libdeflater::crc32(&content[before..]) != checksum {
            content.truncate(before);
            return Ok(None);
        }
        raw.consume(end);
        Ok(Some(length))
    }

    /// The distance to what looks like the end of the member, if that is in the window.
    fn end(&self, raw: &mut Raw) -> io::Result<Option<usize>> {
        let position = raw.position();
        let rest = raw.end() - position;
        let window = raw.fill_buf()?;
        let Some(after) = window.get(SHORTEST..) else { return Ok(None) };
        let next = self.magic.find(after).map(|at| SHORTEST + at);
        Ok(next.or((window.len() as u64 == rest).then_some(window.len())))
    }

    /// Appends some more content of the streamed member, and says whether it ended.
    pub fn stream(&mut self, raw: &mut Raw, content: &mut Vec<u8>) -> io::Result<bool> {
        let input = raw.fill_buf()?;
        if input.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (before_in, before_out) = (self.stream.total_in(), self.stream.total_out());
        content.reserve(CHUNK);
        let status = self.stream.decompress_vec(input, content, FlushDecompress::None);
        let read = self.stream.total_in() - before_in;
        raw.consume(read as usize);
        let status = status.map_err(io::Error::other)?;
        if read == 0 && self.stream.total_out() == before_out && status != Status::StreamEnd {
            return Err(io::Error::other("it does not decompress"));
        }
        Ok(status == Status::StreamEnd)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::super::members::Members;
    use super::*;

    fn member(content: &[u8], level: Compression) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// The offset and the content of each member, and the first error.
    fn members(file: &[u8]) -> (Vec<(u64, Vec<u8>)>, Option<io::Error>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("members.gz");
        std::fs::write(&path, file).unwrap();
        let raw = Raw::new(File::open(path).unwrap(), 0, file.len() as u64);
        let (mut members, mut found) = (Members::open(raw, None).unwrap(), Vec::new());
        let mut content = Vec::new();
        loop {
            match members.read(&mut content) {
                Err(error) => return (found, Some(error)),
                Ok(0) => return (found, None),
                Ok(_) if members.is_between() => found.push((members.last(), std::mem::take(&mut content))),
                Ok(_) => {}
            }
        }
    }

    /// Contents with the magic number in them, longer than the window of the file, and longer than any that is
    /// decompressed in one piece.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 1..50),
            Just(MAGIC.to_vec()),
            Just([MAGIC, &[0, 0, 0, 0, 0, 0, 0, 0]].concat()),
        ];
        let pieces = prop::collection::vec(piece, 1..30).prop_map(|pieces| pieces.concat());
        (pieces, prop_oneof![20 => Just(1), 2 => Just(1000), 1 => Just(6000)])
            .prop_map(|(piece, times)| piece.repeat(times))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn every_member_is_read_from_its_start(
            contents in prop::collection::vec((content(), 0u32..3, 0usize..3), 1..5),
        ) {
            let (mut file, mut expected) = (Vec::new(), Vec::new());
            for (content, level, zeros) in contents {
                expected.push((file.len() as u64, content.clone()));
                file.extend(member(&content, Compression::new(level)));
                file.extend(vec![0; zeros]);
            }
            let (found, error) = members(&file);
            prop_assert!(found == expected, "{:?}", error);
            prop_assert!(error.is_none());
        }
    }

    #[test]
    fn a_member_whose_magic_number_is_damaged_is_not_passed_over() {
        let texts = [b"first ", b"second", b"third "].map(|text| member(text, Compression::fast()));
        let mut file = texts.concat();
        file[texts[0].len()] ^= 1;
        let (found, error) = members(&file);
        assert_eq!(found, [(0, b"first ".to_vec())]);
        assert!(error.is_some());
    }
}
