//! Leaf lookup: the posting lists of a query's leaves in every segment, and their statistics over the
//! collection.
//!
//! It has two steps, because an index may be divided: every shard counts what its segments hold of a leaf
//! ([`count`]); the counts of all are summed, and the terms that a pattern expands to are chosen among those of
//! all ([`Counted::pin`]); then every shard looks up the posting lists of the chosen terms ([`lists`]). An index
//! that is not divided is a single shard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Searcher;
use crate::Result;
use crate::index::format::lists::{List, Lists};
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::index::{Segment, Zone};
use crate::search::language::tree::{Leaf, Pattern};
use crate::search::matching::expand::{each_match, least_worth};
use crate::search::score::Found;

/// A leaf after lookup.
pub struct Resolved {
    /// Its statistics over the collection.
    pub found: Found,
    /// Whether it has a single posting list in the whole collection.
    pub alone: bool,
    /// Its posting lists in each segment, by term.
    pub lists: Vec<Lists>,
    /// The terms it expands to, in order.
    pub terms: Vec<String>,
}

/// What some segments hold of a leaf: the terms that match it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The terms in order.
    pub terms: BTreeMap<String, Count>,
}

/// What some segments hold of a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Its edit distance from the pattern.
    pub changes: u8,
    /// Its document frequency in each zone.
    pub frequencies: [u64; ZONES],
    /// Its number of occurrences in all zones.
    pub occurrences: u64,
}

/// The statistics of a leaf over the collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Its document frequency, in the zone and for the term where it is highest.
    pub documents: u64,
    /// Its number of occurrences, in all zones and terms.
    pub occurrences: u64,
    /// Whether it has a single posting list.
    pub alone: bool,
    /// The terms it expands to, in order.
    pub terms: Vec<String>,
}

impl Pin {
    /// The statistics of a term in some zones, given its posting lists in all segments.
    pub fn of_term<'a>(term: &str, zones: ZoneSet, lists: impl Iterator<Item = &'a Lists>) -> Pin {
        let mut count = Count::default();
        for of_segment in lists {
            of_segment.iter().filter(|(zone, _)| zones.contains(*zone)).for_each(|list| count.add(list));
        }
        Counted { terms: BTreeMap::from([(term.to_owned(), count)]) }.pin(1)
    }
}

impl Counted {
    /// Adds the counts of other segments.
    pub fn absorb(&mut self, other: Counted) {
        for (term, count) in other.terms {
            let own = self.terms.entry(term).or_insert(Count { changes: count.changes, ..Count::default() });
            own.frequencies.iter_mut().zip(count.frequencies).for_each(|(all, more)| *all += more);
            own.occurrences += count.occurrences;
        }
    }

    /// The statistics of the leaf, if these are the counts of the whole collection: of its terms, the `most` at
    /// the least edit distance, of those the most frequent, of those the first in order.
    pub fn pin(mut self, most: usize) -> Pin {
        if self.terms.len() > most {
            self.terms = least_worth(self.terms, most, |count| {
                (count.changes, count.frequencies.into_iter().max().unwrap_or(0))
            });
        }
        let counts = self.terms.values();
        let frequencies = counts.clone().flat_map(|count| count.frequencies);
        Pin {
            documents: frequencies.clone().max().unwrap_or(0),
            alone: frequencies.filter(|frequency| *frequency > 0).count() <= 1,
            occurrences: counts.map(|count| count.occurrences).sum(),
            terms: self.terms.into_keys().collect(),
        }
    }
}

/// Looks up a leaf. Without statistics of the whole collection, the searcher is the whole, and a pattern expands
/// to at most `most` terms.
pub fn resolve(
    searcher: &Searcher,
    leaf: &Leaf,
    searched: ZoneSet,
    most: usize,
    pin: Option<&Pin>,
) -> Result<Resolved> {
    match (&leaf.pattern, pin) {
        (_, Some(pin)) => lists(searcher, leaf, searched, pin.clone()),
        (Pattern::Term(term), None) => of_term(searcher, term, leaf.zones.unwrap_or(searched)),
        (_, None) => lists(searcher, leaf, searched, count(searcher, leaf, searched)?.pin(most)),
    }
}

/// Counts and looks up a term at once.
fn of_term(searcher: &Searcher, term: &str, zones: ZoneSet) -> Result<Resolved> {
    let mut lists = Vec::with_capacity(searcher.parts.len());
    for part in &searcher.parts {
        let mut of_part = part.segment.find(term)?.unwrap_or_default();
        of_part.retain(|(zone, _)| zones.contains(*zone));
        lists.push(of_part);
    }
    let pin = Pin::of_term(term, zones, lists.iter());
    let found = Found { zones, documents: pin.documents, occurrences: pin.occurrences };
    Ok(Resolved { found, alone: pin.alone, lists, terms: pin.terms })
}

impl Count {
    fn add(&mut self, (zone, list): &(Zone, List)) {
        self.frequencies[*zone as usize] += u64::from(list.frequency);
        self.occurrences += list.occurrences;
    }
}

/// Counts what the segments of a searcher hold of a leaf.
pub fn count(searcher: &Searcher, leaf: &Leaf, searched: ZoneSet) -> Result<Counted> {
    let zones = leaf.zones.unwrap_or(searched);
    count_in(searcher.parts.iter().map(|part| &part.segment), &leaf.pattern, zones)
}

/// Counts what segments hold of a pattern in some zones.
pub fn count_in<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    pattern: &Pattern,
    zones: ZoneSet,
) -> Result<Counted> {
    let mut counted = Counted::default();
    for segment in segments {
        each_match(segment, pattern, zones, |term, lists, changes| {
            let count = match counted.terms.get_mut(term) {
                Some(count) => count,
                None => counted.terms.entry(term.to_owned()).or_insert(Count { changes, ..Count::default() }),
            };
            lists.iter().for_each(|list| count.add(list));
        })?;
    }
    if let Pattern::Term(term) = pattern {
        // A term that occurs nowhere in its zones may occur elsewhere, and is highlighted there.
        counted.terms.entry(term.clone()).or_default();
    }
    Ok(counted)
}

/// Looks up the posting lists of a leaf, given its statistics.
fn lists(searcher: &Searcher, leaf: &Leaf, searched: ZoneSet, pin: Pin) -> Result<Resolved> {
    let zones = leaf.zones.unwrap_or(searched);
    let mut lists = Vec::with_capacity(searcher.parts.len());
    for part in &searcher.parts {
        let mut of_part: Vec<(usize, Lists)> = Vec::new();
        if let (Pattern::Term(_), [term]) = (&leaf.pattern, pin.terms.as_slice()) {
            of_part.extend(part.segment.find(term)?.map(|lists| (0, lists)));
        } else if part.segment.is_gathered() {
            for (place, term) in pin.terms.iter().enumerate() {
                of_part.extend(part.segment.find(term)?.map(|lists| (place, lists)));
            }
        } else if !pin.terms.is_empty() {
            each_match(&part.segment, &leaf.pattern, zones, |term, lists, _| {
                if let Ok(place) = pin.terms.binary_search_by(|chosen| chosen.as_str().cmp(term)) {
                    of_part.push((place, lists.to_vec()));
                }
            })?;
            // The order of the terms is that of the sums.
            of_part.sort_unstable_by_key(|(place, _)| *place);
        }
        let mut of_part: Lists = of_part.into_iter().flat_map(|(_, lists)| lists).collect();
        of_part.retain(|(zone, _)| zones.contains(*zone));
        lists.push(of_part);
    }
    let found = Found { zones, documents: pin.documents, occurrences: pin.occurrences };
    Ok(Resolved { found, alone: pin.alone, lists, terms: pin.terms })
}
