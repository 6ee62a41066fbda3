//! The page table: a row for each URL with an outcome.
//!
//! Rows are appended to a log keyed by the URL's signature, so older versions of a row stay in the log and
//! the newest is found in one lookup. A row costs about 200 bytes on disk; the in-memory index of the
//! signatures is built at the first lookup, and takes 18 to 37 bytes a row.

use std::path::{Path, PathBuf};

use super::layout;
use super::row::{ROW_FORMAT, Row};
use crate::disk::log::{KeyedReader, Record};
use crate::{Error, Pulse, Result, Signature};

/// The committed rows of a collection. Thread-safe.
pub struct Rows {
    path: PathBuf,
    committed: u64,
    /// `None` if nothing was crawled yet.
    log: Option<KeyedReader>,
}

impl Rows {
    /// Opens the first `committed` bytes of a collection's table.
    pub fn open(folder: &Path, committed: u64) -> Result<Rows> {
        let path = folder.join(layout::ROWS);
        let log = (committed > 0).then(|| KeyedReader::open(&path, ROW_FORMAT, committed)).transpose()?;
        Ok(Rows { path, committed, log })
    }

    /// The newest row of a URL, by signature.
    pub fn get(&self, url: Signature, pulse: &Pulse) -> Result<Option<Row>> {
        let Some(log) = &self.log else { return Ok(None) };
        log.get(url, pulse)?.map(|record| self.decode(&record)).transpose()
    }

    /// Whether a URL has a row, by signature.
    pub fn contains(&self, url: Signature, pulse: &Pulse) -> Result<bool> {
        self.log.as_ref().map_or(Ok(false), |log| log.contains(url, pulse))
    }

    /// The rows from an offset (0: the first) on, including older versions, each with the offset of the next.
    pub fn since(&self, offset: u64) -> impl Iterator<Item = Result<(Row, u64)>> {
        let records = self.log.iter().flat_map(move |log| log.records(offset));
        records.map(move |record| record.and_then(|record| Ok((self.decode(&record)?, record.end()))))
    }

    /// The number of URLs with a row.
    pub fn len(&self, pulse: &Pulse) -> Result<usize> {
        self.log.as_ref().map_or(Ok(0), |log| log.keys(pulse))
    }

    /// The committed length, which is the offset of the next row to come.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    fn decode(&self, record: &Record<'_>) -> Result<Row> {
        Row::decode(record.payload)
            .ok_or_else(|| Error::corrupt(&self.path, record.offset, "a row does not decode"))
    }
}
