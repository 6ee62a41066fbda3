//! Completion of a query while it is typed, from the phrases of the collection
//! ([`crate::index::format::completions`]).
//!
//! In this order, until there is something to offer:
//!
//! 1. the heaviest phrases that go on with what is typed, from any of their words;
//! 2. the same with one word at edit distance 1: the first word with which no phrase goes on ([`edits`]);
//! 3. the last word completed alone, as typed or at edit distance 1, after the words before it.
//!
//! Weights of several segments are added. A query with operators is not completed. Cost: a binary search and about ten
//! blocks for each segment; for a misspelt word some 500 binary searches, about a millisecond.

use std::collections::HashMap;

use super::suggest::edits;
use crate::Result;
use crate::index::Segment;
use crate::index::build::phrases::{PhraseWord, phrases};
use crate::index::format::completions::Completions;

/// The longest text that is completed, in bytes, and the most words of it.
const LONGEST: usize = 200;
const MOST_WORDS: usize = 16;
/// The number of phrases that are asked of each segment for each that is returned.
const ASKED: usize = 3;
/// The shortest word that may be misspelt, in letters, and the longest.
const SHORTEST: usize = 4;
const LONGEST_WORD: usize = 24;
/// The number of spellings of a word that are tried further.
const SPELLINGS: usize = 24;

/// The phrases to which a text may be completed, at most `top` of them, the best first.
pub fn complete<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    text: &str,
    top: usize,
) -> Result<Vec<String>> {
    if top == 0 || text.len() > LONGEST || text.contains(['"', ':', '(', ')', '*', '~', '^', '[', ']']) {
        return Ok(Vec::new());
    }
    let mut words: Vec<String> = Vec::new();
    let typed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    phrases(text, MOST_WORDS, |found: &[PhraseWord]| {
        words.extend(found.iter().map(|word| word.folded.clone()))
    });
    if words.is_empty() || words.len() > MOST_WORDS {
        return Ok(Vec::new());
    }
    let is_ended = text.ends_with(char::is_whitespace);
    let sections = segments.map(Segment::completions).collect::<Result<Vec<_>>>()?;
    let collection = Collection { sections, top };
    let mut found = collection.phrases(&prefix(&words, is_ended));
    if found.is_empty() {
        found = collection.respelt(&words, is_ended);
    }
    if found.is_empty()
        && !is_ended
        && let [before @ .., last] = words.as_slice()
        && !before.is_empty()
    {
        let last = std::slice::from_ref(last);
        found = collection.phrases(&prefix(last, false));
        if found.is_empty() {
            found = collection.respelt(last, false);
        }
        let kept = typed.rsplit_once(' ').map_or("", |(kept, _)| kept);
        found.iter_mut().for_each(|(phrase, _)| *phrase = format!("{kept} {phrase}"));
    }
    found.retain(|(phrase, _)| *phrase != typed.to_lowercase());
    found.sort_by(|(left, heavy), (right, heavier)| {
        heavier.cmp(heavy).then(left.len().cmp(&right.len())).then_with(|| left.cmp(right))
    });
    found.truncate(top);
    Ok(found.into_iter().map(|(phrase, _)| phrase).collect())
}

fn prefix(words: &[String], is_ended: bool) -> String {
    let mut prefix = words.join(" ");
    if is_ended {
        prefix.push(' ');
    }
    prefix
}

struct Collection<'a> {
    sections: Vec<Completions<'a>>,
    top: usize,
}

impl Collection<'_> {
    fn has(&self, prefix: &str) -> bool {
        self.sections.iter().any(|section| section.has(prefix.as_bytes()))
    }

    /// The heaviest phrases with a prefix, with their weights, in no order.
    fn phrases(&self, prefix: &str) -> Vec<(String, u64)> {
        let mut weights: HashMap<String, u64> = HashMap::new();
        for section in &self.sections {
            for found in section.top(prefix.as_bytes(), ASKED * self.top) {
                *weights.entry(found.text).or_default() += u64::from(found.weight);
            }
        }
        weights.into_iter().collect()
    }

    /// The phrases with the first word that leads nowhere spelt otherwise.
    fn respelt(&self, words: &[String], is_ended: bool) -> Vec<(String, u64)> {
        let wrong = (0..words.len()).find(|place| {
            let is_last = place + 1 == words.len();
            !self.has(&prefix(&words[..=*place], is_ended || !is_last))
        });
        let Some(wrong) = wrong else { return Vec::new() };
        if !(SHORTEST..=LONGEST_WORD).contains(&words[wrong].chars().count()) {
            return Vec::new();
        }
        let mut tried = words.to_vec();
        let mut prefixes = Vec::new();
        for spelling in edits(&words[wrong]) {
            tried[wrong] = spelling;
            let prefix = prefix(&tried, is_ended);
            if self.has(&prefix) {
                prefixes.push(prefix);
            }
        }
        prefixes.truncate(SPELLINGS);
        let mut best: HashMap<String, u64> = HashMap::new();
        for (phrase, weight) in prefixes.iter().flat_map(|prefix| self.phrases(prefix)) {
            let known = best.entry(phrase).or_default();
            *known = weight.max(*known);
        }
        best.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pulse;
    use crate::index::{IndexBuilder, NewDocument, Options, SegmentFile, join};

    fn index(folder: &std::path::Path, generations: &[&[&str]]) -> Vec<SegmentFile> {
        let mut files = Vec::new();
        for (number, titles) in generations.iter().enumerate() {
            let mut builder = IndexBuilder::new(folder, number as u64, Options::default());
            for title in *titles {
                let url = format!("https://a.example/{number}/{title}");
                let document =
                    NewDocument { url: &url, title, body: "x", language: "en", ..NewDocument::default() };
                builder.add(&[document], &Pulse::STEADY).unwrap();
            }
            files.extend(builder.finish(&Pulse::STEADY).unwrap());
        }
        files
    }

    const TITLES: [&[&str]; 2] = [
        &["The Fresnel lens", "Solar wind", "Solar wind and the aurora", "Lava"],
        &["A solar eclipse", "Solar wind at noon", "Città alta"],
    ];

    #[test]
    fn goes_on_with_what_is_typed() {
        let folder = tempfile::tempdir().unwrap();
        let files = index(folder.path(), &TITLES);
        let merged = join(folder.path(), &files, 9, true, &Options::default(), &Pulse::STEADY).unwrap();
        for files in [files, merged] {
            let segments = SegmentFile::open_all(folder.path(), &files).unwrap();
            let found = |text: &str| complete(segments.iter(), text, 3).unwrap();
            assert_eq!(found("solar w")[0], "solar wind");
            assert_eq!(found("fresnel")[0], "the fresnel lens");
            assert_eq!(found("frensel le"), ["the fresnel lens"]);
            assert_eq!(found("fresnle"), ["the fresnel lens"]);
            assert_eq!(found("CITTA"), ["città alta"]);
            assert_eq!(found("unheard la"), ["unheard lava"]);
            assert!(found("xyzzy").is_empty());
            assert!(found("title:sol").is_empty());
            assert!(found("").is_empty());
            assert!(found(&"a ".repeat(90)).is_empty());
        }
    }
}
