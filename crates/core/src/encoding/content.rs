//! Decoding the HTTP content encodings of a body, with a size limit: a small body may decode to terabytes.
//!
//! Peak memory is the limit, twice that for stacked encodings, plus the encoding's window: 32 KiB for gzip
//! and deflate (RFC 1950 to 1952), 16 MiB for brotli (RFC 7932), 8 MiB for zstd (RFC 8878, and RFC 9659 for
//! the window).

use std::borrow::Cow;
use std::io::Read;

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::encoding::zstandard::Frames;

/// The content encodings that [`decode`] supports, as the value of Accept-Encoding.
pub const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// The maximum number of stacked encodings: legitimate servers use fewer, and each may cost up to the limit.
const MOST: usize = 5;
/// The largest window of zstd on the web.
const ZSTD_WINDOW: u64 = 8 << 20;
const BUFFER: usize = 1 << 14;

/// Why a body has no decoded form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// The body is not valid in its encoding.
    #[error("the body does not decode: {0}")]
    Damaged(String),
    /// The encoding is not supported.
    #[error("the content encoding {0} is unknown")]
    Unknown(String),
    /// The decoded body has more bytes than the limit given here.
    #[error("the body decodes to more than {0} bytes")]
    TooLarge(usize),
}

/// Decodes `body`, whose Content-Encoding is `encodings` (several may be stacked; the last is decoded first),
/// to at most `limit` bytes; a body without encoding is returned at any length.
pub fn decode<'a>(body: &'a [u8], encodings: &str, limit: usize) -> Result<Cow<'a, [u8]>, Undecodable> {
    let names = || encodings.split(',').map(str::trim).filter(|name| !name.is_empty());
    if names().count() > MOST {
        return Err(Undecodable::Damaged(format!("there are more than {MOST} encodings")));
    }
    let mut decoded = Cow::Borrowed(body);
    for name in names().rev() {
        let coded: &[u8] = &decoded;
        decoded = match name.to_ascii_lowercase().as_str() {
            "identity" => continue,
            "gzip" | "x-gzip" => inflate(MultiGzDecoder::new(coded), limit)?,
            // Means the zlib format; some servers send raw deflate without the zlib header.
            "deflate" if is_zlib(coded) => inflate(ZlibDecoder::new(coded), limit)?,
            "deflate" => inflate(DeflateDecoder::new(coded), limit)?,
            "br" => inflate(brotli(coded), limit)?,
            "zstd" => inflate(Frames::with_window(coded, ZSTD_WINDOW), limit)?,
            other => return Err(Undecodable::Unknown(other.to_owned())),
        }
        .into();
    }
    Ok(decoded)
}

/// The content of a gzip file, as far as it decodes and at most `limit` bytes.
pub fn gunzip(body: &[u8], limit: usize) -> Vec<u8> {
    let mut decoded = Vec::new();
    // What came before the damage is kept.
    drop(MultiGzDecoder::new(body).take(limit as u64).read_to_end(&mut decoded));
    decoded
}

fn brotli(coded: &[u8]) -> Decompressor<&[u8]> {
    let mut decoder = Decompressor::new(coded, BUFFER);
    // Windows of up to a gigabyte ("large window brotli") are another format.
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    decoder
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0x0f == 8 && (u32::from(*first) << 8 | u32::from(*second)) % 31 == 0)
}

fn inflate(decoder: impl Read, limit: usize) -> Result<Vec<u8>, Undecodable> {
    let mut decoded = Vec::new();
    let read = decoder.take(limit as u64 + 1).read_to_end(&mut decoded);
    read.map_err(|error| Undecodable::Damaged(error.to_string()))?;
    if decoded.len() > limit {
        return Err(Undecodable::TooLarge(limit));
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(body: &[u8], encodings: &str) -> Vec<u8> {
        decode(body, encodings, 4000).unwrap().into_owned()
    }

    proptest! {
        #[test]
        fn undoes_each_encoding(body in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
            zlib.write_all(&body).unwrap();
            let zlib = zlib.finish().unwrap();
            let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
            raw.write_all(&body).unwrap();
            let raw = raw.finish().unwrap();
            prop_assert_eq!(&decoded(&body, ""), &body);
            prop_assert_eq!(&decoded(&gzip(&body), "GZIP"), &body);
            prop_assert_eq!(&decoded(&zlib, "deflate"), &body);
            prop_assert_eq!(&decoded(&gzip(&zlib), "deflate, gzip"), &body);
            let zstd = zstandard(&body);
            prop_assert_eq!(&decoded(&zstd, "zstd"), &body);
            prop_assert_eq!(decoded(&[&zstd[..], &zstd].concat(), "zstd"), body.repeat(2));
            prop_assert_eq!(&decoded(&stored_brotli(&body), "br"), &body);
            if !is_zlib(&raw) {
                prop_assert_eq!(&decoded(&raw, "deflate"), &body);
            }
        }

        #[test]
        fn any_bytes_end_in_a_result(body in prop::collection::vec(any::<u8>(), 0..500)) {
            for encoding in ["gzip", "deflate", "br", "zstd", "br, zstd"] {
                let _ = decode(&body, encoding, 1000);
            }
        }
    }

    /// One uncompressed block: RFC 7932, section 9.2.
    fn stored_brotli(body: &[u8]) -> Vec<u8> {
        let Some(length) = (body.len() as u32).checked_sub(1) else { return vec![0x06] };
        // A window of 16 bits (0), not the last block (0), a length of four nibbles (00), uncompressed (1).
        let header = length << 4 | 1 << 20;
        let mut stored = header.to_le_bytes()[..3].to_vec();
        stored.extend(body);
        stored.push(0x03);
        stored
    }

    fn zstandard(body: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn brotli_comes_compressed() {
        let coded = [
            0x1b, 0x64, 0x00, 0x40, 0x8d, 0x94, 0xab, 0xed, 0x68, 0x41, 0x05, 0x75, 0xb2, 0x54, 0x2f, 0x24,
            0xb1, 0x9b, 0xfd, 0x46, 0x12, 0xc0, 0x31, 0x0e, 0x9c, 0x96, 0x09, 0xaf, 0x81, 0x96, 0xe5, 0x1a,
            0x3c, 0x64, 0xa9, 0xde, 0x26, 0x08, 0x22, 0x99, 0x62, 0x4a, 0xaf, 0x0a, 0x67, 0x79, 0x24, 0x62,
            0xd1, 0xb7, 0x4c, 0x93, 0xdd, 0x80, 0x4a, 0x16, 0x8c, 0x3c, 0xa7, 0xfa, 0x69,
        ];
        let text = "The sieve gives each address out once";
        assert_eq!(decoded(&coded, "br"), format!("{text}. {text}, and the archive has it.").into_bytes());
        // Ten mebibytes of zeros.
        let bomb = [
            0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x2f, 0xff, 0xff,
            0x3f, 0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x07,
        ];
        assert_eq!(decode(&bomb, "br", 10 << 20).unwrap().len(), 10 << 20);
        assert_eq!(decode(&bomb, "br", (10 << 20) - 1), Err(Undecodable::TooLarge((10 << 20) - 1)));
    }

    #[test]
    fn a_bomb_is_given_up_at_the_limit() {
        let zeros = vec![0; 10 << 20];
        for (bomb, encoding) in
            [(gzip(&zeros), "gzip"), (zstandard(&zeros), "zstd"), (gzip(&gzip(&zeros)), "gzip, gzip")]
        {
            assert!(bomb.len() < 1 << 18);
            assert_eq!(decode(&bomb, encoding, 1 << 20), Err(Undecodable::TooLarge(1 << 20)));
        }
        let message = Undecodable::TooLarge(1 << 20).to_string();
        assert!(message.contains("more than 1048576 bytes"));
    }

    #[test]
    fn a_file_is_unpacked_as_far_as_it_goes() {
        let body = b"some text, and some text, and more text".repeat(20);
        let packed = gzip(&body);
        assert_eq!(gunzip(&packed, 10_000), body);
        assert_eq!(gunzip(&packed, 100), body[..100]);
        assert!(body.starts_with(&gunzip(&packed[..packed.len() - 9], 10_000)));
        assert_eq!(gunzip(b"text", 100), b"");
    }

    #[test]
    fn damage_is_not_size() {
        let body = b"some text, and some text, and more text".repeat(20);
        for (coded, encoding) in
            [(gzip(&body), "gzip"), (zstandard(&body), "zstd"), (stored_brotli(&body), "br")]
        {
            assert_eq!(&*decode(&coded, encoding, 1000).unwrap(), &body[..]);
            let cut = decode(&coded[..coded.len() - 1], encoding, 1000);
            assert!(matches!(cut, Err(Undecodable::Damaged(_))), "{encoding}: {cut:?}");
            assert!(
                matches!(decode(b"plain text", encoding, 1000), Err(Undecodable::Damaged(_))),
                "{encoding}"
            );
        }
        assert_eq!(decode(b"", "compress", 1), Err(Undecodable::Unknown("compress".into())));
        assert!(matches!(decode(b"", &"identity,".repeat(6), 1), Err(Undecodable::Damaged(_))));
    }

    #[test]
    fn large_windows_are_refused() {
        // RFC 8878, 3.1.1.1.2: an exponent of 14 is a window of 16 MiB.
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 0x01, 0x00, 0x00];
        assert!(matches!(decode(&zstd, "zstd", 100), Err(Undecodable::Damaged(_))));
        let small = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 13 << 3, 0x01, 0x00, 0x00];
        assert_eq!(decode(&small, "zstd", 100).unwrap().len(), 0);
    }
}
