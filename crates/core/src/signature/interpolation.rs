//! Interpolation search among sorted signatures.
//!
//! Signatures are uniform on 64 bits, so the number of them, among n, that are at most s is n·s / 2^64 plus
//! or minus √n / 2 (at most one standard deviation of a binomial). The search starts there, widens in steps
//! that double from √n, and ends with a binary search: two or three cache misses where a plain binary search
//! has log₂ n. Keys that are not uniform cost O(log n).
//!
//! Source: Yehoshua Perl, Alon Itai and Haim Avni, "Interpolation search: a log log N search",
//! Communications of the ACM 21(7), 1978.

use crate::Signature;

/// How many of `count` increasing signatures are at most `wanted`.
pub fn at_most(count: usize, signature: impl Fn(usize) -> Signature, wanted: Signature) -> usize {
    let guess = ((u128::from(wanted.0) * count as u128) >> 64) as usize;
    partition_from(guess, count.isqrt() + 1, count, |place| signature(place) <= wanted)
}

/// The first of `count` places for which `is_before` is false, or `count`; it is looked for from a guess on, which is at most
/// `count`, in steps that double from `step`.
#[inline]
pub fn partition_from(
    guess: usize,
    mut step: usize,
    count: usize,
    is_before: impl Fn(usize) -> bool,
) -> usize {
    let (mut low, mut high) = (guess, guess);
    // Invariant at the end: everything before low is before the place, and the key at high is not.
    while low > 0 && !is_before(low - 1) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    while high < count && is_before(high) {
        low = high + 1;
        high = (high + step).min(count);
        step *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The index of `wanted` among `count` increasing signatures.
pub fn find(count: usize, signature: impl Fn(usize) -> Signature, wanted: Signature) -> Option<usize> {
    let place = at_most(count, &signature, wanted).checked_sub(1)?;
    (signature(place) == wanted).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_partition_point(mut keys in prop::collection::vec(any::<u64>(), 0..200), crowded in any::<bool>(), other in any::<u64>()) {
            if crowded {
                keys.iter_mut().for_each(|key| *key >>= 56);
            }
            keys.sort_unstable();
            keys.dedup();
            for wanted in keys.iter().copied().chain([0, other, other >> 56, u64::MAX]) {
                let expected = keys.partition_point(|key| *key <= wanted);
                prop_assert_eq!(at_most(keys.len(), |i| Signature(keys[i]), Signature(wanted)), expected);
                let place = find(keys.len(), |i| Signature(keys[i]), Signature(wanted));
                prop_assert_eq!(place, keys.binary_search(&wanted).ok());
            }
        }
    }
}
