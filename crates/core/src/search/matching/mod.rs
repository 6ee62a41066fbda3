//! The operators of a query as lazy iterators over the documents of a segment.
//!
//! A query becomes a tree of [`Node`]s. Each has `next` and `skip_to`, document at a time, over the documents that may
//! match by what is cheap to know, and [`Node::confirm`], which decides by what is dear: positions are decoded only for
//! a document that passed everything else. The cursors of the leaves are kept apart, in [`Leaves`], and the nodes refer
//! to them by number: so whoever scores a document reads what matching decoded already.
//!
//! A node seldom moves a cursor past the document on which the whole tree comes to stand: then a cursor that stands
//! further on says that its leaf is not in that document. Leaves for which this does not hold ([`Plan::ahead`]) need one
//! more cursor to be scored.

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

/// What the nodes move: the cursors of the leaves, and the segment that they are of.
pub struct Leaves<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// A cursor for each leaf of the query, in the order in which a walk meets them.
    pub cursors: Vec<LeafCursor<'a>>,
}

/// Documents in rising order. A node is born on its first document.
pub enum Node {
    /// No document.
    Nothing,
    /// The documents from here to before the end.
    Everything(DocId, DocId),
    /// The documents of a leaf, by its number.
    Leaf(usize),
    /// Those in all children.
    And(Box<And>),
    /// Those in any child.
    Or(Box<Or>),
    /// Those of the first that are not in the second.
    Except(Box<(Node, Node)>),
    /// Those with a phrase.
    Phrase(Box<Phrase>),
    /// Those with an interval.
    Interval(Box<IntervalNode>),
    /// All documents that pass a test.
    Test(Test, DocId, DocId),
}

impl Node {
    /// Where it stands; [`DocId::END`] past the last document.
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

    /// Moves to the first document, from where it stands on, that is not before `target`.
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

    /// Whether the document that it stands on matches.
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

    /// At most how many documents there are, to begin an intersection with the rarest.
    pub fn estimate(&self, leaves: &Leaves<'_>) -> u64 {
        match self {
            Node::Nothing => 0,
            Node::Everything(_, end) | Node::Test(_, _, end) => u64::from(end.0),
            Node::Leaf(leaf) => leaves.cursors[*leaf].estimate(),
            Node::And(and) => and.estimate(leaves),
            Node::Or(or) => or.estimate(leaves),
            Node::Except(both) => both.0.estimate(leaves),
            // A phrase is dearer to confirm than a leaf, and rarer.
            Node::Phrase(phrase) => phrase.words.estimate(leaves),
            Node::Interval(interval) => interval.candidates.estimate(leaves),
        }
    }

    /// Whether [`Node::confirm`] always says yes.
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
