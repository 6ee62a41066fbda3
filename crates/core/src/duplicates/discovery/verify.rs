//! Verified pairs: the similarity of the sets of signals, or the Hamming distance of the SimHashes.

use std::sync::Mutex;

use rayon::prelude::*;

use super::files::{Files, Stored, numbers_in};
use super::fingerprints::may_be_similar;
use super::options::{Method, Options};
use crate::duplicates::overlap::Overlap;
use crate::duplicates::similarity::common_by;
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
        let some = |compared: &mut Compared, pairs: &[u64]| {
            pulse.beat()?;
            let mut verified = Vec::new();
            for pair in pairs {
                let (one, other) = ((pair >> 32) as u32, *pair as u32);
                let similarity = match self.options.method {
                    Method::Simhash { bits, verify: false, .. } => {
                        let distance = (self.simhash(one) ^ self.simhash(other)).count_ones();
                        Some(1.0 - f64::from(distance) / f64::from(bits))
                    }
                    _ => compared.similarity(self.stored, self.options, one, other)?,
                };
                let pair = similarity.map(|similarity| Pair { one, other, similarity: similarity as f32 });
                verified.extend(pair);
            }
            Ok(verified)
        };
        let verified = pairs.par_chunks(PAIRS).map_init(Compared::default, some);
        Ok(verified.collect::<Result<Vec<Vec<Pair>>>>()?.concat())
    }
}

/// Two documents that are compared, in buffers that are used again.
#[derive(Default)]
struct Compared {
    /// The number of the first, which is read once for all pairs in a row.
    first: Option<u32>,
    one: Read,
    other: Read,
    overlap: Overlap,
}

/// What was read of a document.
#[derive(Default)]
struct Read {
    signals: Vec<u8>,
    /// If pairs are told from others by their fingerprints.
    keys: Vec<u8>,
}

impl Compared {
    /// Their similarity, if it reaches the threshold.
    fn similarity(
        &mut self,
        stored: &Stored,
        options: &Options,
        one: u32,
        other: u32,
    ) -> Result<Option<f64>> {
        let by_keys = matches!(options.method, Method::Fingerprint { .. });
        if self.first != Some(one) {
            self.first = None;
            stored.read_signals(one, &mut self.one.signals)?;
            if by_keys {
                stored.read_keys(one, &mut self.one.keys)?;
            }
            self.first = Some(one);
        }
        if by_keys {
            stored.read_keys(other, &mut self.other.keys)?;
            let (document, before) = (self.other.keys.as_chunks::<4>().0, self.one.keys.as_chunks::<4>().0);
            let common = common_by(document, before, |key| u32::from_le_bytes(*key));
            if !may_be_similar(options, common, document.len(), before.len()) {
                return Ok(None);
            }
        }
        stored.read_signals(other, &mut self.other.signals)?;
        let [one, other] = [&self.one.signals, &self.other.signals].map(|bytes| numbers_in(bytes));
        // The containment of the later document, which is the one that goes.
        Ok(self.overlap.similarity(options.measure, other, one, options.threshold))
    }
}

/// Sorts the pairs by their second document, each once, with those of equal documents, of which the second is no reference; in
/// passes over ranges of documents, as many as the memory asks for.
pub fn sort(
    files: &mut Files,
    representatives: &[u32],
    references: u64,
    memory: usize,
    pulse: &Pulse,
) -> Result<()> {
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
            let is_equal = |document: &usize| representatives[*document] as usize != *document;
            let equal = (start.max(references as usize)..end).filter(is_equal);
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
