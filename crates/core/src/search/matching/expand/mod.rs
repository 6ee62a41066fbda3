//! Expansion: from a pattern to the matching terms of a segment, with their posting lists.
//!
//! A prefix is one range of the term dictionary ([`prefix()`]); fuzzy terms are found by a walk that skips
//! whatever cannot be near ([`fuzzy()`]). Both see a dictionary as [`SortedTerms`], which a segment's
//! [`Terms`] implement. The patterns of a query expand to at most [`MOST`] terms of the collection in total,
//! divided equally: the terms at the least edit distance, of those the ones with the highest document
//! frequency, of those the first in order ([`least_worth`]).

mod distance;
mod fuzzy;
mod prefix;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use distance::distance;
pub use fuzzy::{fuzzy, fuzzy_after};
pub use prefix::prefix;

use crate::Result;
use crate::index::format::lists::List;
use crate::index::format::zone::ZoneSet;
use crate::index::read::segment::Terms;
use crate::index::{Segment, Zone};
use crate::search::language::tree::Pattern;

/// The most terms that the patterns of a query expand to in total: each has a cursor of about
/// 1.5 KiB.
pub const MOST: usize = 10_000;

/// A forward cursor over a term dictionary. It starts before the first term.
pub trait SortedTerms {
    /// Moves forward to the first term not before `target`, or stays; false at the end.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;
    /// Moves to the next term; false at the end.
    fn advance(&mut self) -> Result<bool>;
    /// The current term.
    fn term(&self) -> &[u8];
}

impl SortedTerms for Terms<'_> {
    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        Terms::seek(self, target)
    }

    fn advance(&mut self) -> Result<bool> {
        Terms::advance(self)
    }

    fn term(&self) -> &[u8] {
        Terms::term(self)
    }
}

/// Calls `see` with each term of `segment` that matches `pattern` and occurs in one of `zones`, its posting lists
/// in these zones, and its edit distance from the pattern's term; 0 unless the pattern is fuzzy.
pub fn each_match(
    segment: &Segment,
    pattern: &Pattern,
    zones: ZoneSet,
    mut see: impl FnMut(&str, &[(Zone, List)], u8),
) -> Result<()> {
    let mut within = Vec::new();
    let mut see = |term: &[u8], lists: &[(Zone, List)], changes: u8| {
        within.clear();
        within.extend(lists.iter().filter(|(zone, _)| zones.contains(*zone)).cloned());
        if let (Ok(term), false) = (std::str::from_utf8(term), within.is_empty()) {
            see(term, &within, changes);
        }
    };
    match pattern {
        Pattern::Term(term) => see(term.as_bytes(), &segment.find(term)?.unwrap_or_default(), 0),
        Pattern::Prefix { start, term } => {
            if !term.starts_with(start.as_str()) {
                see(term.as_bytes(), &segment.find(term)?.unwrap_or_default(), 0);
            }
            prefix(&mut segment.terms(), start, |terms| see(terms.term(), terms.lists(), 0))?;
        }
        Pattern::Fuzzy { term, changes } => {
            fuzzy(&mut segment.terms(), term, *changes, |terms: &Terms<'_>, changes| {
                see(terms.term(), terms.lists(), changes);
            })?;
        }
    }
    Ok(())
}

/// The `most` terms at the least edit distance, of those the ones with the highest document frequency, of those
/// the first in order; `worth` returns the two numbers.
pub fn least_worth<T>(
    terms: BTreeMap<String, T>,
    most: usize,
    worth: impl Fn(&T) -> (u8, u64),
) -> BTreeMap<String, T> {
    let mut terms: Vec<(String, T)> = terms.into_iter().collect();
    // The sort is stable, and the terms are in order.
    terms.sort_by_key(|(_, value)| {
        let (changes, documents) = worth(value);
        (changes, Reverse(documents))
    });
    terms.truncate(most);
    terms.into_iter().collect()
}

#[cfg(test)]
mod tests;
