//! The page store: everything durable that a page leaves behind, apart from the sieve.
//!
//! A page is added in one call: its record goes to the archive, its row to the table, its links and their
//! anchor texts to the logs of the graph, and what became of it to the decision log. A checkpoint flushes all
//! of them, so what the manifest commits is one consistent snapshot.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::decisions::{Decision, DecisionLog};
use super::duplicates::{Copy, Originals};
use crate::collection::{ArchiveWriter, Change, Outcome, ROW_FORMAT, Row, layout};
use crate::crawl::parsing::origin;
use crate::crawl::work::Parsed;
use crate::disk::file::DurableFile;
use crate::disk::log::{KeyedLog, LogWriter};
use crate::graph::{AnchorLog, LINKS};
use crate::{Error, Pulse, Result, Signature};

/// The files to commit with their lengths, and the handles to sync before.
pub type Flushed = (Vec<Change>, Vec<DurableFile>);

/// Stores pages; one writer.
pub struct PageStore {
    archive: ArchiveWriter,
    table: KeyedLog,
    links: LogWriter,
    anchors: AnchorLog,
    decisions: DecisionLog,
    originals: Originals,
    hosts: HashSet<u64>,
}

impl PageStore {
    /// Opens everything as it was committed. `software` is named in new files of the archive; pages within
    /// `near_distance` bits of an earlier one are its near-duplicates.
    pub fn open(
        folder: &Path,
        files: &HashMap<String, u64>,
        software: &str,
        near_distance: u32,
        pulse: &Pulse,
    ) -> Result<PageStore> {
        let committed = |name: &str| files.get(name).copied().unwrap_or(0);
        let mut table =
            KeyedLog::write(&folder.join(layout::ROWS), ROW_FORMAT, committed(layout::ROWS), pulse)?;
        let mut originals = Originals::new(near_distance);
        let mut hosts = HashSet::new();
        for record in table.records(0)? {
            let record = record?;
            let damaged =
                || Error::corrupt(folder.join(layout::ROWS), record.offset, "a row does not decode");
            let row = Row::decode(record.payload).ok_or_else(damaged)?;
            if row.status.is_some() {
                hosts.insert(Signature::of(origin(&row.url).as_bytes()).0);
            }
            let digest = row.digest.as_deref().and_then(|digest| u128::from_str_radix(digest, 16).ok());
            if let (Some(digest), Some(simhash), None) = (digest, row.simhash, &row.duplicate_of) {
                originals.remember(record.key, digest, simhash)?;
            }
        }
        Ok(PageStore {
            archive: ArchiveWriter::open(folder, files, software)?,
            table,
            links: LogWriter::open(&folder.join(layout::LINKS), LINKS, committed(layout::LINKS))?,
            anchors: AnchorLog::open(&folder.join(layout::ANCHORS), committed(layout::ANCHORS))?,
            decisions: DecisionLog::open(folder, files)?,
            originals,
            hosts,
        })
    }

    /// Adds a page. Its row is completed with the place of its record and the page that it duplicates.
    pub fn add(&mut self, parsed: &mut Parsed) -> Result<()> {
        let row = &mut parsed.row;
        let page = Signature::of(row.url.as_bytes());
        if let Some(record) = &parsed.record {
            let place = self.archive.append(record)?;
            (row.file, row.offset, row.length) = (place.file, place.offset, place.length);
        }
        if let Some(record) = &parsed.conversion {
            let place = self.archive.append(record)?;
            (row.text_file, row.text_offset, row.text_length) = (place.file, place.offset, place.length);
        }
        if let Some((digest, simhash)) = parsed.words {
            match self.originals.judge(page, digest, simhash)? {
                Copy::None => {}
                Copy::Exact(original) => row.duplicate_of = self.url_of(original)?,
                Copy::Near(original) => row.near_duplicate_of = self.url_of(original)?,
            }
        }
        if parsed.words.is_some() || row.outcome == Outcome::Redirected {
            self.links.append(page, &parsed.links.encode())?;
            let links = parsed.found.iter().map(|found| (found.url.as_str(), found.anchor.as_str()));
            self.anchors.append(page, links)?;
        }
        self.hosts.insert(Signature::of(origin(&row.url).as_bytes()).0);
        self.add_row(&parsed.row, Some(parsed.bytes))
    }

    /// Adds a row, and the decision that it stands for; `bytes` is the size of the body, if there is one.
    pub fn add_row(&mut self, row: &Row, bytes: Option<u64>) -> Result<()> {
        self.table.append(Signature::of(row.url.as_bytes()), &row.encode()?)?;
        self.decisions.write(&Decision { bytes, ..Decision::of(row) })
    }

    /// Logs a decision.
    pub fn note(&mut self, decision: &Decision) -> Result<()> {
        self.decisions.write(decision)
    }

    /// Whether a URL has a row.
    pub fn contains(&self, url: &str) -> bool {
        self.table.contains(Signature::of(url.as_bytes()))
    }

    /// The number of hosts that answered.
    pub fn hosts(&self) -> u64 {
        self.hosts.len() as u64
    }

    /// Flushes everything to the operating system.
    pub fn flush(&mut self) -> Result<Flushed> {
        let (mut changes, mut handles): Flushed = Default::default();
        for (files, handle) in [self.archive.flush()?, self.decisions.flush()?] {
            changes.extend(files.into_iter().map(|(name, length)| (name, Some(length))));
            handles.push(handle);
        }
        let (length, handle) = self.table.flush()?;
        changes.push((layout::ROWS.to_owned(), Some(length)));
        handles.push(handle);
        changes.push((layout::LINKS.to_owned(), Some(self.links.flush()?)));
        handles.push(self.links.handle()?);
        changes.push((layout::ANCHORS.to_owned(), Some(self.anchors.flush()?)));
        handles.push(self.anchors.handle()?);
        Ok((changes, handles))
    }

    fn url_of(&mut self, page: Signature) -> Result<Option<String>> {
        let record = self.table.get(page)?;
        Ok(record.and_then(|record| Row::decode(record.payload)).map(|row| row.url))
    }
}
