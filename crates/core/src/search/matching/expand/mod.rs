//! Expansion: from a pattern to the terms of a segment that it stands for, with their lists.
//!
//! A prefix is one range of the dictionary ([`prefix()`]); the terms near a term are found by a walk that passes
//! over whatever cannot be near ([`fuzzy()`]). Both see a dictionary as [`SortedTerms`], which a segment's
//! [`Terms`] are. The patterns of a query give at most [`MOST`] terms of a segment together, each the same number: the
//! nearest, among those the ones that most documents hold, among those the first in order.

mod distance;
mod fuzzy;
mod prefix;

use std::cmp::Reverse;

pub use distance::distance;
pub use fuzzy::{fuzzy, fuzzy_after};
pub use prefix::prefix;

use crate::Result;
use crate::index::format::lists::List;
use crate::index::format::lists::Lists;
use crate::index::format::zone::ZoneSet;
use crate::index::read::segment::Terms;
use crate::index::{Segment, Zone};
use crate::search::language::tree::Pattern;

/// The most terms of one segment that the patterns of a query stand for together: each has a cursor of some 1.5 KiB.
pub const MOST: usize = 10_000;

/// A dictionary, read forward. It starts before the first term.
pub trait SortedTerms {
    /// Moves to the first term from where it stands on that is not before `target`, or stays; false at the end.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;
    /// Moves to the next term; false at the end.
    fn advance(&mut self) -> Result<bool>;
    /// The term it stands on.
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

/// A term that a pattern stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The term.
    pub term: String,
    /// How many changes make it of the pattern's term; 0 but for a fuzzy pattern.
    pub changes: u8,
    /// In how many documents it is, in the zone that has the most.
    pub documents: u32,
    /// Its lists in the zones asked for; there is one at least.
    pub lists: Lists,
}

/// The terms of `segment` that `pattern` stands for and that are in one of `zones`, in order, `most` of them at most.
pub fn expand(segment: &Segment, pattern: &Pattern, zones: ZoneSet, most: usize) -> Result<Vec<Expansion>> {
    let mut kept = Kept { expansions: Vec::new(), zones, most };
    match pattern {
        Pattern::Term(term) => kept.find(segment, term)?,
        Pattern::Prefix { start, term } => {
            if !term.starts_with(start.as_str()) {
                kept.find(segment, term)?;
            }
            prefix(&mut segment.terms(), start, |terms| kept.push(terms.term(), terms.lists(), 0))?;
        }
        Pattern::Fuzzy { term, changes } => {
            let keep = |terms: &Terms<'_>, changes| kept.push(terms.term(), terms.lists(), changes);
            fuzzy(&mut segment.terms(), term, *changes, keep)?;
        }
    }
    Ok(kept.into_sorted())
}

/// The best expansions so far, and some more.
struct Kept {
    expansions: Vec<Expansion>,
    zones: ZoneSet,
    most: usize,
}

impl Kept {
    fn find(&mut self, segment: &Segment, term: &str) -> Result<()> {
        if let Some(lists) = segment.find(term)? {
            self.push(term.as_bytes(), &lists, 0);
        }
        Ok(())
    }

    fn push(&mut self, term: &[u8], lists: &[(Zone, List)], changes: u8) {
        let lists: Lists = lists.iter().filter(|(zone, _)| self.zones.contains(*zone)).cloned().collect();
        let documents = lists.iter().map(|(_, list)| list.frequency).max();
        let (Some(documents), Ok(term)) = (documents, std::str::from_utf8(term)) else { return };
        self.expansions.push(Expansion { term: term.to_owned(), changes, documents, lists });
        // Cutting back only now and then makes the whole linear.
        if self.expansions.len() >= 2 * self.most {
            self.cut_back();
        }
    }

    fn cut_back(&mut self) {
        if self.expansions.len() > self.most {
            self.expansions.select_nth_unstable_by(self.most, |left, right| worth(left).cmp(&worth(right)));
            self.expansions.truncate(self.most);
        }
    }

    fn into_sorted(mut self) -> Vec<Expansion> {
        self.cut_back();
        self.expansions.sort_unstable_by(|left, right| left.term.cmp(&right.term));
        self.expansions
    }
}

/// The lesser, the rather it is kept.
fn worth(expansion: &Expansion) -> (u8, Reverse<u32>, &str) {
    (expansion.changes, Reverse(expansion.documents), &expansion.term)
}

#[cfg(test)]
mod tests;
