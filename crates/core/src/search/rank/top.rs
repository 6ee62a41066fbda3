//! The top k so far, in a min-heap: the worst of them is at the top.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::Signature;
use crate::index::DocId;

/// A document with its score. A higher score is better; ties go to the lower signature of the URL. So the order
/// does not depend on the segments and shards that the documents are in.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The score.
    pub score: f64,
    /// The signature of its URL.
    pub signature: Signature,
    /// The shard it is in; 0 if the index is not divided between processes.
    pub shard: u16,
    /// The index of its segment in the snapshot.
    pub segment: usize,
    /// Its number in the segment.
    pub document: DocId,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.signature.cmp(&self.signature))
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

/// Keeps the top k.
#[derive(Debug)]
pub struct Top {
    size: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
    /// The score to exceed.
    threshold: f64,
}

impl Top {
    /// Keeps the top `size`.
    pub fn new(size: usize) -> Top {
        let threshold = if size == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        Top { size, heap: BinaryHeap::with_capacity(size.min(1024)), threshold }
    }

    /// The score that another document must exceed to enter the top k: just below the worst of them, since a
    /// tie may go to the other one. Negative infinity until there are k.
    #[inline(always)]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether a candidate would enter the top k.
    #[inline]
    pub fn admits(&self, candidate: &Ranked) -> bool {
        match self.heap.peek() {
            _ if self.heap.len() < self.size => true,
            Some(Reverse(worst)) => candidate > worst,
            None => false,
        }
    }

    /// Whether there are k.
    pub fn is_full(&self) -> bool {
        self.heap.len() >= self.size
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
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
        if self.heap.len() == self.size
            && let Some(Reverse(worst)) = self.heap.peek()
        {
            self.threshold = worst.score.next_down();
        }
    }

    /// Merges another top k into this one.
    pub fn absorb(&mut self, other: Top) {
        other.heap.into_iter().for_each(|Reverse(ranked)| self.push(ranked));
    }

    /// The top k, best first.
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
        fn is_sorting_and_cutting(scores in prop::collection::vec(0u8..20, 0..100), size in 0usize..30, cut in 0usize..100) {
            let ranked = |(number, score): (usize, &u8)| Ranked {
                score: f64::from(*score),
                signature: Signature(number as u64),
                shard: 0,
                segment: number / 10,
                document: DocId(number as u32 % 10),
            };
            let mut all: Vec<Ranked> = scores.iter().enumerate().map(ranked).collect();
            let (mut top, mut other) = (Top::new(size), Top::new(size));
            for (place, candidate) in all.iter().enumerate().rev() {
                if place < cut { top.push(*candidate) } else { other.push(*candidate) }
                prop_assert!(top.is_full() || top.threshold() == f64::NEG_INFINITY);
            }
            top.absorb(other);
            all.sort_by(|left, right| right.score.total_cmp(&left.score));
            all.truncate(size);
            prop_assert_eq!(top.into_sorted(), all);
        }
    }
}
