//! From a query to ranked answers.
//!
//! A query is parsed to a tree ([`parse`], [`tree`]); on each segment the tree becomes lazy iterators
//! ([`iterator`]) that give the matching documents in order; each is scored by its terms ([`bm25`]) and its
//! static rank, the best are kept ([`top`]), and shown with a passage of their text ([`snippet`]).
//! [`searcher`] puts it together. [`expand`] finds the terms that a pattern stands for, and [`suggest`] a better
//! spelling of a query that found little.

pub mod bm25;
pub mod expand;
pub mod iterator;
mod lexer;
pub mod parse;
pub mod searcher;
pub mod snippet;
pub mod suggest;
pub mod top;
pub mod tree;

pub use bm25::Parameters;
pub use parse::parse;
pub use searcher::{Answer, Hit, Request, Searcher};
pub use snippet::Fragment;
pub use tree::Query;
