//! Index construction: documents to a segment, and segment merge.

pub mod assemble;
pub mod bisection;
pub mod builder;
pub mod choose;
pub mod chunk;
pub mod fingerprint;
pub mod invert;
pub mod join;
pub mod merge;
pub mod options;
pub mod order;
pub mod postings;
pub mod run;
pub mod source;
pub mod vocabulary;
pub mod writer;
