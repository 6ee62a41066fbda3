//! The page store: everything durable that a page leaves behind, apart from the sieve.
//!
//! A page is added in one call: its record goes to the archive, its row to the table, its links and their
//! anchor texts to the logs of the graph, and what became of it to the decision log. A checkpoint flushes all
//! of them, so what the manifest commits is one consistent snapshot.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::decisions::{Decision, DecisionLog};
use super::duplicates::{Originals, Rules, Treatment};
use super::now;
use crate::collection::cells::{Group, Versions, micros};
use crate::collection::refresh::schedule_of;
use crate::collection::{
    Archive, ArchiveWriter, Change, Manifest, Outcome, Place, Row, TableState, TableWriter, layout,
};
use crate::crawl::work::{Found, Parsed};
use crate::disk::file::DurableFile;
use crate::disk::log::LogWriter;
use crate::graph::{AnchorLog, LINKS};
use crate::schedule::{self, Schedule};
use crate::warc::Record;
use crate::{Error, Pulse, Result, Signature};

/// The shares of the duplicate detection and of the records of hosts in the memory, in sixteenths; the rest is the
/// table's.
const ORIGINALS_SHARE: usize = 6;
const HOSTS_SHARE: usize = 1;
/// The most fingerprints that are looked at if the nearest is that of no page any more.
const MOST_FURTHER: usize = 64;

/// The section `[store]` of the settings, described in `crivello.settings.fields`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The memory of the maps of the table, of the duplicate detection and of the hosts, in bytes.
    pub(crate) memory: usize,
    /// How many versions of a page are kept; 0: all.
    pub(crate) versions: usize,
    /// For how many seconds a version is kept after it was replaced; 0: for ever.
    pub(crate) keep: f64,
    /// Whether requests are archived beside their responses.
    pub(crate) requests: bool,
}

impl Settings {
    /// The memory of the duplicate detection.
    fn of_originals(&self) -> usize {
        self.memory / 16 * ORIGINALS_SHARE
    }

    /// The memory of the records of hosts.
    pub(crate) fn of_hosts(&self) -> usize {
        self.memory / 16 * HOSTS_SHARE
    }

    /// The memory of the table.
    fn of_table(&self) -> usize {
        self.memory - self.of_originals() - self.of_hosts()
    }

    fn kept(&self) -> Versions {
        let before = if self.keep > 0.0 { micros(now() - self.keep) } else { 0 };
        Versions { number: self.versions, before }
    }
}

/// Stores pages; one writer.
pub struct PageStore {
    folder: PathBuf,
    archive: ArchiveWriter,
    table: TableWriter,
    links: LogWriter,
    anchors: AnchorLog,
    decisions: DecisionLog,
    originals: Originals,
}

/// What a checkpoint of the store commits.
pub struct StoreCommit {
    /// The files with their lengths; `None`: to be removed.
    pub files: Vec<Change>,
    /// The files to sync before committing.
    pub handles: Vec<DurableFile>,
    /// The state of the table.
    pub table: TableState,
}

impl PageStore {
    /// Opens everything as it was committed. `software` is named in new files of the archive; `duplicates` says what
    /// becomes of duplicates.
    pub fn open(
        folder: &Path,
        settings: &Settings,
        software: &str,
        duplicates: Rules,
        pulse: &Pulse,
    ) -> Result<PageStore> {
        let manifest = Manifest::read(folder)?;
        let files: HashMap<String, u64> =
            manifest.files.iter().map(|(name, length)| (name.clone(), *length)).collect();
        let committed = |name: &str| files.get(name).copied().unwrap_or(0);
        let (rows, state) = (committed(layout::ROWS), manifest.table_state()?);
        let table = TableWriter::open(folder, rows, &state, settings.of_table(), settings.kept(), pulse)?;
        let originals = Originals::open(folder, rows, &state, settings.of_originals(), duplicates, pulse)?;
        Ok(PageStore {
            folder: folder.to_path_buf(),
            archive: ArchiveWriter::open(folder, &files, software)?,
            table,
            links: LogWriter::open(&folder.join(layout::LINKS), LINKS, committed(layout::LINKS))?,
            anchors: AnchorLog::open(&folder.join(layout::ANCHORS), committed(layout::ANCHORS))?,
            decisions: DecisionLog::open(folder, &files)?,
            originals,
        })
    }

    /// Adds a page. Its row is completed with the place of its record and the page that it duplicates. Returns what
    /// becomes of it as a duplicate; [`Treatment::Keep`] if it is none.
    pub fn add(&mut self, parsed: &mut Parsed) -> Result<Treatment> {
        if parsed.row.outcome == Outcome::NotModified {
            self.add_unchanged(parsed)?;
            return Ok(Treatment::Keep);
        }
        if let Some((digest, simhash)) = parsed.words {
            self.compare(&mut parsed.row, digest, simhash)?;
        }
        let treatment = self.originals.rules().treatment(&parsed.row);
        if treatment == Treatment::Drop {
            // Without them the next visit gets the page whole: the original may be gone by then.
            (parsed.row.etag, parsed.row.last_modified, parsed.row.payload) = (None, None, None);
            self.add_row(&parsed.row, Some(parsed.bytes))?;
            return Ok(treatment);
        }
        let row = &mut parsed.row;
        let page = Signature::of(row.url.as_bytes());
        if let Some(record) = &parsed.record {
            let place = append(&mut self.archive, record, parsed.request.as_deref())?;
            (row.file, row.offset, row.length) = (place.file, place.offset, place.length);
        }
        if let Some(record) = &parsed.conversion {
            let place = self.archive.append(record)?;
            (row.text_file, row.text_offset, row.text_length) = (place.file, place.offset, place.length);
        }
        if parsed.words.is_some() || row.outcome == Outcome::Redirected {
            self.links.append(page, &parsed.links.encode())?;
            let links = parsed.found.iter().map(|found| (found.url.as_str(), found.anchor.as_str()));
            self.anchors.append(page, links)?;
        }
        self.add_row(&parsed.row, Some(parsed.bytes))?;
        Ok(treatment)
    }

    /// Names in its row the page of which a page is a duplicate. That is one whose text is still the one compared with:
    /// no earlier version of the page itself, and no page that has changed, moved or is gone.
    fn compare(&mut self, row: &mut Row, digest: u128, simhash: Option<u64>) -> Result<()> {
        let rules = self.originals.rules();
        if rules.exact_duplicates > Treatment::Keep
            && let Some(first) = self.holder(digest)?
            && first.url != row.url
            && first.has_own_text()
            && first.digest == row.digest
        {
            row.duplicate_of = Some(first.url);
            return Ok(());
        }
        let Some(simhash) = simhash else { return Ok(()) };
        let Some(nearest) = self.originals.nearest(simhash)? else { return Ok(()) };
        let mut original = self.near_original(nearest, row, simhash)?;
        if original.is_none() {
            // The fingerprint is one that a page does not have any more, and may hide others.
            for further in self.originals.further(simhash)?.into_iter().take(MOST_FURTHER) {
                original = self.near_original(further, row, simhash)?;
                if original.is_some() {
                    break;
                }
            }
        }
        if let Some((url, bits)) = original {
            (row.near_duplicate_of, row.near_bits) = (Some(url), Some(bits));
        }
        Ok(())
    }

    /// The page of which a page is a near-duplicate, and the bits between them, if the row at an offset leads to one.
    fn near_original(&mut self, offset: u64, row: &Row, simhash: u64) -> Result<Option<(String, u32)>> {
        // The page that has the text now, which may have been another's before.
        let Some(digest) = self.table.row_at(offset)?.as_ref().and_then(Row::text_digest) else {
            return Ok(None);
        };
        let Some(first) = self.holder(digest)? else { return Ok(None) };
        let bits = first.simhash.map(|other| (other ^ simhash).count_ones());
        let bits = bits.filter(|bits| *bits <= self.originals.rules().near_distance);
        let is_original = first.url != row.url
            && first.is_original()
            // An equal text is an exact duplicate, which is not looked for.
            && first.digest != row.digest;
        Ok(bits.filter(|_| is_original).map(|bits| (first.url, bits)))
    }

    /// The page that has a text, as it is now.
    fn holder(&mut self, digest: u128) -> Result<Option<Row>> {
        let Some(offset) = self.originals.with_text(digest)? else { return Ok(None) };
        let url = self.table.url_at(offset)?;
        self.table.get(&url)
    }

    /// Adds a version without a body: its row has the content of the version before.
    fn add_unchanged(&mut self, parsed: &mut Parsed) -> Result<()> {
        if let Some(before) = self.table.get(&parsed.row.url)? {
            parsed.row = std::mem::take(&mut parsed.row).unchanged_since(before);
        }
        match &parsed.record {
            Some(record) => self.add_visit(&mut parsed.row, record, parsed.request.as_deref(), parsed.bytes),
            None => self.add_row(&parsed.row, Some(parsed.bytes)),
        }
    }

    /// Adds the row of a visit that found a page unchanged, and the record of that visit.
    pub fn add_visit(
        &mut self,
        row: &mut Row,
        record: &[u8],
        request: Option<&[u8]>,
        bytes: u64,
    ) -> Result<()> {
        let place = append(&mut self.archive, record, request)?;
        (row.visit_file, row.visit_offset, row.visit_length) = (place.file, place.offset, place.length);
        self.add_row(row, Some(bytes))
    }

    /// Adds a row, and the decision that it stands for; `bytes` is the size of the body, if there is one.
    pub fn add_row(&mut self, row: &Row, bytes: Option<u64>) -> Result<()> {
        let is_new = !self.table.contains(&row.url)?;
        let place = self.table.add(row, is_new)?;
        self.originals.add(row, &place)?;
        self.decisions.write(&Decision { bytes, ..Decision::of(row) })
    }

    /// What is known of the next visit of a page: its cell, or what follows from its first visit.
    pub fn schedule(&self, url: &str, options: &schedule::Options) -> Result<Schedule> {
        if let Some((_, cell)) = self.table.cell(url, Group::Schedule)? {
            let damaged =
                || Error::corrupt(layout::ROWS, 0, format!("the schedule of {url} does not decode"));
            return Schedule::decode(&cell).ok_or_else(damaged);
        }
        Ok(self.table.get(url)?.map_or_else(Schedule::default, |row| schedule_of(&row, options)))
    }

    /// Puts the schedule of a page.
    pub fn put_schedule(&mut self, url: &str, schedule: &Schedule, when: f64) -> Result<()> {
        self.table.put(url, Group::Schedule, micros(when), &schedule.encode()?)
    }

    /// Logs a decision.
    pub fn note(&mut self, decision: &Decision) -> Result<()> {
        self.decisions.write(decision)
    }

    /// The table.
    pub fn table(&mut self) -> &mut TableWriter {
        &mut self.table
    }

    /// Adds the anchor texts of links that a stored page has.
    pub fn add_anchors(&mut self, url: &str, found: &[Found]) -> Result<()> {
        let links = found.iter().map(|found| (found.url.as_str(), found.anchor.as_str()));
        self.anchors.append(Signature::of(url.as_bytes()), links)
    }

    /// A record that was added.
    pub fn read(&mut self, place: Place) -> Result<Record> {
        self.archive.show()?;
        Archive::new(&self.folder).read(place)
    }

    /// The number of hosts that answered.
    pub fn hosts(&self) -> u64 {
        self.originals.hosts()
    }

    /// Flushes everything to the operating system. `is_last`: see [`TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<StoreCommit> {
        let mut commit = StoreCommit { files: Vec::new(), handles: Vec::new(), table: TableState::default() };
        for (files, handle) in [self.archive.flush()?, self.decisions.flush()?] {
            commit.files.extend(files.into_iter().map(|(name, length)| (name, Some(length))));
            commit.handles.push(handle);
        }
        let table = self.table.checkpoint(is_last)?;
        commit.files.extend(table.files);
        commit.handles.push(table.journal);
        commit.table = table.state;
        commit.files.extend(self.originals.checkpoint(is_last, &mut commit.table)?);
        commit.files.push((layout::LINKS.to_owned(), Some(self.links.flush()?)));
        commit.handles.push(self.links.handle()?);
        commit.files.push((layout::ANCHORS.to_owned(), Some(self.anchors.flush()?)));
        commit.handles.push(self.anchors.handle()?);
        Ok(commit)
    }
}

/// Appends a record, and that of its request directly behind it.
fn append(archive: &mut ArchiveWriter, record: &[u8], request: Option<&[u8]>) -> Result<Place> {
    let place = archive.append(record)?;
    request.map_or(Ok(()), |request| archive.append_beside(request))?;
    Ok(place)
}
