//! The operators that stand between two intervals.

use super::lexer::Token;
use super::tree::{Interval, Relation};

/// An operator of a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Before,
    Containing { margins: (u32, u32), negated: bool },
    Inside { margins: (u32, u32), negated: bool },
    Aligned,
}

impl Operator {
    /// The operator that tokens begin with, and of how many tokens it is made.
    pub fn of(first: Option<Token<'_>>, second: Option<Token<'_>>) -> Option<(Operator, usize)> {
        Some(match (first?, second) {
            (Token::Before, _) => (Operator::Before, 1),
            (Token::Aligned, _) => (Operator::Aligned, 1),
            (Token::Containing(margins), _) => (Operator::Containing { margins, negated: false }, 1),
            (Token::Inside(margins), _) => (Operator::Inside { margins, negated: false }, 1),
            (Token::Not, Some(Token::Containing(margins))) => {
                (Operator::Containing { margins, negated: true }, 2)
            }
            (Token::Not, Some(Token::Inside(margins))) => (Operator::Inside { margins, negated: true }, 2),
            _ => return None,
        })
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Before => "<",
            Operator::Containing { .. } => "CONTAINING",
            Operator::Inside { .. } => "INSIDE",
            Operator::Aligned => "ALIGNED",
        }
    }

    /// What the operator makes of what stands on its sides. After another `<` of the same chain (`chained`) the
    /// right side is one more in the order.
    pub fn join(self, left: Interval, right: Interval, chained: bool) -> Interval {
        let relation = |margins, negated, of, with| Box::new(Relation { of, with, margins, negated });
        match (self, left) {
            (Operator::Before, Interval::Ordered(mut order)) if chained => {
                order.push(right);
                Interval::Ordered(order)
            }
            (Operator::Before, left) => Interval::Ordered(vec![left, right]),
            (Operator::Containing { margins, negated }, left) => {
                Interval::Containing(relation(margins, negated, left, right))
            }
            (Operator::Inside { margins, negated }, left) => {
                Interval::Inside(relation(margins, negated, left, right))
            }
            (Operator::Aligned, left) => Interval::Aligned(Box::new((left, right))),
        }
    }
}
