//! A leaf: each of its positions is an interval.

use super::{Intervals, Span};

/// The positions of a leaf.
pub struct Leaf {
    number: usize,
    /// The number of positions read so far.
    read: usize,
}

impl Leaf {
    /// The leaf with this number.
    pub fn of(number: usize) -> Leaf {
        Leaf { number, read: 0 }
    }
}

impl Intervals for Leaf {
    fn start(&mut self, _: &[Vec<u32>]) {
        self.read = 0;
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        let position = *positions[self.number].get(self.read)?;
        self.read += 1;
        Some(Span { left: position, right: position })
    }
}
