//! Candidate pairs: representatives with a key in common.
//!
//! A pass takes the keys of one range, as many as fit in half the memory, sorts them, and pairs the documents of each
//! key; the other half is for the pairs, which are verified when it is full. A key that more than [`MOST`] documents
//! have pairs each of them with the first ones and with those just before it: the first is the one that leads their
//! cluster, if they are one. SimHashes are cheap to compare, and all of them are.

use std::ops::Range;

use rayon::prelude::*;

use super::files::Stored;
use super::keys;
use super::options::{Method, Options};
use super::verify::{Pair, Verifier};
use crate::{Pulse, Result};

/// The most documents of a key all of which are compared.
const MOST: usize = 256;
/// Of a key with more: how many first ones, and how many before it, a document is compared with.
const SOME: usize = 16;
const ENTRY: usize = size_of::<u64>();

/// The search for pairs.
pub struct Search<'a> {
    pub stored: &'a Stored,
    pub options: &'a Options,
    /// See [`super::groups::representatives`].
    pub representatives: &'a [u32],
    /// The number of references: they are not compared with each other.
    pub references: u64,
    pub memory: usize,
    verifier: Verifier<'a>,
}

impl<'a> Search<'a> {
    /// Over what was stored.
    pub fn new(
        stored: &'a Stored,
        options: &'a Options,
        representatives: &'a [u32],
        references: u64,
        memory: usize,
    ) -> Result<Search<'a>> {
        let verifier = Verifier::new(stored, options)?;
        Ok(Search { stored, options, representatives, references, memory, verifier })
    }

    /// The number of passes.
    pub fn passes(&self) -> Result<u64> {
        let keys = match self.options.method {
            Method::Simhash { bits, distance, .. } => {
                let mut keys = 0;
                keys::of_simhash(0, bits, distance, |_| keys += 1);
                keys * self.stored.documents
            }
            _ => self.stored.count_keys()?,
        };
        Ok((keys * ENTRY as u64).div_ceil((self.memory as u64 / 2).max(1)).max(1))
    }

    /// The verified pairs of a pass of `passes`; a pair may come in several passes.
    pub fn pass(&self, pass: u64, passes: u64, pulse: &Pulse) -> Result<Vec<Pair>> {
        let mut entries = self.entries(pass, passes, pulse)?;
        entries.par_sort_unstable();
        let most = (self.memory / 2 / ENTRY).max(1 << 10);
        let (mut pairs, mut verified) = (Vec::new(), Vec::new());
        for (number, documents) in entries.chunk_by(|one, other| one >> 32 == other >> 32).enumerate() {
            if number % (1 << 12) == 0 {
                pulse.beat()?;
            }
            if documents.len() > 1 {
                self.pair(documents, &mut pairs);
            }
            if pairs.len() >= most {
                verified.extend(self.verifier.verify(&mut pairs, pulse)?);
                pairs.clear();
            }
        }
        verified.extend(self.verifier.verify(&mut pairs, pulse)?);
        Ok(verified)
    }

    /// (key, document) of the keys of a pass.
    fn entries(&self, pass: u64, passes: u64, pulse: &Pulse) -> Result<Vec<u64>> {
        let of_pass = |key: u32| (u64::from(key) * passes) >> 32 == pass;
        let is_first = |document: u32| self.representatives[document as usize] == document;
        let some = |documents: Range<u64>| -> Result<Vec<u64>> {
            pulse.beat()?;
            let mut entries = Vec::new();
            let mut add = |document: u32, key: u32| {
                if of_pass(key) {
                    entries.push(u64::from(key) << 32 | u64::from(document));
                }
            };
            if let Method::Simhash { bits, distance, .. } = self.options.method {
                for document in
                    documents.map(|document| document as u32).filter(|document| is_first(*document))
                {
                    let simhash = self.verifier.simhash(document);
                    keys::of_simhash(simhash, bits, distance, |key| add(document, key));
                }
            } else {
                self.stored.keys(documents, |document, keys| {
                    if is_first(document) {
                        keys.iter().for_each(|key| add(document, *key));
                    }
                })?;
            }
            Ok(entries)
        };
        let ranges: Vec<Range<u64>> = self.stored.ranges().collect();
        Ok(ranges.into_par_iter().map(some).collect::<Result<Vec<_>>>()?.concat())
    }

    fn pair(&self, documents: &[u64], pairs: &mut Vec<u64>) {
        let is_cheap = matches!(self.options.method, Method::Simhash { .. });
        for (place, other) in documents.iter().enumerate().skip(1) {
            let other = *other as u32;
            if u64::from(other) < self.references {
                continue;
            }
            let mut add = |one: &u64| {
                let one = *one as u32;
                if !is_cheap || self.verifier.is_near(one, other) {
                    pairs.push(u64::from(one) << 32 | u64::from(other));
                }
            };
            if is_cheap || documents.len() <= MOST {
                documents[..place].iter().for_each(&mut add);
            } else {
                documents[..place.min(SOME)].iter().for_each(&mut add);
                documents[place.saturating_sub(SOME).max(place.min(SOME))..place].iter().for_each(&mut add);
            }
        }
    }
}
