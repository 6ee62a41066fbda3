//! From text to terms: the one definition of what a word is, for documents and for queries.
//!
//! A text goes through three steps, a word at a time: where its words are ([`scan`], and [`stretch`] where
//! it takes more than a table of bytes), lower case and accent folding ([`mod@fold`]), and the stem in the text's
//! [`language`] ([`term`]). [`words`] is the face of it.
//!
//! Accents go *before* stemming. A stemmer would make a little more of the accents (`-ità`, `-ción`), but
//! whoever types `citta` for `città` must find the same pages, and only this order promises it.

mod bigrams;
mod fold;
mod joint;
mod language;
mod scan;
mod stop;
mod stretch;
mod term;
mod token;
mod words;

pub use fold::fold;
pub use language::Language;
pub use token::Token;
pub use words::{Analyzer, Word};
