//! The sieve: URLs go in as often as they turn up, and each comes out exactly once, in the order in
//! which they were first seen.
//!
//! An entry is a URL with a *tag*, 32 bits that the caller gives with the URL and gets back with it.
//! When the same URL comes with several tags the first one counts.

mod memory;
mod signatures;

pub use memory::{Entry, MemorySieve};
pub use signatures::SignatureSet;
