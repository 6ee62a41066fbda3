//! Records of the WARC format (ISO 28500:2017), each a gzip member of its own, so that a record can be
//! read from its offset alone.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use sha1::{Digest, Sha1};
use twox_hash::XxHash3_64;

use crate::Result;

/// One compressed record: `kind` (response, conversion, warcinfo …), further header fields, and the
/// block, which is `head` (the HTTP header, or nothing) and then `body`.
///
/// The record's id is a UUID of version 8 made from the fields and the block, so the same record always
/// has the same id. The digests are SHA-1 in base 32, as other tools expect them.
pub fn warc_record(kind: &str, fields: &[(String, String)], head: &[u8], body: &[u8]) -> Result<Vec<u8>> {
    let block_digest = digest(&[head, body]);
    let mut header = format!("WARC/1.1\r\nWARC-Type: {kind}\r\n");
    for (name, value) in fields {
        // A value from outside must not end its line.
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        header.push_str(&format!("{name}: {value}\r\n"));
    }
    let id = record_id(&header, &block_digest);
    header.push_str(&format!("WARC-Record-ID: <urn:uuid:{id}>\r\n"));
    header.push_str(&format!("WARC-Block-Digest: sha1:{block_digest}\r\n"));
    if !head.is_empty() {
        header.push_str(&format!("WARC-Payload-Digest: sha1:{}\r\n", digest(&[body])));
    }
    header.push_str(&format!("Content-Length: {}\r\n\r\n", head.len() + body.len()));
    let mut member = GzEncoder::new(Vec::with_capacity(body.len() / 3 + 512), Compression::new(4));
    let parts = [header.as_bytes(), head, body, b"\r\n\r\n"];
    let written = parts.iter().try_for_each(|part| member.write_all(part)).and_then(|()| member.finish());
    written.map_err(crate::Error::io("a WARC record in memory"))
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    base32(&hasher.finalize())
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
}
