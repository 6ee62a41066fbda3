//! Writing a segment: first the documents, as they come; then the postings, term after term in order.
//!
//! The file has a temporary name until it is whole and synced; then it is renamed and its folder synced.
//! Memory: 12 bytes a document, and buffers.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::directory::{Directory, SEGMENT, Section, Totals};
use super::documents::{DocumentsWriter, StoredDocument};
use super::pages::PageWriter;
use super::postings::{PostingsWriter, Spool};
use super::segment::SegmentFile;
use super::terms::TermsWriter;
use super::{DocId, file_name};
use crate::{Error, Result, Signature};

/// A segment under way.
pub struct SegmentWriter {
    folder: PathBuf,
    name: String,
    temporary: Temporary,
    pages: PageWriter,
    documents: DocumentsWriter,
    lengths: Vec<u32>,
    signatures: Vec<u8>,
    postings: PostingsWriter,
    terms: TermsWriter,
    totals: Totals,
}

/// The file while it is not whole; it does not outlive a failure.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing to remove, and opening the collection removes what is left.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl SegmentWriter {
    /// A new segment in `folder`.
    pub fn create(folder: &Path, number: u64) -> Result<SegmentWriter> {
        let name = file_name(number);
        let temporary = Temporary(folder.join(format!("{name}.tmp")));
        let mut pages = PageWriter::create(&temporary.0)?;
        pages.append(&SEGMENT.header())?;
        Ok(SegmentWriter {
            folder: folder.to_path_buf(),
            name,
            temporary,
            pages,
            documents: DocumentsWriter::default(),
            lengths: Vec::new(),
            signatures: Vec::new(),
            postings: PostingsWriter::new(folder),
            terms: TermsWriter::new(Spool::new(folder), Spool::new(folder)),
            totals: Totals::default(),
        })
    }

    /// Adds a document of so many words; returns its number.
    pub fn add_document(&mut self, stored: StoredDocument<'_>, words: u32) -> Result<DocId> {
        let document = self.next_document();
        if document == DocId::END {
            return Err(Error::Invalid("a segment is full at 4 thousand million documents".into()));
        }
        let signature = Signature::of(stored.url.as_bytes());
        self.signatures.extend_from_slice(&signature.0.to_le_bytes());
        self.lengths.push(words);
        self.totals.words += u64::from(words);
        if let Some(block) = self.documents.push(stored) {
            self.pages.append(&block)?;
        }
        Ok(document)
    }

    /// The number of the next document.
    pub fn next_document(&self) -> DocId {
        DocId(self.lengths.len() as u32)
    }

    /// How many bytes of memory the documents added so far take.
    pub fn memory(&self) -> usize {
        self.lengths.capacity() * size_of::<u32>() + self.signatures.capacity()
    }

    /// Adds a posting of the term under way.
    pub fn push(&mut self, document: DocId, positions: &[u32]) -> Result<()> {
        self.postings.push(document, self.lengths[document.0 as usize], positions)
    }

    /// Ends the term under way, which must come after the ones before; one without postings is left out.
    pub fn end_term(&mut self, term: &[u8]) -> Result<()> {
        let lists = self.postings.end_term()?;
        if lists.frequency == 0 {
            return Ok(());
        }
        self.totals.postings += u64::from(lists.frequency);
        self.totals.occurrences += lists.occurrences;
        self.terms.push(term, &lists)
    }

    /// Puts the sections together; the segment is durable when this returns.
    pub fn finish(mut self) -> Result<SegmentFile> {
        if let Some(block) = self.documents.finish() {
            self.pages.append(&block)?;
        }
        self.totals.terms = self.terms.finish()?;
        self.totals.documents = self.lengths.len() as u64;
        let mut directory = Directory { totals: self.totals, ..Directory::default() };
        let pages = &mut self.pages;
        let mut end =
            |section: Section, pages: &PageWriter| directory.ends[section as usize] = pages.length();
        end(Section::Documents, pages);
        let PostingsWriter { pointers, counts, positions, skips, .. } = self.postings;
        let TermsWriter { terms, index, .. } = self.terms;
        for (section, spool) in [
            (Section::Pointers, pointers),
            (Section::Counts, counts),
            (Section::Positions, positions),
            (Section::Skips, skips),
            (Section::Terms, terms),
            (Section::TermIndex, index),
        ] {
            spool.copy_to(pages)?;
            end(section, pages);
        }
        pages.append(&self.documents.index)?;
        end(Section::DocumentIndex, pages);
        let lengths: Vec<u8> = self.lengths.iter().flat_map(|words| words.to_le_bytes()).collect();
        pages.append(&lengths)?;
        end(Section::Lengths, pages);
        pages.append(&self.signatures)?;
        end(Section::Signatures, pages);
        let length = self.pages.finish(&directory.encode())?;
        let path = self.folder.join(&self.name);
        std::fs::rename(&self.temporary.0, &path).map_err(Error::io(&path))?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(Error::io(&self.folder))?;
        Ok(SegmentFile { name: self.name, length })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Segment;
    use super::*;

    /// Postings as a model: documents, each with its positions.
    pub type List = Vec<(u32, Vec<u32>)>;

    /// A segment with these terms and no text.
    pub fn segment_of(folder: &Path, lists: &[(&str, List)]) -> Segment {
        let mut writer = SegmentWriter::create(folder, 1).unwrap();
        let last = lists.iter().flat_map(|(_, list)| list).map(|(document, _)| *document).max();
        for number in 0..=last.unwrap_or(0) {
            let url = number.to_string();
            let stored = StoredDocument { url: &url, title: "", body: "", language: "" };
            writer.add_document(stored, number % 7).unwrap();
        }
        for (term, list) in lists {
            list.iter().for_each(|(document, positions)| writer.push(DocId(*document), positions).unwrap());
            writer.end_term(term.as_bytes()).unwrap();
        }
        writer.finish().unwrap().open(folder).unwrap()
    }

    #[test]
    fn the_dictionary_finds_every_term_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..500).map(|number| format!("term{:04}", number * 2)).collect();
        let lists: Vec<_> =
            names.iter().map(|name| (name.as_str(), vec![(3, vec![1, 2]), (9, vec![4])])).collect();
        let segment = segment_of(dir.path(), &lists);
        for number in 0..1000 {
            let found = segment.find(&format!("term{number:04}")).unwrap();
            assert_eq!(found.is_some(), number % 2 == 0);
            if let Some(lists) = found {
                assert_eq!((lists.frequency, lists.occurrences), (2, 3));
            }
        }
        assert!(segment.find("a").unwrap().is_none() && segment.find("z").unwrap().is_none());
        let walked: Vec<String> =
            segment.terms().map(|term| String::from_utf8(term.unwrap().0).unwrap()).collect();
        assert_eq!(walked, names);
    }

    #[test]
    fn an_abandoned_segment_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(SegmentWriter::create(dir.path(), 1).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
