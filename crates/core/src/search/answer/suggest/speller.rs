//! The speller: candidate corrections for the words of a query, from the vocabulary of a snapshot.

use std::collections::BTreeMap;
use std::ops::Range;

use super::choose::{Candidate, choose, is_doubtful, least_likelihood, likelihood, reach};
use super::compound::{may_be_one, splits};
use super::edits::edits;
use super::vocabulary::Vocabulary;
use crate::Result;
use crate::analysis::{Analyzer, fold};

/// The number of most likely terms whose surface forms are looked up.
const LOOKED_UP: usize = 5;

/// Finds corrections in the vocabulary of a snapshot.
pub struct Speller<'a, V> {
    vocabulary: V,
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

impl<'a, V: Vocabulary> Speller<'a, V> {
    /// A speller over a vocabulary, for queries analysed by `analyzer`.
    pub fn new(vocabulary: V, analyzer: &'a Analyzer) -> Speller<'a, V> {
        Speller { vocabulary, analyzer }
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
        if !is_doubtful(documents, self.vocabulary.all_documents()) {
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
        let apart = self.vocabulary.adjacent(&parts[0], &parts[1])?.max(1);
        let spelling = Spelling { text, changes: 1, documents };
        Ok(self.chosen(&folded(&format!("{first} {second}")), apart, vec![spelling]))
    }

    /// The word split in two.
    fn split(&self, typed: &str) -> Result<Vec<Spelling>> {
        let mut spellings = Vec::new();
        let parts: Vec<(&str, &str)> = splits(typed).collect();
        let terms: Vec<String> =
            parts.iter().flat_map(|(first, second)| [self.term(first), self.term(second)]).collect();
        let frequencies = self.vocabulary.documents(&terms)?;
        for (place, (first, second)) in parts.into_iter().enumerate() {
            if frequencies[2 * place] == 0 || frequencies[2 * place + 1] == 0 {
                continue;
            }
            let documents = self.vocabulary.adjacent(&terms[2 * place], &terms[2 * place + 1])?;
            spellings.push(Spelling { text: format!("{first} {second}"), changes: 1, documents });
        }
        Ok(spellings)
    }

    /// Adds the terms of all strings at edit distance 1 from `typed`.
    fn one_change_off(&self, typed: &str, terms: &mut Terms<'_>) -> Result<()> {
        let mut known = Vec::new();
        self.analyzer
            .passing_terms(edits(typed).into_iter(), |edit, term| known.push((edit, term.to_owned())));
        let (edits, known): (Vec<String>, Vec<String>) = known.into_iter().unzip();
        let frequencies = self.vocabulary.documents(&known)?;
        for ((edit, term), documents) in edits.into_iter().zip(known).zip(frequencies) {
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
        let start = &term[..term.chars().next().map_or(0, char::len_utf8)];
        for (other, documents) in self.vocabulary.alike(start, term)? {
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
            let Some((distance, text)) = self.vocabulary.written(&term, typed, self.analyzer)? else {
                continue;
            };
            let changes = usize::from(changes).min(distance) as u8;
            spellings.push(Spelling { text, changes, documents });
        }
        Ok(spellings)
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

    /// The estimated document frequency of a term, including replaced documents.
    fn documents(&self, term: &str) -> Result<u64> {
        Ok(self.vocabulary.documents(&[term.to_owned()])?.first().copied().unwrap_or(0))
    }

    fn term(&self, word: &str) -> String {
        let mut term = String::new();
        self.analyzer.term(word, &mut term);
        term
    }
}

pub(super) fn folded(word: &str) -> String {
    let mut folded = String::new();
    fold(word, &mut folded);
    folded
}
