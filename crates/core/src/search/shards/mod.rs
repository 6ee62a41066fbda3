//! An index divided by documents that answers as one: shards, and a broker in front of them. For one that is divided
//! by terms see [`terms`].
//!
//! A shard is a [`Searcher`](super::Searcher) over some of the documents. A search takes two rounds of messages,
//! or three:
//!
//! 1. every shard counts what it holds of the leaves of the query: the document frequency of each term in each
//!    zone, its occurrences, and the terms that match a pattern; the broker sums the counts and chooses the terms
//!    that each pattern expands to, as one index would ([`Pinned`](super::answer::pinned::Pinned)). What it has
//!    learnt it keeps, since a snapshot does not change: a query whose leaves are known skips this round;
//! 2. every shard that holds the required leaves ranks its documents by these statistics, and returns its top k and the number of its matches;
//! 3. if proximity counts, the documents that one index would rerank are reranked by the shards that hold them.
//!
//! The broker merges, collapses and mixes the hits as one index does. Then hits are shown and explained by the
//! shards that hold them.
//!
//! **Exact**: the ids and scores are those of one index with the same documents in the same generations, to the
//! last bit. Every part of a score is a function of the document and the pinned statistics, parts are rounded so
//! that the order of their sum does not matter ([`super::score`]), and ties go to the lower signature of the URL.
//!
//! Messages are MessagePack ([`message`]); how they travel is up to a [`Transport`]: to threads, processes, or
//! other machines. A shard that does not answer is left out, and the answer says so ([`Ranking::missing`]).
//! Cost, for k hits from n shards: n · k hits of about 40 bytes, and one round trip per step.
//!
//! (Büttcher, Clarke and Cormack, *Information Retrieval*, 2010, chapter 14; Callan, *Distributed information
//! retrieval*, 2000.)
//!
//! [`Ranking::missing`]: super::Ranking::missing

mod broker;
mod merge;
pub mod message;
mod server;
mod terms;
mod vocabulary;

pub use broker::{Broker, Described, Transport};
pub use server::answer;
pub use terms::{TermBroker, TermOptions, TermShard, Traffic};
