//! Look-ups over memory tables and runs: the same for the writer and for readers.

use std::sync::Arc;

use super::filter;
use super::memory::Memory;
use super::merge::{Scan, Source};
use super::run::{Cursor, Reading, Run};
use crate::Result;

/// What a look-up sees.
pub struct View<'a> {
    /// The memory tables, from the newest to the oldest.
    pub memories: Vec<&'a Memory>,
    /// The runs, from the oldest to the newest.
    pub runs: &'a [Arc<Run>],
    /// See [`super::Options`].
    pub filtered: fn(&[u8]) -> &[u8],
    /// The bytes that a scan reads ahead of each run.
    pub ahead: usize,
}

impl<'a> View<'a> {
    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        for memory in &self.memories {
            if let Some(value) = memory.get(key) {
                return Ok(value.map(<[u8]>::to_vec));
            }
        }
        let hash = filter::hash((self.filtered)(key));
        for run in self.runs.iter().rev().filter(|run| run.meets(key, None)) {
            let cursor = Cursor::find(run, hash, key, Some(key))?;
            if let Some((found, value)) = cursor.entry()
                && found == key
            {
                return Ok(value.map(<[u8]>::to_vec));
            }
        }
        Ok(None)
    }

    /// The first entry from a key on, up to another, exclusive; all keys between must have the same filtered
    /// prefix as `from`.
    pub fn first(&self, from: &[u8], to: Option<&[u8]>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut range = self.range(from, to)?;
        Ok(range.advance()?.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }

    /// A few entries from a key on, up to another, exclusive, all with the filtered prefix of `from`.
    pub fn range(&self, from: &[u8], to: Option<&[u8]>) -> Result<Scan<'a>> {
        let mut sources: Vec<Source> =
            self.memories.iter().map(|memory| Source::memory(memory.range(from, to))).collect();
        let hash = filter::hash((self.filtered)(from));
        for run in self.runs.iter().rev().filter(|run| run.meets(from, to)) {
            let cursor = Cursor::find(run, hash, from, to)?;
            if cursor.entry().is_some() {
                sources.push(Source::Run(cursor));
            }
        }
        Ok(Scan::new(sources, to))
    }

    /// The entries from a key on, up to another, exclusive.
    pub fn scan(&self, from: &[u8], to: Option<&[u8]>) -> Result<Scan<'a>> {
        let mut sources: Vec<Source> =
            self.memories.iter().map(|memory| Source::memory(memory.range(from, to))).collect();
        for run in self.runs.iter().rev().filter(|run| run.meets(from, to)) {
            sources.push(Source::Run(Cursor::seek(run, Reading::Ahead(self.ahead), from)?));
        }
        Ok(Scan::new(sources, to))
    }
}
