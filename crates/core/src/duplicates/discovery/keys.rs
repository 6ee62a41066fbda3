//! The keys of a document: documents with a key in common are compared.
//!
//! - MinHash: one of each band.
//! - n-gram fingerprints: one of each, or that of the least signal if a short text has none.
//! - SimHash within k bits: the bits are cut into k + 3 blocks, of which k bits touch at most k, so that two SimHashes
//!   within the distance agree on three blocks: one key of each three blocks.

use super::Kept;
use super::options::{Method, Options, WeightsName};
use crate::duplicates::batch::Text;
use crate::duplicates::{Banding, MinHash, Weights, exact, simhash_128};
use crate::signature::hash::random;

/// The blocks of a SimHash that a key has.
const BLOCKS_OF_KEY: u32 = 3;
const VALUE_BITS: u32 = 32;

/// Makes what is kept of documents.
pub struct Sketcher {
    minhash: Option<(MinHash, Banding)>,
}

impl Sketcher {
    /// For documents with these options.
    pub fn new(options: &Options) -> Sketcher {
        let minhash = match options.method {
            Method::Minhash { bins, recall } => {
                let minhash = MinHash { bins, bits: VALUE_BITS };
                Some((minhash, Banding::tuned(bins, options.threshold, recall)))
            }
            _ => None,
        };
        Sketcher { minhash }
    }

    /// What is kept of a text.
    pub fn keep(&self, text: &mut Text, from: &str, options: &Options) -> Kept {
        if let Method::Exact { normal, sampled } = options.method {
            let normal = normal.of(from);
            let digest = if sampled { exact::sampled } else { exact::of_bytes };
            return Kept { digest: digest(normal.as_bytes()), ..Kept::default() };
        }
        let signals = text.signals(options.signals(), from);
        let bytes: Vec<u8> = signals.iter().flat_map(|signal| signal.to_le_bytes()).collect();
        let mut kept = Kept { digest: exact::of_bytes(&bytes), ..Kept::default() };
        kept.signals = signals.iter().map(|signal| narrowed(*signal)).collect();
        match options.method {
            Method::Minhash { .. } => {
                if let (Some((minhash, banding)), false) = (self.minhash, signals.is_empty()) {
                    let mut sketch = Vec::new();
                    minhash.of(signals, &mut sketch);
                    kept.keys = banding.keys(&sketch).map(narrowed).collect();
                }
            }
            Method::Fingerprint { modulus, window } => {
                let least = signals.iter().copied().min();
                Options::selection(modulus, window).keep(signals);
                if signals.is_empty() {
                    signals.extend(least);
                }
                kept.keys = signals.iter().map(|signal| narrowed(random(*signal, 0))).collect();
            }
            Method::Simhash { weights, bits, .. } => {
                let weights = match weights {
                    WeightsName::Set => Weights::Set,
                    _ => Weights::Frequency,
                };
                kept.simhash = masked(simhash_128(signals, weights), bits);
            }
            Method::Exact { .. } => {}
        }
        kept.keys.sort_unstable();
        kept.keys.dedup();
        kept
    }
}

/// The first bits of a SimHash.
pub fn masked(simhash: u128, bits: u32) -> u128 {
    simhash & (u128::MAX >> (u128::BITS - bits))
}

/// The keys of a SimHash of `bits` bits for a distance.
pub fn of_simhash(simhash: u128, bits: u32, distance: u32, mut tell: impl FnMut(u32)) {
    let blocks = distance + BLOCKS_OF_KEY;
    let block = |number: u32| {
        let (start, end) = (bits * number / blocks, bits * (number + 1) / blocks);
        masked(simhash >> start, (end - start).max(1)) as u64
    };
    for first in 0..blocks {
        let key = random(random(0, u64::from(first)) ^ block(first), 0);
        for second in first + 1..blocks {
            let key = random(key ^ random(1, u64::from(second)) ^ block(second), 0);
            for third in second + 1..blocks {
                tell(narrowed(random(key ^ random(2, u64::from(third)) ^ block(third), 0)));
            }
        }
    }
}

/// The upper half of a hash.
fn narrowed(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Hashes of 64 bits of signals of which 32 were kept.
pub fn widened(signals: &[u32]) -> Vec<u64> {
    signals.iter().map(|signal| random(u64::from(*signal), 0)).collect()
}
