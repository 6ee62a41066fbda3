//! Pages that are nearly the same: a fingerprint that changes little when the text does, and a table that
//! finds the fingerprints near a given one.

mod simhash;
mod table;

pub use simhash::simhash;
pub use table::{MAX_DISTANCE, NearTable};
