//! Intersection: the intervals that two operands have in common, by a merge.

use super::{Intervals, Node, Scan, Span};

/// The intervals of the first operand that are intervals of the second too.
pub struct Aligned {
    of: Node,
    with: Scan,
}

impl Aligned {
    /// The intervals that both have.
    pub fn of(of: Node, with: Scan) -> Aligned {
        Aligned { of, with }
    }
}

impl Intervals for Aligned {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.of.start(positions);
        self.with.start(positions);
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        loop {
            let span = self.of.next(positions)?;
            if self.with.pass(positions, |other| other.left < span.left)? == span {
                return Some(span);
            }
        }
    }
}
