//! From a typed word or phrase to leaves.
//!
//! Analysis may produce no term, one, or several, which then form a phrase: its leaves are the compounds and
//! the words that are part of none, each at its offset from the first.

use super::tree::{Interval, Leaf, Pattern, Query};
use crate::analysis::Analyzer;

/// The result of analysing a text.
pub struct Words {
    terms: Vec<(u32, String)>,
    /// The surface form of the last word, unless it has no term.
    last: Option<String>,
}

impl Words {
    pub fn of(analyzer: &Analyzer, text: &str) -> Words {
        let mut words = Words { terms: Vec::new(), last: None };
        let mut parts_of_whole = 0;
        analyzer.words(text, |word| {
            if parts_of_whole > 0 {
                parts_of_whole -= 1;
            } else if word.term.is_empty() {
                words.last = None;
            } else {
                parts_of_whole = word.parts;
                words.terms.push((word.position, word.term.to_owned()));
                words.last = Some(word.surface.to_owned());
            }
        });
        let first = words.terms.first().map_or(0, |(position, _)| *position);
        words.terms.iter_mut().for_each(|(position, _)| *position -= first);
        words
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The terms as leaves.
    pub fn leaves(self) -> Vec<(u32, Leaf)> {
        self.terms.into_iter().map(|(distance, term)| (distance, leaf(Pattern::Term(term)))).collect()
    }

    /// The last word folded, i.e. the prefix for the term dictionary; `None` if there is no such word.
    pub fn start(&self, analyzer: &Analyzer) -> Option<String> {
        let mut start = String::new();
        analyzer.folded(self.last.as_deref()?, &mut start);
        Some(start)
    }

    /// The terms, the last of which becomes a prefix pattern for `start`.
    pub fn prefix(self, start: String) -> Vec<(u32, Leaf)> {
        let mut leaves = self.leaves();
        if let Some((_, Leaf { pattern, .. })) = leaves.last_mut()
            && let Pattern::Term(term) = pattern
        {
            *pattern = Pattern::Prefix { start, term: std::mem::take(term) };
        }
        leaves
    }

    /// The only term, as a fuzzy leaf of this edit distance.
    pub fn fuzzy(mut self, changes: u8) -> Option<Leaf> {
        let (_, term) = self.terms.pop()?;
        Some(leaf(Pattern::Fuzzy { term, changes }))
    }
}

fn leaf(pattern: Pattern) -> Leaf {
    Leaf { pattern, zones: None }
}

/// A single leaf, or a phrase of several.
pub fn phrase(mut leaves: Vec<(u32, Leaf)>) -> Option<Query> {
    if leaves.len() > 1 {
        return Some(Query::Interval(Interval::Phrase(leaves)));
    }
    leaves.pop().map(|(_, leaf)| Query::Leaf(leaf))
}

/// The leaves in any order within this many positions; a single leaf always fits.
pub fn window(mut leaves: Vec<(u32, Leaf)>, positions: u32) -> Option<Query> {
    if leaves.len() > 1 {
        let all = leaves.into_iter().map(|(_, leaf)| Interval::Leaf(leaf)).collect();
        return Some(Query::Interval(Interval::Window(Box::new(Interval::All(all)), positions)));
    }
    leaves.pop().map(|(_, leaf)| Query::Leaf(leaf))
}
