//! What two texts have in common, measured on the sets A and B of their signals.
//!
//! ```text
//! jaccard      |A ∩ B| / |A ∪ B|
//! containment  |A ∩ B| / |A|              how much of the first is in the second
//! overlap      |A ∩ B| / min(|A|, |B|)
//! ```
//!
//! Two empty sets are equal, with similarity 1. Time O(|A| + |B|) on sorted sets.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A measure of similarity, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The share of the union that both have.
    Jaccard,
    /// The share of the first that the second has.
    Containment,
    /// The share of the smaller that the larger has.
    Overlap,
}

impl Measure {
    /// The similarity of two sets, sorted and without repetitions.
    pub fn of<T: Ord>(self, one: &[T], other: &[T]) -> f64 {
        self.of_counts(common_by(one, other, |element| element), one.len(), other.len())
    }

    /// The similarity of sets of `one` and `other` elements that have `common` ones.
    pub fn of_counts(self, common: usize, one: usize, other: usize) -> f64 {
        let whole = self.whole(common, one, other);
        if whole == 0 { f64::from(u8::from(one == other)) } else { common as f64 / whole as f64 }
    }

    /// What the number of common elements is divided by.
    pub fn whole(self, common: usize, one: usize, other: usize) -> usize {
        match self {
            Measure::Jaccard => one + other - common,
            Measure::Containment => one,
            Measure::Overlap => one.min(other),
        }
    }
}

/// Sorts signals and removes repeated ones.
pub fn distinct<T: Ord>(signals: &mut Vec<T>) {
    signals.sort_unstable();
    signals.dedup();
}

/// The number of elements that two sets have in common, which are sorted by a key.
pub fn common_by<'a, T, K: Ord>(one: &'a [T], other: &'a [T], key: impl Fn(&'a T) -> K) -> usize {
    let (mut at, mut beside, mut common) = (0, 0, 0);
    while at < one.len() && beside < other.len() {
        // Without branches: which way it goes is not predictable.
        let order = key(&one[at]).cmp(&key(&other[beside]));
        common += usize::from(order == Ordering::Equal);
        at += usize::from(order != Ordering::Greater);
        beside += usize::from(order != Ordering::Less);
    }
    common
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn are_the_definitions(one in prop::collection::btree_set(0u64..30, 0..20), other in prop::collection::btree_set(0u64..30, 0..20)) {
            let both = one.intersection(&other).count() as f64;
            let sorted = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
            let share = |all: usize| if all == 0 { f64::from(u8::from(one.len() == other.len())) } else { both / all as f64 };
            let found = |measure: Measure| measure.of(&sorted(&one), &sorted(&other));
            prop_assert_eq!(found(Measure::Jaccard), share(one.union(&other).count()));
            prop_assert_eq!(found(Measure::Containment), share(one.len()));
            prop_assert_eq!(found(Measure::Overlap), share(one.len().min(other.len())));
        }
    }
}
