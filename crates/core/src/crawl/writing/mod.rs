//! The writer thread: it owns everything durable, so that a checkpoint is one consistent snapshot.
//!
//! Pages arrive parsed; their records, rows, links and decisions are appended, their links are added to the
//! sieve, and the URLs that the sieve emits go to the fetcher thread. A URL is *open* from the moment the
//! sieve emits it until its row is written; the crawl is over when none is open and the sieve is empty.

pub(crate) mod decisions;
pub(crate) mod duplicates;
pub(crate) mod policy;
pub(crate) mod sieve;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::counts::{Counts, Failure};
use super::parsing::origin;
use super::plan::Plan;
use super::shared::Shared;
use super::tag::Tag;
use super::work::{Event, Order, Parsed, Unanswered};
use super::writing::decisions::{Decision, DecisionLog};
use super::writing::duplicates::{Copy, Originals};
use super::writing::policy::Policy;
use super::writing::sieve::UrlSieve;
use crate::collection::{ArchiveWriter, Outcome, ROW_FORMAT, Row, layout};
use crate::disk::file::DurableFile;
use crate::disk::log::{KeyedLog, LogWriter};
use crate::graph::{AnchorLog, LINKS};
use crate::{Error, Pulse, Result, Signature};

/// The number of URLs dequeued from the sieve per batch.
const BATCH: usize = 1024;
/// The number of batches handed over before the thread handles incoming events.
const BATCHES_IN_A_ROW: usize = 16;
/// A crawl whose frontier runs dry spends at most 1 / `FLUSH_SHARE` of its time on flushing the sieve.
const FLUSH_SHARE: u32 = 20;

/// What to commit.
#[derive(Default)]
pub struct Commit {
    /// The files with their lengths; `None`: to be removed.
    pub files: Vec<(String, Option<u64>)>,
    /// The state of the sieve, as JSON.
    pub sieve: String,
    /// The queue offset from which to resume after a crash.
    pub position: u64,
    /// The redirect targets of seeds.
    pub led_to: Vec<String>,
    /// The description of the sieve, as JSON.
    pub described: String,
    /// The counters at this checkpoint.
    pub counts: Counts,
    /// The number of hosts that answered.
    pub hosts: u64,
    /// The files to sync before committing.
    pub handles: Vec<DurableFile>,
}

/// The state owned by the writer thread.
pub struct Writer {
    shared: Arc<Shared>,
    sieve: Box<dyn UrlSieve>,
    policy: Option<Box<dyn Policy>>,
    archive: ArchiveWriter,
    table: KeyedLog,
    links: LogWriter,
    anchors: AnchorLog,
    decisions: DecisionLog,
    originals: Originals,
    hosts: HashSet<u64>,
    led_to: Vec<String>,
    orders: Sender<Order>,
    /// The number of open URLs.
    open: u64,
    next_flush: Instant,
    hungry: bool,
    /// Whether the sieve has more URLs ready.
    has_more: bool,
}

impl Writer {
    /// Opens everything as it was committed.
    pub fn open(
        shared: Arc<Shared>,
        plan: &Plan,
        files: &HashMap<String, u64>,
        sieve: Box<dyn UrlSieve>,
        policy: Option<Box<dyn Policy>>,
        orders: Sender<Order>,
        pulse: &Pulse,
    ) -> Result<Writer> {
        let folder = plan.folder.as_path();
        let committed = |name: &str| files.get(name).copied().unwrap_or(0);
        let mut table =
            KeyedLog::write(&folder.join(layout::ROWS), ROW_FORMAT, committed(layout::ROWS), pulse)?;
        let mut originals = Originals::new(plan.crawl.near_distance);
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
        Ok(Writer {
            sieve,
            policy,
            archive: ArchiveWriter::open(folder, files, &plan.software)?,
            table,
            links: LogWriter::open(&folder.join(layout::LINKS), LINKS, committed(layout::LINKS))?,
            anchors: AnchorLog::open(&folder.join(layout::ANCHORS), committed(layout::ANCHORS))?,
            decisions: DecisionLog::open(folder, files)?,
            originals,
            hosts,
            led_to: Vec::new(),
            orders,
            open: 0,
            next_flush: Instant::now(),
            hungry: false,
            has_more: false,
            shared,
        })
    }

    /// Logs the seeds.
    pub fn note_seeds(&mut self, seeds: &[String]) -> Result<()> {
        for seed in seeds {
            let decision = Decision { time: now(), url: seed.clone(), event: "seed", ..Decision::default() };
            self.decisions.write(&decision)?;
        }
        Ok(())
    }

    /// Handles events until the last.
    pub fn run(mut self, events: &Receiver<Event>) -> Result<()> {
        self.hand_out()?;
        loop {
            let event = match self.deadline() {
                Some(deadline) => events.recv_deadline(deadline),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let started = Instant::now();
            match event {
                Ok(Event::Parsed(parsed)) => self.take_in(*parsed)?,
                Ok(Event::Unanswered(unanswered)) => self.give_up(*unanswered)?,
                Ok(Event::Note(decision)) => {
                    self.decisions.write(&decision)?;
                    self.shared.stored(1);
                }
                Ok(Event::Hungry) => self.hungry = true,
                Ok(Event::Checkpoint(reply)) => {
                    let commit = self.checkpoint();
                    // The requester may be gone; then nothing is committed.
                    drop(reply.send(commit));
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.shared.is_stopping() {
                self.hand_out()?;
            }
            self.shared.gauges.write_queue.set(events.len() as u64);
            self.shared.gauges.write_micros.add(started.elapsed().as_micros() as u64);
        }
    }

    /// When to check the sieve again even if no event arrives.
    fn deadline(&self) -> Option<Instant> {
        let stopping = self.shared.is_stopping();
        if self.has_more && !stopping {
            return Some(Instant::now());
        }
        (self.hungry && !stopping && self.sieve.has_waiting()).then_some(self.next_flush)
    }

    /// Stores a page, and adds its links to the sieve.
    fn take_in(&mut self, mut parsed: Parsed) -> Result<()> {
        let page = Signature::of(parsed.row.url.as_bytes());
        let row = &mut parsed.row;
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
        if row.outcome == Outcome::Redirected && row.depth == 0 && row.detail.is_empty() {
            self.led_to.extend(row.redirect.clone());
        }
        self.hosts.insert(Signature::of(origin(&row.url).as_bytes()).0);
        let links = parsed.links.followed.len() as u64;
        self.shared.count(|counts| counts.links += links);
        self.judge(&mut parsed)?;
        if let Some(failure) = parsed.failure.take() {
            self.note_failure(&parsed.row.url, failure)?;
        }
        for found in &parsed.found {
            self.sieve.offer(&found.url, found.tag.pack());
        }
        self.sieve.settle()?;
        let decision = Decision { bytes: Some(parsed.bytes), ..decision(&parsed.row) };
        self.finish(parsed.work.offset, parsed.row, decision, parsed.weight)
    }

    /// Asks the policy about the links of a page, and drops those that it rejects.
    fn judge(&mut self, parsed: &mut Parsed) -> Result<()> {
        let (Some(policy), Some(page)) = (&mut self.policy, &parsed.page) else { return Ok(()) };
        if parsed.found.is_empty() {
            return Ok(());
        }
        let verdict = policy.judge(&parsed.row.url, parsed.work.tag, page, &parsed.found)?;
        let mut levels = verdict.levels.into_iter();
        parsed.found.retain_mut(|found| match levels.next().flatten() {
            Some(level) => {
                found.tag.level = level;
                true
            }
            None => false,
        });
        verdict.failures.into_iter().try_for_each(|failure| self.note_failure(&parsed.row.url, failure))
    }

    /// Counts and logs an extension's failure on a page.
    fn note_failure(&mut self, url: &str, failure: Failure) -> Result<()> {
        let (url, detail) = (url.to_owned(), failure.message.clone());
        let event = "extension failed";
        self.decisions.write(&Decision { time: now(), url, event, detail, ..Decision::default() })?;
        self.shared.count(|counts| counts.fail(failure));
        Ok(())
    }

    /// Records that a URL has no page.
    fn give_up(&mut self, unanswered: Unanswered) -> Result<()> {
        let Unanswered { work, outcome, detail, when, seconds, address, weight } = unanswered;
        let row = Row {
            url: work.url,
            outcome,
            depth: work.tag.depth,
            fetched_at: when,
            address: address.map(|address| address.to_string()),
            attempts: work.attempts,
            seconds,
            detail,
            ..Row::default()
        };
        // It was counted against the page budget when it was requested; give that back.
        self.shared.budget.fetch_add(i64::from(work.counted), Ordering::AcqRel);
        let decision = decision(&row);
        self.finish(work.offset, row, decision, weight)
    }

    fn finish(&mut self, offset: u64, row: Row, decision: Decision, weight: u32) -> Result<()> {
        self.table.append(Signature::of(row.url.as_bytes()), &row.encode()?)?;
        self.decisions.write(&decision)?;
        self.shared.count(|counts| counts.count(&row));
        self.open -= 1;
        self.shared.close(offset);
        self.shared.stored(weight);
        self.tell();
        Ok(())
    }

    fn tell(&self) {
        let stats = self.sieve.stats();
        self.shared.count(|counts| {
            counts.seen = stats.seen;
            counts.waiting = self.open + stats.waiting + stats.pending;
        });
    }

    fn url_of(&mut self, page: Signature) -> Result<Option<String>> {
        let record = self.table.get(page)?;
        Ok(record.and_then(|record| Row::decode(record.payload)).map(|row| row.url))
    }

    /// Hands new URLs to the fetcher thread. A sieve may have to merge its entire file of signatures to
    /// decide about the last ones; it is forced to only while connections are idle, for a small share of the
    /// time, or when nothing at all is open.
    fn hand_out(&mut self) -> Result<()> {
        // A resumed crawl may have millions waiting: pages that arrive meanwhile must not wait that long.
        for batch in 0.. {
            let entries = self.sieve.take_ready(BATCH)?;
            self.has_more = !entries.is_empty();
            self.order(&entries)?;
            if !self.has_more || batch == BATCHES_IN_A_ROW {
                break;
            }
        }
        if self.has_more {
            return Ok(());
        }
        let now = Instant::now();
        while self.sieve.has_waiting() && (self.open == 0 || (self.hungry && now >= self.next_flush)) {
            let shared = Arc::clone(&self.shared);
            let go_on = move || !shared.is_stopping();
            let entries = match self.sieve.take(BATCH, &Pulse::new(&go_on)) {
                Err(Error::Stopped) => return Ok(()),
                entries => entries?,
            };
            self.next_flush = Instant::now() + now.elapsed().max(Duration::from_millis(1)) * FLUSH_SHARE;
            self.order(&entries)?;
        }
        if self.open == 0 {
            self.shared.finish(None);
        }
        Ok(())
    }

    /// Hands entries over, except those that had their row before a crash.
    fn order(&mut self, entries: &crate::sieve::Entries) -> Result<()> {
        let visits: Vec<(u64, u64, u8)> = entries
            .iter()
            .filter(|entry| !self.table.contains(Signature::of(entry.url.as_bytes())))
            .map(|entry| {
                let host = Signature::of(origin(entry.url).as_bytes()).0;
                (entry.offset, host, Tag::unpack(entry.tag).level)
            })
            .collect();
        if visits.is_empty() {
            return Ok(());
        }
        self.open += visits.len() as u64;
        self.hungry = false;
        self.shared.is_hungry.store(false, Ordering::Release);
        self.shared.order(&self.orders, Order::Visit(visits));
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<Commit> {
        let (reply, position) = bounded(1);
        self.shared.order(&self.orders, Order::Checkpoint(reply));
        let mut commit = Commit::default();
        for (files, handle) in [self.archive.flush()?, self.decisions.flush()?] {
            commit.files.extend(files.into_iter().map(|(name, length)| (name, Some(length))));
            commit.handles.push(handle);
        }
        let (length, handle) = self.table.flush()?;
        commit.files.push((layout::ROWS.to_owned(), Some(length)));
        commit.handles.push(handle);
        commit.files.push((layout::LINKS.to_owned(), Some(self.links.flush()?)));
        commit.handles.push(self.links.handle()?);
        commit.files.push((layout::ANCHORS.to_owned(), Some(self.anchors.flush()?)));
        commit.handles.push(self.anchors.handle()?);
        let sieve = self.sieve.checkpoint()?;
        commit.files.extend(sieve.files);
        commit.sieve = sieve.state;
        let ended = || Error::Invalid("the fetching thread has ended".to_owned());
        let position = position.recv().map_err(|_| ended())??;
        let (name, length, handle) = position.hosts;
        commit.files.push((name, Some(length)));
        commit.handles.push(handle);
        commit.position = position.oldest.map_or(self.sieve.next(), |oldest| oldest.min(self.sieve.next()));
        commit.led_to = self.led_to.clone();
        commit.hosts = self.hosts.len() as u64;
        self.tell();
        commit.counts = self.shared.counts();
        commit.described = self.sieve.describe();
        Ok(commit)
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn decision(row: &Row) -> Decision {
    Decision {
        time: row.fetched_at,
        url: row.url.clone(),
        event: row.outcome.words(),
        detail: row.detail.clone(),
        status: row.status,
        content_type: row.content_type.clone(),
        depth: Some(row.depth),
        attempt: Some(row.attempts),
        bytes: None,
        seconds: Some(f64::from(row.seconds)),
        address: row.address.clone(),
        other: row.redirect.clone().or(row.duplicate_of.clone()).or(row.near_duplicate_of.clone()),
    }
}
