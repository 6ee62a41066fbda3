//! Compressed bytes: the content encodings of HTTP, and concatenated Zstandard frames.

mod content;
pub(crate) mod zstandard;

pub use content::{ACCEPTED, Undecodable, decode, gunzip};
