//! The files that a sieve writes under a new number each time, and the manifest's rule about them.
//!
//! A file that the last checkpoint named must stay until the next one is committed; one that no checkpoint
//! ever named can go as soon as it is not needed.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{Checkpoint, Opening, queue::Queue};
use crate::Result;
use crate::collection::layout;
use crate::disk::file::remove;

/// The numbered files of one sieve.
pub struct NumberedFiles {
    folder: PathBuf,
    /// What the last checkpoint named, or the commit with which the sieve was opened.
    named: HashSet<String>,
}

impl NumberedFiles {
    /// The files of a sieve, with those that are committed.
    pub fn new(opening: Opening) -> NumberedFiles {
        let named = opening.files.keys().filter(|name| name.starts_with(layout::SIEVE)).cloned().collect();
        NumberedFiles { folder: opening.folder.to_path_buf(), named }
    }

    /// The name of a file in the collection.
    pub fn name(what: &str, number: u64) -> String {
        layout::sieve(what, number)
    }

    /// Whether a checkpoint was made, now or before the sieve was opened.
    pub fn has_checkpoints(&self) -> bool {
        !self.named.is_empty()
    }

    /// Where a file is.
    pub fn path(&self, what: &str, number: u64) -> PathBuf {
        self.folder.join(Self::name(what, number))
    }

    /// Removes a file that is no longer needed, unless a commit may still ask for it.
    pub fn retire(&self, what: &str, number: u64) -> Result<()> {
        if self.named.contains(&Self::name(what, number)) {
            return Ok(());
        }
        remove(&self.path(what, number))
    }

    /// The checkpoint that names these numbered files and the queue, and drops those named before.
    pub fn checkpoint(&mut self, queue: &Queue, live: Vec<(String, u64)>) -> Result<Checkpoint> {
        queue.sync()?;
        let now: HashSet<String> = live.iter().map(|(name, _)| name.clone()).collect();
        let mut files = vec![(layout::URLS.to_owned(), Some(queue.length()))];
        files.extend(self.named.difference(&now).map(|name| (name.clone(), None)));
        files.extend(live.into_iter().map(|(name, length)| (name, Some(length))));
        self.named = now;
        Ok(Checkpoint { files, state: queue.state() })
    }
}
