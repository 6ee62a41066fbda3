//! n-gram fingerprints: a text is represented by some of its signals, and two texts are compared by their overlap.
//!
//! Which ones are kept depends on their hashes alone, so that the same passage keeps the same ones everywhere:
//!
//! - `Modulus(b)` keeps h ≡ 0 mod b: one in b on average, and perhaps none of a short text;
//! - `Winnow(w)` keeps the least of every w consecutive signals (the last among equals): 2 / (w + 1) of them on average,
//!   and at least one of every passage of w signals, so that a common passage of w + n − 1 words is always found.
//!
//! Sources: Nevin Heintze, "Scalable document fingerprinting", 1996 (mod b is Manber's, 1994); Saul Schleimer, Daniel
//! Wilkerson, Alex Aiken, "Winnowing: local algorithms for document fingerprinting", 2003.

use super::distinct;

/// Which signals represent a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// All of them.
    All,
    /// Those divisible by a number, at least 1.
    Modulus(u64),
    /// The least of every window of this many.
    Winnow(usize),
}

impl Selection {
    /// Keeps the selected signals of a text, given in their order; sorted and without repetitions.
    pub fn keep(self, signals: &mut Vec<u64>) {
        match self {
            Selection::All => {}
            Selection::Modulus(divisor) => signals.retain(|signal| signal.is_multiple_of(divisor.max(1))),
            Selection::Winnow(window) => winnow(signals, window.max(1)),
        }
        distinct(signals);
    }
}

fn winnow(signals: &mut Vec<u64>, window: usize) {
    if signals.len() <= window {
        let least = signals.iter().copied().min();
        signals.clear();
        signals.extend(least);
        return;
    }
    // The least of a window rarely leaves it: then the window is read again, O(1) per signal on average.
    let (mut kept, mut least) = (Vec::with_capacity(2 * signals.len() / (window + 1) + 1), usize::MAX);
    for end in window..=signals.len() {
        let start = end - window;
        if least == usize::MAX || least < start {
            let mut found = start;
            for at in start..end {
                if signals[at] <= signals[found] {
                    found = at;
                }
            }
            least = found;
            kept.push(signals[least]);
        } else if signals[end - 1] <= signals[least] {
            least = end - 1;
            kept.push(signals[least]);
        }
    }
    *signals = kept;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn are_the_definitions(signals in prop::collection::vec(0u64..60, 0..60), size in 1usize..9) {
            let kept = |selection: Selection| {
                let mut kept = signals.clone();
                selection.keep(&mut kept);
                kept
            };
            let sorted = |set: BTreeSet<u64>| set.into_iter().collect::<Vec<_>>();
            let divisible = signals.iter().copied().filter(|signal| signal % size as u64 == 0).collect();
            prop_assert_eq!(kept(Selection::Modulus(size as u64)), sorted(divisible));
            let windows = if signals.len() < size { vec![&signals[..]] } else { signals.windows(size).collect() };
            let least = windows.iter().filter_map(|window| window.iter().min().copied()).collect();
            prop_assert_eq!(kept(Selection::Winnow(size)), sorted(least));
            prop_assert_eq!(kept(Selection::All), sorted(signals.iter().copied().collect()));
        }
    }
}
