//! The speller: candidates for the words of a query, from the segments of a snapshot.

use std::collections::BTreeMap;
use std::ops::Range;

use super::choose::{Candidate, choose, is_doubtful, likelihood, reach};
use super::compound::{may_be_one, side_by_side, splits};
use super::form::form;
use crate::Result;
use crate::analysis::{Analyzer, Language, fold};
use crate::index::lists::List;
use crate::index::replaced::Replaced;
use crate::index::{DocId, Segment, TermCursor, Zone};
use crate::query::expand::{distance, fuzzy};

/// Stemming may make one change into two.
const CHANGES: u8 = 2;
/// How many of the likeliest terms are looked up.
const LOOKED_UP: usize = 8;
/// How many documents of a term are looked at, in each segment, for a word that has it.
const DOCUMENTS: usize = 4;
/// The fewest characters of a term that a word begins with, for the two to be compared.
const SHORTEST_STEM: usize = 4;

/// Finds corrections among the words of a snapshot.
pub struct Speller<'a> {
    segments: Vec<(&'a Segment, &'a Replaced)>,
    analyzer: &'a Analyzer,
}

/// A term near the one that was typed.
struct Near {
    changes: u8,
    documents: u64,
}

/// A spelling that may be meant.
struct Spelling {
    text: String,
    changes: u8,
    documents: u64,
}

impl<'a> Speller<'a> {
    /// A speller over segments with what is replaced in them, for queries whose words `analyzer` analyses.
    pub fn new(
        segments: impl IntoIterator<Item = (&'a Segment, &'a Replaced)>,
        analyzer: &'a Analyzer,
    ) -> Speller<'a> {
        Speller { segments: segments.into_iter().collect(), analyzer }
    }

    /// Better spellings of the words of `query` at these bytes, which are in order, where there are convincing ones.
    pub fn corrections(&self, query: &str, words: &[Range<usize>]) -> Result<Vec<(Range<usize>, String)>> {
        let mut corrections = Vec::new();
        let mut rest = words;
        while let [first, others @ ..] = rest {
            rest = others;
            if let [second, others @ ..] = others
                && may_be_one(query, first, second)
                && let Some(joined) = self.joined(&query[first.clone()], &query[second.clone()])?
            {
                corrections.push((first.start..second.end, joined));
                rest = others;
            } else if let Some(word) = query.get(first.clone())
                && let Some(better) = self.correction(word)?
            {
                corrections.push((first.clone(), better));
            }
        }
        Ok(corrections)
    }

    /// A better spelling of a word, if there is a convincing one.
    pub fn correction(&self, word: &str) -> Result<Option<String>> {
        if reach(word) == 0 || self.analyzer.is_stop_word(word) {
            return Ok(None);
        }
        let (term, typed) = (self.term(word), folded(word));
        let documents = self.documents(&term)?;
        let all: u64 = self.segments.iter().map(|(segment, _)| segment.totals().documents).sum();
        if !is_doubtful(documents, all) {
            return Ok(None);
        }
        let mut spellings = self.near(&term, &typed)?;
        spellings.extend(self.split(&word.to_lowercase())?);
        Ok(chosen(&typed, documents, spellings))
    }

    /// The two words as one, if that is convincing.
    fn joined(&self, first: &str, second: &str) -> Result<Option<String>> {
        let parts = [first, second].map(|word| self.term(word));
        let text = [first, second].concat().to_lowercase();
        let documents = self.documents(&self.term(&text))?;
        if documents == 0 {
            return Ok(None);
        }
        // Two words that never stand side by side may yet be meant as two.
        let apart = self.side_by_side(&parts[0], &parts[1])?.max(1);
        let spelling = Spelling { text, changes: 1, documents };
        Ok(chosen(&folded(&format!("{first} {second}")), apart, vec![spelling]))
    }

    /// The word as two.
    fn split(&self, typed: &str) -> Result<Vec<Spelling>> {
        let mut spellings = Vec::new();
        for (first, second) in splits(typed) {
            let (left, right) = (self.term(first), self.term(second));
            if self.documents(&left)? == 0 || self.documents(&right)? == 0 {
                continue;
            }
            let documents = self.side_by_side(&left, &right)?;
            spellings.push(Spelling { text: format!("{first} {second}"), changes: 1, documents });
        }
        Ok(spellings)
    }

    /// The likeliest words whose terms are near `term`, and those near `typed` whose terms it begins with.
    fn near(&self, term: &str, typed: &str) -> Result<Vec<Spelling>> {
        let mut terms: BTreeMap<String, Near> = BTreeMap::new();
        for (segment, _) in &self.segments {
            fuzzy(&mut segment.terms(), term, CHANGES, |found, changes| {
                let documents = frequency(found.lists());
                let Ok(other) = std::str::from_utf8(found.term()) else { return };
                if documents > 0 && changes > 0 && other.chars().all(char::is_alphabetic) {
                    let near = terms.entry(other.to_owned()).or_insert(Near { changes, documents: 0 });
                    near.documents += documents;
                }
            })?;
        }
        let likely = |(other, near): (String, Near)| {
            let candidate = Candidate { term: &other, changes: near.changes, documents: near.documents };
            (likelihood(term, &candidate), other, near)
        };
        let mut terms: Vec<(f64, String, Near)> = terms.into_iter().map(likely).collect();
        terms.sort_by(|left, right| right.0.total_cmp(&left.0));
        terms.truncate(LOOKED_UP);
        let mut nearest: BTreeMap<String, Near> =
            terms.into_iter().map(|(_, other, near)| (other, near)).collect();
        // A slip in its ending hides from the stemmer that a word has one: `documentaion` is not near `document`.
        for (end, _) in typed.char_indices().skip(SHORTEST_STEM) {
            let documents = self.documents(&typed[..end])?;
            if documents > 0 && typed[..end] != *term {
                nearest.entry(typed[..end].to_owned()).or_insert(Near { changes: u8::MAX, documents });
            }
        }
        let mut spellings = Vec::new();
        for (other, Near { changes, documents }) in nearest {
            if let Some((distance, text)) = self.written(&other, typed)? {
                let changes = changes.min(distance.min(255) as u8);
                spellings.push(Spelling { text, changes, documents });
            }
        }
        Ok(spellings)
    }

    /// A word with this term that a document has, as near to `typed` as there is in some documents, and its distance.
    fn written(&self, term: &str, typed: &str) -> Result<Option<(usize, String)>> {
        let mut best: Option<(usize, String)> = None;
        for (segment, replaced) in &self.segments {
            let Some(lists) = segment.find(term)? else { continue };
            let mut cursor = TermCursor::new(segment, lists)?;
            let mut looked_at = 0;
            while cursor.document() != DocId::END && looked_at < DOCUMENTS {
                let document = cursor.document();
                cursor.advance()?;
                if replaced.contains(document) {
                    continue;
                }
                looked_at += 1;
                let found = segment.stored(document, |stored| {
                    let analyzer = Analyzer::new(Language::of(Some(stored.language)));
                    let within = |text| form(text, &analyzer, self.analyzer, term, typed);
                    within(stored.body).or_else(|| within(stored.title))
                })?;
                let found = found.map(|text| (distance(&folded(&text), typed), text));
                best = best.into_iter().chain(found).min_by_key(|(distance, _)| *distance);
                if best.as_ref().is_some_and(|(distance, _)| *distance <= 1) {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    /// About how many documents hold a term, replaced ones too.
    fn documents(&self, term: &str) -> Result<u64> {
        self.segments.iter().try_fold(0, |documents, (segment, _)| {
            Ok(documents + segment.find(term)?.map_or(0, |lists| frequency(&lists)))
        })
    }

    fn side_by_side(&self, first: &str, second: &str) -> Result<u64> {
        self.segments
            .iter()
            .try_fold(0, |documents, (segment, _)| Ok(documents + side_by_side(segment, first, second)?))
    }

    fn term(&self, word: &str) -> String {
        let mut term = String::new();
        self.analyzer.term(word, &mut term);
        term
    }
}

fn chosen(typed: &str, documents: u64, spellings: Vec<Spelling>) -> Option<String> {
    let candidates: Vec<Candidate<'_>> = spellings
        .iter()
        .map(|Spelling { text, changes, documents }| Candidate {
            term: text,
            changes: *changes,
            documents: *documents,
        })
        .collect();
    choose(typed, documents, &candidates).map(|candidate| candidate.term.to_owned())
}

/// In how many documents a term is, in the zone that has the most of those which are searched.
fn frequency(lists: &[(Zone, List)]) -> u64 {
    let searched = lists.iter().filter(|(zone, _)| Zone::SEARCHED.contains(zone));
    searched.map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0)
}

fn folded(word: &str) -> String {
    let mut folded = String::new();
    fold(word, &mut folded);
    folded
}
