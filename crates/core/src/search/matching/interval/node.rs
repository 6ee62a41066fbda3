//! Documents with an interval: candidates that contain the required leaves, confirmed by positions, one zone
//! after the other.

use super::super::{Leaves, Node};
use super::Expression;
use crate::Result;
use crate::index::format::zone::ZoneSet;

/// The documents for which an expression has an interval.
pub struct IntervalNode {
    /// The documents that contain enough of the leaves.
    pub candidates: Node,
    /// The number of the expression's first leaf; the others follow.
    first: usize,
    zones: ZoneSet,
    expression: Expression,
    positions: Vec<Vec<u32>>,
}

impl IntervalNode {
    /// The documents among `candidates` in which `expression`, whose leaves are numbered from `first`, has an
    /// interval in one of `zones`.
    pub fn new(candidates: Node, first: usize, zones: ZoneSet, expression: Expression) -> IntervalNode {
        let positions = vec![Vec::new(); expression.leaves()];
        IntervalNode { candidates, first, zones, expression, positions }
    }

    /// Whether the current document has an interval.
    pub fn is_here(&mut self, leaves: &mut Leaves<'_>) -> Result<bool> {
        let document = self.candidates.document(leaves);
        for zone in self.zones.zones() {
            for (place, positions) in self.positions.iter_mut().enumerate() {
                leaves.cursors[self.first + place].positions(document, zone, positions)?;
            }
            if self.expression.matches(&self.positions) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
