//! The table as readers see it: what is known of each URL, at every time, as of one commit.
//!
//! The truth is the journal, an append-only log with a record for each cell ([`super::cells`]); the sorted maps
//! over it find the cells of a URL, of a site and of a page's signature. A map has everything up to a position of
//! the journal in its runs, and readers put what was committed after that into memory: at most as much as the
//! writer keeps there. Each lookup costs a read of 64 bytes per run, and a block of 16 KiB.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::cells::{Entry, Group, Micros, end_key, filtered, first_key, key, micros, parts};
use super::layout;
use super::row::{ROW_FORMAT, Row};
use crate::disk::log::{LogAccess, LogStream};
use crate::graph::order;
use crate::sorted::{Options, Scan, SortedReader, State, Tablet};
use crate::{Error, Pulse, Result, Signature};

/// The memory of a reader's block caches, in bytes.
const MEMORY: usize = 16 << 20;
const RECORDS_PER_BEAT: u64 = 1 << 10;

/// The committed state of the maps.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct TableState {
    /// The cells.
    pub cells: State,
    /// The cells of feeds; `None` in a table that was made before it had any.
    pub feeds: Option<State>,
    /// The journal's offset of the newest row of each page, by signature.
    pub pages: State,
    /// The first row with each text and of each host, for the crawl.
    pub firsts: State,
    /// The fingerprints of the texts, for the crawl.
    pub near: State,
    /// The newest record of each host in the log of hosts, for the crawl.
    pub host_records: State,
    /// The number of hosts that answered.
    pub hosts: u64,
    /// The number of URLs with a row.
    pub urls: u64,
    /// The number of rows: more than URLs as soon as one was visited again.
    pub visits: u64,
}

impl TableState {
    /// The options of the map of cells.
    pub(super) fn cells(memory: usize) -> Options {
        Options { memory, name: layout::cells, filtered, keep: None }
    }

    /// The options of the map of the cells of feeds.
    pub(super) fn feeds(memory: usize) -> Options {
        Options { memory, name: layout::feeds, filtered, keep: None }
    }

    /// The state of the map of the cells of feeds, in a table whose journal has `committed` bytes.
    pub(super) fn feeds_state(&self, committed: u64) -> State {
        // A table without any count is built again from its journal.
        let applied = if self.urls > 0 { committed } else { 0 };
        self.feeds.clone().unwrap_or(State { applied, ..State::default() })
    }

    /// The options of the map of pages.
    pub(super) fn pages(memory: usize) -> Options {
        Options { memory, name: layout::pages, filtered: |key| key, keep: None }
    }
}

/// The committed cells of a collection. Thread-safe.
pub struct Table {
    path: PathBuf,
    committed: u64,
    urls: u64,
    visits: u64,
    cells: SortedReader,
    feeds: SortedReader,
    pages: SortedReader,
    journal: Option<Mutex<LogAccess>>,
}

/// A cell as the table has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The URL.
    pub url: String,
    /// The column group.
    pub group: Group,
    /// When, in microseconds since 1970.
    pub time: Micros,
    /// The value: a [`Row`] without its URL for a visit.
    pub value: Vec<u8>,
}

/// A range of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first key.
    pub from: Vec<u8>,
    /// The key after the last; `None`: to the end.
    pub to: Option<Vec<u8>>,
}

impl Rows {
    /// All rows.
    pub fn all() -> Rows {
        Rows { from: Vec::new(), to: None }
    }

    /// The rows of a domain with its subdomains, or of an IP address.
    pub fn of_site(host: &str) -> Rows {
        let Range { start, end } = order::domain(host, false);
        Rows { from: start, to: Some(end) }
    }

    /// The rows of the URLs that begin with a prefix: a scheme, a host, and the start of a path.
    pub fn of_prefix(prefix: &str) -> Rows {
        let Range { start, end } = order::prefix(prefix);
        Rows { from: start, to: Some(end) }
    }
}

impl Table {
    /// Opens the table of a collection whose journal has `committed` bytes.
    pub fn open(folder: &Path, committed: u64, state: &TableState, pulse: &Pulse) -> Result<Table> {
        let path = folder.join(layout::ROWS);
        let mut cells = SortedReader::open(folder, TableState::cells(MEMORY), &state.cells)?;
        let mut pages = SortedReader::open(folder, TableState::pages(MEMORY / 4), &state.pages)?;
        let feeds_state = state.feeds_state(committed);
        let mut feeds = SortedReader::open(folder, TableState::feeds(MEMORY / 4), &feeds_state)?;
        let start = state.cells.applied.min(state.pages.applied).min(feeds_state.applied);
        let (mut urls, mut visits) = (state.urls, state.visits);
        if committed > start {
            // A table without a state was made before there was one: its URLs are counted here.
            let counts = state.urls == 0;
            let (mut count, mut stream) = (0, LogStream::open(&path, ROW_FORMAT, start, committed)?);
            while let Some(sealed) = stream.advance()? {
                count += 1;
                if count % RECORDS_PER_BEAT == 0 {
                    pulse.beat()?;
                }
                let record = sealed.open(&path)?;
                let entry = decode(&path, record.offset, record.payload)?;
                let signature = record.key.0.to_be_bytes();
                if counts && matches!(entry, Entry::Visit(_)) {
                    urls += u64::from(pages.get(&signature)?.is_none());
                    visits += 1;
                }
                let (key, value) = cell(&entry)?;
                let map = if entry.group() == Group::Feed { &mut feeds } else { &mut cells };
                map.put(&key, value.as_deref())?;
                if matches!(entry, Entry::Visit(_)) {
                    pages.put(&signature, Some(&record.offset.to_le_bytes()))?;
                }
            }
        }
        let journal = (committed > 0).then(|| LogAccess::open(&path).map(Mutex::new)).transpose()?;
        Ok(Table { path, committed, urls, visits, cells, feeds, pages, journal })
    }

    /// The newest version of a URL.
    pub fn get(&self, url: &str) -> Result<Option<Row>> {
        self.at(url, Micros::MAX)
    }

    /// The version of a URL at a time: the newest that is not newer.
    pub fn at(&self, url: &str, time: Micros) -> Result<Option<Row>> {
        let found = self.cells.first(&key(url, Group::Visit, time), Some(&end_key(url, Group::Visit)))?;
        found.map(|(key, value)| self.row(&key, &value)).transpose()
    }

    /// All versions of a URL, newest first.
    pub fn versions(&self, url: &str) -> Result<Vec<Row>> {
        let (from, to) = (first_key(url, Group::Visit), end_key(url, Group::Visit));
        let mut versions = Vec::new();
        let mut scan = self.cells.scan(&from, Some(&to))?;
        while let Some((key, value)) = scan.advance()? {
            versions.push(self.row(key, value)?);
        }
        Ok(versions)
    }

    /// The newest cell of a URL in a group, with its time.
    pub fn cell(&self, url: &str, group: Group) -> Result<Option<(Micros, Vec<u8>)>> {
        let map = if group == Group::Feed { &self.feeds } else { &self.cells };
        let found = map.first(&first_key(url, group), Some(&end_key(url, group)))?;
        Ok(found.and_then(|(key, value)| parts(&key).map(|(_, _, time)| (time, value))))
    }

    /// The newest row of a page, by signature.
    pub fn by_signature(&self, page: Signature) -> Result<Option<Row>> {
        let Some(found) = self.pages.get(&page.0.to_be_bytes())? else { return Ok(None) };
        let Some(journal) = &self.journal else { return Ok(None) };
        let url = {
            let mut journal = journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let offset = offset(&self.path, &found)?;
            let record = journal.get(offset)?;
            match decode(&self.path, offset, record.payload)? {
                Entry::Visit(row) => row.url,
                Entry::Cell(url, ..) => url.to_owned(),
            }
        };
        self.get(&url)
    }

    /// Whether a URL has a row.
    pub fn contains(&self, url: &str) -> Result<bool> {
        self.get(url).map(|row| row.is_some())
    }

    /// The rows in the order in which they were written, from an offset of the journal (0: the first) on,
    /// including older versions, each with the offset of the next record.
    pub fn since(&self, offset: u64) -> Result<Since> {
        Since::open(&self.path, self.committed, offset)
    }

    /// Whether a row is the newest version of its URL.
    pub fn is_newest(&self, row: &Row) -> Result<bool> {
        if self.urls == self.visits {
            return Ok(true);
        }
        Ok(self.get(&row.url)?.is_some_and(|newest| newest.fetched_at == row.fetched_at))
    }

    /// The first key of a URL.
    pub fn key_of(&self, url: &str) -> Vec<u8> {
        first_key(url, Group::Visit)
    }

    /// Whether a row is what its URL has now: no later version has another record.
    pub fn is_current(&self, row: &Row) -> Result<bool> {
        if self.urls == self.visits {
            return Ok(true);
        }
        Ok(self.get(&row.url)?.is_some_and(|newest| newest.place() == row.place()))
    }

    /// The cells of a range of rows, except those of feeds, in key order: row after row, group after group, newest first.
    pub fn scan(&self, rows: &Rows) -> Result<Cells<'_>> {
        Ok(Cells { table: self, scan: self.cells.scan(&rows.from, rows.to.as_deref())? })
    }

    /// The cells of feeds after that of a URL (`None`: all), in key order.
    pub fn feeds(&self, after: Option<&str>) -> Result<Cells<'_>> {
        let from = after.map_or_else(Vec::new, |url| end_key(url, Group::Feed));
        Ok(Cells { table: self, scan: self.feeds.scan(&from, None)? })
    }

    /// The row of a cell of a visit.
    pub fn row_of(&self, cell: Cell) -> Result<Row> {
        let row = Row::decode(&cell.value).ok_or_else(|| self.damaged())?;
        Ok(Row { url: cell.url, ..row })
    }

    /// The tablets: at most `n` ranges of rows of about the same size, which together are the table.
    pub fn tablets(&self, n: usize) -> Result<Vec<Tablet>> {
        self.cells.tablets(n)
    }

    /// The number of URLs with a row.
    pub fn len(&self) -> u64 {
        self.urls
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.urls == 0
    }

    /// The committed length of the journal, which is the offset of the next record to come.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// Reads everything and checks every checksum, the order of the keys, and what the maps say of the journal.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.cells.verify(pulse)?;
        self.feeds.verify(pulse)?;
        self.pages.verify(pulse)
    }

    fn row(&self, key: &[u8], value: &[u8]) -> Result<Row> {
        let (url, ..) = parts(key).ok_or_else(|| self.damaged())?;
        let row = Row::decode(value).ok_or_else(|| self.damaged())?;
        Ok(Row { url, ..row })
    }

    fn damaged(&self) -> Error {
        Error::corrupt(&self.path, 0, "a cell of the table does not decode")
    }
}

/// The cells of a range of rows.
pub struct Cells<'a> {
    table: &'a Table,
    scan: Scan<'a>,
}

impl Iterator for Cells<'_> {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = match self.scan.advance() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let cell = parts(key).map(|(url, group, time)| Cell { url, group, time, value: value.to_vec() });
        Some(cell.ok_or_else(|| self.table.damaged()))
    }
}

/// The rows of the journal, in the order in which they were written.
pub struct Since {
    path: PathBuf,
    stream: Option<LogStream>,
}

impl Since {
    /// The rows from an offset to the end of a journal of `committed` bytes.
    pub fn open(path: &Path, committed: u64, offset: u64) -> Result<Since> {
        let stream = (committed > offset).then(|| LogStream::open(path, ROW_FORMAT, offset, committed));
        Ok(Since { path: path.to_path_buf(), stream: stream.transpose()? })
    }

    /// The next row, and its place in the journal.
    pub fn advance(&mut self) -> Result<Option<(Row, Range<u64>)>> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        while let Some(sealed) = stream.advance()? {
            let record = sealed.open(&self.path)?;
            if let Entry::Visit(row) = decode(&self.path, record.offset, record.payload)? {
                return Ok(Some((*row, record.offset..record.end())));
            }
        }
        Ok(None)
    }
}

impl Iterator for Since {
    type Item = Result<(Row, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.advance().transpose()?.map(|(row, place)| (row, place.end)))
    }
}

/// Decodes a record of the journal.
pub(super) fn decode<'a>(path: &Path, offset: u64, payload: &'a [u8]) -> Result<Entry<'a>> {
    Entry::decode(payload).ok_or_else(|| Error::corrupt(path, offset, "a row does not decode"))
}

/// The key and the value of a record's cell; no value: it is removed.
pub(super) fn cell(entry: &Entry<'_>) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    Ok(match entry {
        Entry::Visit(row) => (key(&row.url, Group::Visit, micros(row.fetched_at)), Some(row.encode_cell()?)),
        Entry::Cell(url, group, time, value) => {
            (key(url, *group, *time), (!value.is_empty()).then(|| value.to_vec()))
        }
    })
}

/// The offset in a value of the map of pages.
pub(super) fn offset(path: &Path, value: &[u8]) -> Result<u64> {
    let bytes =
        value.try_into().map_err(|_| Error::corrupt(path, 0, "a page has no place in the journal"))?;
    Ok(u64::from_le_bytes(bytes))
}
