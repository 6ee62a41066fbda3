//! The index: from text to compressed, memory-mapped, checksummed segments.
//!
//! A segment is one immutable file; adding documents writes a new one, and merging makes one of many. Its
//! parts, in the order of the file:
//!
//! | section | what | cost |
//! | --- | --- | --- |
//! | documents | URL, title, body and language, in LZ4 blocks ([`documents`]) | about half of the text |
//! | pointers | which documents hold a term, as gaps ([`postings`], [`cursor`]) | log₂ of the mean gap, and a little |
//! | counts | how often | 1 to 4 bits a posting |
//! | positions | and where, as gaps | 6 to 10 bits an occurrence |
//! | skips | one entry for each block of 128 postings, in lists of two blocks or more ([`skips`]) | 1.75 bits a posting |
//! | terms | sorted, front-coded, with the place of each term's lists ([`terms`]) | about 12 bytes a term |
//! | term index | the first term of each block of terms | a thirty-second of the terms |
//! | document index | the first document of each LZ4 block | 12 bytes a block |
//! | lengths | words of each document | 4 bytes a document |
//! | signatures | of each document's URL | 8 bytes a document |
//! | checksums | CRC-32 of each page of 4 KiB of all that ([`pages`]) | 0.1 % |
//! | directory | where each section is, and the totals ([`directory`]) | 132 bytes |
//!
//! A document added again replaces the older one: the newer wins, in whatever segment it is
//! ([`replaced`]), and merging drops the older one for good.

pub mod builder;
pub mod cursor;
pub mod directory;
pub mod documents;
pub mod merge;
pub mod pages;
pub mod postings;
pub mod replaced;
pub mod segment;
pub mod skips;
pub mod terms;
pub mod writer;

pub use builder::{IndexBuilder, NewDocument};
pub use merge::merge;
pub use segment::{Segment, SegmentFile};

/// A document of one segment: they are numbered from 0 in the order in which they came.
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
