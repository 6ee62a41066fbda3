//! Discovery: the duplicates of a whole corpus, out of core.
//!
//! Documents are added in batches and get numbers in their order. Of each is kept, in files of a work folder: a digest
//! (of its normal form, or of its signals), its signals (32 bits each: two documents of a thousand signals share one by
//! chance with probability 2⁻¹²), and the *keys* by which it may be compared: the bands of its MinHash, its n-gram
//! fingerprints, or the blocks of its SimHash. Then
//!
//! 1. documents with the same digest are represented by the first of them ([`groups`]);
//! 2. documents with a key in common are candidates ([`candidates`]), in passes over ranges of keys that fit in the
//!    memory;
//! 3. every candidate pair is verified on the true sets of signals ([`verify`]), or by its Hamming distance if so set;
//! 4. clusters are formed that do not chain ([`cluster`]): a document joins a leader that it is similar to (`leader`), or
//!    a cluster all of whose members it is similar to (`complete`).
//!
//! Memory: 12 bytes a document, and the budget. What is added is durable after a commit, and the passes of step 2
//! continue where they stopped.

mod candidates;
mod cluster;
mod files;
mod groups;
mod keys;
mod options;
mod verify;

use std::path::Path;

use rayon::prelude::*;

use self::candidates::Search;
use self::files::{Files, State, Stored};
use self::keys::Sketcher;
use super::batch::Text;
use super::{Frequencies, Weights, simhash_128};
use crate::{Error, Pulse, Result};

pub use options::{Linkage, Method, Options};
pub use verify::Pair;

/// The share of the memory for document frequencies, where they are needed.
const FREQUENCIES: usize = 4;

/// The corpus, and what was found in it.
pub struct Discovery {
    options: Options,
    memory: usize,
    files: Files,
    state: State,
}

/// What is kept of a document.
#[derive(Default)]
struct Kept {
    digest: u128,
    signals: Vec<u32>,
    keys: Vec<u32>,
    simhash: u128,
}

impl Discovery {
    /// Opens the work folder, which exists, as it was last committed; refuses one of other options.
    pub fn open(folder: &Path, options: Options, memory: usize) -> Result<Discovery> {
        options.check()?;
        let (files, state) = Files::open(folder, &options)?;
        Ok(Discovery { options, memory, files, state })
    }

    /// Adds documents. References are never dropped; they come before all others.
    pub fn add<S: AsRef<str> + Sync>(&mut self, texts: &[S], are_references: bool) -> Result<()> {
        let count = self.state.documents + texts.len() as u64;
        if count > u64::from(u32::MAX) {
            return Err(Error::Invalid("a corpus has at most 2^32 − 1 documents".into()));
        }
        if are_references && self.state.references < self.state.documents {
            return Err(Error::Invalid("references come before the other documents".into()));
        }
        let sketcher = Sketcher::new(&self.options);
        let kept: Vec<Kept> = texts
            .par_iter()
            .map_init(Text::default, |text, from| sketcher.keep(text, from.as_ref(), &self.options))
            .collect();
        self.files.append(&kept)?;
        self.state.documents = count;
        self.state.references += if are_references { texts.len() as u64 } else { 0 };
        Ok(())
    }

    /// Makes durable what was added, with where the input stands.
    pub fn commit(&mut self, position: &[u8]) -> Result<()> {
        self.state.position = Some(position.to_vec());
        self.files.commit(&mut self.state)
    }

    /// Where the input stood at the last commit.
    pub fn position(&self) -> Option<&[u8]> {
        self.state.position.as_deref()
    }

    /// The number of documents.
    pub fn len(&self) -> u64 {
        self.state.documents
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Finds the duplicates; goes on after the pass that was last committed.
    pub fn find(&mut self, pulse: &Pulse) -> Result<()> {
        self.files.flush()?;
        if self.state.is_found {
            return Ok(());
        }
        let mut stored = self.files.stored(self.state.documents)?;
        let representatives = groups::representatives(&stored, self.memory, pulse)?;
        if !self.options.is_exact() {
            if self.options.needs_frequencies() {
                let simhashes = self.weighted(&stored, pulse)?;
                self.files.replace_simhashes(&simhashes)?;
                stored = self.files.stored(self.state.documents)?;
            }
            let references = self.state.references;
            let search = Search::new(&stored, &self.options, &representatives, references, self.memory)?;
            let passes = search.passes()?;
            while self.state.passes < passes {
                pulse.set(self.state.passes, passes);
                let pairs = search.pass(self.state.passes, passes, pulse)?;
                self.files.append_pairs(&pairs)?;
                self.state.passes += 1;
                self.files.commit(&mut self.state)?;
            }
        }
        verify::sort(&mut self.files, &representatives, self.memory, pulse)?;
        let leaders = cluster::leaders(&self.files, representatives, self.options.linkage, pulse)?;
        self.files.write_leaders(&leaders)?;
        self.state.is_found = true;
        self.files.commit(&mut self.state)
    }

    /// The SimHashes with the frequencies of the whole corpus.
    fn weighted(&self, stored: &Stored, pulse: &Pulse) -> Result<Vec<u128>> {
        let Method::Simhash { bits, .. } = self.options.method else { return Ok(Vec::new()) };
        let mut frequencies = Frequencies::new(self.memory / FREQUENCIES);
        stored.for_each_signals(pulse, |signals| frequencies.add(&mut keys::widened(signals)))?;
        let mut simhashes = Vec::with_capacity(stored.documents as usize);
        stored.for_each_signals(pulse, |signals| {
            let simhash = simhash_128(&keys::widened(signals), Weights::TfIdf(&frequencies));
            simhashes.push(keys::masked(simhash, bits));
        })?;
        Ok(simhashes)
    }

    /// Verified pairs from a number on: the second document of each comes later in the corpus; in their order.
    pub fn pairs(&self, start: u64, count: usize) -> Result<Vec<Pair>> {
        self.files.some_pairs(start, count)
    }

    /// The document that is kept in place of each: itself, if it is kept.
    pub fn leaders(&self) -> Result<Vec<u32>> {
        if !self.state.is_found {
            return Err(Error::Invalid("the duplicates have not been looked for".into()));
        }
        self.files.leaders()
    }
}

#[cfg(test)]
mod tests;
