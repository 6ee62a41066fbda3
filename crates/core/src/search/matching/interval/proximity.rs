//! Proximity: how close to each other the leaves of a query occur in a text.
//!
//! The occurrences of all leaves are merged in text order. For each two neighbouring occurrences, of
//! different leaves `j` and `k` at distance `d`,
//!
//! ```text
//! accumulator[j] += weight[k] / d²        accumulator[k] += weight[j] / d²
//! ```
//!
//! Such a pair of neighbours is a minimal interval of "two different leaves at different positions". Leaves
//! at the same position, as when one word satisfies two patterns, are not a pair; each of them is a neighbour
//! of the occurrences before and after.
//!
//! A merge of `n` position lists: O(n) per occurrence, without heap allocation for at most [`FEW`] leaves.
//!
//! S. Büttcher, C. L. A. Clarke and B. Lushman, "Term proximity scoring for ad-hoc retrieval on very large
//! text collections", SIGIR 2006.

/// The number of leaves up to which the merge is allocated on the stack.
pub const FEW: usize = 16;

/// Adds, for each leaf, the weights of its neighbours over the squares of their distances. `positions` has a
/// strictly increasing list for each leaf, and `weights` a weight. The values in `accumulators` are kept, so
/// that the zones of a document can be summed; missing ones start from 0.
pub fn accumulate(positions: &[Vec<u32>], weights: &[f64], accumulators: &mut Vec<f64>) {
    let leaves = positions.len();
    if accumulators.len() < leaves {
        accumulators.resize(leaves, 0.0);
    }
    if leaves <= FEW {
        walk(positions, weights, accumulators, &mut [Place::BEFORE; FEW][..leaves]);
    } else {
        walk(positions, weights, accumulators, &mut vec![Place::BEFORE; leaves]);
    }
}

/// The state of the merge in the position list of a leaf.
#[derive(Clone, Copy)]
struct Place {
    /// The previous position, or `NOWHERE`.
    last: u64,
    /// The next position, or `NOWHERE`.
    next: u64,
    /// The number of positions read, up to and including `next`.
    read: usize,
}

/// Greater than any position.
const NOWHERE: u64 = u64::MAX;

impl Place {
    const BEFORE: Place = Place { last: NOWHERE, next: NOWHERE, read: 0 };

    fn advance(&mut self, list: &[u32]) {
        self.last = self.next;
        self.next = list.get(self.read).map_or(NOWHERE, |position| u64::from(*position));
        self.read += 1;
    }
}

fn walk(positions: &[Vec<u32>], weights: &[f64], accumulators: &mut [f64], places: &mut [Place]) {
    places.iter_mut().zip(positions).for_each(|(place, list)| place.advance(list));
    let mut last = NOWHERE;
    loop {
        let position = places.iter().map(|place| place.next).min().unwrap_or(NOWHERE);
        if position == NOWHERE {
            return;
        }
        if last != NOWHERE {
            let distance = (position - last) as f64;
            let nearness = 1.0 / (distance * distance);
            for (here, _) in places.iter().enumerate().filter(|(_, place)| place.next == position) {
                for (there, _) in places.iter().enumerate().filter(|(_, place)| place.last == last) {
                    if there != here {
                        accumulators[here] += weights[there] * nearness;
                        accumulators[there] += weights[here] * nearness;
                    }
                }
            }
        }
        for (place, list) in places.iter_mut().zip(positions) {
            if place.next == position {
                place.advance(list);
            }
        }
        last = position;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By definition: every two occurrences with none strictly between them.
    fn slow(positions: &[Vec<u32>], weights: &[f64]) -> Vec<f64> {
        let occurrences: Vec<(u32, usize)> = (positions.iter().enumerate())
            .flat_map(|(leaf, list)| list.iter().map(move |position| (*position, leaf)))
            .collect();
        let mut sums = vec![0.0; positions.len()];
        for (left, j) in &occurrences {
            for (right, k) in &occurrences {
                let is_between = |(other, _): &(u32, usize)| left < other && other < right;
                if left < right && j != k && !occurrences.iter().any(is_between) {
                    let distance = f64::from(right - left);
                    sums[*j] += weights[*k] / (distance * distance);
                    sums[*k] += weights[*j] / (distance * distance);
                }
            }
        }
        sums
    }

    fn some_leaf() -> impl Strategy<Value = (Vec<u32>, f64)> {
        let positions = prop::collection::btree_set(0..40_u32, 0..8);
        (positions.prop_map(|positions| positions.into_iter().collect()), 0.1..5.0_f64)
    }

    fn check(leaves: Vec<(Vec<u32>, f64)>) -> Result<(), TestCaseError> {
        let (positions, weights): (Vec<Vec<u32>>, Vec<f64>) = leaves.into_iter().unzip();
        let mut accumulators = Vec::new();
        accumulate(&positions, &weights, &mut accumulators);
        let expected = slow(&positions, &weights);
        prop_assert_eq!(accumulators.len(), expected.len());
        for (sum, expected) in accumulators.iter().zip(expected) {
            prop_assert!((*sum - expected).abs() <= 1e-4 * (1.0 + expected));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn sums_what_neighbours_weigh(leaves in prop::collection::vec(some_leaf(), 0..6)) {
            check(leaves)?;
        }

        #[test]
        fn serves_many_leaves(leaves in prop::collection::vec(some_leaf(), FEW - 1..FEW + 4)) {
            check(leaves)?;
        }
    }

    #[test]
    fn two_words_side_by_side() {
        let mut accumulators = vec![1.0];
        accumulate(&[vec![3, 10], vec![4]], &[2.0, 5.0], &mut accumulators);
        let far = 1.0 / 36.0;
        assert_eq!(accumulators, [1.0 + 5.0 + 5.0 * far, 2.0 + 2.0 * far]);
    }

    #[test]
    fn one_word_that_is_two_leaves() {
        let mut accumulators = Vec::new();
        accumulate(&[vec![5], vec![5], vec![7]], &[1.0, 2.0, 4.0], &mut accumulators);
        assert_eq!(accumulators, [1.0, 1.0, 0.75]);
    }
}
