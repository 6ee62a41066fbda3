//! Conjunction in any order: the shortest intervals that contain one of each operand.
//!
//! The operands are in a min-heap by the left ends of their current intervals, and the maximum right end is
//! kept separately. The interval from the least left end to the greatest right end contains one of each
//! operand; only advancing the operand at the top of the heap can yield one that starts later. While the
//! right end stays, the new interval is contained in the old one; when the right end grows, the old one was
//! minimal. An interval that equals the one at the top cannot be made shorter. An interval that starts where
//! the last one returned did contains it, and is skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Intervals, Node, Span};

/// The shortest intervals that contain one of each operand.
pub struct All {
    children: Vec<Node>,
    /// The left and right end of each child's current interval, and the child.
    heap: BinaryHeap<Reverse<(u32, u32, usize)>>,
    /// The maximum right end.
    right: u32,
    /// The start of the last interval returned.
    last: Option<u32>,
    /// Whether a child is exhausted.
    is_over: bool,
}

impl All {
    /// The conjunction of the children; empty if there are none.
    pub fn of(children: Vec<Node>) -> All {
        let heap = BinaryHeap::with_capacity(children.len());
        All { children, heap, right: 0, last: None, is_over: true }
    }

    /// Reads the first interval of each child.
    fn read(&mut self, positions: &[Vec<u32>]) -> Option<()> {
        for (number, child) in self.children.iter_mut().enumerate() {
            let span = child.next(positions)?;
            self.right = self.right.max(span.right);
            self.heap.push(Reverse((span.left, span.right, number)));
        }
        Some(())
    }

    /// The current interval of the child at the top of the heap.
    fn top(&self) -> Option<Span> {
        self.heap.peek().map(|Reverse((left, right, _))| Span { left: *left, right: *right })
    }

    /// Advances the child at the top of the heap.
    fn advance(&mut self, positions: &[Vec<u32>]) -> Option<()> {
        let mut top = self.heap.peek_mut()?;
        let number = top.0.2;
        let span = self.children[number].next(positions)?;
        *top = Reverse((span.left, span.right, number));
        self.right = self.right.max(span.right);
        Some(())
    }

    /// Advances to where an interval after the last one returned may start.
    fn pass_last(&mut self, positions: &[Vec<u32>]) -> Option<()> {
        let Some(last) = self.last else { return self.read(positions) };
        while self.top()?.left == last {
            self.advance(positions)?;
        }
        Some(())
    }
}

impl Intervals for All {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.children.iter_mut().for_each(|child| child.start(positions));
        self.heap.clear();
        self.right = 0;
        self.last = None;
        self.is_over = false;
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        if self.is_over {
            return None;
        }
        if self.pass_last(positions).is_none() {
            self.is_over = true;
            return None;
        }
        loop {
            let top = self.top()?;
            let span = Span { left: top.left, right: self.right };
            if span != top {
                self.is_over = self.advance(positions).is_none();
                if !self.is_over && self.right == span.right {
                    continue;
                }
            }
            self.last = Some(span.left);
            return Some(span);
        }
    }
}
