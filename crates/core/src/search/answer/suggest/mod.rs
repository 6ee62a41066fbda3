//! "Did you mean": spelling correction of a query, from the collection's own vocabulary.
//!
//! Callers do this for a query with few matches or none:
//!
//! 1. take the byte ranges of the query's plain [wanted words](crate::search::language::QueryText::wanted),
//!    except those with a high document frequency;
//! 2. ask a [`Speller`] over the snapshot's [`Vocabulary`] for [`corrections`](Speller::corrections) of them;
//! 3. if there are any, [`rewrite`] the query with them and offer it, perhaps after checking that it has more
//!    matches.
//!
//! Terms are stems, so a typo of one letter may yield a very different term (`documentaion` and `document`).
//! So the speller generates all strings at edit distance 1 from a word ([`edits`]) and looks up their terms;
//! for a long word without such a correction it walks the terms at edit distance 2 that have the same first
//! letter ([`fuzzy_after`](crate::search::matching::expand::fuzzy_after)). It keeps the most likely ones,
//! finds for each a surface form in a document ([`form`]), adds the word split in two and, for two words, the
//! two joined ([`compound`]), and chooses one ([`mod@choose`]) or leaves the word alone. Cost, on 50,000
//! documents: about 6 ms for a misspelt word, about 1 ms for one that is left alone.

mod choose;
mod compound;
mod edits;
mod form;
mod rewrite;
mod speller;
mod vocabulary;

pub(crate) use edits::edits;

pub use choose::{Candidate, choose, reach};
pub use rewrite::rewrite;
pub use speller::Speller;
pub use vocabulary::{Segments, Vocabulary, alike, frequency};

#[cfg(test)]
mod tests;
