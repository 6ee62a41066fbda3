//! What the speller asks of a collection: how frequent terms are, which are alike, and how they are written.

use std::collections::BTreeMap;

use super::compound::side_by_side;
use super::form::form;
use super::speller::folded;
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::index::format::lists::List;
use crate::index::read::replaced::Replaced;
use crate::index::{DocId, Segment, TermCursor, Zone};
use crate::search::matching::expand::{distance, fuzzy_after};

/// The number of documents of a term, per segment, that are searched for a surface form.
const DOCUMENTS: usize = 8;

/// The vocabulary of a snapshot.
pub trait Vocabulary {
    /// The number of documents, including replaced ones.
    fn all_documents(&self) -> u64;
    /// The document frequency of each of these terms, including replaced documents.
    fn documents(&self, terms: &[String]) -> Result<Vec<u64>>;
    /// The other terms at edit distance 1 or 2 of a term that begin with `start`, with their document
    /// frequencies.
    fn alike(&self, start: &str, term: &str) -> Result<BTreeMap<String, u64>>;
    /// The estimated number of documents in which `first` is followed by `second`.
    fn adjacent(&self, first: &str, second: &str) -> Result<u64>;
    /// The surface form of a term nearest to `typed` in a sample of documents, and its edit distance; `analyzer`
    /// is that of the query.
    fn written(&self, term: &str, typed: &str, analyzer: &Analyzer) -> Result<Option<(usize, String)>>;
}

/// The vocabulary of segments.
pub struct Segments<'a>(Vec<(&'a Segment, &'a Replaced)>);

impl<'a> Segments<'a> {
    /// Of segments, each with its tombstones.
    pub fn new(segments: impl IntoIterator<Item = (&'a Segment, &'a Replaced)>) -> Segments<'a> {
        Segments(segments.into_iter().collect())
    }
}

impl Vocabulary for Segments<'_> {
    fn all_documents(&self) -> u64 {
        self.0.iter().map(|(segment, _)| segment.totals().documents).sum()
    }

    fn documents(&self, terms: &[String]) -> Result<Vec<u64>> {
        let of_term = |term: &String| {
            self.0.iter().try_fold(0, |documents, (segment, _)| {
                Ok(documents + segment.find(term)?.map_or(0, |lists| frequency(&lists)))
            })
        };
        terms.iter().map(of_term).collect()
    }

    fn alike(&self, start: &str, term: &str) -> Result<BTreeMap<String, u64>> {
        alike(self.0.iter().map(|(segment, _)| *segment), start, term)
    }

    fn adjacent(&self, first: &str, second: &str) -> Result<u64> {
        self.0
            .iter()
            .try_fold(0, |documents, (segment, _)| Ok(documents + side_by_side(segment, first, second)?))
    }

    fn written(&self, term: &str, typed: &str, analyzer: &Analyzer) -> Result<Option<(usize, String)>> {
        let mut best: Option<(usize, String)> = None;
        for (segment, replaced) in &self.0 {
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
                    let of_text = Analyzer::new(Language::of(Some(stored.language)));
                    let within = |text| form(text, &of_text, analyzer, term, typed);
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
}

/// The terms of segments at edit distance 1 or 2 of a term that begin with `start`, with their document frequencies.
pub fn alike<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    start: &str,
    term: &str,
) -> Result<BTreeMap<String, u64>> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for segment in segments {
        fuzzy_after(&mut segment.terms(), start, term, 2, |near, changes| {
            if let Ok(other) = std::str::from_utf8(near.term())
                && changes > 0
            {
                *found.entry(other.to_owned()).or_default() += frequency(near.lists());
            }
        })?;
    }
    Ok(found)
}

/// The document frequency of a term: the maximum over the searched zones.
pub fn frequency(lists: &[(Zone, List)]) -> u64 {
    let searched = lists.iter().filter(|(zone, _)| Zone::SEARCHED.contains(zone));
    searched.map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0)
}
