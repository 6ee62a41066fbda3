//! A sorted map from byte keys to byte values, on disk, in bounded memory: a log-structured merge tree over a
//! journal that somebody else keeps.
//!
//! What it promises: [`SortedMap::get`], [`SortedMap::first`] and [`SortedMap::scan`] see every
//! [`SortedMap::put`] before them, the newest for each key. There is no write-ahead log: each put names the
//! position in the journal after the record that caused it, and after a crash the journal is replayed from
//! [`SortedMap::applied`] on, at most one memory table's worth of it. Every run file is written completely,
//! synced and renamed; [`SortedMap::checkpoint`] says which the manifest has to name from then on, so a crash at
//! any moment leaves the committed state.
//!
//! Puts go to a memory table, in key order. When it is full it is frozen, and a thread writes it to a *run*, an
//! immutable sorted file ([`run`]), while a new one fills; a second full one waits for the first. A run is of
//! level 0; as soon as [`FAN_IN`] runs are of level l, a thread merges them into one of level l + 1. Runs are
//! ordered by age, and where a key is in several, the newest wins. A removal is kept as an entry without a value
//! until it is merged into the oldest run.
//!
//! Costs, with n entries of b bytes, a memory table of m bytes and F = [`FAN_IN`]:
//!
//! ```text
//! runs                    at most F ⌈log_F(n b / m)⌉ after merging: what a scan merges
//! lookup                  a line of 64 bytes of each run's filter, and one block of 16 KiB of the runs that
//!                         have the key, and of 1 in 100 of the others
//! writing                 each entry is written ⌈log_F(n b / m)⌉ + 1 times, compressed
//! memory                  Options::memory: a third for each of two memory tables, a quarter for the cache of
//!                         blocks, the rest for buffers. Per run its first and last key; nothing per entry or
//!                         block: index blocks go through the cache
//! disk                    the compressed entries, 10 to 11 bits of filter a filtered prefix and about 30 bytes of
//!                         index a block (0.2 %); during a merge its inputs and its output
//! ```
//!
//! Source: Patrick O'Neil, Edward Cheng, Dieter Gawlick, Elizabeth O'Neil, "The log-structured merge-tree
//! (LSM-tree)", 1996; Fay Chang et al., "Bigtable: a distributed storage system for structured data", 2006, whose
//! memtables, SSTables and locality groups these are.

mod block;
mod cache;
mod filter;
mod map;
mod memory;
mod merge;
mod reader;
mod run;
mod tablet;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use map::SortedMap;
pub use merge::Scan;
pub use reader::SortedReader;
pub use tablet::Tablet;

use crate::{Error, Result};

/// The number of runs of a level that are merged into one of the next.
pub const FAN_IN: usize = 6;
/// The longest key and value.
pub const MAX_KEY: usize = 1 << 16;
/// See [`MAX_KEY`].
pub const MAX_VALUE: usize = 1 << 28;

/// The most bytes that a scan or a merge reads ahead of each run.
const READ_AHEAD: usize = 1 << 18;

/// How a map is kept.
#[derive(Clone)]
pub struct Options {
    /// The memory budget in bytes: memory tables, block cache and buffers together.
    pub memory: usize,
    /// The name of the run file with a number, relative to the folder.
    pub name: fn(u64) -> String,
    /// The part of a key, a prefix, that goes into the filters of the runs.
    pub filtered: fn(&[u8]) -> &[u8],
    /// Which entries survive a merge; `None`: all.
    pub keep: Option<Arc<dyn Keep>>,
}

/// Judges the entries of one merge: their keys and values, in key order.
pub type Judge<'a> = Box<dyn FnMut(&[u8], &[u8]) -> bool + 'a>;

/// Which entries survive a merge.
///
/// What a merge drops is removed from the map sooner or later, by the time that all runs are merged.
pub trait Keep: Send + Sync {
    /// The judge of one merge: it is called with the key and the value of its entries, in key order, and
    /// returns whether the entry stays.
    fn judge(&self) -> Judge<'_>;
}

/// The committed state of a map, for the manifest.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct State {
    /// The runs, from the oldest to the newest.
    pub runs: Vec<RunState>,
    /// The position in the journal up to which the runs have everything.
    pub applied: u64,
    /// The number of the next run file.
    pub next: u64,
}

/// A committed run.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RunState {
    /// The number of its file.
    pub number: u64,
    /// Its level: how many merges its oldest entry went through.
    pub level: u32,
    /// The length of its file.
    pub bytes: u64,
}

/// A file with its committed length; `None` if it is to be removed.
pub type Change = (String, Option<u64>);

/// What to commit.
#[derive(Debug, Default)]
pub struct Checkpoint {
    /// The run files, all synced, and those that are to be removed once the manifest is committed.
    pub files: Vec<Change>,
    /// The state of the map.
    pub state: State,
}

/// Refuses an entry that is too long.
fn check(key: &[u8], value: Option<&[u8]>) -> Result<()> {
    let length = value.map_or(0, <[u8]>::len);
    if key.len() > MAX_KEY || length > MAX_VALUE {
        let reason =
            format!("an entry with a key of {} bytes and a value of {length} is too long", key.len());
        return Err(Error::Invalid(reason));
    }
    Ok(())
}
