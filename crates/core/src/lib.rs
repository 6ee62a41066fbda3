//! The core of Crivello, in pure Rust: this crate knows nothing of Python.
//!
//! Every module is one stage of the data flow in `docs/architecture.md` and opens with its contract, its cost
//! and its source.

pub mod analysis;
pub mod assignment;
pub mod calendar;
pub mod codes;
pub mod collection;
pub mod crawl;
pub mod dictionaries;
pub mod disk;
pub mod duplicates;
pub mod encoding;
pub mod error;
pub mod fetch;
pub mod filters;
pub mod frontier;
pub mod graph;
pub mod index;
pub mod media;
pub mod parse;
pub mod prefetch;
pub mod pulse;
pub mod queues;
pub mod robots;
pub mod schedule;
pub mod search;
pub mod settings;
pub mod sieve;
pub mod signature;
pub mod sorted;
pub mod stream;
pub mod url;
pub mod warc;

pub use error::{Error, Result};
pub use pulse::{Progress, Pulse};
pub use signature::Signature;

/// The number of random cases of a property test that takes long: few, or as many as `PROPTEST_CASES` says.
#[cfg(test)]
fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

/// The size of the input of a test that takes long: small, or what a variable of the environment says.
#[cfg(test)]
fn size(variable: &str, small: usize) -> usize {
    std::env::var(variable).ok().and_then(|size| size.parse().ok()).unwrap_or(small)
}
