//! From a signature to its positions in a filter: double hashing, plain or enhanced.
//!
//! Kirsch and Mitzenmacher: two hashes a and b yield d, namely a + i b, and asymptotically the false-positive
//! rate is that of d independent ones. In a small filter it is higher: a b near 0, or near any fraction of
//! the range with a small denominator, yields the same few positions repeatedly, and two keys whose
//! progressions are shifts of each other share nearly all of theirs. With 1000 keys and 24 bits each, for a
//! rate of 10^-5, the actual rate is 1.7 times as high. So by default a cubic term is added, as by Dillinger and
//! Manolios (enhanced double hashing): no progression repeats itself or is a shift of another. Here it is
//! scaled to 64 bits, because a position in a range of m is (x m) / 2^64, Lemire's reduction, which uses the
//! high bits: unlike a remainder it needs no division and has no bad m. What remains is the probability that
//! two keys agree in both a and b, about n / (d m²): at 10^-5 and 1000 keys a hundredth of the rate, and less
//! for larger filters.
//!
//! a and b are the first two outputs of SplitMix64 with the signature as its state, so that even signatures
//! that are not hashes, like 0, 1, 2, …, are spread. All of this is frozen with version 1 of the file
//! formats.
//!
//! Sources: Adam Kirsch and Michael Mitzenmacher, "Less hashing, same performance", 2006; Peter Dillinger
//! and Panagiotis Manolios, "Bloom filters in probabilistic verification", 2004; Daniel Lemire, "Fast random
//! integer generation in an interval", 2019; Guy Steele, Doug Lea and Christine Flood, "Fast splittable
//! pseudorandom number generators", 2014.

use std::array;

use crate::settings::choices;
use crate::signature::hash::{GOLDEN, random, reduce};
use crate::{Pulse, Result, Signature};

use super::KEYS_PER_BEAT;

/// The prefetch distance in keys: enough to hide a miss, few enough to stay in the cache.
const AHEAD: usize = 16;

choices! {
    /// How the positions of a key follow from its two hashes.
    pub enum Hashing, "hashing" {
        /// Double hashing with a cubic term: the rate of independent hashes at any size.
        Enhanced = "enhanced",
        /// Plain double hashing, a + i b: a higher rate in small filters.
        Double = "double",
    }
}

/// Iterates over the positions of a key.
#[derive(Clone, Copy)]
pub struct Probe {
    place: u64,
    step: u64,
    change: u64,
    /// By how much the change grows: 0 for plain double hashing, whose steps are all equal.
    growth: u64,
}

impl Probe {
    /// The positions of the key with this signature.
    #[inline]
    pub fn new(key: Signature, hashing: Hashing) -> Probe {
        let growth = if hashing == Hashing::Enhanced { GOLDEN } else { 0 };
        Probe { place: random(key.0, 0), step: random(key.0, 1), change: 0, growth }
    }

    /// The next position, below `range`.
    #[inline]
    pub fn next(&mut self, range: u64) -> usize {
        let place = reduce(self.place, range);
        self.place = self.place.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.change);
        self.change = self.change.wrapping_add(self.growth);
        place as usize
    }
}

/// Software pipelining: calls `prepare` for each key, and some keys later `handle` with its result, in the
/// order of the keys.
///
/// `prepare` computes the positions of a key and prefetches their cache lines.
#[inline]
pub fn in_order<T: Copy>(
    keys: &[Signature],
    pulse: &Pulse,
    prepare: impl Fn(usize, Signature) -> T,
    mut handle: impl FnMut(usize, T),
) -> Result<()> {
    // If the batch is shorter than the ring, the rest is filled with a dummy key, which is never handled.
    let any = Signature(0);
    let mut ring: [T; AHEAD] = array::from_fn(|index| prepare(index, *keys.get(index).unwrap_or(&any)));
    for start in (0..keys.len()).step_by(KEYS_PER_BEAT) {
        pulse.beat()?;
        for index in start..keys.len().min(start + KEYS_PER_BEAT) {
            let ready = ring[index % AHEAD];
            if let Some(later) = keys.get(index + AHEAD) {
                ring[index % AHEAD] = prepare(index + AHEAD, *later);
            }
            handle(index, ready);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_frozen_and_in_range() {
        let places = |hashing| {
            let mut probe = Probe::new(Signature::of(b"https://example.org/"), hashing);
            [(); 4].map(|()| probe.next(1000))
        };
        assert_eq!(places(Hashing::Enhanced), [504, 952, 400, 467]);
        // a, a + b, a + 2 b, a + 3 b modulo 1000, up to rounding.
        assert_eq!(places(Hashing::Double), [504, 952, 400, 849]);
        for range in [1, 2, 3, 511, 512, 513, u64::MAX] {
            let mut probe = Probe::new(Signature(range), Hashing::Double);
            assert!((0..64).all(|_| (probe.next(range) as u64) < range));
        }
    }

    #[test]
    fn every_key_comes_once_and_in_order() {
        for length in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD, KEYS_PER_BEAT + 1] {
            let keys: Vec<Signature> = (7..7 + length as u64).map(Signature).collect();
            let mut handled = Vec::new();
            let prepare = |index: usize, key: Signature| (index, key);
            in_order(&keys, &Pulse::STEADY, prepare, |index, (prepared, key)| {
                assert_eq!(index, prepared);
                handled.push(key);
            })
            .unwrap();
            assert_eq!(handled, keys);
        }
    }
}
