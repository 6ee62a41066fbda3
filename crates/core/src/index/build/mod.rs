//! Index construction: documents to a segment, and segment merge.

pub mod assemble;
pub mod bisection;
pub mod builder;
pub mod choose;
pub mod chunk;
pub mod extract;
pub mod invert;
pub mod join;
pub mod merge;
pub mod options;
pub mod order;
pub mod phrases;
pub mod postings;
pub mod run;
pub mod sharded;
pub mod source;
pub mod vocabulary;
pub mod writer;
