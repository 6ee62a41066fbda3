//! Union: the minimal intervals among those of all operands.
//!
//! The operands are in a min-heap by the right ends of their next intervals; of equal right ends, the
//! interval that starts later comes first. In that order an interval contains another one if and only if one
//! that was returned before starts no earlier: so the next interval is the first that starts after the last
//! one returned.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Intervals, Node, Span};

/// The intervals of any of the operands.
pub struct Any {
    children: Vec<Node>,
    /// The right and left end of the next interval of each child that has one, and the child.
    heap: BinaryHeap<Reverse<(u32, Reverse<u32>, usize)>>,
    is_read: bool,
    /// The least start of the next interval; `None` past the maximum position.
    from: Option<u32>,
}

impl Any {
    /// The union of the children; empty if there are none.
    pub fn of(children: Vec<Node>) -> Any {
        let heap = BinaryHeap::with_capacity(children.len());
        Any { children, heap, is_read: false, from: Some(0) }
    }

    fn read(&mut self, positions: &[Vec<u32>]) {
        for (number, child) in self.children.iter_mut().enumerate() {
            if let Some(span) = child.next(positions) {
                self.heap.push(Reverse((span.right, Reverse(span.left), number)));
            }
        }
        self.is_read = true;
    }
}

impl Intervals for Any {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.children.iter_mut().for_each(|child| child.start(positions));
        self.heap.clear();
        self.is_read = false;
        self.from = Some(0);
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        if !self.is_read {
            self.read(positions);
        }
        let from = self.from?;
        loop {
            let mut top = self.heap.peek_mut()?;
            let Reverse((right, Reverse(left), number)) = *top;
            if left >= from {
                self.from = left.checked_add(1);
                return Some(Span { left, right });
            }
            match self.children[number].next(positions) {
                Some(span) => *top = Reverse((span.right, Reverse(span.left), number)),
                None => drop(PeekMut::pop(top)),
            }
        }
    }
}
