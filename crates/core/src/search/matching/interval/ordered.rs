//! Conjunction in order: the shortest intervals that contain one of each operand, one after the other.
//!
//! For an interval of the first operand, each further operand takes its first interval that starts after the
//! end of the previous one: no other choice ends earlier. The next interval of the first operand yields a
//! shorter result if the last operand need not advance for it; as soon as an operand ends at or after the
//! start of the last one's interval this is impossible, and the interval found is minimal.

use super::{Intervals, Node, Span};

/// An interval before any that a later operand may take.
const NOWHERE: Span = Span { left: 0, right: 0 };

/// The shortest intervals that contain one of each operand in order.
pub struct Ordered {
    children: Vec<Node>,
    /// The current interval of each child.
    spans: Vec<Span>,
    is_read: bool,
    /// Whether a child is exhausted.
    is_over: bool,
}

impl Ordered {
    /// The sequence of two or more children; empty if there are none.
    pub fn of(children: Vec<Node>) -> Ordered {
        let spans = vec![NOWHERE; children.len()];
        Ordered { children, spans, is_read: false, is_over: true }
    }

    /// Advances the first child.
    fn advance(&mut self, positions: &[Vec<u32>]) -> Option<()> {
        *self.spans.first_mut()? = self.children.first_mut()?.next(positions)?;
        Some(())
    }

    /// Advances the others past the first, as long as each ends before `bound`; returns whether all did.
    fn align(&mut self, bound: u64, positions: &[Vec<u32>]) -> Option<bool> {
        for number in 1..self.children.len() {
            let before = self.spans[number - 1].right;
            if u64::from(before) >= bound {
                return Some(false);
            }
            while self.spans[number].left <= before {
                self.spans[number] = self.children[number].next(positions)?;
            }
        }
        Some(true)
    }
}

impl Intervals for Ordered {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.children.iter_mut().for_each(|child| child.start(positions));
        self.spans.fill(NOWHERE);
        self.is_read = false;
        self.is_over = false;
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        let (mut found, mut bound) = (None, u64::MAX);
        if !self.is_read {
            self.is_read = true;
            self.is_over = self.advance(positions).is_none();
        }
        while !self.is_over {
            match self.align(bound, positions) {
                Some(true) => {}
                Some(false) => break,
                None => {
                    self.is_over = true;
                    break;
                }
            }
            let (first, last) = (self.spans.first()?, self.spans.last()?);
            found = Some(Span { left: first.left, right: last.right });
            bound = u64::from(last.left);
            self.is_over = self.advance(positions).is_none();
        }
        found
    }
}
