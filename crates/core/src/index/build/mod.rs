//! Building: from documents to a segment, and from several segments to one.

pub(crate) mod assemble;
pub(crate) mod bisection;
pub mod builder;
pub mod chunk;
pub(crate) mod fingerprint;
pub mod invert;
pub mod join;
pub mod merge;
pub mod order;
pub mod postings;
pub mod run;
pub mod source;
pub mod spool;
pub mod vocabulary;
pub mod writer;
