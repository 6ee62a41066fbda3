//! From text to terms: the one tokenizer and analyzer, for documents and for queries.
//!
//! Each word passes three steps: tokenization ([`scan`], and [`stretch`] where a byte table is not enough),
//! lower-casing and accent folding ([`mod@fold`]), and stemming in the text's [`language`] ([`term`]).
//! [`words`] is the interface.
//!
//! Accents are folded *before* stemming. A stemmer would do slightly better with accents (`-ità`, `-ción`),
//! but `citta` and `città` must match the same pages, and only this order guarantees it.

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
