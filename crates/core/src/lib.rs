//! The loops of Crivello, in pure Rust: this crate knows nothing of Python.
//!
//! Every module is one part of the flow in `docs/architecture.md` and opens with what it promises,
//! what it costs and where the idea comes from.

pub mod analysis;
pub mod code;
pub mod crawl;
pub mod dict;
pub mod error;
pub mod fault;
pub mod fetch;
pub mod filter;
pub mod format;
pub mod frontier;
pub mod graph;
pub mod html;
pub mod index;
pub mod log;
pub mod neardup;
mod new_file;
pub mod prefetch;
pub mod pulse;
pub mod query;
pub mod robots;
pub mod rolling;
pub mod sieve;
pub mod signature;
pub mod store;
pub mod stream;
pub mod url;

pub use error::{Error, Result};
pub use pulse::Pulse;
pub use signature::Signature;
