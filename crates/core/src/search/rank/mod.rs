//! The best documents of a segment for a query.
//!
//! | method | which documents are looked at | |
//! | --- | --- | --- |
//! | [`exhaustive`] | every match | to compare |
//! | [`maxscore`] | a union, a window of documents at a time; lists that cannot lift a document into the best any more only add to those that others found | default for unions |
//! | [`wand`] | a union, document at a time; those before which the sum of the lists' maxima is too small are passed, by whole lists or by blocks | to compare |
//! | [`conjunction`] | where some leaves must be there: the documents of the rarest; those that cannot be among the best are passed before the others are asked | block-max AND, default for intersections and phrases |
//! | [`lead`] | what the matching nodes find; windows that cannot hold one of the best are passed | default for all else |
//! | [`taat`] | unions and intersections, a list after the other | to compare |
//!
//! All give the same documents with the same scores: a document is left out only where a bound on its score is not above
//! that of the worst of the best so far, and equal scores go by document. What a list can score between two documents is
//! bounded by its blocks' maxima for any model and parameters ([`crate::index::format::maxima`]).

pub mod conjunction;
pub mod count;
pub mod exhaustive;
pub mod lead;
pub mod maxscore;
mod nearness;
pub mod taat;
mod task;
pub mod top;
pub mod wand;

pub use nearness::Nearness;
pub use task::{Limits, Prior, Scored, Task};
pub use top::{Ranked, Top};

use crate::settings::choices;

choices! {
    /// How the best documents are found.
    pub enum Method, "method" {
        /// What suits the query.
        Auto = "auto",
        /// Every match is scored.
        Exhaustive = "exhaustive",
        /// Block-max MaxScore, by windows.
        MaxScore = "maxscore",
        /// WAND.
        Wand = "wand",
        /// Block-max WAND.
        BlockMaxWand = "blockmax-wand",
        /// Term at a time.
        Taat = "taat",
    }
}
