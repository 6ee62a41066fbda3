//! The Bloom filter: m bits and d hash functions; every key sets d bits.
//!
//! There are no false negatives. With n keys the false-positive rate is (1 − e^(−dn/m))^d, minimal for
//! d = (m/n) ln 2, where half of the bits are set and the rate is 2^−d. So a key costs
//! log₂(1/p) / ln 2 = 1.44 log₂(1/p) bits: 4.8 for a rate of 10 %, 9.6 for 1 %, 24 for 10^−5. d is an
//! integer, so both neighbours of the optimum are tried, each with the smallest m that keeps the rate,
//! m = −dn / ln(1 − p^(1/d)). If m is given instead of p, the better of the two neighbours of (m/n) ln 2 is
//! taken.
//!
//! Beyond its capacity it still accepts keys, at a rising false-positive rate: with twice the keys 1 %
//! becomes 16 %. A key costs d cache misses once the filter is larger than the cache.
//!
//! Source: Burton Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970. For the hash
//! functions see [`super::probe`].

use std::f64::consts::LN_2;
use std::path::Path;

use super::probe::{Hashing, Probe, in_order};
use super::stability::Decay;
use super::storage::{Kind, Parameters, Storage, ones, whole_lines};
use super::{Filter, MOST_BITS, MOST_HASHES, Size, check_bits};
use crate::disk::format::Format;
use crate::prefetch::Prefetch;
use crate::{Pulse, Result, Signature};

const KIND: Kind = Kind { format: Format { kind: *b"BLOM", version: 2 }, length };

fn length(parameters: &Parameters) -> Option<usize> {
    let possible =
        (1..=MOST_BITS).contains(&parameters.places) && (1..=MOST_HASHES).contains(&parameters.hashes);
    possible.then(|| whole_lines(parameters.places))
}

/// From this number of hashes on, `contains` stops at the first zero, and prefetches only the lines that it
/// probably needs: in a full filter a new key has two bits tested on average, so the other lines would be
/// fetched in vain. With 13 hashes and 128 MB a new key takes half the time, with 17 a third, and a key that
/// is present up to one and a half times as long. With fewer hashes the mispredicted branch costs more than
/// the lines.
const MANY_HASHES: u32 = 10;
const FIRST_TESTED: u32 = 4;

/// The number of bits for `capacity` keys with `hashes` hash functions at a false-positive rate of `error`.
pub fn bits_for(capacity: u64, error: f64, hashes: u32) -> f64 {
    let hashes = f64::from(hashes);
    // ln(1 − x) for x = p^(1/d), accurate for tiny x, too.
    -hashes * capacity as f64 / (-error.powf(1.0 / hashes)).ln_1p()
}

/// The false-positive rate of `capacity` keys in `bits` bits with `hashes` hash functions.
fn error_of(bits: u64, capacity: u64, hashes: u32) -> f64 {
    let hashes = f64::from(hashes);
    (-(-hashes * capacity as f64 / bits as f64).exp_m1()).powf(hashes)
}

/// The number of hash functions with the lowest false-positive rate for `capacity` keys in `bits` bits:
/// a neighbour of (m/n) ln 2.
fn best_hashes(bits: u64, capacity: u64) -> u32 {
    let best = bits as f64 / capacity as f64 * LN_2;
    let [below, above] =
        [best.floor(), best.ceil()].map(|hashes| hashes.clamp(1.0, f64::from(MOST_HASHES)) as u32);
    if error_of(bits, capacity, below) <= error_of(bits, capacity, above) { below } else { above }
}

fn parameters(size: Size, hashing: Hashing) -> Result<Parameters> {
    let (bits, hashes) = match size.checked()? {
        Size::Bits { bits, hashes } => (bits, hashes),
        Size::Load { bits, capacity } => (bits, best_hashes(bits, capacity)),
        Size::Keys { capacity, error } => {
            let best = (-error.log2()).clamp(1.0, f64::from(MOST_HASHES));
            let candidates = [best.floor() as u32, best.ceil() as u32];
            let sizes = candidates.map(|hashes| (bits_for(capacity, error, hashes).ceil() as u64, hashes));
            sizes[0].min(sizes[1])
        }
    };
    check_bits(bits)?;
    let decay = Decay::Consecutive;
    Ok(Parameters { places: bits, hashes, decrements: 0, seed: 0, max: 1, hashing, decay })
}

/// A Bloom filter.
pub struct Bloom {
    storage: Storage,
    bits: u64,
    hashes: u32,
    hashing: Hashing,
}

impl Bloom {
    /// An empty filter in memory.
    pub fn new(size: Size, hashing: Hashing) -> Result<Bloom> {
        let parameters = parameters(size, hashing)?;
        Ok(Bloom::with(Storage::in_memory(&KIND, &parameters)?, parameters))
    }

    /// An empty filter in a new file.
    pub fn create(path: &Path, size: Size, hashing: Hashing) -> Result<Bloom> {
        let parameters = parameters(size, hashing)?;
        Ok(Bloom::with(Storage::in_file(&KIND, &parameters, path)?, parameters))
    }

    /// The filter in a file; if `mapped`, changes go to the file.
    pub fn open(path: &Path, mapped: bool) -> Result<Bloom> {
        let (storage, parameters) = Storage::open(&KIND, path, mapped)?;
        Ok(Bloom::with(storage, parameters))
    }

    fn with(storage: Storage, parameters: Parameters) -> Bloom {
        let Parameters { places, hashes, hashing, .. } = parameters;
        Bloom { storage, bits: places, hashes, hashing }
    }

    /// Sets the bits of the keys, and calls `answer` for each with whether they were all set before.
    fn set(&mut self, keys: &[Signature], pulse: &Pulse, mut answer: impl FnMut(usize, bool)) -> Result<()> {
        let Bloom { bits, hashes, hashing, .. } = *self;
        let contents = self.storage.contents_mut()?;
        let lines = Prefetch::of(contents);
        let mut new = 0;
        let outcome = in_order(
            keys,
            pulse,
            |_, key| prepare(lines, Probe::new(key, hashing), bits, hashes),
            |index, mut probe| {
                let mut all = 1;
                for _ in 0..hashes {
                    let place = probe.next(bits);
                    let byte = &mut contents[place >> 3];
                    all &= *byte >> (place & 7);
                    *byte |= 1 << (place & 7);
                }
                new += u64::from(all & 1 == 0);
                answer(index, all & 1 == 1);
            },
        );
        self.storage.count_more(new);
        outcome
    }
}

/// The probe of a key, with its first cache lines prefetched.
#[inline]
fn prepare(lines: Prefetch, probe: Probe, bits: u64, first: u32) -> Probe {
    let mut ahead = probe;
    for _ in 0..first {
        lines.line(ahead.next(bits) >> 3);
    }
    probe
}

impl Filter for Bloom {
    fn add(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.set(keys, pulse, |index, there| seen[index] = there)
    }

    fn update(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<()> {
        self.set(keys, pulse, |_, _| ())
    }

    fn contains(&self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        let Bloom { bits, hashes, hashing, .. } = *self;
        let contents = self.storage.contents();
        let lines = Prefetch::of(contents);
        if hashes >= MANY_HASHES {
            return in_order(
                keys,
                pulse,
                |_, key| prepare(lines, Probe::new(key, hashing), bits, FIRST_TESTED),
                |index, mut probe| {
                    seen[index] = (0..hashes).all(|_| {
                        let place = probe.next(bits);
                        contents[place >> 3] >> (place & 7) & 1 == 1
                    });
                },
            );
        }
        in_order(
            keys,
            pulse,
            |_, key| prepare(lines, Probe::new(key, hashing), bits, hashes),
            |index, mut probe| {
                let mut all = 1;
                for _ in 0..hashes {
                    let place = probe.next(bits);
                    all &= contents[place >> 3] >> (place & 7);
                }
                seen[index] = all & 1 == 1;
            },
        )
    }

    fn bits(&self) -> u64 {
        self.bits
    }

    fn hashes(&self) -> u32 {
        self.hashes
    }

    fn fill(&self) -> f64 {
        ones(self.storage.contents()) as f64 / self.bits as f64
    }

    fn expected_error(&self) -> f64 {
        self.fill().powi(self.hashes as i32)
    }

    fn storage(&self) -> &Storage {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(Box::new(Bloom { storage: self.storage.copy()?, ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_hashes_is_better_than_the_one_from_bits_and_keys() {
        for bits in [1u64, 7, 64, 1000, 10_000_019] {
            for capacity in [1u64, 3, 100, 65_536, 50_000_000] {
                let found = parameters(Size::Load { bits, capacity }, Hashing::Enhanced).unwrap();
                assert_eq!(found.places, bits);
                let best = bits as f64 / capacity as f64 * LN_2;
                let hashes = f64::from(found.hashes);
                assert!((hashes - best).abs() < 1.0 || hashes == best.clamp(1.0, 64.0), "{bits} {capacity}");
                for other in 1..=MOST_HASHES {
                    assert!(error_of(bits, capacity, found.hashes) <= error_of(bits, capacity, other));
                }
            }
        }
    }

    #[test]
    fn the_size_keeps_the_error_and_no_more() {
        for capacity in [1u64, 10, 1000, 65_536, 1_000_003] {
            for error in [0.9, 0.5, 0.1, 0.03, 1e-3, 1e-5, 1e-12] {
                let found = parameters(Size::Keys { capacity, error }, Hashing::Enhanced).unwrap();
                let hashes = f64::from(found.hashes);
                let error_with = |bits: f64| (1.0 - (-hashes * capacity as f64 / bits).exp()).powf(hashes);
                assert!(error_with(found.places as f64) <= error * (1.0 + 1e-9));
                assert!(found.places == 1 || error_with(found.places as f64 - 1.0) > error * (1.0 - 1e-9));
                for other in 1..=MOST_HASHES {
                    assert!(bits_for(capacity, error, other).ceil() as u64 >= found.places);
                }
            }
        }
    }
}
