//! The operators that stand between two intervals.

use super::tree::{Comparison, Interval, Relation};

/// An operator of a chain.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// As it is written.
    pub name: &'static str,
    /// What it makes of its sides.
    pub join: Join,
    /// Whether a NOT may stand before it, and margins after it.
    pub adjustable: bool,
}

/// What an operator makes of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// One after the other; a run of them is one order.
    Ordered,
    /// The intervals of the left side that compare so with those of the right.
    Related(Comparison),
}

/// Every operator: a line here is all that the grammar needs of one.
pub static OPERATORS: [Operator; 4] = [
    Operator { name: "<", join: Join::Ordered, adjustable: false },
    Operator { name: "CONTAINING", join: Join::Related(Comparison::Containing), adjustable: true },
    Operator { name: "INSIDE", join: Join::Related(Comparison::Inside), adjustable: true },
    Operator { name: "ALIGNED", join: Join::Related(Comparison::Aligned), adjustable: false },
];

impl Join {
    /// The interval of two sides. After another operator of the same order (`chained`) the right side is one more in
    /// it.
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
