//! "Did you mean": a better spelling of a query, from the collection's own words.
//!
//! Whoever searches a snapshot does this, once a query has few matches or none:
//!
//! 1. takes the places of the query's words from its parser: plain words only, no operators, no names of
//!    zones, no values of filters, nothing under a NOT, no words with `*` or `~`;
//! 2. asks a [`Speller`] over the snapshot's segments for [`corrections`](Speller::corrections) of them;
//! 3. where there are any, [`rewrite`]s the query with them and offers it, perhaps after checking that it has
//!    more matches.
//!
//! For a word the speller looks for terms near its term ([`fuzzy`](super::expand::fuzzy), two changes, as
//! stemming may add one), keeps the likeliest, and since terms are stems looks up for each a word that is
//! written so in a document ([`form`]); a word that is two run together and two words that are one are
//! candidates too ([`compound`]); then it chooses ([`choose`]), or leaves the word alone. Cost: some
//! milliseconds for a word that few documents hold, microseconds for others.

mod choose;
mod compound;
mod form;
mod rewrite;
mod speller;

pub use choose::{Candidate, choose, reach};
pub use rewrite::rewrite;
pub use speller::Speller;

#[cfg(test)]
mod tests;
