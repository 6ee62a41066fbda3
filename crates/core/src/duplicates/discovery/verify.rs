//! Verified pairs: the similarity of the sets of signals, or the Hamming distance of the SimHashes.

use rayon::prelude::*;

use super::files::{Files, Stored};
use super::options::{Method, Options};
use crate::duplicates::distinct;
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
}

/// The pairs that a thread verifies at a time.
const PAIRS: usize = 256;

impl<'a> Verifier<'a> {
    /// Over what was stored.
    pub fn new(stored: &'a Stored, options: &'a Options) -> Result<Verifier<'a>> {
        let by_simhash = matches!(options.method, Method::Simhash { .. });
        let simhashes = if by_simhash { stored.simhashes()? } else { Vec::new() };
        Ok(Verifier { stored, options, simhashes })
    }

    /// The SimHash of a document.
    pub fn simhash(&self, document: u32) -> u128 {
        self.simhashes[document as usize]
    }

    /// The pairs (first, second) that are duplicates, sorted and each once.
    pub fn verify(&self, pairs: &mut Vec<u64>, pulse: &Pulse) -> Result<Vec<Pair>> {
        pairs.par_sort_unstable();
        pairs.dedup();
        let some = |pairs: &[u64]| -> Result<Vec<Pair>> {
            pulse.beat()?;
            let (mut verified, mut before) = (Vec::new(), (u32::MAX, Vec::new()));
            for pair in pairs {
                let (one, other) = ((pair >> 32) as u32, *pair as u32);
                let similarity = match self.options.method {
                    Method::Simhash { bits, verify: false, .. } => {
                        let distance = (self.simhash(one) ^ self.simhash(other)).count_ones();
                        1.0 - f64::from(distance) / f64::from(bits)
                    }
                    _ => {
                        if before.0 != one {
                            before = (one, self.set(one)?);
                        }
                        let similarity = self.options.measure.of(&before.1, &self.set(other)?);
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

    fn set(&self, document: u32) -> Result<Vec<u32>> {
        let mut signals = self.stored.signals(document)?;
        distinct(&mut signals);
        Ok(signals)
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
