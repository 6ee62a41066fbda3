//! The index in the Common Index File Format, in which search engines exchange inverted indexes.
//!
//! A file is a header, the posting lists in the order of their terms, and the documents: Protocol Buffers
//! messages, each after its length as a varint.
//!
//! | message | fields |
//! | --- | --- |
//! | `Header` | 1 version, 2 posting lists, 3 documents, 4 and 5 the same of the whole collection, 6 tokens, 7 mean length (double), 8 description |
//! | `PostingsList` | 1 term, 2 documents, 3 occurrences, 4 postings: (1 gap of the document, 2 count) |
//! | `DocRecord` | 1 document, 2 its name, 3 its length in tokens |
//!
//! Documents that were replaced or deleted are left out, and the others numbered anew, segment after segment. A term's
//! count is over all searched zones. The header comes first and counts everything, so all posting lists are decoded
//! twice. Memory: 4 bytes a document, and one posting list.
//!
//! Source: Lin et al., *Supporting Interoperability Between Open-Source Search Engines with the Common Index File
//! Format*, SIGIR 2020; <https://github.com/osirrc/ciff>.

use std::path::Path;

use super::read::replaced;
use super::read::segment::Terms;
use super::{DocId, Segment, TermCursor, Zone};
use crate::disk::new_file::NewFile;
use crate::{Pulse, Result};

/// How many documents and posting lists were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The documents.
    pub documents: u64,
    /// The posting lists.
    pub lists: u64,
}

/// Writes the live documents of segments, in order from the oldest to the newest, to a file.
pub fn write_ciff(segments: &[Segment], path: &Path, description: &str, pulse: &Pulse) -> Result<Written> {
    let numbers = numbers(segments, pulse)?;
    let documents = numbers.iter().flatten().filter(|number| **number != DEAD).count() as u64;
    let mut lists = 0;
    each_list(segments, &numbers, pulse, |_, _| {
        lists += 1;
        Ok(())
    })?;
    let mut tokens = 0;
    each_document(segments, &numbers, pulse, |_, _, length| {
        tokens += length;
        Ok(())
    })?;
    let mut file = NewFile::create(path)?;
    let mut header = Message::default();
    header.number(1, 1);
    [(2, lists), (3, documents), (4, lists), (5, documents), (6, tokens)]
        .iter()
        .for_each(|(field, value)| header.number(*field, *value));
    header.double(7, tokens as f64 / documents.max(1) as f64);
    header.bytes(8, description.as_bytes());
    file.append(&header.delimited())?;
    each_list(segments, &numbers, pulse, |term, postings| {
        let mut list = Message::default();
        list.bytes(1, term);
        list.number(2, postings.len() as u64);
        list.number(3, postings.iter().map(|(_, count)| u64::from(*count)).sum());
        let mut before = 0;
        for (document, count) in postings {
            let mut posting = Message::default();
            posting.number(1, u64::from(document - before));
            posting.number(2, u64::from(*count));
            list.bytes(4, &posting.0);
            before = *document;
        }
        file.append(&list.delimited())
    })?;
    each_document(segments, &numbers, pulse, |number, name, length| {
        let mut record = Message::default();
        record.number(1, u64::from(number));
        record.bytes(2, name.as_bytes());
        record.number(3, length);
        file.append(&record.delimited())
    })?;
    file.finish()?;
    Ok(Written { documents, lists })
}

/// The number of a document that is not written.
const DEAD: u32 = u32::MAX;

/// The new number of each document of each segment.
fn numbers(segments: &[Segment], pulse: &Pulse) -> Result<Vec<Vec<u32>>> {
    let replaced = replaced::find(segments, pulse)?;
    let mut next = 0;
    let numbers = segments.iter().zip(&replaced).map(|(segment, replaced)| {
        let number = |document| {
            if replaced.contains(document) {
                return DEAD;
            }
            next += 1;
            next - 1
        };
        segment.documents().map(number).collect()
    });
    Ok(numbers.collect())
}

/// Calls `see` with each term that a live document has, and its postings: documents and counts.
fn each_list(
    segments: &[Segment],
    numbers: &[Vec<u32>],
    pulse: &Pulse,
    mut see: impl FnMut(&[u8], &[(u32, u32)]) -> Result<()>,
) -> Result<()> {
    let mut terms: Vec<Option<Terms<'_>>> = Vec::new();
    for segment in segments {
        let mut first = segment.terms();
        terms.push(first.advance()?.then_some(first));
    }
    let mut postings = Vec::new();
    while let Some(least) = terms.iter().flatten().map(Terms::term).min().map(<[u8]>::to_vec) {
        pulse.beat()?;
        postings.clear();
        for ((segment, numbers), of) in segments.iter().zip(numbers).zip(&mut terms) {
            let Some(here) = of.as_mut().filter(|here| here.term() == least) else { continue };
            let mut cursor = TermCursor::new(segment, here.lists().to_vec())?;
            while cursor.document() != DocId::END {
                let number = numbers.get(cursor.document().0 as usize).copied().unwrap_or(DEAD);
                if number != DEAD {
                    postings.push((number, cursor.count()?));
                }
                cursor.advance()?;
            }
            if !here.advance()? {
                *of = None;
            }
        }
        if !postings.is_empty() {
            see(&least, &postings)?;
        }
    }
    Ok(())
}

/// Calls `see` with each live document: its number, its name (its id, or else its URL) and its length.
fn each_document(
    segments: &[Segment],
    numbers: &[Vec<u32>],
    pulse: &Pulse,
    mut see: impl FnMut(u32, &str, u64) -> Result<()>,
) -> Result<()> {
    for (segment, numbers) in segments.iter().zip(numbers) {
        for (document, number) in segment.documents().zip(numbers).filter(|(_, number)| **number != DEAD) {
            pulse.beat()?;
            let mut length = 0;
            for zone in Zone::SEARCHED {
                length += u64::from(segment.words(document, zone)?);
            }
            segment.stored(document, |stored| {
                let name = if stored.id.is_empty() { stored.url } else { stored.id };
                see(*number, name, length)
            })??;
        }
    }
    Ok(())
}

/// A Protocol Buffers message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        // Zero is the default, and is not written.
        if value > 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn double(&mut self, field: u64, value: f64) {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The message after its length.
    fn delimited(self) -> Vec<u8> {
        let mut length = Message::default();
        length.varint(self.0.len() as u64);
        length.0.extend(self.0);
        length.0
    }
}
