//! The format of a segment: how each of its sections is laid out, for whoever writes or reads it.

pub mod card;
pub mod codes;
pub mod directory;
pub mod documents;
pub mod facts;
pub mod lists;
pub mod maxima;
pub mod pages;
pub mod rows;
pub mod sites;
pub mod skips;
pub mod spool;
pub mod template;
pub mod terms;
pub mod zone;

pub use card::Card;

/// A document of one segment: they are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// What an iterator stands on past its last document; greater than every document.
    pub const END: DocId = DocId(u32::MAX);
}

/// The file name of the segment with this number.
pub fn file_name(number: u64) -> String {
    format!("segment-{number:06}.seg")
}
