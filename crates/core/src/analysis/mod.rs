//! From text to terms: the one definition of what a word is, for documents and for queries.
//!
//! A text goes through three steps, a word at a time: word boundaries ([`words`]), lower case and accent
//! folding ([`fold`]), and the stem ([`stem`]) in the text's language ([`language`]).
//!
//! Accents go *before* stemming. A stemmer would make a little more of the accents (`-ità`, `-ción`), but
//! whoever types `citta` for `città` must find the same pages, and only this order promises it.

mod fold;
mod language;
mod stem;
mod words;

pub use language::Language;
pub use words::{Analyzer, Word};
