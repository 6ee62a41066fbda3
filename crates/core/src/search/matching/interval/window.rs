//! Windows: the intervals of an operand up to a maximum length.
//!
//! A window of words in any order is the window of their conjunction: a sweep with a heap of positions.

use super::{Intervals, Node, Span};

/// The intervals up to a maximum length.
pub struct Window {
    child: Node,
    length: u32,
}

impl Window {
    /// The intervals of at most `length` positions.
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
            // The number of positions, one more than this difference, may overflow.
            if span.right - span.left < self.length {
                return Some(span);
            }
        }
    }
}
