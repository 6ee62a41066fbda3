//! The keys of a document: documents with a key in common are compared.
//!
//! - MinHash: one of each band.
//! - n-gram fingerprints: one of each, or that of the least signal if a short text has none.
//!
//! SimHashes have no keys: the tables of [`crate::duplicates::hamming`] find the pairs within a distance.

use super::files::Kept;
use super::options::{Confirm, Method, Options, WeightsName};
use crate::duplicates::batch::Text;
use crate::duplicates::{Banding, MinHash, Weights, exact, simhash, simhash_128};
use crate::signature::hash::random;

const VALUE_BITS: u32 = 32;

/// Makes what is kept of documents; each thread has one, whose buffers are used again.
pub struct Sketcher<'a> {
    options: &'a Options,
    minhash: Option<(MinHash, Banding)>,
    text: Text,
    narrow: Vec<u32>,
    sketch: Vec<u32>,
    keys: Vec<u32>,
    bytes: Vec<u8>,
}

impl<'a> Sketcher<'a> {
    /// For documents with these options.
    pub fn new(options: &'a Options) -> Sketcher<'a> {
        let minhash = match options.method {
            Method::Minhash { bins, recall } => {
                let minhash = MinHash { bins, bits: VALUE_BITS };
                Some((minhash, Banding::tuned(bins, options.compared_from(), recall)))
            }
            _ => None,
        };
        let (text, narrow, sketch, keys, bytes) = Default::default();
        Sketcher { options, minhash, text, narrow, sketch, keys, bytes }
    }

    /// Appends what is kept of a text.
    pub fn keep(&mut self, from: &str, kept: &mut Kept) {
        if let Method::Exact { normal, sampled } = self.options.method {
            let normal = normal.of(from);
            let digest = if sampled { exact::sampled } else { exact::of_bytes };
            kept.push(digest(normal.as_bytes()), &[], &[], 0);
            return;
        }
        self.narrow.clear();
        if self.options.confirm == Confirm::Words {
            let words = self.text.signals(self.options.kept(), from);
            self.narrow.extend(words.iter().copied().map(narrowed));
        }
        let signals = self.text.signals(self.options.signals(), from);
        if self.options.confirm == Confirm::Ngrams {
            self.narrow.extend(signals.iter().copied().map(narrowed));
        }
        self.bytes.resize(size_of::<u64>() * signals.len(), 0);
        let (places, _) = self.bytes.as_chunks_mut();
        places.iter_mut().zip(&*signals).for_each(|(place, signal)| *place = signal.to_le_bytes());
        let digest = exact::of_bytes(&self.bytes);
        self.keys.clear();
        let mut fingerprint = 0;
        match self.options.method {
            Method::Minhash { .. } => {
                if let (Some((minhash, banding)), false) = (self.minhash, signals.is_empty()) {
                    minhash.of(signals, &mut self.sketch);
                    self.keys.extend(banding.keys(&self.sketch).map(narrowed));
                }
            }
            Method::Fingerprint { modulus, window } => {
                let least = signals.iter().copied().min();
                Options::selection(modulus, window).keep(signals);
                if signals.is_empty() {
                    signals.extend(least);
                }
                self.keys.extend(signals.iter().map(|signal| narrowed(random(*signal, 0))));
            }
            Method::Simhash { weights, bits, .. } => {
                let weights = match weights {
                    WeightsName::Set => Weights::Set,
                    _ => Weights::Frequency,
                };
                fingerprint = simhash_of(signals, weights, bits);
            }
            Method::Exact { .. } => {}
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        kept.push(digest, &self.narrow, &self.keys, fingerprint);
    }
}

/// The SimHash of signals with 32, 64 or 128 bits.
pub fn simhash_of(signals: &[u64], weights: Weights<'_>, bits: u32) -> u128 {
    match bits {
        128 => simhash_128(signals, weights),
        _ => u128::from(simhash(signals, weights) & u64::MAX >> (u64::BITS - bits)),
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
