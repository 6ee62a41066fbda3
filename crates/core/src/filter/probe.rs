//! From a signature to the places of a filter that belong to it.
//!
//! Kirsch and Mitzenmacher: two hashes a and b make d, namely a + i b, and a filter errs as with d
//! independent ones, as the filter grows. In a small filter it errs more: a b near 0, or near any fraction
//! of the range with a small denominator, gives the same few places again and again, and two keys whose
//! progressions are shifted against each other share nearly all of theirs. With 1000 keys and 24 bits each,
//! for an error of 10^-5, this doubles the error. So a cubic term is added, as Dillinger and Manolios do
//! (enhanced double hashing): no progression repeats itself or is a shift of another. Here it is scaled to
//! 64 bits, because a place in a range of m is (x m) / 2^64, Lemire's reduction, which reads the high
//! bits: unlike a remainder it takes no division and has no bad m. What is left is that two keys agree in
//! both a and b, about n / (d m²): at 10^-5 less than a hundredth of the error from 1000 keys on.
//!
//! a and b are the first two numbers of SplitMix64 with the signature as its state, so that even
//! signatures that are no hashes, like 0, 1, 2, …, are spread. All of this is frozen with version 1 of the
//! file formats.
//!
//! Sources: Adam Kirsch and Michael Mitzenmacher, "Less hashing, same performance", 2006; Peter Dillinger
//! and Panagiotis Manolios, "Bloom filters in probabilistic verification", 2004; Daniel Lemire, "Fast random
//! integer generation in an interval", 2019; Guy Steele, Doug Lea and Christine Flood, "Fast splittable
//! pseudorandom number generators", 2014.

use crate::{Pulse, Result, Signature};

use super::KEYS_PER_BEAT;

/// 2^64 divided by the golden ratio, and odd: the step of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many keys ahead cache lines are fetched: enough to hide a miss, few enough to stay in the cache.
const AHEAD: usize = 12;

/// The number with index `index` (from 0) of SplitMix64 with this state.
#[inline]
pub fn random(state: u64, index: u64) -> u64 {
    let mixed = state.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number of 64 bits as one below `range`, evenly.
#[inline]
pub fn reduce(number: u64, range: u64) -> u64 {
    ((u128::from(number) * u128::from(range)) >> 64) as u64
}

/// The places of a key, one after the other.
#[derive(Clone, Copy)]
pub struct Probe {
    place: u64,
    step: u64,
    change: u64,
}

impl Probe {
    /// The places of the key with this signature.
    #[inline]
    pub fn new(key: Signature) -> Probe {
        Probe { place: random(key.0, 0), step: random(key.0, 1), change: 0 }
    }

    /// The next place, below `range`.
    #[inline]
    pub fn next(&mut self, range: u64) -> usize {
        let place = reduce(self.place, range);
        self.place = self.place.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.change);
        self.change = self.change.wrapping_add(GOLDEN);
        place as usize
    }
}

/// Asks for cache lines of a filter, or of any table, before they are needed.
#[derive(Clone, Copy)]
pub struct Prefetch(*const u8);

impl Prefetch {
    /// For the lines of `contents`.
    pub fn of<T>(contents: &[T]) -> Prefetch {
        Prefetch(contents.as_ptr().cast())
    }

    /// Asks for the line of the byte at `offset`.
    #[inline]
    pub fn line(self, offset: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.0.wrapping_add(offset).cast()) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (self.0, offset);
    }
}

/// Calls `handle` with the keys in their order, and `prefetch` with each some keys before.
#[inline]
pub fn in_order(
    keys: &[Signature],
    pulse: &Pulse,
    prefetch: impl Fn(usize, Signature),
    mut handle: impl FnMut(usize, Signature),
) -> Result<()> {
    for (index, key) in keys.iter().enumerate().take(AHEAD) {
        prefetch(index, *key);
    }
    for start in (0..keys.len()).step_by(KEYS_PER_BEAT) {
        pulse.beat()?;
        for index in start..keys.len().min(start + KEYS_PER_BEAT) {
            if let Some(later) = keys.get(index + AHEAD) {
                prefetch(index + AHEAD, *later);
            }
            handle(index, keys[index]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_generator() {
        // The reference values of SplitMix64 with seed 0.
        assert_eq!(random(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random(0, 1), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn places_are_frozen_and_in_range() {
        let mut probe = Probe::new(Signature::of(b"https://example.org/"));
        let places: Vec<usize> = (0..4).map(|_| probe.next(1000)).collect();
        assert_eq!(places, [504, 952, 400, 467]);
        for range in [1, 2, 3, 511, 512, 513, u64::MAX] {
            let mut probe = Probe::new(Signature(range));
            assert!((0..64).all(|_| (probe.next(range) as u64) < range));
        }
    }

    #[test]
    fn every_key_comes_once_and_in_order() {
        for length in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD, KEYS_PER_BEAT + 1] {
            let keys: Vec<Signature> = (0..length as u64).map(Signature).collect();
            let fetched = std::cell::RefCell::new(vec![false; length]);
            let mut handled = Vec::new();
            let fetch = |index: usize, _| fetched.borrow_mut()[index] = true;
            in_order(&keys, &Pulse::STEADY, fetch, |index, key| {
                assert!(fetched.borrow()[index]);
                handled.push(key);
            })
            .unwrap();
            assert_eq!(handled, keys);
        }
    }
}
