//! The sources of a merge: the runs of a builder or the segments of an index, behind one interface.
//!
//! A source yields its terms in order, each with its posting list per zone. Its documents have new ids; that
//! of a dropped document is [`DocId::END`].

use super::run::{Run, RunList, RunTerms};
use crate::index::DocId;
use crate::index::format::lists::List;
use crate::index::format::zone::Zone;
use crate::index::read::segment::{Segment, Terms};
use crate::{Error, Result};

/// Where postings come from.
#[derive(Clone, Copy)]
pub enum Postings<'a> {
    /// A run.
    Run(&'a Run),
    /// A segment.
    Segment(&'a Segment),
}

/// A source of postings, with the new id of each of its documents.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The postings.
    pub postings: Postings<'a>,
    /// The new ids, indexed by the old ones.
    pub numbers: &'a [DocId],
}

impl<'a> Source<'a> {
    /// The terms from `first` on.
    pub fn terms_from(&self, first: &[u8]) -> SourceTerms<'a> {
        match self.postings {
            Postings::Run(run) => SourceTerms::Run { terms: run.terms_from(first), lists: Vec::new() },
            Postings::Segment(segment) => {
                let terms = segment.terms_from(first);
                SourceTerms::Segment { segment, terms, lists: Vec::new() }
            }
        }
    }

    /// An evenly spread sample of the terms, in order.
    pub fn samples(&self) -> Vec<&'a [u8]> {
        match self.postings {
            Postings::Run(run) => run.samples().collect(),
            Postings::Segment(segment) => segment.sample_terms().collect(),
        }
    }

    /// The new id of a document.
    #[inline]
    pub fn number(&self, document: u32) -> Result<DocId> {
        let number = self.numbers.get(document as usize).copied();
        number.ok_or_else(|| Error::Invalid("a posting leads past the last document".into()))
    }
}

/// An iterator over the terms of a source.
pub enum SourceTerms<'a> {
    /// Of a run.
    Run {
        /// The iterator.
        terms: RunTerms<'a>,
        /// The posting lists of the current term.
        lists: Vec<(Zone, RunList<'a>)>,
    },
    /// Of a segment.
    Segment {
        /// The segment.
        segment: &'a Segment,
        /// The iterator.
        terms: Terms<'a>,
        /// The posting lists of the current term.
        lists: Vec<(Zone, List)>,
    },
}

impl<'a> SourceTerms<'a> {
    /// Moves to the next term; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        match self {
            SourceTerms::Run { terms, lists } => terms.advance(lists),
            SourceTerms::Segment { terms, lists, .. } => {
                let more = terms.advance()?;
                lists.clear();
                lists.extend_from_slice(terms.lists());
                Ok(more)
            }
        }
    }

    /// The current term.
    pub fn term(&self) -> &[u8] {
        match self {
            SourceTerms::Run { terms, .. } => &terms.term,
            SourceTerms::Segment { terms, .. } => terms.term(),
        }
    }

    /// The posting list of the term in a zone, if it occurs there.
    pub fn list(&self, zone: Zone) -> Option<SourceList<'a>> {
        match self {
            SourceTerms::Run { lists, .. } => {
                lists.iter().find(|(own, _)| *own == zone).map(|(_, list)| SourceList::Run(*list))
            }
            SourceTerms::Segment { segment, lists, .. } => {
                let list = lists.iter().find(|(own, _)| *own == zone);
                list.map(|(_, list)| SourceList::Segment(segment, list.clone()))
            }
        }
    }
}

/// The posting list of a term in a zone.
pub enum SourceList<'a> {
    /// Of a run.
    Run(RunList<'a>),
    /// Of a segment.
    Segment(&'a Segment, List),
}

impl SourceList<'_> {
    /// Whether some document may contain the term more than once.
    pub fn repeats(&self) -> bool {
        match self {
            SourceList::Run(list) => list.occurrences > u64::from(list.frequency),
            SourceList::Segment(_, list) => list.counted,
        }
    }

    /// Calls `visit` with every document, by its old id, and its positions.
    pub fn each(
        self,
        positions: &mut Vec<u32>,
        mut visit: impl FnMut(u32, &[u32]) -> Result<()>,
    ) -> Result<()> {
        match self {
            SourceList::Run(list) => list.each(positions, visit),
            SourceList::Segment(segment, list) => {
                let mut cursor = segment.cursor(list)?;
                while cursor.document() != DocId::END {
                    cursor.positions(positions)?;
                    visit(cursor.document().0, positions)?;
                    cursor.advance()?;
                }
                Ok(())
            }
        }
    }
}
