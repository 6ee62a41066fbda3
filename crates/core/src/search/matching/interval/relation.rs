//! Filters: the intervals of an operand that contain one of another, lie in one, are one, or do not.
//!
//! The intervals of the other operand may be enlarged to both sides. As both ends of both operands rise, an
//! interval of the other that starts too early to be contained will never be contained again, and the first
//! of the rest ends first (and is the only one that may be the same); one that ends too early to contain will never
//! contain again, and the first of the rest starts first. So each comparison is with one interval, and the two operands are each read once.

use super::{Intervals, Node, Scan, Span};
use crate::search::language::tree::{Comparison, Relation};

/// The intervals of an operand for which a relation to another operand holds, or does not.
pub struct Related {
    of: Node,
    with: Scan,
    comparison: Comparison,
    /// By how much the intervals of `with` are enlarged to the left and to the right.
    margins: (u32, u32),
    negated: bool,
}

/// The ends of an interval, which may be before the first and past the last position that there can be.
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
    /// The intervals of `of` that are related to one of `with` as `relation` says, or to none of them.
    pub fn of(of: Node, with: Scan, relation: &Relation) -> Related {
        let Relation { comparison, margins, negated, .. } = *relation;
        Related { of, with, comparison, margins, negated }
    }

    /// Whether an interval is related to one of the other operand; `None` if nor will be any after it.
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
