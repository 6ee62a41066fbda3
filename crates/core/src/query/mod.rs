//! From a query to ranked answers.
//!
//! A query is parsed to a tree ([`parse`], [`tree`]); on each segment the tree becomes lazy iterators
//! ([`iterator`]) that give the matching documents in order; each is scored by its terms ([`bm25`]) and its
//! static rank, the best are kept ([`top`]), and shown with a passage of their text ([`snippet`]).
//! Where in a document words stand together is what expressions of intervals say ([`interval`]).
//! [`searcher`] puts it together.

pub mod bm25;
pub mod interval;
pub mod iterator;
mod lexer;
pub mod parse;
pub mod searcher;
pub mod snippet;
pub mod top;
pub mod tree;

pub use bm25::Parameters;
pub use parse::parse;
pub use searcher::{Answer, Hit, Request, Searcher};
pub use snippet::Fragment;
pub use tree::Query;
