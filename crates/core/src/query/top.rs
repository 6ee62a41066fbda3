//! The best k of many, in a heap with the worst of them on top: most candidates cost one comparison, and
//! one that gets in costs the logarithm of k.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::index::DocId;

/// A document of some segment with its score. The greater is the better: the higher score, then the
/// earlier document.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The score.
    pub score: f32,
    /// The segment, by its place in the snapshot.
    pub segment: usize,
    /// The document.
    pub document: DocId,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = (other.segment, other.document).cmp(&(self.segment, self.document));
        self.score.total_cmp(&other.score).then(earlier)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Keeps the best.
pub struct Top {
    size: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Top {
    /// Keeps the best `size`.
    pub fn new(size: usize) -> Top {
        Top { size, heap: BinaryHeap::new() }
    }

    /// Offers a candidate.
    #[inline]
    pub fn push(&mut self, candidate: Ranked) {
        if self.heap.len() < self.size {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }

    /// The best, the very best first.
    pub fn into_sorted(self) -> Vec<Ranked> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_sorting_and_cutting(scores in prop::collection::vec(0u8..20, 0..100), size in 0usize..30) {
            let ranked = |(number, score): (usize, &u8)| Ranked {
                score: f32::from(*score),
                segment: number / 10,
                document: DocId(number as u32 % 10),
            };
            let mut all: Vec<Ranked> = scores.iter().enumerate().map(ranked).collect();
            let mut top = Top::new(size);
            all.iter().rev().for_each(|candidate| top.push(*candidate));
            all.sort_by(|left, right| right.score.total_cmp(&left.score));
            all.truncate(size);
            prop_assert_eq!(top.into_sorted(), all);
        }
    }
}
