//! The operators of a query as lazy iterators over the documents of a segment.
//!
//! A query becomes a tree of [`Node`]s. Each has `next` and `skip_to`, document at a time, over candidates
//! that pass the inexpensive checks, and [`Node::confirm`], which runs the expensive ones (two-phase
//! iteration): positions are decoded only for a document that passed everything else. The cursors of the
//! leaves are kept separately, in [`Leaves`], and the nodes refer to them by number: so scoring a document
//! reuses what matching has decoded.
//!
//! A node rarely moves a cursor past the document that the whole tree stops on: so a cursor that is further
//! on means that its leaf is not in that document. Leaves for which this does not hold ([`Plan::ahead`]) need
//! a second cursor for scoring.

mod and;
pub mod expand;
mod filter;
pub mod interval;
pub mod leaf;
mod or;
mod phrase;
mod plan;
mod shape;

pub use and::{And, Intersection};
pub use filter::Test;
pub use plan::{Plan, Slot};

use interval::node::IntervalNode;
use or::Or;
use phrase::Phrase;

use crate::Result;
use crate::index::{DocId, Segment};
use leaf::LeafCursor;

/// The state that the nodes share: the cursors of the leaves, and their segment.
pub struct Leaves<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// A cursor for each leaf of the query, in traversal order.
    pub cursors: Vec<LeafCursor<'a>>,
}

/// Documents in increasing order. A new node is on its first document.
pub enum Node {
    /// No document.
    Nothing,
    /// The documents from the first to before the second.
    Everything(DocId, DocId),
    /// The documents of a leaf, by its number.
    Leaf(usize),
    /// The intersection of the children.
    And(Box<And>),
    /// The union of the children.
    Or(Box<Or>),
    /// The difference: documents of the first that are not in the second.
    Except(Box<(Node, Node)>),
    /// Those with a phrase.
    Phrase(Box<Phrase>),
    /// Those with an interval.
    Interval(Box<IntervalNode>),
    /// All documents that pass a filter.
    Test(Test, DocId, DocId),
}

impl Node {
    /// The current document; [`DocId::END`] past the last one.
    #[inline]
    pub fn document(&self, leaves: &Leaves<'_>) -> DocId {
        match self {
            Node::Nothing => DocId::END,
            Node::Everything(next, end) | Node::Test(_, next, end) => {
                if next < end {
                    *next
                } else {
                    DocId::END
                }
            }
            Node::Leaf(leaf) => leaves.cursors[*leaf].document(),
            Node::And(and) => and.document(leaves),
            Node::Or(or) => or.document(),
            Node::Except(both) => both.0.document(leaves),
            Node::Phrase(phrase) => phrase.words.document(leaves),
            Node::Interval(interval) => interval.candidates.document(leaves),
        }
    }

    /// Moves to the next document.
    #[inline]
    pub fn next(&mut self, leaves: &mut Leaves<'_>) -> Result<DocId> {
        match self {
            Node::Leaf(leaf) => leaves.cursors[*leaf].advance(),
            Node::And(and) => and.next(leaves),
            Node::Phrase(phrase) => phrase.words.next(leaves),
            _ => {
                let document = self.document(leaves);
                if document == DocId::END {
                    return Ok(document);
                }
                self.skip_to(leaves, DocId(document.0 + 1))
            }
        }
    }

    /// Moves forward to the first document at or after `target`.
    #[inline]
    pub fn skip_to(&mut self, leaves: &mut Leaves<'_>, target: DocId) -> Result<DocId> {
        match self {
            Node::Nothing => Ok(DocId::END),
            Node::Everything(next, end) | Node::Test(_, next, end) => {
                *next = (*next).max(target);
                Ok(if next < end { *next } else { DocId::END })
            }
            Node::Leaf(leaf) => leaves.cursors[*leaf].skip_to(target),
            Node::And(and) => and.skip_to(leaves, target),
            Node::Or(or) => or.skip_to(leaves, target),
            Node::Except(both) => both.0.skip_to(leaves, target),
            Node::Phrase(phrase) => phrase.words.skip_to(leaves, target),
            Node::Interval(interval) => interval.candidates.skip_to(leaves, target),
        }
    }

    /// Whether the current document matches.
    #[inline]
    pub fn confirm(&mut self, leaves: &mut Leaves<'_>) -> Result<bool> {
        match self {
            Node::Nothing | Node::Everything(..) | Node::Leaf(_) => Ok(true),
            Node::And(and) => and.confirm(leaves),
            Node::Or(or) => or.confirm(leaves),
            Node::Except(both) => {
                let document = both.0.document(leaves);
                if both.1.skip_to(leaves, document)? == document && both.1.confirm(leaves)? {
                    return Ok(false);
                }
                both.0.confirm(leaves)
            }
            Node::Phrase(phrase) => phrase.is_here(leaves),
            Node::Interval(interval) => interval.is_here(leaves),
            Node::Test(test, document, _) => Ok(test.passes(leaves.segment, *document)),
        }
    }

    /// An upper bound on the number of documents, used to start an intersection with the rarest child.
    pub fn estimate(&self, leaves: &Leaves<'_>) -> u64 {
        match self {
            Node::Nothing => 0,
            Node::Everything(_, end) | Node::Test(_, _, end) => u64::from(end.0),
            Node::Leaf(leaf) => leaves.cursors[*leaf].estimate(),
            Node::And(and) => and.estimate(leaves),
            Node::Or(or) => or.estimate(leaves),
            Node::Except(both) => both.0.estimate(leaves),
            // A phrase is more expensive to confirm than a leaf, and rarer.
            Node::Phrase(phrase) => phrase.words.estimate(leaves),
            Node::Interval(interval) => interval.candidates.estimate(leaves),
        }
    }

    /// Whether [`Node::confirm`] always returns true.
    pub fn is_certain(&self) -> bool {
        match self {
            Node::Nothing | Node::Everything(..) | Node::Leaf(_) => true,
            Node::And(and) => and.is_certain(),
            Node::Or(or) => or.is_certain(),
            Node::Except(_) | Node::Phrase(_) | Node::Interval(_) | Node::Test(..) => false,
        }
    }
}

#[cfg(test)]
mod tests;
