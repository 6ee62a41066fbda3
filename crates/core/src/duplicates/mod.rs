//! Duplicates of documents: one family of fingerprints, for the crawl, the index and corpora of any kind.
//!
//! A text becomes *signals* ([`Signals`]: hashes of its words, word n-grams or character shingles), and from these come
//! its fingerprints: a digest ([`exact`]) finds equal ones, a SimHash ([`simhash`]) those within a few bits, selected
//! n-grams ([`Selection`]) and MinHash ([`MinHash`]) those that have most of their signals in common. What two texts
//! really have in common is measured on the sets of their signals ([`Measure`]).
//! [`hamming`] finds SimHashes within a few bits among any number of them, [`discovery`] the duplicates of a corpus, and
//! [`OnePass`] those of a stream of documents.

mod banding;
pub mod batch;
pub mod discovery;
pub mod exact;
mod frequencies;
pub mod hamming;
mod minhash;
mod normal;
mod one_pass;
mod overlap;
mod selection;
mod signals;
mod simhash;
mod similarity;
mod windows;
mod words;

pub use banding::Banding;
pub use frequencies::Frequencies;
pub use minhash::MinHash;
pub use normal::{Normal, lower_case};
pub use one_pass::OnePass;
pub use selection::Selection;
pub use signals::{Signals, Unit};
pub use simhash::{LEAST_WORDS, Weights, of_page, of_text, simhash, simhash_128};
pub use similarity::{Measure, distinct};
pub use windows::Windows;
