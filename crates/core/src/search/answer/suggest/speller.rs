//! The speller: candidate corrections for the words of a query, from the segments of a snapshot.

use std::collections::BTreeMap;
use std::ops::Range;

use super::choose::{Candidate, choose, is_doubtful, least_likelihood, likelihood, reach};
use super::compound::{may_be_one, side_by_side, splits};
use super::edits::edits;
use super::form::form;
use crate::Result;
use crate::analysis::{Analyzer, Language, fold};
use crate::index::format::lists::List;
use crate::index::read::replaced::Replaced;
use crate::index::{DocId, Segment, TermCursor, Zone};
use crate::search::matching::expand::{distance, fuzzy_after};

/// The number of most likely terms whose surface forms are looked up.
const LOOKED_UP: usize = 5;
/// The number of documents of a term, per segment, that are searched for a surface form.
const DOCUMENTS: usize = 8;
/// Finds corrections in the vocabulary of a snapshot.
pub struct Speller<'a> {
    segments: Vec<(&'a Segment, &'a Replaced)>,
    analyzer: &'a Analyzer,
}

/// A candidate term.
struct Near {
    likelihood: f64,
    changes: u8,
    documents: u64,
}

/// Candidate terms, without the one that was typed.
struct Terms<'t> {
    typed: &'t str,
    near: BTreeMap<String, Near>,
}

impl<'t> Terms<'t> {
    fn without(typed: &'t str) -> Terms<'t> {
        Terms { typed, near: BTreeMap::new() }
    }

    /// Keeps the most likely edit for each term.
    fn offer(&mut self, term: String, likelihood: f64, changes: u8, documents: u64) {
        if term == self.typed || !term.chars().all(char::is_alphabetic) {
            return;
        }
        let near = self.near.entry(term).or_insert(Near { likelihood, changes, documents });
        near.likelihood = near.likelihood.max(likelihood);
    }
}

/// A candidate spelling.
struct Spelling {
    text: String,
    changes: u8,
    documents: u64,
}

impl<'a> Speller<'a> {
    /// A speller over segments and their tombstones, for queries analysed by `analyzer`.
    pub fn new(
        segments: impl IntoIterator<Item = (&'a Segment, &'a Replaced)>,
        analyzer: &'a Analyzer,
    ) -> Speller<'a> {
        Speller { segments: segments.into_iter().collect(), analyzer }
    }

    /// The convincing corrections of the words of `query` at these byte ranges, which are in order.
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

    /// The correction of a word, if there is a convincing one.
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
        let least = least_likelihood(documents);
        let mut terms = Terms::without(&term);
        self.one_change_off(&typed, &mut terms)?;
        let mut spellings = self.spellings(terms, &typed, least)?;
        spellings.extend(self.split(&word.to_lowercase())?);
        let nearest = self.chosen(&typed, documents, spellings);
        if nearest.is_some() || reach(word) < 2 {
            return Ok(nearest);
        }
        let mut terms = Terms::without(&term);
        self.two_changes_off(&term, &mut terms)?;
        Ok(self.chosen(&typed, documents, self.spellings(terms, &typed, least)?))
    }

    /// The two words joined, if that is convincing.
    fn joined(&self, first: &str, second: &str) -> Result<Option<String>> {
        let parts = [first, second].map(|word| self.term(word));
        let text = [first, second].concat().to_lowercase();
        let documents = self.documents(&self.term(&text))?;
        if documents == 0 {
            return Ok(None);
        }
        // Two words that are never adjacent may still be meant as two.
        let apart = self.side_by_side(&parts[0], &parts[1])?.max(1);
        let spelling = Spelling { text, changes: 1, documents };
        Ok(self.chosen(&folded(&format!("{first} {second}")), apart, vec![spelling]))
    }

    /// The word split in two.
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

    /// Adds the terms of all strings at edit distance 1 from `typed`.
    fn one_change_off(&self, typed: &str, terms: &mut Terms<'_>) -> Result<()> {
        let mut known = Vec::new();
        self.analyzer
            .passing_terms(edits(typed).into_iter(), |edit, term| known.push((edit, term.to_owned())));
        for (edit, term) in known {
            let documents = self.documents(&term)?;
            if documents > 0 {
                let candidate = Candidate { term: &edit, changes: 1, documents };
                terms.offer(term, likelihood(typed, &candidate), 1, documents);
            }
        }
        Ok(())
    }

    /// Adds the terms at edit distance 2 from `term` with the same first letter; a distance of 1 counts as 2,
    /// since the words themselves differ by more.
    fn two_changes_off(&self, term: &str, terms: &mut Terms<'_>) -> Result<()> {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let start = &term[..term.chars().next().map_or(0, char::len_utf8)];
        for (segment, _) in &self.segments {
            fuzzy_after(&mut segment.terms(), start, term, 2, |near, changes| {
                if let Ok(other) = std::str::from_utf8(near.term())
                    && changes > 0
                {
                    *found.entry(other.to_owned()).or_default() += frequency(near.lists());
                }
            })?;
        }
        for (other, documents) in found {
            let candidate = Candidate { term: &other, changes: 2, documents };
            terms.offer(other.clone(), likelihood(term, &candidate), 2, documents);
        }
        Ok(())
    }

    /// The surface forms of the most likely terms, of those that are likely enough.
    fn spellings(&self, terms: Terms<'_>, typed: &str, least: f64) -> Result<Vec<Spelling>> {
        let mut likely: Vec<(String, Near)> =
            terms.near.into_iter().filter(|(_, near)| near.likelihood > least).collect();
        likely.sort_by(|(_, left), (_, right)| right.likelihood.total_cmp(&left.likelihood));
        likely.truncate(LOOKED_UP);
        let mut spellings = Vec::new();
        for (term, Near { changes, documents, .. }) in likely {
            let Some((distance, text)) = self.written(&term, typed)? else { continue };
            let changes = usize::from(changes).min(distance) as u8;
            spellings.push(Spelling { text, changes, documents });
        }
        Ok(spellings)
    }

    /// The surface form of this term nearest to `typed` in a sample of documents, and its edit distance.
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

    /// The estimated document frequency of a term, including replaced documents.
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

    /// The convincing one of these spellings, unless it is a stop word.
    fn chosen(&self, typed: &str, documents: u64, spellings: Vec<Spelling>) -> Option<String> {
        let candidates: Vec<Candidate<'_>> = spellings
            .iter()
            .map(|Spelling { text, changes, documents }| Candidate {
                term: text,
                changes: *changes,
                documents: *documents,
            })
            .collect();
        let best = choose(typed, documents, &candidates)?;
        (!self.analyzer.is_stop_word(best.term)).then(|| best.term.to_owned())
    }

    fn term(&self, word: &str) -> String {
        let mut term = String::new();
        self.analyzer.term(word, &mut term);
        term
    }
}

/// The document frequency of a term: the maximum over the searched zones.
fn frequency(lists: &[(Zone, List)]) -> u64 {
    let searched = lists.iter().filter(|(zone, _)| Zone::SEARCHED.contains(zone));
    searched.map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0)
}

fn folded(word: &str) -> String {
    let mut folded = String::new();
    fold(word, &mut folded);
    folded
}
