//! The operators that stand between two intervals.

use super::tree::{Comparison, Interval, Relation};

/// An operator of a chain.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its text.
    pub name: &'static str,
    /// How it combines its sides.
    pub join: Join,
    /// Whether it may be preceded by NOT and followed by margins.
    pub adjustable: bool,
}

/// How an operator combines its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// One after the other; a chain of them is a single order.
    Ordered,
    /// The intervals of the left side that have this relation to those of the right.
    Related(Comparison),
}

/// All operators: the grammar needs no more than a line here for each.
pub static OPERATORS: [Operator; 4] = [
    Operator { name: "<", join: Join::Ordered, adjustable: false },
    Operator { name: "CONTAINING", join: Join::Related(Comparison::Containing), adjustable: true },
    Operator { name: "INSIDE", join: Join::Related(Comparison::Inside), adjustable: true },
    Operator { name: "ALIGNED", join: Join::Related(Comparison::Aligned), adjustable: false },
];

impl Join {
    /// The interval of the two sides. After another operator of the same order (`chained`), the right side is
    /// appended to it.
    pub fn of(
        self,
        left: Interval,
        right: Interval,
        margins: (u32, u32),
        negated: bool,
        chained: bool,
    ) -> Interval {
        match (self, left) {
            (Join::Ordered, Interval::Ordered(mut order)) if chained => {
                order.push(right);
                Interval::Ordered(order)
            }
            (Join::Ordered, left) => Interval::Ordered(vec![left, right]),
            (Join::Related(comparison), of) => {
                Interval::Related(Box::new(Relation { of, with: right, comparison, margins, negated }))
            }
        }
    }
}
