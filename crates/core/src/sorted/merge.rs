//! Several sorted sources as one: increasing keys, the newest entry of each.
//!
//! A binary heap of the sources by key, then by age: an entry costs log k comparisons.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Options;
use super::cache::Cache;
use super::memory::Entries;
use super::run::{Cursor, Reading, Run, RunWriter};
use crate::{Error, Result};

/// The number of entries between two looks at whether to stop.
const ENTRIES_PER_LOOK: u64 = 1 << 10;

/// A key, and its value unless it is removed.
type Entry<'a> = (&'a [u8], Option<&'a [u8]>);

/// Entries in key order.
pub enum Source<'a> {
    /// A memory table, and its current entry.
    Memory(Entries<'a>, Option<Entry<'a>>),
    /// A run.
    Run(Cursor),
}

impl<'a> Source<'a> {
    /// The entries of a range of a memory table.
    pub fn memory(mut entries: Entries<'a>) -> Source<'a> {
        let first = entries.next();
        Source::Memory(entries, first)
    }

    fn entry(&self) -> Option<Entry<'_>> {
        match self {
            Source::Memory(_, entry) => *entry,
            Source::Run(cursor) => cursor.entry(),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Source::Memory(entries, entry) => {
                *entry = entries.next();
                Ok(())
            }
            Source::Run(cursor) => cursor.advance(),
        }
    }
}

/// The entries of several sources, removals included.
pub struct Merged<'a> {
    /// From the newest to the oldest.
    sources: Vec<Source<'a>>,
    /// The sources that are not at their end: the first has the smallest key, and is the newest that has it.
    heap: Vec<usize>,
    /// The last key returned.
    last: Option<Vec<u8>>,
}

impl<'a> Merged<'a> {
    /// Merges sources, from the newest to the oldest.
    pub fn new(sources: Vec<Source<'a>>) -> Merged<'a> {
        let heap = (0..sources.len()).filter(|source| sources[*source].entry().is_some()).collect();
        let mut merged = Merged { sources, heap, last: None };
        for place in (0..merged.heap.len() / 2).rev() {
            merged.sift(place);
        }
        merged
    }

    /// The next key and its newest value; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<Entry<'_>>> {
        // The source of the entry returned before still stands at it, so that the entry could be lent.
        while let (Some(last), Some(&top)) = (&self.last, self.heap.first()) {
            if self.sources[top].entry().is_none_or(|(key, _)| key != last.as_slice()) {
                break;
            }
            self.sources[top].advance()?;
            if self.sources[top].entry().is_none() {
                self.heap.swap_remove(0);
            }
            self.sift(0);
        }
        let Some(&top) = self.heap.first() else { return Ok(None) };
        let entry = self.sources[top].entry();
        if let Some((key, _)) = entry {
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        Ok(entry)
    }

    /// The entry returned last, unless it is a removal.
    fn current(&self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.sources[*self.heap.first()?].entry()?;
        Some((key, value?))
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        let key = |source: usize| self.sources[source].entry().map(|(key, _)| key);
        (key(one), one) < (key(other), other)
    }

    /// Moves the source at a place of the heap down to where it belongs.
    fn sift(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for below in [2 * place + 1, 2 * place + 2] {
                if below < self.heap.len() && self.is_before(self.heap[below], self.heap[least]) {
                    least = below;
                }
            }
            if least == place {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }
}

/// The entries of a range, in key order.
pub struct Scan<'a> {
    merged: Merged<'a>,
    to: Option<Vec<u8>>,
    is_over: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(sources: Vec<Source<'a>>, to: Option<&[u8]>) -> Scan<'a> {
        Scan { merged: Merged::new(sources), to: to.map(<[u8]>::to_vec), is_over: false }
    }

    /// The next key and its value; `None` at the end.
    pub fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        while !self.is_over {
            let Some((key, value)) = self.merged.advance()? else { break };
            if self.to.as_deref().is_some_and(|to| key >= to) {
                break;
            }
            if value.is_some() {
                return Ok(self.merged.current());
            }
        }
        self.is_over = true;
        Ok(None)
    }
}

/// A merge of several runs into one.
pub struct Merge {
    /// The runs, from the newest to the oldest.
    pub inputs: Vec<Arc<Run>>,
    /// The number of the new run.
    pub number: u64,
    /// Its level.
    pub level: u32,
    /// Whether the oldest run is among them, so that nothing is below a removal.
    pub is_oldest: bool,
    /// The bytes read ahead of each run.
    pub ahead: usize,
}

impl Merge {
    /// Writes the new run; `None` if nothing is left. Stops with an error when `stop` is set.
    pub fn run(
        &self,
        folder: &Path,
        options: &Options,
        cache: &Arc<Cache>,
        stop: &AtomicBool,
    ) -> Result<Option<Run>> {
        let source = |run| Ok(Source::Run(Cursor::seek(run, Reading::Ahead(self.ahead), &[])?));
        let mut merged = Merged::new(self.inputs.iter().map(source).collect::<Result<_>>()?);
        let mut writer = RunWriter::create(folder, options, self.number)?;
        let mut keep = options.keep.as_ref().map(|keep| keep.judge());
        let mut count = 0u64;
        while let Some((key, value)) = merged.advance()? {
            if count.is_multiple_of(ENTRIES_PER_LOOK) && stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            count += 1;
            // An entry that is dropped may hide an older one in another run: it becomes a removal.
            let value = value.filter(|value| keep.as_mut().is_none_or(|keep| keep(key, value)));
            if value.is_some() || !self.is_oldest {
                writer.add(key, value)?;
            }
        }
        writer.finish(folder, options, cache, self.level)
    }
}
