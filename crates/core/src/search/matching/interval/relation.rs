//! Relations: the intervals of an operand that contain an interval of another, are contained in one, equal
//! one, or the negation of these.
//!
//! The intervals of the other operand may be extended on both sides. Since both ends of both operands
//! increase, an interval of the other that starts too early to be contained is never contained later, and the
//! first of the rest ends first (and is the only one that may be equal); one that ends too early to contain
//! never contains later, and the first of the rest starts first. So each comparison is with a single
//! interval, and both operands are read once.

use super::{Intervals, Node, Scan, Span};
use crate::search::language::tree::{Comparison, Relation};

/// The intervals of an operand that have a relation to another operand, or have not.
pub struct Related {
    of: Node,
    with: Scan,
    comparison: Comparison,
    /// The number of positions by which the intervals of `with` are extended to the left and to the right.
    margins: (u32, u32),
    negated: bool,
}

/// The ends of an extended interval, which may lie outside the range of positions.
#[derive(PartialEq)]
struct Enlarged {
    left: i64,
    right: i64,
}

impl Enlarged {
    fn of(span: Span, margins: (u32, u32)) -> Enlarged {
        Enlarged {
            left: i64::from(span.left) - i64::from(margins.0),
            right: i64::from(span.right) + i64::from(margins.1),
        }
    }

    fn contains(&self, other: &Enlarged) -> bool {
        self.left <= other.left && other.right <= self.right
    }
}

impl Related {
    /// The intervals of `of` that have the `relation` to an interval of `with`, or to none.
    pub fn of(of: Node, with: Scan, relation: &Relation) -> Related {
        let Relation { comparison, margins, negated, .. } = *relation;
        Related { of, with, comparison, margins, negated }
    }

    /// Whether an interval has the relation to one of the other operand; `None` if neither it nor any later
    /// one has.
    fn holds(&mut self, span: Span, positions: &[Vec<u32>]) -> Option<bool> {
        let (span, margins) = (Enlarged::of(span, (0, 0)), self.margins);
        let starts_before = |other| Enlarged::of(other, margins).left < span.left;
        let ends_before = |other| Enlarged::of(other, margins).right < span.right;
        let other = match self.comparison {
            Comparison::Containing | Comparison::Aligned => self.with.pass(positions, starts_before)?,
            Comparison::Inside => self.with.pass(positions, ends_before)?,
        };
        let other = Enlarged::of(other, margins);
        Some(match self.comparison {
            Comparison::Containing => span.contains(&other),
            Comparison::Inside => other.contains(&span),
            Comparison::Aligned => other == span,
        })
    }
}

impl Intervals for Related {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.of.start(positions);
        self.with.start(positions);
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        loop {
            let span = self.of.next(positions)?;
            match self.holds(span, positions) {
                Some(holds) if holds != self.negated => return Some(span),
                None if self.negated => return Some(span),
                None => return None,
                Some(_) => {}
            }
        }
    }
}
