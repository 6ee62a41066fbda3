//! The directory of a segment: where each section is, and the collection statistics needed for scoring.
//!
//! Every field is eight bytes, little-endian: the ends of the sections in file order (each starts where the
//! preceding one ends), the totals, and last the length of all pages.

use std::ops::Range;

use super::zone::ZONES;
use crate::disk::format::Format;

/// The format of a segment.
pub const SEGMENT: Format = Format { kind: *b"SEGM", version: 5 };

/// A part of a segment, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The stored documents.
    Documents,
    /// The first document of each block of stored documents.
    DocumentIndex,
    /// The place of each document among the stored ones; empty if they are in order.
    Order,
    /// Gaps between documents.
    Pointers,
    /// Term frequencies: occurrences in a document.
    Counts,
    /// Positions of the occurrences in a document.
    Positions,
    /// Skip lists: metadata of blocks of postings.
    Skips,
    /// The term dictionary.
    Terms,
    /// The first term of each dictionary block.
    TermIndex,
    /// From a term to its rank.
    Ranks,
    /// The integer codes of pointers, counts and positions.
    Codes,
    /// The length of each zone of each document, in tokens.
    Lengths,
    /// Signatures of each document's URL.
    Signatures,
    /// Site, language, kind and day of each document.
    Facts,
    /// The names of the sites.
    Sites,
    /// SimHashes of each document's text.
    Simhashes,
    /// Tombstones: signatures of URLs whose documents in older segments are deleted.
    Deleted,
    /// What queries may be completed to.
    Completions,
}

impl Section {
    /// Every section, in the order of the file.
    pub const ALL: [Section; SECTIONS] = [
        Section::Documents,
        Section::DocumentIndex,
        Section::Order,
        Section::Pointers,
        Section::Counts,
        Section::Positions,
        Section::Skips,
        Section::Terms,
        Section::TermIndex,
        Section::Ranks,
        Section::Codes,
        Section::Lengths,
        Section::Signatures,
        Section::Facts,
        Section::Sites,
        Section::Simhashes,
        Section::Deleted,
        Section::Completions,
    ];

    /// The name of the section in tables.
    pub fn name(self) -> &'static str {
        match self {
            Section::Documents => "documents",
            Section::DocumentIndex => "document index",
            Section::Order => "order",
            Section::Pointers => "pointers",
            Section::Counts => "counts",
            Section::Positions => "positions",
            Section::Skips => "skips",
            Section::Terms => "terms",
            Section::TermIndex => "term index",
            Section::Ranks => "ranks",
            Section::Codes => "codes",
            Section::Lengths => "lengths",
            Section::Signatures => "signatures",
            Section::Facts => "facts",
            Section::Sites => "sites",
            Section::Simhashes => "simhashes",
            Section::Deleted => "deleted",
            Section::Completions => "completions",
        }
    }
}

/// The number of sections.
pub const SECTIONS: usize = Section::Completions as usize + 1;
const TOTALS: usize = 4 + ZONES;

/// The counts of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Documents, including replaced ones.
    pub documents: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Triples of a term, a zone and a document that contains it there.
    pub postings: u64,
    /// Occurrences of terms.
    pub occurrences: u64,
    /// Tokens of each zone over all documents.
    pub words: [u64; ZONES],
}

/// The layout of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Where each section ends.
    pub ends: [u64; SECTIONS],
    /// The counts.
    pub totals: Totals,
}

impl Directory {
    /// The length of an encoded directory.
    pub const LENGTH: usize = (SECTIONS + TOTALS + 1) * 8;

    /// The byte range of a section.
    pub fn range(&self, section: Section) -> Range<u64> {
        let index = section as usize;
        let start = index.checked_sub(1).map_or(Format::HEADER as u64, |before| self.ends[before]);
        start..self.ends[index]
    }

    /// The encoded directory.
    pub fn encode(&self) -> Vec<u8> {
        let Totals { documents, terms, postings, occurrences, words } = &self.totals;
        let totals = [*documents, *terms, *postings, *occurrences];
        let body = [self.ends[SECTIONS - 1]];
        let fields = self.ends.iter().chain(&totals).chain(words).chain(&body);
        fields.flat_map(|field| field.to_le_bytes()).collect()
    }

    /// Decodes a directory; `None` if it is inconsistent.
    pub fn decode(bytes: &[u8]) -> Option<Directory> {
        let (fields, rest) = bytes.as_chunks::<8>();
        if fields.len() != SECTIONS + TOTALS + 1 || !rest.is_empty() {
            return None;
        }
        let field = |index: usize| u64::from_le_bytes(fields[index]);
        let ends: [u64; SECTIONS] = std::array::from_fn(field);
        let totals = Totals {
            documents: field(SECTIONS),
            terms: field(SECTIONS + 1),
            postings: field(SECTIONS + 2),
            occurrences: field(SECTIONS + 3),
            words: std::array::from_fn(|zone| field(SECTIONS + 4 + zone)),
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
        let totals = Totals { documents: 1, terms: 3, postings: 4, occurrences: 5, words: [2, 3, 4, 5, 6] };
        let directory = Directory { ends, totals };
        let bytes = directory.encode();
        assert_eq!(bytes.len(), Directory::LENGTH);
        assert_eq!(Directory::decode(&bytes), Some(directory));
        assert_eq!(directory.range(Section::Documents), 16..100);
        assert_eq!(directory.range(Section::Order), 107..114);
        assert_eq!(Directory::decode(&bytes[1..]), None);
    }
}
