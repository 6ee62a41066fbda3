//! An operand that is only compared with: a place in it that moves forward.

use super::{Intervals, Node, Span};

/// An operand and where one stands in it.
pub struct Scan {
    node: Node,
    place: Place,
}

enum Place {
    Before,
    At(Span),
    Past,
}

impl Scan {
    /// Stands before the first interval of the operand.
    pub fn of(node: Node) -> Scan {
        Scan { node, place: Place::Before }
    }

    /// Goes before the first interval in these positions.
    pub fn start(&mut self, positions: &[Vec<u32>]) {
        self.node.start(positions);
        self.place = Place::Before;
    }

    /// The first interval, from the one where it stands on, that is not to be passed.
    pub fn pass(&mut self, positions: &[Vec<u32>], is_passed: impl Fn(Span) -> bool) -> Option<Span> {
        loop {
            match self.place {
                Place::At(span) if !is_passed(span) => return Some(span),
                Place::Past => return None,
                Place::At(_) | Place::Before => {
                    self.place = self.node.next(positions).map_or(Place::Past, Place::At);
                }
            }
        }
    }
}
