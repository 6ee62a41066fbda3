//! The phrases of documents that a query may be completed to: collected by chunk, merged by segment.
//!
//! From a title: the title itself, at each of its words that is no stop word, and its sequences of one to three words
//! that neither begin nor end with a stop word. From headings and anchor texts: short ones, as they are. A title weighs
//! [`TITLE`], everything else [`OTHER`]; what weighs less than [`LEAST`] in all the segment is left out, so a heading,
//! an anchor text or a sequence of words must occur twice. Words are what white space separates, without
//! punctuation at their ends; a word of punctuation alone, as between a title and the name of its site, ends a phrase.
//!
//! Weights of a segment merge are sums. Phrases of documents that were replaced or deleted since remain in them,
//! until the index is built anew: the documents of a phrase are not kept.

use std::io::Read;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::format::completions::{Completions, CompletionsWriter};
use super::chunk::NewDocument;
use crate::analysis::{Analyzer, fold};
use crate::codes::variable_byte as number;
use crate::disk::spool::Spool;
use crate::{Error, Pulse, Result};

/// The weight of a title.
pub const TITLE: u32 = 8;
/// The weight of a heading, an anchor text, or a sequence of words of a title.
pub const OTHER: u32 = 3;
/// The least weight that is kept.
const LEAST: u32 = 4;

/// The longest phrase of a title, of a line of another zone, and sequence, in words.
const LONGEST_TITLE: usize = 10;
const LONGEST_LINE: usize = 6;
const LONGEST_SEQUENCE: usize = 3;
/// The number of words at which a phrase may be completed.
const STARTS: usize = 5;
/// The number of lines of a zone that are taken of a document.
const LINES: usize = 16;
/// The longest word in bytes.
const LONGEST_WORD: usize = 40;
const READ: usize = 1 << 16;

/// The punctuation that words lose at their ends; `+` and `#` are parts of names.
fn is_edge(letter: char) -> bool {
    !letter.is_alphanumeric() && !matches!(letter, '+' | '#' | '_' | '&' | '%')
}

/// A word of a phrase: as written, in lower case, and folded.
pub struct PhraseWord {
    /// In lower case.
    pub shown: String,
    /// Without accents.
    pub folded: String,
}

/// Calls `visit` with the words of each phrase of a text.
pub fn phrases(text: &str, longest: usize, mut visit: impl FnMut(&[PhraseWord])) {
    let mut words: Vec<PhraseWord> = Vec::new();
    for token in text.split_whitespace() {
        let word = token.trim_matches(is_edge);
        let ends = word.is_empty() || word.len() > LONGEST_WORD;
        if !ends && words.len() < longest {
            let mut folded = String::new();
            fold(word, &mut folded);
            words.push(PhraseWord { shown: word.to_lowercase(), folded });
        }
        let is_closed = token.ends_with(['.', '!', '?', ':', ';', '|']);
        if (ends || is_closed) && !words.is_empty() {
            visit(&words);
            words.clear();
        }
    }
    if !words.is_empty() {
        visit(&words);
    }
}

/// The phrases of a chunk, with their weights.
#[derive(Default)]
pub struct Phrases {
    weights: FxHashMap<Box<[u8]>, u32>,
    key: Vec<u8>,
}

impl Phrases {
    /// Adds those of a document.
    pub fn add(&mut self, document: &NewDocument<'_>, analyzer: &Analyzer) {
        let is_stop = |word: &PhraseWord| analyzer.is_stop_word(&word.shown);
        phrases(document.title, LONGEST_TITLE, |words| {
            self.phrase(words, TITLE, is_stop);
            for start in 0..words.len() {
                for end in start + 1..=words.len().min(start + LONGEST_SEQUENCE) {
                    let sequence = &words[start..end];
                    let is_title = sequence.len() == words.len();
                    if !is_title && !is_stop(&words[start]) && !is_stop(&words[end - 1]) {
                        self.put(sequence, 0, OTHER);
                    }
                }
            }
        });
        for line in document.headings.lines().take(LINES).chain(document.anchors.lines().take(LINES)) {
            phrases(line, LONGEST_LINE, |words| self.phrase(words, OTHER, is_stop));
        }
    }

    /// Adds a phrase, at those of its words at which it may be completed.
    fn phrase(&mut self, words: &[PhraseWord], weight: u32, is_stop: impl Fn(&PhraseWord) -> bool) {
        let starts = (0..words.len()).filter(|start| *start == 0 || !is_stop(&words[*start]));
        for start in starts.take(STARTS) {
            self.put(words, start, weight);
        }
    }

    fn put(&mut self, words: &[PhraseWord], start: usize, weight: u32) {
        let key = &mut self.key;
        key.clear();
        append(key, words[start..].iter().map(|word| &word.folded));
        if words.iter().all(|word| word.shown == word.folded) {
            key.push(0);
            append(key, words[..start].iter().map(|word| &word.folded));
        } else {
            key.push(1);
            append(key, words.iter().map(|word| &word.shown));
        }
        match self.weights.get_mut(key.as_slice()) {
            Some(known) => *known = known.saturating_add(weight),
            None => drop(self.weights.insert(key.as_slice().into(), weight)),
        }
    }

    /// All of them, in the order of their keys.
    pub fn into_run(self, folder: &Path) -> Result<Spool> {
        let mut records: Vec<(Box<[u8]>, u32)> = self.weights.into_iter().collect();
        records.sort_unstable();
        let (mut run, mut bytes) = (Spool::new(folder), Vec::new());
        for (key, weight) in records {
            bytes.clear();
            number::write_bytes(&key, &mut bytes);
            number::write(weight.into(), &mut bytes);
            run.append(&bytes)?;
        }
        Ok(run)
    }
}

fn append<'a>(key: &mut Vec<u8>, words: impl Iterator<Item = &'a String>) {
    for (place, word) in words.enumerate() {
        if place > 0 {
            key.push(b' ');
        }
        // Bytes 0 and 1 separate the parts of a key, and no word has them: they are not printable.
        key.extend(word.bytes().filter(|byte| *byte > 1));
    }
}

/// A sorted source of phrases, for [`write()`].
pub enum Source<'a> {
    /// The phrases of a chunk.
    Run(Spool),
    /// The phrases of a segment.
    Segment(Completions<'a>),
}

/// Merges sources into a section.
pub fn write(
    folder: &Path,
    sources: Vec<Source<'_>>,
    pulse: &Pulse,
) -> Result<Option<(Spool, Spool, [u8; 16])>> {
    let mut runs = Vec::with_capacity(sources.len());
    for source in sources {
        pulse.beat()?;
        runs.push(Cursor::open(match source {
            Source::Run(run) => run,
            Source::Segment(completions) => {
                let (mut run, mut bytes) = (Spool::new(folder), Vec::new());
                completions.each(|key, weight| {
                    bytes.clear();
                    number::write_bytes(key, &mut bytes);
                    number::write(weight.into(), &mut bytes);
                    run.append(&bytes)
                })?;
                run
            }
        })?);
    }
    let mut writer = CompletionsWriter::new(Spool::new(folder), Spool::new(folder));
    let mut heap: std::collections::BinaryHeap<std::cmp::Reverse<(Vec<u8>, usize)>> = Default::default();
    for (place, run) in runs.iter_mut().enumerate() {
        if run.advance()? {
            heap.push(std::cmp::Reverse((run.key.clone(), place)));
        }
    }
    let mut records = 0_u64;
    while let Some(std::cmp::Reverse((key, place))) = heap.pop() {
        let mut weight = runs[place].weight;
        let mut taken = vec![place];
        while let Some(std::cmp::Reverse((other, _))) = heap.peek()
            && *other == key
            && let Some(std::cmp::Reverse((_, place))) = heap.pop()
        {
            weight = weight.saturating_add(runs[place].weight);
            taken.push(place);
        }
        if weight >= LEAST {
            writer.push(&key, weight)?;
        }
        for place in taken {
            if runs[place].advance()? {
                heap.push(std::cmp::Reverse((runs[place].key.clone(), place)));
            }
        }
        records += 1;
        if records.is_multiple_of(1 << 14) {
            pulse.beat()?;
        }
    }
    writer.finish()
}

/// Reads a run, record by record.
struct Cursor {
    reader: Box<dyn Read>,
    buffer: Vec<u8>,
    at: usize,
    key: Vec<u8>,
    weight: u32,
}

impl Cursor {
    fn open(run: Spool) -> Result<Cursor> {
        let reader = Box::new(run.into_reader()?);
        Ok(Cursor { reader, buffer: Vec::new(), at: 0, key: Vec::new(), weight: 0 })
    }

    /// Whether there is another record.
    fn advance(&mut self) -> Result<bool> {
        loop {
            let mut rest = &self.buffer[self.at..];
            if let Some(key) = number::read_bytes(&mut rest)
                && let Some(weight) = number::read_u32(&mut rest)
            {
                self.key.clear();
                self.key.extend_from_slice(key);
                self.weight = weight;
                self.at = self.buffer.len() - rest.len();
                return Ok(true);
            }
            let left = self.buffer.split_off(self.at);
            (self.buffer, self.at) = (left, 0);
            let before = self.buffer.len();
            let mut limited = (&mut self.reader).take(READ as u64);
            limited.read_to_end(&mut self.buffer).map_err(Error::io("the phrases of an index"))?;
            if self.buffer.len() == before {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;

    fn collected(documents: &[NewDocument<'_>], chunks: usize) -> Vec<(String, u32)> {
        let folder = tempfile::tempdir().unwrap();
        let analyzer = Analyzer::new(Language::of(Some("en")));
        let size = documents.len().div_ceil(chunks).max(1);
        let runs = documents.chunks(size).map(|chunk| {
            let mut phrases = Phrases::default();
            chunk.iter().for_each(|document| phrases.add(document, &analyzer));
            Source::Run(phrases.into_run(folder.path()).unwrap())
        });
        let Some((blocks, table, totals)) = write(folder.path(), runs.collect(), &Pulse::STEADY).unwrap()
        else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        blocks.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
        table.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
        bytes.extend_from_slice(&totals);
        let completions = Completions::open(&bytes).unwrap();
        let mut found = Vec::new();
        completions
            .each(|key, weight| {
                found.push((String::from_utf8(key.to_vec()).unwrap(), weight));
                Ok(())
            })
            .unwrap();
        found
    }

    fn titled(title: &str) -> NewDocument<'_> {
        NewDocument { title, ..NewDocument::default() }
    }

    #[test]
    fn titles_are_kept_and_sequences_from_two_on() {
        let documents = [titled("The Fresnel lens | Lamps"), titled("A Fresnel lens, cleaned")];
        let found = collected(&documents, 1);
        let weight = |key: &str| found.iter().find(|(known, _)| known == key).map(|(_, weight)| *weight);
        assert_eq!(weight("the fresnel lens\0"), Some(TITLE));
        assert_eq!(weight("lens\0the fresnel"), Some(TITLE));
        assert_eq!(weight("lamps\0"), Some(TITLE));
        assert_eq!(weight("fresnel lens\0"), Some(2 * OTHER));
        assert_eq!(weight("lens cleaned\0"), None);
        assert_eq!(weight("the\0"), None);
    }

    #[test]
    fn chunks_leave_no_trace() {
        let titles = ["One lens", "Two lens", "Città alta", "città  ALTA!", "C++ lens"];
        let documents = titles.map(titled);
        assert_eq!(collected(&documents, 1), collected(&documents, 4));
        assert!(collected(&documents, 2).contains(&("citta alta\u{1}città alta".to_owned(), 2 * TITLE)));
    }

    #[test]
    fn headings_and_anchors_must_occur_twice() {
        let once = NewDocument { headings: "How to clean\nOil", anchors: "oil", ..NewDocument::default() };
        assert_eq!(collected(&[once], 1), [("oil\0".to_owned(), 2 * OTHER)]);
    }
}
