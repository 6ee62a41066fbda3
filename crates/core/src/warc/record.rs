//! Records of the WARC format (ISO 28500:2017), each a separate gzip member, so that a record can be read
//! given only its offset. Reading verifies the digest of the block: damage is an error, never a page.
//!
//! A record is compressed in one piece by libdeflate, at its lowest level: three times the speed of zlib's
//! level 4 for a twelfth more bytes. Time is about 5 ns a byte, a quarter of it for the two digests.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::io;

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use sha1::{Digest, Sha1};
use twox_hash::XxHash3_64;

use crate::encoding;
use crate::{Error, Result};

const LEVEL: i32 = 1;
/// The field with the digest of the payload; a record that has it already is not digested again.
pub const PAYLOAD_DIGEST: &str = "WARC-Payload-Digest";

thread_local! {
    /// Reused between records, because it is expensive to create.
    static WORKSHOP: RefCell<Workshop> = RefCell::new(Workshop::new());
    static DECOMPRESSOR: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// Encodes a compressed record: `kind` (response, conversion, warcinfo …), further header fields, and the
/// block, which is `head` (the HTTP header, or nothing) followed by `body`.
///
/// The record's id is a UUID of version 8 made from the fields and the block, so the same record always has
/// the same id. The digests are SHA-1 in base 32, as other tools expect them.
pub fn warc_record(kind: &str, fields: &[(String, String)], head: &[u8], body: &[u8]) -> Result<Vec<u8>> {
    record_with_id(kind, fields, head, body).map(|(_, record)| record)
}

/// The same, with the record's id, as other records refer to it.
pub fn record_with_id(
    kind: &str,
    fields: &[(String, String)],
    head: &[u8],
    body: &[u8],
) -> Result<(String, Vec<u8>)> {
    let block_digest = digest(&[head, body]);
    let mut header = format!("WARC/1.1\r\nWARC-Type: {kind}\r\n");
    for (name, value) in fields {
        header.extend([name, ": "]);
        // A value from the web must not inject a line.
        header.extend(value.chars().filter(|character| !character.is_control()));
        header.push_str("\r\n");
    }
    let id = format!("<urn:uuid:{}>", record_id(&header, &block_digest));
    let length = head.len() + body.len();
    let is_known = fields.iter().any(|(name, _)| name == PAYLOAD_DIGEST);
    let payload = match kind {
        "resource" if !is_known => format!("{PAYLOAD_DIGEST}: sha1:{block_digest}\r\n"),
        "response" if !is_known => format!("{PAYLOAD_DIGEST}: sha1:{}\r\n", payload_digest(body)),
        _ => String::new(),
    };
    let written = write!(
        header,
        "WARC-Record-ID: {id}\r\nWARC-Block-Digest: sha1:{block_digest}\r\n{payload}\
         Content-Length: {length}\r\n\r\n",
    );
    written.map_err(|error| Error::Invalid(error.to_string()))?;
    let parts = [header.as_bytes(), head, body, b"\r\n\r\n"];
    Ok((id, WORKSHOP.with_borrow_mut(|workshop| workshop.compress(&parts))?))
}

/// The digest of a payload: SHA-1 in base 32.
pub fn payload_digest(body: &[u8]) -> String {
    digest(&[body])
}

/// A record of the archive: for a response, what the server sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its target URI.
    pub url: String,
    /// The HTTP header of a response, names in lower case; of other records only `content-type`.
    pub headers: Vec<(String, String)>,
    /// The bytes after the header.
    pub body: Vec<u8>,
}

impl Record {
    /// The first header field with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body without its content encoding, at most `limit` bytes.
    pub fn decoded(&self, limit: usize) -> Result<Cow<'_, [u8]>> {
        let encodings = self.header("content-encoding").unwrap_or_default();
        encoding::decode(&self.body, encodings, limit)
            .map_err(|reason| Error::Invalid(format!("{}: {reason}", self.url)))
    }
}

/// The header fields of a record, names in lower case.
pub type Fields = Vec<(String, String)>;

/// The header fields and the block of a record, from its gzip member; the error is the reason why it is
/// invalid.
pub fn record_parts(member: &[u8]) -> std::result::Result<(Fields, Vec<u8>), String> {
    let mut bytes = decompress(member)?;
    let (header, block) = split_head(&bytes).ok_or("its header does not end")?;
    let start = bytes.len() - block.len();
    let (version, fields) = fields(header);
    if !version.starts_with("WARC/") {
        return Err("there is no record".to_owned());
    }
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let length = field("content-length").and_then(|length| length.parse::<usize>().ok());
    let block = length.and_then(|length| block.get(..length)).ok_or("it is shorter than it says")?;
    let said = field("warc-block-digest").and_then(|said| said.strip_prefix("sha1:"));
    if said != Some(digest(&[block]).as_str()) {
        return Err("a record does not match its digest".to_owned());
    }
    let end = start + block.len();
    bytes.truncate(end);
    bytes.drain(..start);
    Ok((fields, bytes))
}

/// Decodes a record from its gzip member; the error is the reason why it is invalid.
pub fn read_record(member: &[u8]) -> std::result::Result<Record, String> {
    let (fields, bytes) = record_parts(member)?;
    let mut block = bytes.as_slice();
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut record =
        Record { url: field("warc-target-uri").unwrap_or_default().to_owned(), ..Record::default() };
    if field("content-type").is_some_and(|kind| kind.starts_with("application/http")) {
        let (head, body) = split_head(block).ok_or("its HTTP header does not end")?;
        record.headers = self::fields(head).1;
        block = body;
    } else if let Some(kind) = field("content-type") {
        record.headers.push(("content-type".to_owned(), kind.to_owned()));
    }
    record.body = block.to_vec();
    Ok(record)
}

/// Decompresses a gzip member, whose last four bytes are the decompressed length.
fn decompress(member: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let length = member.last_chunk().map_or(0, |length| u32::from_le_bytes(*length)) as usize;
    // DEFLATE compresses at most 1,032 to 1: a larger length is damage, and must not be allocated.
    if length / 1032 > member.len() {
        return Err("it is not a gzip member".to_owned());
    }
    let mut bytes = vec![0; length];
    let written =
        DECOMPRESSOR.with_borrow_mut(|decompressor| decompressor.gzip_decompress(member, &mut bytes));
    match written {
        Ok(written) if written == length => Ok(bytes),
        _ => Err("it does not decompress".to_owned()),
    }
}

/// Splits at the first empty line.
fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
    Some((&bytes[..end], &bytes[end + 4..]))
}

/// The first line of a header, and its fields, names in lower case.
pub(super) fn fields(head: &[u8]) -> (String, Vec<(String, String)>) {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    let fields = lines.filter_map(|line| line.split_once(':'));
    let fields = fields.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    (first, fields.collect())
}

/// A compressor and its buffers.
struct Workshop {
    compressor: Compressor,
    record: Vec<u8>,
    member: Vec<u8>,
}

impl Workshop {
    /// The largest buffers that are kept for reuse.
    const KEPT: usize = 4 << 20;

    fn new() -> Workshop {
        // Every level from 1 to 12 is valid, and the default is one of them.
        let level = CompressionLvl::new(LEVEL).unwrap_or_default();
        Workshop { compressor: Compressor::new(level), record: Vec::new(), member: Vec::new() }
    }

    /// Compresses the concatenated parts into one gzip member.
    fn compress(&mut self, parts: &[&[u8]]) -> Result<Vec<u8>> {
        self.record.clear();
        parts.iter().for_each(|part| self.record.extend_from_slice(part));
        let bound = self.compressor.gzip_compress_bound(self.record.len());
        if self.member.len() < bound {
            self.member.resize(bound, 0);
        }
        let compressed = self.compressor.gzip_compress(&self.record, &mut self.member);
        let length = compressed.map_err(|error| {
            let reason = io::Error::other(format!("{error:?}"));
            Error::io("a WARC record in memory")(reason)
        })?;
        let member = self.member[..length].to_vec();
        if bound > Workshop::KEPT {
            (self.record, self.member) = Default::default();
        }
        Ok(member)
    }
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    base32(&hasher.finalize())
}

/// Whether a block has the digest that its record states, in base 32 or hexadecimal; `None` if the algorithm
/// is another one.
pub(super) fn digest_matches(stated: &str, block: &[u8]) -> Option<bool> {
    let (algorithm, stated) = stated.split_once(':')?;
    if !algorithm.eq_ignore_ascii_case("sha1") && !algorithm.eq_ignore_ascii_case("sha-1") {
        return None;
    }
    let actual = Sha1::digest(block);
    let hexadecimal = || actual.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let same = if stated.len() == 40 {
        stated.eq_ignore_ascii_case(&hexadecimal())
    } else {
        stated.eq_ignore_ascii_case(&base32(&actual))
    };
    Some(same)
}

/// The SHA-1 of a stated digest in base 32, however it is written; `None` if the algorithm is another one.
pub fn stated_sha1(stated: &str) -> Option<String> {
    let (algorithm, digest) = stated.trim().split_once(':')?;
    if !algorithm.eq_ignore_ascii_case("sha1") && !algorithm.eq_ignore_ascii_case("sha-1") {
        return None;
    }
    match digest.len() {
        32 => Some(digest.to_ascii_uppercase()),
        40 if digest.is_ascii() => {
            let bytes = (0..20).map(|byte| u8::from_str_radix(&digest[2 * byte..2 * byte + 2], 16).ok());
            bytes.collect::<Option<Vec<u8>>>().map(|bytes| base32(&bytes))
        }
        _ => None,
    }
}

fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    // 160 bits are 32 groups of five, so no padding is ever needed.
    let (mut text, mut buffer, mut bits) = (String::new(), 0u32, 0);
    for byte in bytes {
        buffer = buffer << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(buffer >> bits & 31) as usize]));
        }
    }
    text
}

fn record_id(header: &str, block_digest: &str) -> String {
    let content = format!("{header}{block_digest}");
    let high = XxHash3_64::oneshot_with_seed(1, content.as_bytes());
    let low = XxHash3_64::oneshot_with_seed(2, content.as_bytes());
    let (high, low) = (high & !0xf000 | 0x8000, low & !(3 << 62) | 1 << 63);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn a_record_reads_back() {
        let fields = [("WARC-Target-URI".to_owned(), "http://a.example/\r\nEvil: yes".to_owned())];
        let member = warc_record("response", &fields, b"HTTP/1.1 200 OK\r\n\r\n", b"hello").unwrap();
        let mut text = String::new();
        GzDecoder::new(&member[..]).read_to_string(&mut text).unwrap();
        assert!(text.starts_with(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/Evil: yes\r\n"
        ));
        // echo -n hello | sha1sum | xxd -r -p | base32
        assert!(text.contains("WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"));
        assert!(text.contains("Content-Length: 24\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n"));
    }

    #[test]
    fn a_digest_is_the_same_in_either_writing() {
        let expected = Some("VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N".to_owned());
        for stated in [
            "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N",
            "SHA-1:vl2mmho4yxukfwv63yhtwsbm3gxksq2n",
            "sha1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
        ] {
            assert_eq!(stated_sha1(stated), expected);
        }
        for other in ["md5:x", "sha1", "sha1:é4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "sha1:VL2M", ""] {
            assert_eq!(stated_sha1(other), None);
        }
    }

    fn response(head: &[u8], body: &[u8]) -> Vec<u8> {
        let fields = [("WARC-Target-URI", "http://a.example/"), ("Content-Type", "application/http")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        warc_record("response", &fields, head, body).unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: b:c\r\nx-a: d\r\n\r\n";
        for body in [&b""[..], b"hello", b"a\r\n\r\nb", &[0; 300_000]] {
            let record = read_record(&response(head, body)).unwrap();
            assert_eq!((record.url.as_str(), record.body.as_slice()), ("http://a.example/", body));
            assert_eq!(record.header("content-type"), Some("text/html"));
            assert_eq!(record.header("x-a"), Some("b:c"));
        }
        let text = warc_record("conversion", &[], b"", b"one\r\n\r\ntwo").unwrap();
        let read = read_record(&text).unwrap();
        assert_eq!((read.body.as_slice(), read.headers.len()), (&b"one\r\n\r\ntwo"[..], 0));
    }

    #[test]
    fn damage_is_never_a_record() {
        let member = response(b"HTTP/1.1 200 OK\r\n\r\n", &(0..=255).cycle().take(900).collect::<Vec<_>>());
        for place in 0..member.len() {
            let mut damaged = member.clone();
            damaged[place] ^= 0x10;
            // A gzip header has bytes without a meaning; damage there leaves the content as written.
            let read = read_record(&damaged);
            assert!(read.is_err() || read == read_record(&member), "{place}");
            assert!(read_record(&member[..place]).is_err(), "{place}");
        }
    }

    #[test]
    fn a_block_that_is_not_its_digests_is_damage() {
        let record = |body: &str| {
            let digest = digest(&[b"hello"]);
            let text =
                format!("WARC/1.1\r\nWARC-Block-Digest: sha1:{digest}\r\nContent-Length: 5\r\n\r\n{body}");
            read_record(&WORKSHOP.with_borrow_mut(|workshop| workshop.compress(&[text.as_bytes()])).unwrap())
        };
        assert_eq!(record("hello").unwrap().body, b"hello");
        assert_eq!(record("hallo").unwrap_err(), "a record does not match its digest");
        assert_eq!(record("hell").unwrap_err(), "it is shorter than it says");
    }
}
