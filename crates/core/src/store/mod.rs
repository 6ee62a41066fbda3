//! What the store does per byte: WARC records, and the content encodings of bodies.

mod encoding;
mod warc;

pub use encoding::{ACCEPTED, Undecodable, decode};
pub use warc::warc_record;
