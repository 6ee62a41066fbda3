//! Stored documents: the fields shown in results, compressed in blocks.
//!
//! Documents are collected until they exceed 16 KiB and compressed together with LZ4, so that short ones
//! share their vocabulary; the index has 12 bytes per block: its first document and where it ends. Reading a
//! document decompresses one block: about ten microseconds.
//!
//! ```text
//! block     LZ4 of its documents, with the decompressed length before it (u32)
//! document  URL, id, title, body, language, each as a length in variable byte code and UTF-8
//! ```

use std::ops::Range;

use crate::codes::variable_byte as number;
use crate::index::DocId;

const BLOCK: usize = 16 << 10;
const ENTRY: usize = 12;

/// The stored fields of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredDocument<'a> {
    /// Its URL.
    pub url: &'a str,
    /// The caller's identifier; may be empty.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its text.
    pub body: &'a str,
    /// Its language tag; empty if unknown.
    pub language: &'a str,
}

impl<'a> StoredDocument<'a> {
    fn fields(&self) -> [&'a str; 5] {
        [self.url, self.id, self.title, self.body, self.language]
    }
}

/// A compressed block.
pub struct Packed {
    /// The number of documents in it.
    pub documents: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Compresses documents into blocks.
pub fn pack<'a>(documents: impl Iterator<Item = StoredDocument<'a>>) -> Vec<Packed> {
    let mut packer = Packer::default();
    let mut blocks: Vec<Packed> = documents.filter_map(|document| packer.push(document)).collect();
    blocks.extend(packer.finish());
    blocks
}

/// Where blocks end: after the document that fills one.
#[derive(Default)]
pub struct BlockEnds(usize);

impl BlockEnds {
    /// Counts a document; returns whether a block ends with it.
    pub fn ends_with(&mut self, document: &StoredDocument<'_>) -> bool {
        self.0 += document.fields().iter().map(|field| field.len() + 1).sum::<usize>();
        let full = self.0 >= BLOCK;
        if full {
            self.0 = 0;
        }
        full
    }
}

/// Collects documents into blocks.
#[derive(Default)]
pub struct Packer {
    block: Vec<u8>,
    documents: u32,
    ends: BlockEnds,
}

impl Packer {
    /// Adds a document; returns a block when one is full.
    pub fn push(&mut self, document: StoredDocument<'_>) -> Option<Packed> {
        for field in document.fields() {
            number::write_bytes(field.as_bytes(), &mut self.block);
        }
        self.documents += 1;
        if self.ends.ends_with(&document) { self.finish() } else { None }
    }

    /// The last, partial block, if it has any documents.
    pub fn finish(&mut self) -> Option<Packed> {
        if self.documents == 0 {
            return None;
        }
        let bytes = lz4_flex::compress_prepend_size(&self.block);
        self.block.clear();
        self.ends = BlockEnds::default();
        Some(Packed { documents: std::mem::take(&mut self.documents), bytes })
    }
}

/// The block index, as it is written.
#[derive(Default)]
pub struct DocumentIndexWriter {
    documents: u32,
    written: u64,
    pub(in crate::index) bytes: Vec<u8>,
}

impl DocumentIndexWriter {
    /// Adds a block.
    pub fn push(&mut self, documents: u32, length: usize) {
        self.written += length as u64;
        self.bytes.extend_from_slice(&self.documents.to_le_bytes());
        self.bytes.extend_from_slice(&self.written.to_le_bytes());
        self.documents += documents;
    }
}

/// The block index, over the bytes of its section.
#[derive(Clone, Copy)]
pub struct DocumentIndex<'a>(pub &'a [u8]);

impl DocumentIndex<'_> {
    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.0.len() / ENTRY
    }

    /// The block that contains a document.
    pub fn block_of(&self, document: DocId) -> usize {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle) <= document {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.saturating_sub(1)
    }

    /// The first document of a block.
    pub fn first(&self, block: usize) -> DocId {
        let entry = &self.0[block * ENTRY..];
        DocId(u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]))
    }

    /// The byte range of a block in the section of documents.
    pub fn range(&self, block: usize) -> Range<u64> {
        block.checked_sub(1).map_or(0, |before| self.end(before))..self.end(block)
    }

    fn end(&self, block: usize) -> u64 {
        let entry = &self.0[block * ENTRY + 4..];
        entry.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// A decompressed block.
pub struct DocumentBlock(Vec<u8>);

impl DocumentBlock {
    /// Decompresses a block; `None` if it does not decode.
    pub fn read(compressed: &[u8]) -> Option<DocumentBlock> {
        let (length, _) = lz4_flex::block::uncompressed_size(compressed).ok()?;
        // LZ4 never compresses to less than 1/255: a larger length is corrupt, and must not be allocated.
        if length / 255 > compressed.len() {
            return None;
        }
        lz4_flex::decompress_size_prepended(compressed).ok().map(DocumentBlock)
    }

    /// Its documents in order; `None` for each that does not decode.
    pub fn documents(&self) -> impl Iterator<Item = Option<StoredDocument<'_>>> {
        let mut bytes = self.0.as_slice();
        std::iter::from_fn(move || {
            if bytes.is_empty() {
                return None;
            }
            let document = read_document(&mut bytes);
            if document.is_none() {
                bytes = &[];
            }
            Some(document)
        })
    }
}

fn read_document<'a>(bytes: &mut &'a [u8]) -> Option<StoredDocument<'a>> {
    let mut field = || std::str::from_utf8(number::read_bytes(bytes)?).ok();
    Some(StoredDocument { url: field()?, id: field()?, title: field()?, body: field()?, language: field()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_document_comes_back_by_its_number(bodies in prop::collection::vec((".{0,20}", 0usize..400), 1..60)) {
            let bodies: Vec<String> = bodies.iter().map(|(text, times)| text.repeat(*times)).collect();
            let stored = |body| StoredDocument { url: "u", title: "t", body, ..StoredDocument::default() };
            let mut writer = DocumentIndexWriter::default();
            let mut section = Vec::new();
            for block in pack(bodies.iter().map(|body| stored(body))) {
                writer.push(block.documents, block.bytes.len());
                section.extend(block.bytes);
            }
            let index = DocumentIndex(&writer.bytes);
            for (number, body) in bodies.iter().enumerate() {
                let block = index.block_of(DocId(number as u32));
                let range = index.range(block);
                let first = index.first(block).0 as usize;
                let block = DocumentBlock::read(&section[range.start as usize..range.end as usize]).unwrap();
                prop_assert_eq!(block.documents().nth(number - first).unwrap().unwrap(), stored(body));
            }
        }

        #[test]
        fn any_bytes_give_documents_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(block) = DocumentBlock::read(&bytes) {
                block.documents().for_each(drop);
            }
            DocumentBlock(bytes).documents().for_each(drop);
        }
    }
}
