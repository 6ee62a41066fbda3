//! "Did you mean": a better spelling of a query, from the collection's own words.
//!
//! Whoever searches a snapshot does this, once a query has few matches or none:
//!
//! 1. takes the places of the query's plain [wanted words](crate::search::language::QueryText::wanted), and leaves out
//!    those that many documents hold;
//! 2. asks a [`Speller`] over the snapshot's segments for [`corrections`](Speller::corrections) of them;
//! 3. where there are any, [`rewrite`]s the query with them and offers it, perhaps after checking that it has
//!    more matches.
//!
//! Terms are stems, so a slip of one letter may make two terms quite different (`documentaion` and `document`).
//! So for a word the speller makes whatever one change makes of it ([`edits`]) and looks up the terms; for a long word
//! without a correction so near, it walks over the terms within two changes that begin alike
//! ([`fuzzy_after`](crate::search::matching::expand::fuzzy_after)). It keeps the likeliest, finds for each a word that is written so in a
//! document ([`form`]), adds the word as two and, for two words, the two as one ([`compound`]), and chooses
//! ([`mod@choose`]), or leaves the word alone. Cost, on 50,000 documents:
//! some 6 ms for a misspelt word, about 1 ms for one that is left alone.

mod choose;
mod compound;
mod edits;
mod form;
mod rewrite;
mod speller;

pub use choose::{Candidate, choose, reach};
pub use rewrite::rewrite;
pub use speller::Speller;

#[cfg(test)]
mod tests;
