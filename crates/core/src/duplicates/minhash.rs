//! MinHash: k numbers such that the share of equal ones estimates the Jaccard similarity of two sets.
//!
//! One permutation: the hash of a signal says its bin and its value, and each bin keeps its least value; one pass and
//! O(1) per signal whatever k is. An empty bin takes the value of a bin that has one, chosen by hashes of its number
//! and of the number of the attempt: *optimal densification*, with the least variance of all such schemes. For k bins
//! and similarity J the estimate is unbiased with variance about J (1 − J) / k.
//!
//! With b bits of each value kept, unequal values agree by chance with probability 2⁻ᵇ, which the estimate corrects:
//!
//! ```text
//! J ≈ (share of equal ones − 2⁻ᵇ) / (1 − 2⁻ᵇ)
//! ```
//!
//! Sources: Ping Li, Art Owen, Cun-Hui Zhang, "One permutation hashing", 2012; Anshumali Shrivastava, "Optimal
//! densification for fast and accurate minwise hashing", 2017; Ping Li and Christian König, "b-bit minwise hashing", 2010.

use crate::signature::hash::{random, reduce};

/// A way to make sketches: so many bins, so many bits of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MinHash {
    /// The number of bins, 1 to 4,096.
    pub bins: usize,
    /// The number of bits kept of each value, 1 to 32.
    pub bits: u32,
}

impl MinHash {
    /// The most bins: the bin of a signal comes from the upper half of its hash, its value from the lower.
    pub const MOST_BINS: usize = 4096;

    /// Puts the sketch of signals into `sketch`, in place of what is there; without signals all bins are 0.
    pub fn of(self, signals: &[u64], sketch: &mut Vec<u32>) {
        sketch.clear();
        if signals.is_empty() {
            sketch.resize(self.bins, 0);
            return;
        }
        sketch.resize(self.bins, u32::MAX);
        let mut filled = [0u64; MinHash::MOST_BINS.div_ceil(u64::BITS as usize)];
        let is_filled = |filled: &[u64], bin: usize| filled[bin / 64] >> (bin % 64) & 1 == 1;
        for &signal in signals {
            let bin = reduce(signal, self.bins as u64) as usize;
            sketch[bin] = sketch[bin].min(signal as u32);
            filled[bin / 64] |= 1 << (bin % 64);
        }
        for bin in 0..self.bins {
            let (mut from, mut attempt) = (bin, 0);
            while !is_filled(&filled, from) {
                attempt += 1;
                from = reduce(random(bin as u64, attempt), self.bins as u64) as usize;
            }
            sketch[bin] = sketch[from];
        }
        let mask = u32::MAX >> (u32::BITS - self.bits.clamp(1, u32::BITS));
        sketch.iter_mut().for_each(|value| *value &= mask);
    }

    /// The estimate of the Jaccard similarity from two sketches.
    pub fn similarity(self, one: &[u32], other: &[u32]) -> f64 {
        let equal = one.iter().zip(other).filter(|(one, other)| one == other).count();
        let (share, chance) = (equal as f64 / self.bins as f64, (-f64::from(self.bits)).exp2());
        ((share - chance) / (1.0 - chance)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplicates::{Measure, distinct};

    /// Sets of `size` signals with a given Jaccard similarity.
    fn pair(size: u64, similarity: f64, seed: u64) -> [Vec<u64>; 2] {
        let common = (2.0 * similarity * size as f64 / (1.0 + similarity)).round() as u64;
        let numbers = |start: u64| (0..common).chain(start..start + size - common);
        [1 << 20, 1 << 21].map(|start| {
            let mut set: Vec<u64> = numbers(start).map(|number| random(seed, number)).collect();
            distinct(&mut set);
            set
        })
    }

    #[test]
    fn the_estimate_is_unbiased_with_the_variance_stated() {
        // Also with fewer signals than bins, where most of them are filled by densification.
        for (size, bits) in [(2000, 32), (2000, 2), (40, 32)] {
            let minhash = MinHash { bins: 128, bits };
            let runs = 300;
            let (mut error, mut square) = (0.0, 0.0);
            let mut similarity = 0.0;
            for seed in 0..runs {
                let sets = pair(size, 0.7, seed);
                similarity = Measure::Jaccard.of(&sets[0], &sets[1]);
                let mut sketches = [Vec::new(), Vec::new()];
                sets.iter().zip(&mut sketches).for_each(|(set, sketch)| minhash.of(set, sketch));
                let off = minhash.similarity(&sketches[0], &sketches[1]) - similarity;
                error += off / runs as f64;
                square += off * off / runs as f64;
            }
            // With b bits a share s = J + (1 − J) 2⁻ᵇ is estimated, and divided by 1 − 2⁻ᵇ. Of few signals a bin's
            // value is used more than once: at most the variance of as many bins as there are signals.
            let chance = (-f64::from(bits)).exp2();
            let share = similarity + (1.0 - similarity) * chance;
            let variance = share * (1.0 - share) / (128.0f64).min(size as f64) / (1.0 - chance).powi(2);
            assert!(error.abs() < 4.0 * (variance / runs as f64).sqrt(), "{size} {bits} {error}");
            assert!(square < 1.4 * variance, "{size} {bits} {square} {variance}");
        }
    }

    #[test]
    fn the_order_and_repetitions_change_nothing() {
        let minhash = MinHash { bins: 64, bits: 16 };
        let [set, _] = pair(500, 1.0, 7);
        let (mut one, mut other) = (Vec::new(), vec![9; 3]);
        minhash.of(&set, &mut one);
        minhash.of(&[&set[100..], &set[..200]].concat(), &mut other);
        assert_eq!(one, other);
        minhash.of(&[], &mut one);
        assert_eq!(one, vec![0; 64]);
    }
}
