//! Top-k retrieval: the best documents of a segment for a query, with dynamic pruning.
//!
//! | method | documents it visits | used |
//! | --- | --- | --- |
//! | [`exhaustive`] | every match | to compare |
//! | [`maxscore`] | a union, a window of documents at a time; non-essential posting lists are only looked up | default for unions |
//! | [`wand`] | a union, document at a time; skips documents whose list (or block) maxima sum to too little | to compare |
//! | [`conjunction`] | those of the rarest required leaf; block-max pruning before the other leaves are read | default for intersections and phrases (block-max AND) |
//! | [`lead`] | those of the matching nodes; windows that cannot hold one of the top k are skipped | default for all else |
//! | [`taat`] | unions and intersections, one posting list after the other | to compare |
//!
//! All return the same documents with the same scores: a document is pruned only if an upper bound on its
//! score is below the score of the worst of the top k so far, and ties are broken by the signature of the URL. The
//! score of a posting list in a range of documents is bounded by its block maxima for any model and
//! parameters ([`crate::index::format::maxima`]).

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

use serde::Serialize;

use crate::settings::choices;

choices! {
    /// How the top-k documents are found.
    #[derive(Serialize)]
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
