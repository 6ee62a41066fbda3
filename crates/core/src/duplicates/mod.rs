//! Near-duplicate detection: a fingerprint that changes little when the text does (SimHash), and a table that
//! finds the fingerprints within a Hamming distance of a given one.

mod simhash;
mod table;

pub use simhash::simhash;
pub use table::{MAX_DISTANCE, NearTable};
