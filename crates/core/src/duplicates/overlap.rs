//! What two lists of signals have in common as sets, without sorting them.
//!
//! The signals of the first go into a hash table with linear probing, at most half full; those of the second are looked up and
//! marked, or added to it, so that each counts once. A slot is empty unless it has the number of this comparison, so the table
//! is not cleared. About 2 ns a signal while it fits in the nearest cache; sorting takes 15 ns. Lists of more than
//! [`LONGEST`] signals are sorted: their table would take more memory than they do.

use std::hash::{BuildHasher, RandomState};

use super::similarity::{Measure, distinct};

/// The most signals of lists that are compared by a table.
const LONGEST: usize = 1 << 17;
/// The lower bit of a tag: the signal is of the second list.
const OF_OTHER: u64 = 1;

/// A table for comparisons, one after the other.
pub struct Overlap {
    /// A signal in the lower half, its tag in the upper: twice the number of the comparison, and [`OF_OTHER`].
    slots: Vec<u64>,
    comparison: u32,
    /// A random odd multiplier, so that no document can choose its slots (hash flooding).
    factor: u64,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap { slots: Vec::new(), comparison: 0, factor: RandomState::new().hash_one(0) | 1 }
    }
}

impl Overlap {
    /// The similarity of the sets of two lists of signals, if it is at least `threshold`.
    pub fn similarity<I>(&mut self, measure: Measure, one: I, other: I, threshold: f64) -> Option<f64>
    where
        I: ExactSizeIterator<Item = u32>,
    {
        let similarity = if one.len().max(other.len()) > LONGEST {
            let [one, other] = [one, other].map(|signals| {
                let mut signals: Vec<u32> = signals.collect();
                distinct(&mut signals);
                signals
            });
            measure.of(&one, &other)
        } else {
            self.by_table(measure, one, other, threshold)?
        };
        (similarity >= threshold).then_some(similarity)
    }

    /// The same for shorter lists; `None` also as soon as it is less than the threshold.
    fn by_table<I>(&mut self, measure: Measure, one: I, other: I, threshold: f64) -> Option<f64>
    where
        I: ExactSizeIterator<Item = u32>,
    {
        let tag = self.begin(one.len() + other.len());
        let mut first = 0;
        for signal in one {
            let (slot, found) = self.slot(signal, tag);
            first += usize::from(found.is_none());
            self.slots[slot] = tag << 32 | u64::from(signal);
        }
        // The union has all of the first and what it misses of the second: |A ∩ B| / |A ∪ B| ≤ |A| / (|A| + missing).
        let most_missing = match measure {
            Measure::Jaccard => (first as f64 / threshold) as usize - first + 1,
            Measure::Containment | Measure::Overlap => usize::MAX,
        };
        let (mut common, mut missing) = (0, 0);
        for signal in other {
            let (slot, found) = self.slot(signal, tag);
            common += usize::from(found == Some(0));
            missing += usize::from(found.is_none());
            if missing > most_missing {
                return None;
            }
            self.slots[slot] = (tag | OF_OTHER) << 32 | u64::from(signal);
        }
        Some(measure.of_counts(common, first, common + missing))
    }

    /// The tag of the next comparison, of at most `count` signals.
    fn begin(&mut self, count: usize) -> u64 {
        let enough = (2 * count).next_power_of_two();
        if self.slots.len() < enough || self.comparison == u32::MAX >> 1 {
            self.slots = vec![0; enough.max(self.slots.len())];
            self.comparison = 0;
        }
        self.comparison += 1;
        u64::from(self.comparison) << 1
    }

    /// The slot of a signal, and the lower bit of its tag if it is there.
    #[inline]
    fn slot(&self, signal: u32, tag: u64) -> (usize, Option<u64>) {
        let mask = self.slots.len() - 1;
        let mut at = (u64::from(signal).wrapping_mul(self.factor) >> 32) as usize & mask;
        loop {
            let (of_slot, known) = (self.slots[at] >> 32, self.slots[at] as u32);
            if of_slot | OF_OTHER != tag | OF_OTHER {
                return (at, None);
            }
            if known == signal {
                return (at, Some(of_slot & OF_OTHER));
            }
            at = (at + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_the_definition(
            lists in prop::collection::vec((prop::collection::vec(0u32..40, 0..60), prop::collection::vec(0u32..40, 0..60)), 1..8),
            threshold in 0.01f64..=1.0, high in any::<bool>(),
        ) {
            let mut overlap = Overlap::default();
            for (one, other) in lists {
                let [one, other] = [one, other].map(|list| {
                    list.into_iter().map(|signal| if high { u32::MAX - signal } else { signal }).collect::<Vec<u32>>()
                });
                for measure in [Measure::Jaccard, Measure::Containment, Measure::Overlap] {
                    let found = overlap.similarity(measure, one.iter().copied(), other.iter().copied(), threshold);
                    let (mut first, mut second) = (one.clone(), other.clone());
                    distinct(&mut first);
                    distinct(&mut second);
                    let similarity = measure.of(&first, &second);
                    prop_assert_eq!(found, Some(similarity).filter(|similarity| *similarity >= threshold));
                }
            }
        }
    }

    #[test]
    fn long_lists_are_compared_alike() {
        let long: Vec<u32> = (0..LONGEST as u32 + 9).collect();
        let mut overlap = Overlap::default();
        let mut similarity = |one: &[u32], other: &[u32]| {
            overlap.similarity(Measure::Jaccard, one.iter().copied(), other.iter().copied(), 0.1)
        };
        let expected = Some((LONGEST - 1) as f64 / (LONGEST + 9) as f64);
        assert_eq!(similarity(&long, &long[1..LONGEST]), expected);
        assert_eq!(
            similarity(&long[..LONGEST], &long[1..]),
            Some((LONGEST - 1) as f64 / (LONGEST + 9) as f64)
        );
        assert_eq!(similarity(&[], &[]), Some(1.0));
    }

    #[test]
    fn comparisons_are_numbered_anew() {
        let mut overlap = Overlap { comparison: (u32::MAX >> 1) - 2, ..Overlap::default() };
        for _ in 0..5 {
            let found = overlap.similarity(Measure::Overlap, [1, 2].into_iter(), [2, 4].into_iter(), 0.1);
            assert_eq!(found, Some(0.5));
        }
    }
}
