//! Undoing the content encodings of a body, within a limit: a small body may decode to terabytes.

use std::io::Read;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::{Error, Result};

/// The content encodings that [`decode`] undoes, as a request's Accept-Encoding.
pub const ACCEPTED: &str = "gzip, deflate";

/// Decodes `body`, whose Content-Encoding is `encodings` (several may be stacked, the last is undone
/// first). Damage, an unknown encoding and a result of more than `limit` bytes are errors.
pub fn decode(body: &[u8], encodings: &str, limit: usize) -> Result<Vec<u8>> {
    let mut decoded = body.to_vec();
    for encoding in encodings.split(',').map(str::trim).filter(|name| !name.is_empty()).rev() {
        decoded = match encoding.to_ascii_lowercase().as_str() {
            "identity" => decoded,
            "gzip" | "x-gzip" => inflate(MultiGzDecoder::new(&decoded[..]), limit)?,
            // Named after the zlib format, and sent without its header by some servers.
            "deflate" if is_zlib(&decoded) => inflate(ZlibDecoder::new(&decoded[..]), limit)?,
            "deflate" => inflate(DeflateDecoder::new(&decoded[..]), limit)?,
            other => return Err(Error::Invalid(format!("the content encoding {other} is unknown"))),
        };
    }
    Ok(decoded)
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0x0f == 8 && (u32::from(*first) << 8 | u32::from(*second)) % 31 == 0)
}

fn inflate(decoder: impl Read, limit: usize) -> Result<Vec<u8>> {
    let mut decoded = Vec::new();
    let read = decoder.take(limit as u64 + 1).read_to_end(&mut decoded);
    read.map_err(|error| Error::Invalid(format!("the body does not decode: {error}")))?;
    if decoded.len() > limit {
        return Err(Error::Invalid(format!("the body decodes to more than {limit} bytes")));
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

    proptest! {
        #[test]
        fn undoes_each_encoding(body in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
            zlib.write_all(&body).unwrap();
            let zlib = zlib.finish().unwrap();
            let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
            raw.write_all(&body).unwrap();
            let raw = raw.finish().unwrap();
            prop_assert_eq!(&decode(&body, "", 4000).unwrap(), &body);
            prop_assert_eq!(&decode(&gzip(&body), "GZIP", 4000).unwrap(), &body);
            prop_assert_eq!(&decode(&zlib, "deflate", 4000).unwrap(), &body);
            prop_assert_eq!(&decode(&gzip(&zlib), "deflate, gzip", 4000).unwrap(), &body);
            if !is_zlib(&raw) {
                prop_assert_eq!(&decode(&raw, "deflate", 4000).unwrap(), &body);
            }
        }

        #[test]
        fn any_bytes_end_in_a_result(body in prop::collection::vec(any::<u8>(), 0..500)) {
            for encoding in ["gzip", "deflate", "br"] {
                let _ = decode(&body, encoding, 1000);
            }
        }
    }

    #[test]
    fn a_bomb_is_given_up_at_the_limit() {
        let bomb = gzip(&vec![0; 10 << 20]);
        assert!(bomb.len() < 1 << 18);
        assert!(decode(&bomb, "gzip", 1 << 20).unwrap_err().to_string().contains("more than 1048576 bytes"));
    }
}
