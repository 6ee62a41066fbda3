//! From a query to ranked answers.
//!
//! A query is parsed to a tree ([`parse`], [`tree`]), whose leaves expand to terms of the term dictionary
//! ([`expand`]). On each segment a leaf is a cursor over its posting lists ([`leaf`]) and the tree becomes
//! lazy nodes ([`matching`]) that iterate over the matching documents in order, checking positions where
//! needed ([`interval`]). Documents are scored ([`score`]), the top k are found without scoring every match
//! ([`rank`]), and shown with a snippet ([`snippet`]). [`searcher`] puts it together; if a query has few
//! matches, [`suggest`] looks for a spelling correction. While a query is typed, [`answer::complete`] tells what it may become.

pub mod answer;
pub mod language;
pub mod matching;
pub mod rank;
pub mod score;
pub mod shards;

pub use answer::snippet::Fragment;
pub use answer::{Explanation, Hit, Options, Ranking, Request, Searcher};
pub use language::parse;
pub use language::tree::Query;
