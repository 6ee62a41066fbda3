//! A snapshot of a map: the committed runs, and the journal's tail in memory.

use std::path::Path;
use std::sync::Arc;

use super::cache::Cache;
use super::memory::Memory;
use super::merge::Scan;
use super::run::Run;
use super::tablet::{Tablet, Tablets};
use super::view::View;
use super::{Options, RunState, State, check};
use crate::{Pulse, Result};

/// A snapshot of a map. Thread-safe.
pub struct SortedReader {
    options: Options,
    runs: Vec<Arc<Run>>,
    tail: Memory,
    applied: u64,
}

impl SortedReader {
    /// Opens the runs of a committed state; the budget is for the cache alone.
    pub fn open(folder: &Path, options: Options, state: &State) -> Result<SortedReader> {
        let cache = Arc::new(Cache::new(options.memory));
        let open = |run: &RunState| Run::open(folder, &options, &cache, *run).map(Arc::new);
        let runs = state.runs.iter().map(open).collect::<Result<_>>()?;
        Ok(SortedReader { options, runs, tail: Memory::default(), applied: state.applied })
    }

    /// The position in the journal from which it is to be replayed with [`SortedReader::put`].
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Adds an entry of the journal's tail; without a value the key is removed.
    pub fn put(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        check(key, value)?;
        self.tail.put(key, value);
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.view().get(key)
    }

    /// See [`super::SortedMap::first`].
    pub fn first(&self, from: &[u8], to: Option<&[u8]>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.view().first(from, to)
    }

    /// See [`super::SortedMap::scan`].
    pub fn scan(&self, from: &[u8], to: Option<&[u8]>) -> Result<Scan<'_>> {
        self.view().scan(from, to)
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// About `count` ranges of about the same size that together are the whole map.
    pub fn tablets(&self, count: usize) -> Result<Vec<Tablet>> {
        Tablets(&self.runs, &self.tail).cut(count)
    }

    /// The ranges between the given keys, which must increase, with their sizes.
    pub fn split(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Tablet>> {
        Tablets(&self.runs, &self.tail).split(keys)
    }

    /// The size of a range.
    pub fn size(&self, from: &[u8], to: Option<&[u8]>) -> Result<Tablet> {
        Tablets(&self.runs, &self.tail).size(from, to)
    }

    /// Reads everything, and checks every checksum, the order of the keys, the counts and the filters; the
    /// first damage is the error.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.runs.iter().try_for_each(|run| run.verify(self.options.filtered, pulse))
    }

    fn view(&self) -> View<'_> {
        let filtered = self.options.filtered;
        View { memories: vec![&self.tail], runs: &self.runs, filtered, ahead: super::READ_AHEAD }
    }
}
