//! The numbered files of a sieve, each written once under a new number, and their lifetime.
//!
//! A file named by the last checkpoint must be kept until the next one is committed; one that no checkpoint
//! named can be removed as soon as it is not needed.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{Checkpoint, Opening, queue::Queue};
use crate::Result;
use crate::collection::layout;
use crate::disk::file::remove;

/// The numbered files of one sieve.
pub struct NumberedFiles {
    folder: PathBuf,
    /// The files named by the last checkpoint, or by the commit with which the sieve was opened.
    named: HashSet<String>,
}

impl NumberedFiles {
    /// The files of a sieve, starting from the committed ones.
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

    /// The path of a file.
    pub fn path(&self, what: &str, number: u64) -> PathBuf {
        self.folder.join(Self::name(what, number))
    }

    /// Removes a file that is no longer needed, unless the last checkpoint names it.
    pub fn retire(&self, what: &str, number: u64) -> Result<()> {
        if self.named.contains(&Self::name(what, number)) {
            return Ok(());
        }
        remove(&self.path(what, number))
    }

    /// A checkpoint that names these numbered files and the queue, and drops those named before.
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
