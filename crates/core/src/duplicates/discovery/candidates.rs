//! Candidate pairs: representatives with a key in common, or whose SimHashes are within the distance.
//!
//! A pass takes the keys of one range, as many as fit in half the memory, sorts them, and pairs the documents of each
//! key; three eighths are for the pairs, of one range of second documents after the other, and an eighth is for those that
//! were verified. A document of a key that [`MOST`] before it have is paired with the first of them and with those just before
//! it: the first is the one that leads their cluster, if they are one. A pass over SimHashes is over one of the tables that find all pairs
//! within a distance, or a range of it.

use std::ops::Range;

use rayon::prelude::*;

use super::files::Stored;
use super::fingerprints::Counts;
use super::options::{Method, Options};
use super::verify::{Pair, Verifier};
use crate::duplicates::hamming::{Join, Word};
use crate::{Pulse, Result};

/// The documents of a key all of which are compared.
const MOST: usize = 256;
/// Of a key with more: how many first ones, and how many before it, a document is compared with.
const SOME: usize = 16;
const ENTRY: usize = size_of::<u64>();
/// The ranges of rows of a table that are compared before their pairs are verified.
const ROWS: usize = 64;
/// The ranges of documents whose keys are read together.
const RANGES: usize = 16;

/// What takes verified pairs.
pub type Tell<'a> = &'a mut dyn FnMut(&[Pair]) -> Result<()>;

/// The search for pairs.
pub struct Search<'a> {
    pub stored: &'a Stored,
    options: &'a Options,
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
        Ok(Search { stored, options, representatives, references, memory, verifier, tables })
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

    /// Tells the verified pairs of a pass of `passes`, as many at a time as there is room for; a pair may come several times.
    pub fn pass(&self, pass: u64, passes: u64, tell: Tell<'_>, pulse: &Pulse) -> Result<()> {
        match &self.tables {
            Tables::None => self.pass_over_keys(pass, passes, tell, pulse),
            Tables::Narrow(join) => {
                self.pass_over_tables(join, |simhash| simhash as u64, pass, passes, tell, pulse)
            }
            Tables::Wide(join) => self.pass_over_tables(join, |simhash| simhash, pass, passes, tell, pulse),
        }
    }

    fn pass_over_tables<W: Word>(
        &self,
        join: &Join<W>,
        word: impl Fn(u128) -> W + Sync,
        pass: u64,
        passes: u64,
        tell: Tell<'_>,
        pulse: &Pulse,
    ) -> Result<()> {
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
        let mut pairs = Vec::new();
        for rows in sorted.rows().chunks(ROWS) {
            let found = rows.par_iter().map(of_rows).collect::<Result<Vec<_>>>()?;
            pairs.extend(found.into_iter().flatten());
            if pairs.len() >= self.most_pairs() {
                tell(&self.verifier.verify(&mut pairs, pulse)?)?;
                pairs.clear();
            }
        }
        tell(&self.verifier.verify(&mut pairs, pulse)?)
    }

    fn most_pairs(&self) -> usize {
        (self.memory * 3 / 8 / ENTRY).max(1 << 10)
    }

    fn pass_over_keys(&self, pass: u64, passes: u64, tell: Tell<'_>, pulse: &Pulse) -> Result<()> {
        let mut entries = self.entries(pass, passes, pulse)?;
        entries.par_sort_unstable();
        let lists = || entries.chunk_by(|one, other| one >> 32 == other >> 32);
        let documents = self.representatives.len();
        let counts = (matches!(self.options.method, Method::Fingerprint { .. }) && passes == 1)
            .then(|| Counts::new(documents, lists().map(|list| (list, list.len() <= MOST))));
        // Pairs of the same documents follow from many keys, and are verified once: all pairs with the second document in
        // one range are together, in as many ranges as the pairs ask for. Ranges do not have the same number of pairs: half
        // as many are expected as there is room for.
        let expected: usize = lists().map(|list| few_pairs(list.len())).sum();
        let ranges = (2 * expected).div_ceil(self.most_pairs()).max(1);
        let range = documents.div_ceil(ranges).max(1);
        let mut pairs = Vec::new();
        for start in (0..documents).step_by(range) {
            let mut is_whole = true;
            for (number, list) in lists().filter(|list| list.len() > 1).enumerate() {
                if number % (1 << 12) == 0 {
                    pulse.beat()?;
                }
                self.pair(list, start..start + range, &mut pairs);
                if pairs.len() >= self.most_pairs() {
                    tell(&self.verifier.verify(&mut pairs, pulse)?)?;
                    pairs.clear();
                    is_whole = false;
                }
            }
            if let Some(counts) = counts.as_ref().filter(|_| is_whole) {
                pairs.par_sort_unstable();
                counts.keep_possible(self.options, &mut pairs);
            }
            tell(&self.verifier.verify(&mut pairs, pulse)?)?;
            pairs.clear();
        }
        Ok(())
    }

    /// (key, document) of the keys of a pass.
    fn entries(&self, pass: u64, passes: u64, pulse: &Pulse) -> Result<Vec<u64>> {
        let first_of = |pass: u64| (pass << 32).div_ceil(passes);
        let (start, end) = (first_of(pass), first_of(pass + 1));
        let some = |documents: Range<u64>| -> Result<Vec<u64>> {
            pulse.beat()?;
            let mut entries = Vec::new();
            self.stored.keys(documents, |document, keys| {
                if self.representatives[document as usize] == document {
                    let before = keys.partition_point(|key| u64::from(*key) < start);
                    let of_pass = keys[before..].iter().take_while(|key| u64::from(**key) < end);
                    entries.extend(of_pass.map(|key| u64::from(*key) << 32 | u64::from(document)));
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

    /// The pairs of the documents of a key whose second one is in a range.
    fn pair(&self, list: &[u64], range: Range<usize>, pairs: &mut Vec<u64>) {
        let before = |document: usize| list.partition_point(|entry| (*entry as u32 as usize) < document);
        let references = self.references as usize;
        for place in before(range.start.max(references)).max(1)..before(range.end) {
            let pair = |one: &u64| u64::from(*one as u32) << 32 | u64::from(list[place] as u32);
            pairs.extend(few_of(&list[..place]).map(pair));
        }
    }
}

/// The documents of a key that a later one is compared with: all of few, the first and the last of many.
pub fn few_of<T>(documents: &[T]) -> impl Iterator<Item = &T> {
    let count = documents.len();
    let (first, last) = if count < MOST { (count, count) } else { (SOME, count - SOME) };
    documents[..first].iter().chain(&documents[last..])
}

/// The number of pairs of [`few_of`] of `count` documents.
fn few_pairs(count: usize) -> usize {
    let few = count.min(MOST);
    few * few.saturating_sub(1) / 2 + (count - few) * 2 * SOME
}
