//! Windows: the intervals of an operand that are not too long.
//!
//! A window of words in any order is the window of their conjunction: the sweep of a heap of positions.

use super::{Intervals, Node, Span};

/// The intervals that are at most so long.
pub struct Window {
    child: Node,
    length: u32,
}

impl Window {
    /// The intervals of at most so many positions.
    pub fn of(child: Node, length: u32) -> Window {
        Window { child, length }
    }
}

impl Intervals for Window {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.child.start(positions);
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        loop {
            let span = self.child.next(positions)?;
            // The number of positions, one more, may not be representable.
            if span.right - span.left < self.length {
                return Some(span);
            }
        }
    }
}
