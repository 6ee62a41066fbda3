//! The sieve as the crawl sees it: the native ones, and any other behind the same contract.

use crate::sieve::{Entries, Front, Stats};
use crate::{Pulse, Result};

/// What a sieve wants committed to the manifest.
pub struct SieveCommit {
    /// The files with their lengths; `None`: to be removed.
    pub files: Vec<(String, Option<u64>)>,
    /// Its state, as JSON.
    pub state: String,
}

/// See [`crate::sieve::Sieve`] for the contract.
pub trait UrlSieve: Send {
    /// Adds a URL to the batch.
    fn offer(&mut self, url: &str, tag: u32);
    /// Adds the batch to the sieve.
    fn settle(&mut self) -> Result<()>;
    /// Dequeues entries that are already decided.
    fn take_ready(&mut self, n: usize) -> Result<Entries>;
    /// Dequeues entries; none only if nothing that was added is left.
    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries>;
    /// Makes everything durable.
    fn checkpoint(&mut self) -> Result<SieveCommit>;
    /// The queue offset of the next entry.
    fn next(&self) -> u64;
    /// Its statistics.
    fn stats(&self) -> Stats;

    /// Whether anything was added and not yet emitted.
    fn has_waiting(&self) -> bool {
        let stats = self.stats();
        stats.waiting + stats.pending > 0
    }

    /// Its description, as JSON.
    fn describe(&self) -> String;
}

impl UrlSieve for Front {
    fn offer(&mut self, url: &str, tag: u32) {
        Front::offer(self, url, tag);
    }

    fn settle(&mut self) -> Result<()> {
        Front::settle(self, &Pulse::STEADY)
    }

    fn take_ready(&mut self, n: usize) -> Result<Entries> {
        Front::take_ready(self, n)
    }

    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries> {
        Front::take(self, n, pulse)
    }

    fn checkpoint(&mut self) -> Result<SieveCommit> {
        let checkpoint = Front::checkpoint(self)?;
        let state = serde_json::json!(checkpoint.state).to_string();
        Ok(SieveCommit { files: checkpoint.files, state })
    }

    fn next(&self) -> u64 {
        Front::next(self)
    }

    fn stats(&self) -> Stats {
        Front::stats(self)
    }

    fn describe(&self) -> String {
        Front::describe(self).to_string()
    }
}
