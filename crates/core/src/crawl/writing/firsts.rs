//! The row of the journal whose page has each text, and the first row of each host that answered.
//!
//! A sorted map over the journal, from the digest of a text (16 bytes) or the signature of an origin (8 bytes) to
//! the offset of the row: 24 bytes a text on disk, and constant memory. A page with a text that is no duplicate takes the
//! text over: the page that had it before has another one now, or is gone. Rows that are replayed in order lead to
//! the same map.

use std::ops::Range;
use std::path::Path;

use crate::collection::{Outcome, Row, layout};
use crate::crawl::parsing::origin;
use crate::sorted::{Checkpoint, Options, SortedMap, State};
use crate::{Error, Result, Signature};

/// The first rows.
pub struct Firsts {
    map: SortedMap,
    /// The number of hosts that answered.
    pub hosts: u64,
}

impl Firsts {
    /// Opens the map as it was committed.
    pub fn open(folder: &Path, memory: usize, state: &State) -> Result<Firsts> {
        Ok(Firsts { map: SortedMap::open(folder, Firsts::options(memory), state)?, hosts: 0 })
    }

    /// How the map is kept.
    pub fn options(memory: usize) -> Options {
        Options { memory, name: layout::firsts, filtered: |key| key, keep: None }
    }

    /// The position in the journal from which it is to be replayed.
    pub fn applied(&self) -> u64 {
        self.map.applied()
    }

    /// The offset of the row whose page has a text.
    pub fn with_text(&self, digest: u128) -> Result<Option<u64>> {
        self.get(&digest.to_be_bytes())
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row, place: &Range<u64>) -> Result<()> {
        if row.status.is_some() {
            let host = Signature::of(origin(&row.url).as_bytes());
            self.hosts += u64::from(self.put(&host.0.to_be_bytes(), place)?);
        }
        // A row that is replayed for another map has its place in the runs of this one.
        let is_new = place.end > self.map.applied();
        if let Some(digest) = row.text_digest().filter(|_| is_new && row.has_own_text()) {
            // A page that was found unchanged has its text already.
            let is_known = row.outcome == Outcome::NotModified && self.with_text(digest)?.is_some();
            if !is_known {
                self.map.put(&digest.to_be_bytes(), Some(&place.start.to_le_bytes()), place.end)?;
            }
        }
        self.map.pass(place.end);
        Ok(())
    }

    /// See [`crate::collection::TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<Checkpoint> {
        if is_last {
            self.map.flush()?;
        }
        self.map.checkpoint()
    }

    fn get(&self, key: &[u8]) -> Result<Option<u64>> {
        let damaged = |_| Error::corrupt(layout::TABLE, 0, "a first row has no place in the journal");
        let found = self.map.get(key)?;
        found.map(|value| value.try_into().map(u64::from_le_bytes).map_err(damaged)).transpose()
    }

    /// Whether the row at a place is the first with a key.
    fn put(&mut self, key: &[u8], place: &Range<u64>) -> Result<bool> {
        if let Some(first) = self.get(key)? {
            return Ok(first == place.start);
        }
        self.map.put(key, Some(&place.start.to_le_bytes()), place.end)?;
        Ok(true)
    }
}
