//! A forward cursor over an operand that is only compared with.

use super::{Intervals, Node, Span};

/// An operand and the current interval.
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
    /// A cursor before the first interval of the operand.
    pub fn of(node: Node) -> Scan {
        Scan { node, place: Place::Before }
    }

    /// Rewinds to before the first interval in these positions.
    pub fn start(&mut self, positions: &[Vec<u32>]) {
        self.node.start(positions);
        self.place = Place::Before;
    }

    /// The first interval, from the current one on, for which `is_passed` is false.
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
