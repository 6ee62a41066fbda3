//! Documents waiting to be indexed: a few megabytes of text, concatenated in one allocation.
//!
//! A chunk is the unit of work of a thread: its documents have consecutive ids, so the result does not depend
//! on which thread takes it, and the posting lists of all chunks are merged by concatenation. A chunk ends
//! where a block of stored documents ends, so the chunk size leaves no trace in the segment.

use crate::duplicates::of_text;
use crate::index::format::documents::{BlockEnds, StoredDocument};
use crate::index::format::zone::Zone;

/// A document to add.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewDocument<'a> {
    /// Its URL, which is its identity.
    pub url: &'a str,
    /// The caller's identifier; may be empty.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its headings, one per line.
    pub headings: &'a str,
    /// Its text.
    pub body: &'a str,
    /// The anchor text of links to it, one per line.
    pub anchors: &'a str,
    /// Its language tag, if known.
    pub language: &'a str,
    /// Its media type, if known.
    pub kind: &'a str,
    /// When it was written, in days since 1970-01-01; 0 if unknown.
    pub day: u32,
    /// The SimHash of its text, 0 if that is too short for one; `None`: it is computed from the body.
    pub simhash: Option<u64>,
}

impl<'a> NewDocument<'a> {
    /// The SimHash of its text: that of the page as the crawl computed it, or that of the body by the same function
    /// ([`of_text`]); 0 if there is none.
    pub fn fingerprint(&self) -> u64 {
        self.simhash.or_else(|| of_text(self.body)).unwrap_or_default()
    }

    /// The text to index for a zone.
    pub fn zone(&self, zone: Zone) -> &'a str {
        match zone {
            Zone::Body => self.body,
            Zone::Title => self.title,
            Zone::Headings => self.headings,
            Zone::Anchors => self.anchors,
            Zone::Url => self.url,
        }
    }

    /// The fields that are stored.
    pub fn stored(&self) -> StoredDocument<'a> {
        let NewDocument { url, id, title, body, language, .. } = *self;
        StoredDocument { url, id, title, body, language }
    }

    fn fields(&self) -> [&'a str; FIELDS] {
        [self.url, self.id, self.title, self.headings, self.body, self.anchors, self.language, self.kind]
    }
}

const FIELDS: usize = 8;

/// Documents with consecutive ids.
#[derive(Default)]
pub struct Chunk {
    /// The number of chunks before this one.
    pub number: u64,
    text: String,
    /// Where each field of each document ends in the text.
    ends: Vec<[usize; FIELDS]>,
    days: Vec<u32>,
    simhashes: Vec<Option<u64>>,
    blocks: BlockEnds,
    /// Whether the last document ends a block of stored documents.
    at_end_of_block: bool,
}

impl Chunk {
    /// An empty chunk.
    pub fn new(number: u64) -> Chunk {
        Chunk { number, ..Chunk::default() }
    }

    /// Adds a document.
    pub fn push(&mut self, document: &NewDocument<'_>) {
        let ends = document.fields().map(|field| {
            self.text.push_str(field);
            self.text.len()
        });
        self.ends.push(ends);
        self.days.push(document.day);
        self.simhashes.push(document.simhash);
        self.at_end_of_block = self.blocks.ends_with(&document.stored());
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no documents.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether it has reached `limit` bytes and may end here.
    pub fn is_full(&self, limit: usize) -> bool {
        let columns = size_of_val(self.days.as_slice()) + size_of_val(self.simhashes.as_slice());
        let bytes = self.text.len() + size_of_val(self.ends.as_slice()) + columns;
        self.at_end_of_block && bytes >= limit
    }

    /// A document, by its index in the chunk.
    pub fn document(&self, place: usize) -> NewDocument<'_> {
        let mut start = place.checked_sub(1).map_or(0, |before| self.ends[before][FIELDS - 1]);
        let [url, id, title, headings, body, anchors, language, kind] = self.ends[place].map(|end| {
            let field = &self.text[start..end];
            start = end;
            field
        });
        let (day, simhash) = (self.days[place], self.simhashes[place]);
        NewDocument { url, id, title, headings, body, anchors, language, kind, day, simhash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_added() {
        let first = NewDocument { url: "u", title: "Città", body: "b c", ..NewDocument::default() };
        let second = NewDocument {
            id: "7",
            anchors: "x\ny",
            language: "it",
            kind: "a/b",
            day: 9,
            simhash: Some(5),
            ..NewDocument::default()
        };
        let mut chunk = Chunk::new(3);
        assert!(chunk.is_empty());
        [first, second, first].iter().for_each(|document| chunk.push(document));
        assert_eq!(chunk.len(), 3);
        for (place, document) in [first, second, first].iter().enumerate() {
            assert_eq!(chunk.document(place).fields(), document.fields());
            assert_eq!(chunk.document(place).day, document.day);
            assert_eq!(chunk.document(place).simhash, document.simhash);
        }
    }
}
