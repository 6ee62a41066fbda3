//! The directory of a segment: where each section is, and the totals that scores need.
//!
//! Every field is eight bytes, little-endian: the ends of the sections in the order of the file (each
//! starts where the one before it ends), the totals, and last the length of all the pages.

use std::ops::Range;

use crate::format::Format;

/// The format of a segment.
pub const SEGMENT: Format = Format { kind: *b"SEGM", version: 1 };

/// A part of a segment, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The stored documents.
    Documents,
    /// Gaps between documents.
    Pointers,
    /// Occurrences in a document.
    Counts,
    /// Gaps between positions.
    Positions,
    /// Entries of blocks of postings.
    Skips,
    /// The terms.
    Terms,
    /// The first terms of blocks.
    TermIndex,
    /// The first documents of blocks.
    DocumentIndex,
    /// Words of each document.
    Lengths,
    /// Signatures of each document's URL.
    Signatures,
}

const SECTIONS: usize = Section::Signatures as usize + 1;
const TOTALS: usize = 5;

/// How much there is in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Documents, replaced ones too.
    pub documents: u64,
    /// Words of all documents.
    pub words: u64,
    /// Different terms.
    pub terms: u64,
    /// Pairs of a term and a document that holds it.
    pub postings: u64,
    /// Occurrences of terms.
    pub occurrences: u64,
}

/// Where everything is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Where each section ends.
    pub ends: [u64; SECTIONS],
    /// How much there is.
    pub totals: Totals,
}

impl Directory {
    /// The length of an encoded directory.
    pub const LENGTH: usize = (SECTIONS + TOTALS + 1) * 8;

    /// The bytes of a section.
    pub fn range(&self, section: Section) -> Range<u64> {
        let index = section as usize;
        let start = index.checked_sub(1).map_or(Format::HEADER as u64, |before| self.ends[before]);
        start..self.ends[index]
    }

    /// The bytes of the directory.
    pub fn encode(&self) -> Vec<u8> {
        let Totals { documents, words, terms, postings, occurrences } = self.totals;
        let totals = [documents, words, terms, postings, occurrences];
        let body = [self.ends[SECTIONS - 1]];
        self.ends.iter().chain(&totals).chain(&body).flat_map(|field| field.to_le_bytes()).collect()
    }

    /// The directory in these bytes; `None` where it makes no sense.
    pub fn decode(bytes: &[u8]) -> Option<Directory> {
        let (fields, rest) = bytes.as_chunks::<8>();
        if fields.len() != SECTIONS + TOTALS + 1 || !rest.is_empty() {
            return None;
        }
        let field = |index: usize| u64::from_le_bytes(fields[index]);
        let ends: [u64; SECTIONS] = std::array::from_fn(field);
        let totals = Totals {
            documents: field(SECTIONS),
            words: field(SECTIONS + 1),
            terms: field(SECTIONS + 2),
            postings: field(SECTIONS + 3),
            occurrences: field(SECTIONS + 4),
        };
        let ordered = ends.is_sorted() && ends[0] >= Format::HEADER as u64;
        let whole = ends[SECTIONS - 1] == field(SECTIONS + TOTALS);
        let numbered = totals.documents < u64::from(u32::MAX);
        (ordered && whole && numbered).then_some(Directory { ends, totals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_encoded() {
        let ends = std::array::from_fn(|index| 100 + index as u64 * 7);
        let totals = Totals { documents: 1, words: 2, terms: 3, postings: 4, occurrences: 5 };
        let directory = Directory { ends, totals };
        let bytes = directory.encode();
        assert_eq!(bytes.len(), Directory::LENGTH);
        assert_eq!(Directory::decode(&bytes), Some(directory));
        assert_eq!(directory.range(Section::Documents), 16..100);
        assert_eq!(directory.range(Section::Counts), 107..114);
        assert_eq!(Directory::decode(&bytes[1..]), None);
    }
}
