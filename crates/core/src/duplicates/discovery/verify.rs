//! Verified pairs: the similarity of the sets of signals, or the Hamming distance of the SimHashes.

use std::sync::Mutex;

use rayon::prelude::*;

use super::files::{Files, Stored};
use super::options::{Method, Options};
use crate::duplicates::{Measure, distinct};
use crate::signature::hash::{random, reduce};
use crate::{Pulse, Result};

/// Two documents, the first of which comes before the second, and their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The number of the first.
    pub one: u32,
    /// The number of the second.
    pub other: u32,
    /// From 0 to 1.
    pub similarity: f32,
}

impl Pair {
    /// The size of an encoded pair.
    pub const BYTES: usize = 12;

    /// The pair as bytes.
    pub fn encode(&self) -> [u8; Pair::BYTES] {
        let mut bytes = [0; Pair::BYTES];
        bytes[..4].copy_from_slice(&self.one.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.other.to_le_bytes());
        bytes[8..].copy_from_slice(&self.similarity.to_le_bytes());
        bytes
    }

    /// The pair of 12 bytes.
    pub fn decode(bytes: &[u8]) -> Pair {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Pair { one: number(0), other: number(4), similarity: f32::from_bits(number(8)) }
    }

    fn order(&self) -> (u32, u32) {
        (self.other, self.one)
    }
}

/// Verifies pairs.
pub struct Verifier<'a> {
    stored: &'a Stored,
    options: &'a Options,
    /// Of all documents, if they are compared by them.
    simhashes: Vec<u128>,
    /// Pairs that were verified, each in the place of its hash until another takes it: duplicates have many keys in common,
    /// and come in every pass.
    seen: Mutex<Vec<u64>>,
}

/// The pairs that a thread verifies at a time.
const PAIRS: usize = 256;

impl<'a> Verifier<'a> {
    /// Over what was stored; `memory` in bytes is for the pairs that were verified.
    pub fn new(stored: &'a Stored, options: &'a Options, memory: usize) -> Result<Verifier<'a>> {
        let by_simhash = matches!(options.method, Method::Simhash { .. });
        let simhashes = if by_simhash { stored.simhashes()? } else { Vec::new() };
        let seen = Mutex::new(vec![0; (memory / size_of::<u64>()).max(1)]);
        Ok(Verifier { stored, options, simhashes, seen })
    }

    /// The SimHash of a document.
    pub fn simhash(&self, document: u32) -> u128 {
        self.simhashes[document as usize]
    }

    /// The pairs (first, second) that are duplicates, sorted and each once, without most of those that were verified before.
    pub fn verify(&self, pairs: &mut Vec<u64>, pulse: &Pulse) -> Result<Vec<Pair>> {
        pairs.par_sort_unstable();
        pairs.dedup();
        if let Ok(mut seen) = self.seen.lock() {
            let places = seen.len() as u64;
            // No pair is 0: its second document comes later than its first.
            pairs.retain(|pair| {
                let place = reduce(random(*pair, 0), places) as usize;
                std::mem::replace(&mut seen[place], *pair) != *pair
            });
        }
        let some = |pairs: &[u64]| -> Result<Vec<Pair>> {
            pulse.beat()?;
            let (mut verified, mut before) = (Vec::new(), (u32::MAX, Filtered::default()));
            for pair in pairs {
                let (one, other) = ((pair >> 32) as u32, *pair as u32);
                let similarity = match self.options.method {
                    Method::Simhash { bits, verify: false, .. } => {
                        let distance = (self.simhash(one) ^ self.simhash(other)).count_ones();
                        1.0 - f64::from(distance) / f64::from(bits)
                    }
                    _ => {
                        if before.0 != one {
                            before = (one, Filtered::of(self.stored.signals(one)?));
                        }
                        let mut signals = self.stored.signals(other)?;
                        if self.options.measure != Measure::Overlap
                            && before.1.most_similar(&signals) < self.options.threshold
                        {
                            continue;
                        }
                        distinct(&mut signals);
                        let similarity = self.options.measure.of(before.1.set(), &signals);
                        if similarity < self.options.threshold {
                            continue;
                        }
                        similarity
                    }
                };
                verified.push(Pair { one, other, similarity: similarity as f32 });
            }
            Ok(verified)
        };
        Ok(pairs.par_chunks(PAIRS).map(some).collect::<Result<Vec<_>>>()?.concat())
    }
}

/// Signals with a filter of one hash, of 8 KiB: it tells most candidates from them before either are sorted.
#[derive(Default)]
struct Filtered {
    signals: Vec<u32>,
    is_set: bool,
    filter: Vec<u64>,
    /// At most as many as are distinct.
    least: u32,
}

impl Filtered {
    fn of(signals: Vec<u32>) -> Filtered {
        let mut filter = vec![0u64; (1 << u16::BITS) / 64];
        for signal in &signals {
            let bit = usize::from(*signal as u16);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let least = filter.iter().map(|word| word.count_ones()).sum();
        Filtered { signals, is_set: false, filter, least }
    }

    /// At least the Jaccard similarity to signals in any order, repeated ones too, and the share of this set that they have: no more
    /// of them are common than pass the filter.
    fn most_similar(&self, signals: &[u32]) -> f64 {
        let passes = |signal: &u32| {
            let bit = usize::from(*signal as u16);
            self.filter[bit / 64] >> (bit % 64) & 1
        };
        let common: u64 = signals.iter().map(passes).sum();
        if self.least == 0 { 1.0 } else { common as f64 / f64::from(self.least) }
    }

    /// The signals, sorted and without repetitions.
    fn set(&mut self) -> &[u32] {
        if !self.is_set {
            distinct(&mut self.signals);
            self.is_set = true;
        }
        &self.signals
    }
}

/// Sorts the pairs by their second document, each once, with those of equal documents; in passes over ranges of
/// documents, as many as the memory asks for.
pub fn sort(files: &mut Files, representatives: &[u32], memory: usize, pulse: &Pulse) -> Result<()> {
    let count = files.count_pairs() as usize + representatives.len();
    let passes = (count * size_of::<Pair>()).div_ceil(memory.max(1)).max(1);
    let range = representatives.len().div_ceil(passes).max(1);
    files.replace_pairs(|files, append| {
        for start in (0..representatives.len()).step_by(range) {
            let end = representatives.len().min(start + range);
            let mut pairs: Vec<Pair> = Vec::new();
            let mut read = 0;
            loop {
                pulse.beat()?;
                let some = files.some_pairs(read, 1 << 16)?;
                if some.is_empty() {
                    break;
                }
                read += some.len() as u64;
                pairs.extend(some.iter().filter(|pair| (start..end).contains(&(pair.other as usize))));
            }
            let equal = (start..end).filter(|document| representatives[*document] as usize != *document);
            pairs.extend(equal.map(|document| Pair {
                one: representatives[document],
                other: document as u32,
                similarity: 1.0,
            }));
            pairs.par_sort_unstable_by_key(Pair::order);
            pairs.dedup_by_key(|pair| pair.order());
            append(&pairs)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_bound_holds(
            one in prop::collection::vec(any::<u32>(), 0..40), other in prop::collection::vec(any::<u32>(), 0..40),
            common in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            let mut filtered = Filtered::of([one, common.clone()].concat());
            let mut signals = [other, common.clone(), common].concat();
            let bound = filtered.most_similar(&signals);
            distinct(&mut signals);
            prop_assert!(Measure::Jaccard.of(filtered.set(), &signals) <= bound);
        }
    }
}
