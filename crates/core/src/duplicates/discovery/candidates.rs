//! Candidate pairs: representatives with a key in common, or whose SimHashes are within the distance.
//!
//! A pass takes the keys of one range, as many as fit in half the memory, sorts them, and pairs the documents of each
//! key; three eighths are for the pairs, which are verified when they are full, and an eighth is for those that were. A key
//! that more than [`MOST`] documents have pairs each of them with the first ones and with those just before it: the first is
//! the one that leads their cluster, if they are one. A pass over SimHashes is over one of the tables that find all pairs
//! within a distance, or a range of it.

use std::ops::Range;

use rayon::prelude::*;

use super::files::Stored;
use super::options::{Method, Options};
use super::verify::{Pair, Verifier};
use crate::duplicates::hamming::{Join, Word};
use crate::{Pulse, Result};

/// The most documents of a key all of which are compared.
const MOST: usize = 256;
/// Of a key with more: how many first ones, and how many before it, a document is compared with.
const SOME: usize = 16;
const ENTRY: usize = size_of::<u64>();
/// The ranges of rows of a table that are compared before their pairs are verified.
const ROWS: usize = 64;
/// The ranges of documents whose keys are read together.
const RANGES: usize = 16;

/// The search for pairs.
pub struct Search<'a> {
    pub stored: &'a Stored,
    /// See [`super::groups::representatives`].
    pub representatives: &'a [u32],
    /// The number of references: they are not compared with each other.
    pub references: u64,
    pub memory: usize,
    verifier: Verifier<'a>,
    tables: Tables,
}

/// How SimHashes are compared.
enum Tables {
    None,
    Narrow(Join<u64>),
    Wide(Join<u128>),
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
        let verifier = Verifier::new(stored, options, memory / 8)?;
        let tables = match options.method {
            Method::Simhash { bits: 128, distance, .. } => {
                Tables::Wide(Join::new(128, stored.documents, distance))
            }
            Method::Simhash { bits, distance, .. } => {
                Tables::Narrow(Join::new(bits, stored.documents, distance))
            }
            _ => Tables::None,
        };
        Ok(Search { stored, representatives, references, memory, verifier, tables })
    }

    /// The number of passes.
    pub fn passes(&self) -> Result<u64> {
        let half = (self.memory as u64 / 2).max(1);
        let parts = |entry: usize| (self.stored.documents * entry as u64).div_ceil(half).max(1);
        Ok(match &self.tables {
            Tables::None => (self.stored.count_keys()? * ENTRY as u64).div_ceil(half).max(1),
            Tables::Narrow(join) => join.tables() as u64 * parts(2 * size_of::<(u64, u32)>()),
            Tables::Wide(join) => join.tables() as u64 * parts(2 * size_of::<(u128, u32)>()),
        })
    }

    /// The verified pairs of a pass of `passes`; a pair may come in several passes.
    pub fn pass(&self, pass: u64, passes: u64, pulse: &Pulse) -> Result<Vec<Pair>> {
        match &self.tables {
            Tables::None => self.pass_over_keys(pass, passes, pulse),
            Tables::Narrow(join) => {
                self.pass_over_tables(join, |simhash| simhash as u64, pass, passes, pulse)
            }
            Tables::Wide(join) => self.pass_over_tables(join, |simhash| simhash, pass, passes, pulse),
        }
    }

    fn pass_over_tables<W: Word>(
        &self,
        join: &Join<W>,
        word: impl Fn(u128) -> W + Sync,
        pass: u64,
        passes: u64,
        pulse: &Pulse,
    ) -> Result<Vec<Pair>> {
        let parts = passes / join.tables() as u64;
        let firsts = self.representatives.par_iter().enumerate();
        let firsts = firsts.filter(|(document, first)| *document == **first as usize);
        let words = firsts.map(|(_, document)| (word(self.verifier.simhash(*document)), *document));
        let sorted = join.part((pass / parts) as usize, pass % parts, parts, words);
        let of_rows = |rows: &Range<usize>| {
            pulse.beat()?;
            let mut pairs = Vec::new();
            join.pairs(&sorted, rows.clone(), |one, other, _| {
                if u64::from(other) >= self.references {
                    pairs.push(u64::from(one) << 32 | u64::from(other));
                }
            });
            Ok(pairs)
        };
        let (mut pairs, mut verified) = (Vec::new(), Vec::new());
        for rows in sorted.rows().chunks(ROWS) {
            let found = rows.par_iter().map(of_rows).collect::<Result<Vec<_>>>()?;
            pairs.extend(found.into_iter().flatten());
            if pairs.len() >= self.most_pairs() {
                verified.extend(self.verifier.verify(&mut pairs, pulse)?);
                pairs.clear();
            }
        }
        verified.extend(self.verifier.verify(&mut pairs, pulse)?);
        Ok(verified)
    }

    fn most_pairs(&self) -> usize {
        (self.memory * 3 / 8 / ENTRY).max(1 << 10)
    }

    fn pass_over_keys(&self, pass: u64, passes: u64, pulse: &Pulse) -> Result<Vec<Pair>> {
        let mut entries = self.entries(pass, passes, pulse)?;
        entries.par_sort_unstable();
        let (mut pairs, mut verified) = (Vec::new(), Vec::new());
        for (number, documents) in entries.chunk_by(|one, other| one >> 32 == other >> 32).enumerate() {
            if number % (1 << 12) == 0 {
                pulse.beat()?;
            }
            if documents.len() > 1 {
                self.pair(documents, &mut pairs);
            }
            if pairs.len() >= self.most_pairs() {
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
            self.stored.keys(documents, |document, keys| {
                if is_first(document) {
                    keys.iter().for_each(|key| add(document, *key));
                }
            })?;
            Ok(entries)
        };
        let ranges: Vec<Range<u64>> = self.stored.ranges().collect();
        let mut entries = Vec::with_capacity(
            (self.memory / 2 / ENTRY).min(self.stored.count_keys()?.div_ceil(passes) as usize),
        );
        for ranges in ranges.chunks(RANGES) {
            for some in ranges.par_iter().cloned().map(some).collect::<Result<Vec<_>>>()? {
                entries.extend(some);
            }
        }
        Ok(entries)
    }

    fn pair(&self, documents: &[u64], pairs: &mut Vec<u64>) {
        for (place, other) in documents.iter().enumerate().skip(1) {
            let other = *other as u32;
            if u64::from(other) < self.references {
                continue;
            }
            let mut add = |one: &u64| {
                pairs.push(u64::from(*one as u32) << 32 | u64::from(other));
            };
            if documents.len() <= MOST {
                documents[..place].iter().for_each(&mut add);
            } else {
                documents[..place.min(SOME)].iter().for_each(&mut add);
                documents[place.saturating_sub(SOME).max(place.min(SOME))..place].iter().for_each(&mut add);
            }
        }
    }
}
