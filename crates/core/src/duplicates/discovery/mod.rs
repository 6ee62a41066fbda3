//! Discovery: the duplicates of a whole corpus, out of core.
//!
//! Documents are added in batches and get numbers in their order. Of each is kept, in files of a work folder: a digest
//! (of its normal form, or of its signals), its signals (32 bits each: two documents of a thousand signals share one by
//! chance with probability 2⁻¹²), and the *keys* by which it may be compared: the bands of its MinHash or its n-gram
//! fingerprints; or its SimHash. Then
//!
//! 1. documents with the same digest are represented by the first of them ([`groups`]);
//! 2. documents with a key in common are candidates ([`candidates`]), in passes over ranges of keys that fit in the
//!    memory; or those whose SimHashes are within the distance, in passes over tables ([`super::hamming`]);
//! 3. every candidate pair is verified on the true sets of signals, or of words ([`verify`]), or by its Hamming distance if so
//!    set;
//! 4. clusters are formed that do not chain ([`cluster`]): a document joins a leader that it is similar to (`leader`), or
//!    a cluster all of whose members it is similar to (`complete`).
//!
//! Memory: 12 bytes a document (20 with n-gram fingerprints), and the budget; without one it is 32 bytes a document, or 24 a
//! fingerprint, between 16 MiB and 1 GiB. What is added is durable after a commit, and from the first commit on the passes of step 2 continue where they stopped.

mod candidates;
mod cluster;
mod files;
mod fingerprints;
mod groups;
mod keys;
mod options;
mod verify;

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use self::candidates::Search;
use self::files::{Files, State, Stored};
use super::{Frequencies, Weights};
use crate::{Error, Pulse, Result};

pub use options::{Confirm, Linkage, Method, Options, WeightsName};
pub use verify::Pair;

pub(super) use candidates::few_of;
pub(super) use files::{Kept, numbers_in};
pub(super) use keys::Sketcher;

/// The share of the memory for document frequencies, where they are needed, and the bytes for a signal.
const FREQUENCIES: usize = 4;
const FREQUENCY: usize = 8;
/// The budget for a document if none is given, that for an n-gram fingerprint, with which one pass has all, and its bounds.
const BUDGET: usize = 32;
const KEY_BUDGET: usize = 24;
const LEAST_BUDGET: usize = 16 << 20;
const MOST_BUDGET: usize = 1 << 30;
/// The documents that are sketched together.
pub const GROUP: usize = 1 << 9;
/// Those that are sketched by one thread at a time.
const CHUNK: usize = 8;

/// The corpus, and what was found in it.
pub struct Discovery {
    options: Options,
    memory: Option<usize>,
    files: Files,
    state: State,
}

impl Discovery {
    /// Opens the work folder, which exists, as it was last committed; refuses one of other options.
    pub fn open(folder: &Path, options: Options, memory: impl Into<Option<usize>>) -> Result<Discovery> {
        options.check()?;
        let (files, state) = Files::open(folder, &options)?;
        Ok(Discovery { options, memory: memory.into(), files, state })
    }

    /// The memory budget in bytes.
    fn budget(&self, stored: &Stored) -> Result<usize> {
        if let Some(memory) = self.memory {
            return Ok(memory);
        }
        let of_keys = match self.options.method {
            Method::Fingerprint { .. } => KEY_BUDGET * stored.count_keys()? as usize,
            _ => 0,
        };
        Ok((self.state.documents as usize * BUDGET).max(of_keys).clamp(LEAST_BUDGET, MOST_BUDGET))
    }

    /// Adds documents. References are never dropped; they come before all others.
    pub fn add<S: AsRef<str> + Sync>(&mut self, texts: &[S], are_references: bool) -> Result<()> {
        self.add_groups(texts.chunks(GROUP).map(Ok), are_references)
    }

    /// Adds documents in groups of about [`GROUP`]: while one is sketched, the one before it is written and the next one is
    /// made.
    pub fn add_groups<S: AsRef<str> + Sync, G: AsRef<[S]> + Send>(
        &mut self,
        mut groups: impl Iterator<Item = Result<G>> + Send,
        are_references: bool,
    ) -> Result<()> {
        if are_references && self.state.references < self.state.documents {
            return Err(Error::Invalid("references come before the other documents".into()));
        }
        let mut sketched = Vec::new();
        let mut group = groups.next().transpose()?;
        while let Some(now) = group {
            let texts = now.as_ref();
            self.count(texts.len() as u64, are_references)?;
            let (options, files) = (&self.options, &mut self.files);
            let make_next = || groups.next().transpose();
            let (written, (next, kept)) =
                rayon::join(|| files.append(&sketched), || rayon::join(make_next, || sketch(texts, options)));
            written?;
            (group, sketched) = (next?, kept);
        }
        self.files.append(&sketched)
    }

    fn count(&mut self, added: u64, are_references: bool) -> Result<()> {
        self.state.documents += added;
        self.state.references += if are_references { added } else { 0 };
        if self.state.documents > u64::from(u32::MAX) {
            return Err(Error::Invalid("a corpus has at most 2^32 − 1 documents".into()));
        }
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
        let memory = self.budget(&stored)?;
        let representatives = groups::representatives(&stored, memory, pulse)?;
        if !self.options.is_exact() {
            if self.options.needs_frequencies() {
                let simhashes = self.weighted(&stored, pulse)?;
                self.files.replace_simhashes(&simhashes)?;
                stored = self.files.stored(self.state.documents)?;
            }
            let references = self.state.references;
            let search = Search::new(&stored, &self.options, &representatives, references, memory)?;
            let passes = search.passes()?;
            while self.state.passes < passes {
                pulse.set(self.state.passes, passes);
                search.pass(self.state.passes, passes, &mut |pairs| self.files.append_pairs(pairs), pulse)?;
                self.state.passes += 1;
                self.files.commit_progress(&mut self.state)?;
            }
        }
        let references = self.state.references;
        verify::sort(&mut self.files, &representatives, references, memory, pulse)?;
        let linkage = self.options.linkage;
        let leaders = cluster::leaders(&self.files, representatives, references, linkage, pulse)?;
        self.files.write_leaders(&leaders)?;
        self.state.is_found = true;
        self.files.commit_progress(&mut self.state)
    }

    /// The SimHashes with the frequencies of the whole corpus.
    fn weighted(&self, stored: &Stored, pulse: &Pulse) -> Result<Vec<u128>> {
        let Method::Simhash { bits, .. } = self.options.method else { return Ok(Vec::new()) };
        let enough = FREQUENCY * stored.count_signals()? as usize;
        let mut frequencies = Frequencies::new(enough.min(self.memory.unwrap_or(MOST_BUDGET) / FREQUENCIES));
        for documents in stored.ranges() {
            pulse.beat()?;
            stored.for_signals(documents, |signals| frequencies.add(&mut keys::widened(signals)))?;
        }
        let of_range = |documents: Range<u64>| -> Result<Vec<u128>> {
            pulse.beat()?;
            let mut simhashes = Vec::new();
            stored.for_signals(documents, |signals| {
                let (signals, weights) = (keys::widened(signals), Weights::TfIdf(&frequencies));
                simhashes.push(keys::simhash_of(&signals, weights, bits));
            })?;
            Ok(simhashes)
        };
        let ranges: Vec<Range<u64>> = stored.ranges().collect();
        Ok(ranges.into_par_iter().map(of_range).collect::<Result<Vec<_>>>()?.concat())
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

/// What is kept of texts, on all threads.
fn sketch<S: AsRef<str> + Sync>(texts: &[S], options: &Options) -> Vec<Kept> {
    let some = |sketcher: &mut Sketcher<'_>, texts: &[S]| {
        let mut kept = Kept::default();
        texts.iter().for_each(|text| sketcher.keep(text.as_ref(), &mut kept));
        kept
    };
    texts.par_chunks(CHUNK).map_init(|| Sketcher::new(options), some).collect()
}

#[cfg(test)]
mod tests;
