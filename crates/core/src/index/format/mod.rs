//! The file format of a segment: the layout of each section, for writers and readers.

pub mod card;
pub mod codes;
pub mod completions;
pub mod directory;
pub mod documents;
pub mod facts;
pub mod lists;
pub mod maxima;
pub mod name;
pub mod pages;
pub mod rows;
pub mod sites;
pub mod skips;
pub mod template;
pub mod terms;
pub mod zone;

pub use card::Card;
pub use name::Piece;

/// A document id: documents of a segment are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// The value of an exhausted iterator; greater than every document id.
    pub const END: DocId = DocId(u32::MAX);
}
