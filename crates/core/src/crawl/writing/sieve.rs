//! The sieve as the crawl sees it: native ones, and any other that is put behind the same contract.

use crate::sieve::{Entries, Front, Stats};
use crate::{Pulse, Result};

/// What a sieve wants the manifest to say.
pub struct SieveCommit {
    /// The files with their lengths; None: to be removed.
    pub files: Vec<(String, Option<u64>)>,
    /// What to remember beside them, as JSON.
    pub state: String,
}

/// See [`crate::sieve::Sieve`] for the contract.
pub trait UrlSieve: Send {
    /// Puts a URL into the batch.
    fn offer(&mut self, url: &str, tag: u32);
    /// Adds the batch.
    fn settle(&mut self) -> Result<()>;
    /// Gives out what was decided about already.
    fn take_ready(&mut self, n: usize) -> Result<Entries>;
    /// Gives out entries; none only when nothing that was added is left.
    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries>;
    /// Makes everything durable.
    fn checkpoint(&mut self) -> Result<SieveCommit>;
    /// Where the next entry to give out stands.
    fn next(&self) -> u64;
    /// How it stands.
    fn stats(&self) -> Stats;

    /// Whether anything was added and not given out.
    fn has_waiting(&self) -> bool {
        let stats = self.stats();
        stats.waiting + stats.pending > 0
    }

    /// All that there is to tell of it, as JSON.
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
