//! Expansion: from a pattern to the matching terms of a segment, with their posting lists.
//!
//! A prefix is one range of the term dictionary ([`prefix()`]); fuzzy terms are found by a walk that skips
//! whatever cannot be near ([`fuzzy()`]). Both see a dictionary as [`SortedTerms`], which a segment's
//! [`Terms`] implement. The patterns of a query expand to at most [`MOST`] terms of a segment in total,
//! divided equally: the terms at the least edit distance, of those the ones with the highest document
//! frequency, of those the first in order.

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

/// The most terms of one segment that the patterns of a query expand to in total: each has a cursor of about
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

/// A term that a pattern expands to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The term.
    pub term: String,
    /// Its edit distance from the pattern's term; 0 unless the pattern is fuzzy.
    pub changes: u8,
    /// Its document frequency in the zone where it is highest.
    pub documents: u32,
    /// Its posting lists in the requested zones; at least one.
    pub lists: Lists,
}

/// The terms of `segment` that match `pattern` and occur in one of `zones`, in order, at most `most`.
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
        // Truncating only when twice the limit is reached keeps the total time linear.
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

/// The sort key of an expansion: the least are kept.
fn worth(expansion: &Expansion) -> (u8, Reverse<u32>, &str) {
    (expansion.changes, Reverse(expansion.documents), &expansion.term)
}

#[cfg(test)]
mod tests;
