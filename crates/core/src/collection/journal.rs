//! The table as its writer sees it: the journal, and the sorted maps over it.
//!
//! A put is appended to the journal and applied to the maps at once, so that it can be read back; a checkpoint
//! commits the journal's length and the maps' runs. After a crash the maps are brought up to the committed length
//! by replaying the journal from where their runs end.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cells::{Entry, Group, Micros, Versions, end_key, first_key, key, parts};
use super::layout;
use super::manifest::Change;
use super::row::{ROW_FORMAT, Row};
use super::table::{TableState, cell, decode};
use crate::disk::file::DurableFile;
use crate::disk::log::{LogAccess, LogStream, LogWriter};
use crate::sorted::{Options, SortedMap};
use crate::{Pulse, Result, Signature};

/// The share of the map of pages in the memory.
const PAGES_SHARE: usize = 5;
/// The share of the map of the cells of feeds.
const FEEDS_SHARE: usize = 32;
const RECORDS_PER_BEAT: u64 = 1 << 10;

/// What a checkpoint of the table commits.
pub struct TableCommit {
    /// The files.
    pub files: Vec<Change>,
    /// The journal, to be synced before.
    pub journal: DurableFile,
    /// The state for the manifest.
    pub state: TableState,
}

/// The writer of the table.
pub struct TableWriter {
    path: PathBuf,
    journal: LogWriter,
    /// Reads what was flushed.
    access: LogAccess,
    flushed: u64,
    cells: SortedMap,
    feeds: SortedMap,
    pages: SortedMap,
    urls: u64,
    visits: u64,
    /// The state that it was opened with; others keep their maps in it.
    opened: TableState,
}

impl TableWriter {
    /// Opens the table as it was committed; `memory` is what the maps may take, in bytes.
    pub fn open(
        folder: &Path,
        committed: u64,
        state: &TableState,
        memory: usize,
        versions: Versions,
        pulse: &Pulse,
    ) -> Result<TableWriter> {
        let path = folder.join(layout::ROWS);
        let mut journal = LogWriter::open(&path, ROW_FORMAT, committed)?;
        let flushed = journal.flush()?;
        let (share, feeds_share) = (memory / PAGES_SHARE, memory / FEEDS_SHARE);
        let of_cells = TableState::cells(memory - share - feeds_share);
        let options = Options { keep: Some(versions.judge()), ..of_cells };
        let cells = SortedMap::open(folder, options, &state.cells)?;
        let pages = SortedMap::open(folder, TableState::pages(share), &state.pages)?;
        let feeds_state = state.feeds_state(committed);
        let feeds = SortedMap::open(folder, TableState::feeds(feeds_share), &feeds_state)?;
        let access = LogAccess::open(&path)?;
        let mut table = TableWriter {
            path,
            journal,
            access,
            flushed,
            cells,
            feeds,
            pages,
            urls: state.urls,
            visits: state.visits,
            opened: state.clone(),
        };
        table.replay(state.urls == 0, pulse)?;
        Ok(table)
    }

    /// Applies what the journal has beyond the maps.
    fn replay(&mut self, counts: bool, pulse: &Pulse) -> Result<()> {
        let (applied_cells, applied_feeds) = (self.cells.applied(), self.feeds.applied());
        let applied_pages = self.pages.applied();
        let start = applied_cells.min(applied_feeds).min(applied_pages);
        let path = self.path.clone();
        let mut stream = LogStream::open(&path, ROW_FORMAT, start, self.flushed)?;
        let mut count = 0;
        while let Some(sealed) = stream.advance()? {
            count += 1;
            if count % RECORDS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let record = sealed.open(&path)?;
            let (entry, end) = (decode(&path, record.offset, record.payload)?, record.end());
            if counts && let Entry::Visit(row) = &entry {
                self.urls += u64::from(!self.contains(&row.url)?);
                self.visits += 1;
            }
            let is_feed = entry.group() == Group::Feed;
            if end > if is_feed { applied_feeds } else { applied_cells } {
                let (key, value) = cell(&entry)?;
                let map = if is_feed { &mut self.feeds } else { &mut self.cells };
                map.put(&key, value.as_deref(), end)?;
            }
            if end > applied_pages && matches!(entry, Entry::Visit(_)) {
                self.pages.put(&record.key.0.to_be_bytes(), Some(&record.offset.to_le_bytes()), end)?;
            }
        }
        Ok(())
    }

    /// Adds a version of a page; returns its place in the journal. `is_new` says that its URL has no row yet.
    pub fn add(&mut self, row: &Row, is_new: bool) -> Result<Range<u64>> {
        let entry = Entry::Visit(Box::new(row.clone()));
        let (key, value) = cell(&entry)?;
        let signature = Signature::of(row.url.as_bytes());
        let offset = self.journal.append(signature, &row.encode()?)?;
        self.urls += u64::from(is_new);
        self.visits += 1;
        let end = self.journal.len();
        self.cells.put(&key, value.as_deref(), end)?;
        self.pages.put(&signature.0.to_be_bytes(), Some(&offset.to_le_bytes()), end)?;
        Ok(offset..end)
    }

    /// Puts a cell of another group; an empty value removes it.
    pub fn put(&mut self, url: &str, group: Group, time: Micros, value: &[u8]) -> Result<()> {
        self.journal.append(Signature::of(url.as_bytes()), &Entry::encode(url, group, time, value))?;
        let (key, value) = cell(&Entry::Cell(url, group, time, value))?;
        let map = if group == Group::Feed { &mut self.feeds } else { &mut self.cells };
        map.put(&key, value.as_deref(), self.journal.len())
    }

    /// The newest version of a URL.
    pub fn get(&self, url: &str) -> Result<Option<Row>> {
        self.at(url, Micros::MAX)
    }

    /// The version of a URL at a time: the newest that is not newer.
    pub fn at(&self, url: &str, time: Micros) -> Result<Option<Row>> {
        let range = (key(url, Group::Visit, time), end_key(url, Group::Visit));
        let Some((_, value)) = self.cells.first(&range.0, Some(&range.1))? else { return Ok(None) };
        let damaged = || crate::Error::corrupt(&self.path, 0, "a row of the table does not decode");
        let row = Row::decode(&value).ok_or_else(damaged)?;
        Ok(Some(Row { url: url.to_owned(), ..row }))
    }

    /// The newest cell of a URL in a group, with its time.
    pub fn cell(&self, url: &str, group: Group) -> Result<Option<(Micros, Vec<u8>)>> {
        let map = if group == Group::Feed { &self.feeds } else { &self.cells };
        let found = map.first(&first_key(url, group), Some(&end_key(url, group)))?;
        Ok(found.and_then(|(key, value)| parts(&key).map(|(_, _, time)| (time, value))))
    }

    /// Whether a URL has a row.
    pub fn contains(&self, url: &str) -> Result<bool> {
        self.cell(url, Group::Visit).map(|cell| cell.is_some())
    }

    /// The URL of the row at an offset of the journal.
    pub fn url_at(&mut self, offset: u64) -> Result<String> {
        if offset >= self.flushed {
            self.flushed = self.journal.flush()?;
        }
        let record = self.access.get(offset)?;
        Ok(match decode(&self.path, offset, record.payload)? {
            Entry::Visit(row) => row.url,
            Entry::Cell(url, ..) => url.to_owned(),
        })
    }

    /// The row at an offset of the journal; `None` if there is another cell.
    pub fn row_at(&mut self, offset: u64) -> Result<Option<Row>> {
        if offset >= self.flushed {
            self.flushed = self.journal.flush()?;
        }
        let record = self.access.get(offset)?;
        Ok(match decode(&self.path, offset, record.payload)? {
            Entry::Visit(row) => Some(*row),
            Entry::Cell(..) => None,
        })
    }

    /// The offset of the next record of the journal.
    pub fn position(&self) -> u64 {
        self.journal.len()
    }

    /// Flushes the journal to the operating system, where it can be read; returns its length.
    pub fn written(&mut self) -> Result<u64> {
        self.flushed = self.journal.flush()?;
        Ok(self.flushed)
    }

    /// The number of URLs with a row.
    pub fn len(&self) -> u64 {
        self.urls
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.urls == 0
    }

    /// Makes everything ready to be committed. `is_last` writes out what the maps have in memory, so that
    /// readers find everything in runs.
    pub fn checkpoint(&mut self, is_last: bool) -> Result<TableCommit> {
        self.flushed = self.journal.flush()?;
        let mut files = vec![(layout::ROWS.to_owned(), Some(self.flushed))];
        let mut states = Vec::new();
        for map in [&mut self.cells, &mut self.feeds, &mut self.pages] {
            if is_last {
                map.flush()?;
            }
            // Most records are of one map alone.
            map.pass(self.flushed);
            let checkpoint = map.checkpoint()?;
            files.extend(checkpoint.files);
            states.push(checkpoint.state);
        }
        let [cells, feeds, pages] = <[_; 3]>::try_from(states).unwrap_or_default();
        let state = TableState {
            cells,
            feeds: Some(feeds),
            pages,
            urls: self.urls,
            visits: self.visits,
            ..self.opened.clone()
        };
        Ok(TableCommit { files, journal: self.journal.handle()?, state })
    }
}
