//! SimHash: a fingerprint of b bits; similar texts agree in most of its bits.
//!
//! With the weight w(s) of each signal s of the text, bit i is 1 if and only if
//!
//! ```text
//! Σ w(s) over h(s)[i] = 1   >   Σ w(s) over h(s)[i] = 0
//! ```
//!
//! Two texts whose weighted vectors are at angle θ differ in b θ/π bits on average. Bit i depends on bit i of the
//! hashes alone: the SimHash of 32 bits is the lower half of that of 64, and that of 128 is made of two of 64 with
//! independent hashes. Time O(n) for n signals, whatever the weights.
//!
//! Sources: Moses Charikar, "Similarity estimation techniques from rounding algorithms", 2002; Gurmeet Singh Manku,
//! Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", 2007.

use std::hash::{BuildHasher, RandomState};

use super::frequencies::AHEAD;
use super::{Frequencies, Signals, lower_case};
use crate::signature::hash::random;

/// What a signal weighs.
#[derive(Clone, Copy)]
pub enum Weights<'a> {
    /// 1, however often it occurs.
    Set,
    /// The number of its occurrences.
    Frequency,
    /// The number of its occurrences times its inverse document frequency.
    TfIdf(&'a Frequencies),
}

/// The signals of pages: what the crawl and the index fingerprint.
const PAGE: Signals = Signals::words(3);

/// The fewest words of a page that has a fingerprint: the triples of a shorter one are so few that a word more or less
/// flips many bits, and generated pages (calendars, lists, stubs) with a template in common are within few bits.
pub const LEAST_WORDS: usize = 50;

/// The SimHash of a page: of the set of the word triples of its text, which the caller has lower-cased; `None` if it has
/// fewer than [`LEAST_WORDS`] words. docs/duplicates.md has the figures by which the signals were chosen.
pub fn of_page(text: &str) -> Option<u64> {
    let mut signals = Vec::with_capacity(text.len() / 5 + 1);
    PAGE.of(text, &mut signals);
    let words = signals.len() + PAGE.size - 1;
    (words >= LEAST_WORDS).then(|| simhash(&signals, Weights::Set))
}

/// The SimHash of a document that is no page of a crawl, as [`of_page`] computes it.
pub fn of_text(text: &str) -> Option<u64> {
    let mut lower = Vec::with_capacity(text.len());
    lower_case(&mut lower, text);
    // It is built from characters, so it is valid.
    of_page(std::str::from_utf8(&lower).unwrap_or_default())
}

/// The SimHash of 64 bits of signals; 0 if there are none. Its lower half is the SimHash of 32 bits.
pub fn simhash(signals: &[u64], weights: Weights<'_>) -> u64 {
    majority(signals, weights, |signal| signal)
}

/// The SimHash of 128 bits of signals: above that of 64 bits, one of other hashes.
pub fn simhash_128(signals: &[u64], weights: Weights<'_>) -> u128 {
    let other = majority(signals, weights, |signal| random(signal, 1));
    u128::from(other) << 64 | u128::from(simhash(signals, weights))
}

fn majority(signals: &[u64], weights: Weights<'_>, hash: impl Fn(u64) -> u64) -> u64 {
    match weights {
        Weights::Set => {
            let mut seen = Distinct::with_capacity(signals.len());
            let mut votes = Votes::default();
            signals.iter().filter(|signal| seen.insert(**signal)).for_each(|signal| votes.add(hash(*signal)));
            votes.majority()
        }
        Weights::Frequency => {
            let mut votes = Votes::default();
            signals.iter().for_each(|signal| votes.add(hash(*signal)));
            votes.majority()
        }
        Weights::TfIdf(frequencies) => {
            let mut sums = [0f32; 64];
            for (place, &signal) in signals.iter().enumerate() {
                frequencies.prefetch(signals.get(place + AHEAD));
                let (hash, weight) = (hash(signal), frequencies.idf(signal));
                for (bit, sum) in sums.iter_mut().enumerate() {
                    *sum += if hash >> bit & 1 == 1 { weight } else { -weight };
                }
            }
            sums.iter().enumerate().map(|(bit, sum)| u64::from(*sum > 0.0) << bit).sum()
        }
    }
}

/// How many hashes have each bit set.
#[derive(Default)]
struct Votes {
    /// The number of hashes.
    count: u64,
    /// Byte b of `recent[i]` counts bit i + 8 b, up to 255.
    recent: [u64; 8],
    settled: Settled,
}

struct Settled([u64; 64]);

impl Default for Settled {
    fn default() -> Self {
        Settled([0; 64])
    }
}

impl Votes {
    #[inline]
    fn add(&mut self, hash: u64) {
        const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
        for (shift, counter) in self.recent.iter_mut().enumerate() {
            *counter += hash >> shift & LOWEST_BITS;
        }
        self.count += 1;
        if self.count.is_multiple_of(255) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for (bit, count) in self.settled.0.iter_mut().enumerate() {
            *count += self.recent[bit % 8] >> (bit / 8 * 8) & 0xff;
        }
        self.recent = [0; 8];
    }

    /// The bits set in more than half of the hashes.
    fn majority(mut self) -> u64 {
        self.settle();
        let of_bit = |(bit, count): (usize, &u64)| u64::from(2 * count > self.count) << bit;
        self.settled.0.iter().enumerate().map(of_bit).sum()
    }
}

/// A set of hashes of known number: a table with linear probing, at most half full.
struct Distinct {
    /// The slots, a power of two; zero marks an empty one.
    places: Vec<u64>,
    has_zero: bool,
    /// A random odd multiplier, so that no page can choose its slots (hash flooding).
    factor: u64,
}

impl Distinct {
    fn with_capacity(count: usize) -> Distinct {
        let places = vec![0; (2 * count + 1).next_power_of_two()];
        Distinct { places, has_zero: false, factor: RandomState::new().hash_one(0) | 1 }
    }

    /// Whether it is new.
    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let mask = self.places.len() - 1;
        let mut at = (hash.wrapping_mul(self.factor) >> 32) as usize & mask;
        while self.places[at] != 0 {
            if self.places[at] == hash {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.places[at] = hash;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similar_texts_are_near_and_others_far() {
        let text: Vec<String> = (0..500).map(|word| format!("word{}", word * word % 101)).collect();
        let mut edited = text.clone();
        edited[250] = "edited".into();
        let other: Vec<String> = (0..500).map(|word| format!("other{}", word * 7 % 103)).collect();
        let [text, edited, other] = [text, edited, other].map(|words| of_page(&words.join(" ")).unwrap());
        assert!((text ^ edited).count_ones() <= 8);
        assert!((text ^ other).count_ones() > 16);
    }

    #[test]
    fn a_short_text_has_no_fingerprint() {
        let words = |count: usize| vec!["word"; count].join(" ");
        assert_eq!((of_page(""), of_page("a b"), of_page(&words(LEAST_WORDS - 1))), (None, None, None));
        assert!(of_page(&words(LEAST_WORDS)).is_some());
        assert_eq!(of_text(&words(60).to_uppercase()), of_page(&words(60)));
    }

    #[test]
    fn a_text_without_words_has_no_bits() {
        assert_eq!(simhash(&[], Weights::Set), 0);
        assert_eq!(simhash_128(&[], Weights::Frequency), 0);
    }

    proptest! {
        #[test]
        fn is_the_definition(signals in prop::collection::vec(0u64..40, 0..700), zero in any::<bool>()) {
            let mut signals: Vec<u64> = signals.iter().map(|signal| random(*signal, 0)).collect();
            signals.extend(zero.then_some(0));
            let mut frequencies = Frequencies::new(1 << 12);
            signals.chunks(5).for_each(|document| frequencies.add(&mut document.to_vec()));
            let mut counts: HashMap<u64, f64> = HashMap::new();
            signals.iter().for_each(|signal| *counts.entry(*signal).or_default() += 1.0);
            for weights in [Weights::Set, Weights::Frequency, Weights::TfIdf(&frequencies)] {
                let weigh = |signal: u64, count: f64| match weights {
                    Weights::Set => 1.0,
                    Weights::Frequency => count,
                    Weights::TfIdf(frequencies) => count * f64::from(frequencies.idf(signal)),
                };
                let found = simhash_128(&signals, weights);
                prop_assert_eq!(found as u64, simhash(&signals, weights));
                for bit in 0..128 {
                    let sign = |signal: u64| {
                        let hash = if bit < 64 { signal } else { random(signal, 1) };
                        if hash >> (bit % 64) & 1 == 1 { 1.0 } else { -1.0 }
                    };
                    let sum: f64 = counts.iter().map(|(signal, count)| sign(*signal) * weigh(*signal, *count)).sum();
                    // Sums of single precision may fall on either side of 0.
                    prop_assert!(found >> bit & 1 == u128::from(sum > 0.0) || sum.abs() < 1e-2);
                }
            }
        }
    }
}
