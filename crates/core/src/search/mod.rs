//! From a query to ranked answers.
//!
//! A query is parsed to a tree ([`parse`], [`tree`]), whose leaves stand for terms of the dictionary ([`expand`]). On each
//! segment a leaf is a cursor ([`leaf`]) and the tree becomes lazy nodes ([`matching`]) that give the matching documents in
//! order, by positions where they must ([`interval`]). Documents are scored ([`score`]), the best are found without looking
//! at all of them ([`rank`]), and shown with a passage of their text ([`snippet`]). [`searcher`] puts it together; where
//! little is found, [`suggest`] looks for a better spelling.

pub mod answer;
pub mod language;
pub mod matching;
pub mod rank;
pub mod score;

pub use answer::snippet::Fragment;
pub use answer::{Explanation, Hit, Options, Ranking, Request, Searcher};
pub use language::parse;
pub use language::tree::Query;
