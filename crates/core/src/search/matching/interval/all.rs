//! Conjunction in any order: the shortest intervals that contain one of each operand.
//!
//! The operands stand in a heap by the left ends of their current intervals, and the greatest right end is
//! kept beside. From the least left end to the greatest right end is an interval that contains one of each;
//! only by moving the operand on top can one find another that starts later. While the right end stays, the
//! new one lies in the old; when the right end grows, the old one was minimal. One that is itself the interval
//! on top cannot be made shorter. What starts where the last one given did contains it, and is passed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Intervals, Node, Span};

/// The shortest intervals that contain one of each operand.
pub struct All {
    children: Vec<Node>,
    /// The left and right end of the current interval of each child, and the child.
    heap: BinaryHeap<Reverse<(u32, u32, usize)>>,
    /// The greatest right end.
    right: u32,
    /// Where the last interval given starts.
    last: Option<u32>,
    /// Whether a child has no more.
    is_over: bool,
}

impl All {
    /// The conjunction of the children; of none it is empty.
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

    /// The current interval of the child on top.
    fn top(&self) -> Option<Span> {
        self.heap.peek().map(|Reverse((left, right, _))| Span { left: *left, right: *right })
    }

    /// Moves the child on top.
    fn advance(&mut self, positions: &[Vec<u32>]) -> Option<()> {
        let mut top = self.heap.peek_mut()?;
        let number = top.0.2;
        let span = self.children[number].next(positions)?;
        *top = Reverse((span.left, span.right, number));
        self.right = self.right.max(span.right);
        Some(())
    }

    /// Moves to where an interval later than the last one given may start.
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
