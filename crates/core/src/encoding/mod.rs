//! Compressed bytes: the content encodings of HTTP, and Zstandard frames one after the other.

mod content;
pub(crate) mod zstandard;

pub use content::{ACCEPTED, Undecodable, decode};
