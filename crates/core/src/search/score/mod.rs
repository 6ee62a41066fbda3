//! The score of a document for a query.
//!
//! ```text
//! score = Σ over the query's leaves  grain(leaf(counts, lengths))  +  proximity  +  prior
//! ```
//!
//! The leaves are scored by a [`model`]; [`proximity`] is added for words that occur close together, and the
//! prior is the query-independent part: the static rank. Every part is rounded to a multiple of 2⁻³⁰
//! ([`grain`]), so that sums are exact in double precision below 2²², whatever their order: a document has
//! the same score whatever the evaluation order, which is what makes pruning exact.

pub mod model;
pub mod proximity;
pub mod statistics;

pub use model::{Found, LeafScore, Model, Scorer, Shape};
pub use proximity::Proximity;
pub use statistics::Statistics;

/// 1.5 · 2⁵²⁻³⁰: adding and subtracting it rounds a number to a multiple of 2⁻³⁰.
const COARSE: f64 = 6_291_456.0;

/// The nearest multiple of 2⁻³⁰.
#[inline(always)]
pub fn grain(part: f64) -> f64 {
    (part + COARSE) - COARSE
}

/// An upper bound on parts of a score: adds what rounding may add.
#[inline(always)]
pub fn above(bound: f64) -> f64 {
    bound * (1.0 + 1e-9) + 1e-8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_do_not_depend_on_their_order(parts in prop::collection::vec(0f64..1000.0, 0..50), turn in 0usize..50) {
            let parts: Vec<f64> = parts.iter().map(|part| grain(*part)).collect();
            let mut turned = parts.clone();
            turned.rotate_left(turn.min(parts.len()));
            turned.reverse();
            prop_assert_eq!(parts.iter().sum::<f64>(), turned.iter().sum::<f64>());
            prop_assert!(parts.iter().all(|part| grain(*part) == *part && (part * 1073741824.0).fract() == 0.0));
        }

        #[test]
        fn a_bound_stays_one(part in 0f64..100_000.0) {
            prop_assert!(above(part) >= grain(part));
        }
    }
}
