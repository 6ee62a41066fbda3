//! The writer thread: it owns everything durable, so that a checkpoint is one consistent snapshot.
//!
//! Pages arrive parsed; their records, rows, links and decisions are appended, their links are added to the
//! sieve, and the URLs that the sieve emits go to the fetcher thread. A URL is *open* from the moment the
//! sieve emits it until its row is written; the crawl is over when none is open and the sieve is empty.

pub(crate) mod decisions;
pub(crate) mod duplicates;
pub(crate) mod firsts;
pub(crate) mod near;
pub(crate) mod policy;
pub(crate) mod reread;
pub(crate) mod sieve;
pub(crate) mod store;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::counts::{Counts, Failure, Revisited};
use super::parsing::{Parser, origin};
use super::revisit::Revisits;
use super::shared::Shared;
use super::tag::Tag;
use super::work::{Event, Found, Order, Parsed, Unanswered, Work};
use super::writing::decisions::Decision;
use super::writing::policy::Policy;
use super::writing::reread::Reread;
use super::writing::sieve::UrlSieve;
use super::writing::store::{PageStore, StoreCommit};
use crate::collection::{Outcome, Row, TableState, layout};
use crate::disk::file::DurableFile;
use crate::parse::Page;
use crate::schedule::{self, Schedule, Source, Visit};
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
    /// The state of the table.
    pub table: TableState,
    /// The state of the sieve, as JSON.
    pub sieve: String,
    /// The queue offset from which to resume after a crash.
    pub position: u64,
    /// The redirect targets of seeds.
    pub led_to: Vec<String>,
    /// The queue offset from which stored pages are still to be read again.
    pub reread: Option<u64>,
    /// The description of the sieve, as JSON.
    pub described: String,
    /// The counters at this checkpoint.
    pub counts: Counts,
    /// The number of hosts that answered.
    pub hosts: u64,
    /// The files to sync before committing.
    pub handles: Vec<DurableFile>,
}

/// What was known of a page before a revisit.
struct Before {
    schedule: Schedule,
    row: Row,
}

/// The state owned by the writer thread.
pub struct Writer {
    shared: Arc<Shared>,
    sieve: Box<dyn UrlSieve>,
    policy: Option<Box<dyn Policy>>,
    store: PageStore,
    /// Brings back links that earlier runs refused; `None` if there are none, or no longer.
    reread: Option<Reread>,
    led_to: Vec<String>,
    refresh: schedule::Options,
    /// The pages that this run visits again and that are not yet handed out.
    revisits: Option<Revisits>,
    orders: Sender<Order>,
    /// The number of open URLs.
    open: u64,
    /// The length of the log of URLs when the crawl was resumed: only URLs before it may have a row already.
    replayed: u64,
    next_flush: Instant,
    hungry: bool,
    /// Whether the sieve has more URLs ready.
    has_more: bool,
}

impl Writer {
    /// Opens everything as it was committed.
    pub fn open(
        parser: &Parser,
        files: &HashMap<String, u64>,
        sieve: Box<dyn UrlSieve>,
        policy: Option<Box<dyn Policy>>,
        orders: Sender<Order>,
        pulse: &Pulse,
    ) -> Result<Writer> {
        let (plan, shared) = (&parser.plan, Arc::clone(&parser.shared));
        let (software, near) = (&plan.software, plan.crawl.near_distance);
        let store = PageStore::open(&plan.folder, &plan.store, software, near, pulse)?;
        Ok(Writer {
            sieve,
            policy,
            store,
            reread: Reread::open(parser.clone(), files)?,
            led_to: Vec::new(),
            refresh: plan.refresh.clone(),
            revisits: (plan.revisits > 0).then(|| Revisits::open(&plan.folder, plan.revisits)).transpose()?,
            orders,
            open: 0,
            replayed: files.get(layout::URLS).copied().unwrap_or(0),
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
            self.store.note(&decision)?;
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
                    self.store.note(&decision)?;
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
                if events.is_empty() {
                    self.read_again()?;
                }
                self.hand_out()?;
            }
            self.shared.gauges.write_queue.set(events.len() as u64);
            self.shared.gauges.write_micros.add(started.elapsed().as_micros() as u64);
        }
    }

    /// When to check the sieve again even if no event arrives.
    fn deadline(&self) -> Option<Instant> {
        let stopping = self.shared.is_stopping();
        if (self.has_more || self.reread.is_some()) && !stopping {
            return Some(Instant::now());
        }
        (self.hungry && !stopping && self.sieve.has_waiting()).then_some(self.next_flush)
    }

    /// Stores a page, and adds its links to the sieve.
    fn take_in(&mut self, mut parsed: Parsed) -> Result<()> {
        let before = if parsed.work.revisit.is_some() { self.before(&parsed.row.url)? } else { None };
        self.store.add(&mut parsed)?;
        let row = &parsed.row;
        if row.outcome == Outcome::Redirected && row.depth == 0 && row.detail.is_empty() {
            self.led_to.extend(row.redirect.clone());
        }
        let links = parsed.links.followed.len() as u64;
        self.shared.count(|counts| counts.links += links);
        if let Some(page) = &parsed.page {
            self.judge(&parsed.row.url, parsed.work.tag, page, &mut parsed.found)?;
        }
        if let Some(failure) = parsed.failure.take() {
            self.note_failure(&parsed.row.url, failure)?;
        }
        // A sitemap is no page.
        let counted = parsed.work.counted && parsed.row.outcome == Outcome::Sitemap;
        self.shared.budget.fetch_add(i64::from(counted), Ordering::AcqRel);
        self.announce(&parsed.signals)?;
        self.offer(&parsed.found)?;
        match before {
            Some(before) => self.reschedule(&parsed.row, before)?,
            None => self.shared.count(|counts| counts.count(&parsed.row)),
        }
        self.finish(&parsed.work, parsed.weight);
        Ok(())
    }

    /// Notes changes that a sitemap announces, of pages that are stored.
    fn announce(&mut self, signals: &[(String, f64)]) -> Result<()> {
        for (url, when) in signals {
            if !self.store.table().contains(url)? {
                continue;
            }
            let before = self.store.schedule(url, &self.refresh)?;
            let mut schedule = before.clone();
            schedule.signal(*when, Source::Sitemap);
            if schedule != before {
                self.store.put_schedule(url, &schedule, now())?;
            }
        }
        Ok(())
    }

    /// What was known of a page before a revisit.
    fn before(&mut self, url: &str) -> Result<Option<Before>> {
        let schedule = self.store.schedule(url, &self.refresh)?;
        Ok(self.store.table().get(url)?.map(|row| Before { schedule, row }))
    }

    /// Schedules the next visit of a page that was visited again.
    fn reschedule(&mut self, row: &Row, before: Before) -> Result<()> {
        let Before { mut schedule, row: earlier } = before;
        let how = match row.outcome {
            Outcome::Redirected => Revisited::Moved,
            Outcome::NotModified => Revisited::Unchanged,
            // A page whose markup alone has changed says nothing new.
            _ if row.digest == earlier.digest => Revisited::Unchanged,
            _ => Revisited::Changed,
        };
        let visit = if how == Revisited::Unchanged { Visit::Unchanged } else { Visit::Changed };
        schedule.observe(visit, row.fetched_at, &self.refresh);
        self.store.put_schedule(&row.url, &schedule, row.fetched_at)?;
        self.shared.count(|counts| counts.revisit(how));
        Ok(())
    }

    /// Records that a page which was there did not answer. It stays as it was until the grace period is over.
    fn miss(&mut self, row: Row, before: Before) -> Result<()> {
        let Before { mut schedule, row: earlier } = before;
        let visit = if matches!(row.status, Some(404 | 410)) { Visit::Gone } else { Visit::Failed };
        schedule.observe(visit, row.fetched_at, &self.refresh);
        self.store.put_schedule(&row.url, &schedule, row.fetched_at)?;
        let is_gone = schedule.is_gone(self.refresh.grace());
        let how = if is_gone { Revisited::Gone } else { Revisited::Failed };
        if is_gone && earlier.outcome != Outcome::Gone {
            let detail = format!("{}, {} visits in a row", row.detail, schedule.failures);
            self.store.add_row(&Row { outcome: Outcome::Gone, detail, ..row }, None)?;
        } else {
            self.store.note(&Decision { event: "revisit failed", ..Decision::of(&row) })?;
        }
        self.shared.count(|counts| counts.revisit(how));
        Ok(())
    }

    /// Adds links to the sieve.
    fn offer(&mut self, found: &[Found]) -> Result<()> {
        for found in found {
            self.sieve.offer(&found.url, found.tag.pack(self.shared.tags));
        }
        self.sieve.settle()
    }

    /// Adds links of stored pages that earlier runs refused, for a batch of pages.
    fn read_again(&mut self) -> Result<()> {
        let Some(reread) = &mut self.reread else { return Ok(()) };
        let pages = reread.next(&mut self.store)?;
        let (next, end) = reread.progress();
        self.shared.gauges.reread.set(next);
        self.shared.gauges.reread_end.set(end);
        let Some(pages) = pages else {
            self.reread = None;
            return Ok(());
        };
        for mut page in pages {
            if let Some(detail) = page.failure.take() {
                let (time, event) = (now(), "not read again");
                self.store.note(&Decision { time, url: page.url, event, detail, ..Decision::default() })?;
                continue;
            }
            self.store.add_anchors(&page.url, &page.found)?;
            if let Some(content) = &page.page {
                self.judge(&page.url, page.tag, content, &mut page.found)?;
            }
            self.offer(&page.found)?;
        }
        self.tell();
        Ok(())
    }

    /// Asks the policy about the links of a page, and drops those that it rejects.
    fn judge(&mut self, url: &str, tag: Tag, page: &Page, found: &mut Vec<Found>) -> Result<()> {
        let Some(policy) = &mut self.policy else { return Ok(()) };
        if found.is_empty() {
            return Ok(());
        }
        let verdict = policy.judge(url, tag, page, found)?;
        let mut levels = verdict.levels.into_iter();
        found.retain_mut(|found| match levels.next().flatten() {
            Some(level) => {
                found.tag.level = level;
                true
            }
            None => false,
        });
        verdict.failures.into_iter().try_for_each(|failure| self.note_failure(url, failure))
    }

    /// Counts and logs an extension's failure on a page.
    fn note_failure(&mut self, url: &str, failure: Failure) -> Result<()> {
        let (url, detail) = (url.to_owned(), failure.message.clone());
        let event = "extension failed";
        self.store.note(&Decision { time: now(), url, event, detail, ..Decision::default() })?;
        self.shared.count(|counts| counts.fail(failure));
        Ok(())
    }

    /// Records that a URL has no page.
    fn give_up(&mut self, unanswered: Unanswered) -> Result<()> {
        let row = unanswered.row();
        let Unanswered { work, weight, .. } = unanswered;
        // It was counted against the page budget when it was requested; give that back.
        self.shared.budget.fetch_add(i64::from(work.counted), Ordering::AcqRel);
        let before = if work.revisit.is_some() { self.before(&row.url)? } else { None };
        match before {
            Some(before) => self.miss(row, before)?,
            None => {
                self.store.add_row(&row, None)?;
                self.shared.count(|counts| counts.count(&row));
            }
        }
        self.finish(&work, weight);
        Ok(())
    }

    /// Closes a URL whose row is written.
    fn finish(&mut self, work: &Work, weight: u32) {
        self.open -= 1;
        self.shared.close(work.offset);
        self.shared.stored(weight);
        self.tell();
    }

    fn tell(&self) {
        let stats = self.sieve.stats();
        self.shared.count(|counts| {
            counts.seen = stats.seen;
            counts.waiting = self.open + stats.waiting + stats.pending;
        });
    }

    /// Hands new URLs to the fetcher thread. A sieve may have to merge its entire file of signatures to
    /// decide about the last ones; it is forced to only while connections are idle, for a small share of the
    /// time, or when nothing at all is open.
    fn hand_out(&mut self) -> Result<()> {
        if self.hand_out_revisits()? {
            self.has_more = true;
            return Ok(());
        }
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
        while self.sieve.has_waiting() && (self.is_idle() || (self.hungry && now >= self.next_flush)) {
            let shared = Arc::clone(&self.shared);
            let go_on = move || !shared.is_stopping();
            let entries = match self.sieve.take(BATCH, &Pulse::new(&go_on)) {
                Err(Error::Stopped) => return Ok(()),
                entries => entries?,
            };
            self.next_flush = Instant::now() + now.elapsed().max(Duration::from_millis(1)) * FLUSH_SHARE;
            self.order(&entries)?;
        }
        if self.is_idle() {
            self.shared.finish(None);
        }
        Ok(())
    }

    /// Whether only the sieve may have something to do.
    fn is_idle(&self) -> bool {
        self.open == 0 && self.reread.is_none()
    }

    /// Hands the next revisits to the fetcher thread; returns whether there are more.
    fn hand_out_revisits(&mut self) -> Result<bool> {
        let Some(queue) = &mut self.revisits else { return Ok(false) };
        let mut visits = Vec::new();
        while visits.len() < BATCH {
            let Some((offset, revisit)) = queue.advance()? else {
                self.revisits = None;
                break;
            };
            visits.push((offset, Signature::of(origin(&revisit.url).as_bytes()).0, 0));
        }
        self.send(visits);
        Ok(self.revisits.is_some())
    }

    /// Hands entries over, except those that had their row before a crash.
    fn order(&mut self, entries: &crate::sieve::Entries) -> Result<()> {
        let mut visits = Vec::with_capacity(entries.len());
        for entry in entries.iter() {
            if entry.offset < self.replayed && self.store.table().contains(entry.url)? {
                continue;
            }
            let host = Signature::of(origin(entry.url).as_bytes()).0;
            visits.push((entry.offset, host, Tag::unpack(entry.tag, self.shared.tags).level));
        }
        self.send(visits);
        Ok(())
    }

    fn send(&mut self, visits: Vec<(u64, u64, u8)>) {
        if visits.is_empty() {
            return;
        }
        self.open += visits.len() as u64;
        self.hungry = false;
        self.shared.is_hungry.store(false, Ordering::Release);
        self.shared.order(&self.orders, Order::Visit(visits));
    }

    fn checkpoint(&mut self) -> Result<Commit> {
        let (reply, position) = bounded(1);
        self.shared.order(&self.orders, Order::Checkpoint(reply));
        let StoreCommit { files, handles, table } = self.store.checkpoint(self.shared.is_stopping())?;
        let mut commit = Commit { files, handles, table, ..Commit::default() };
        let sieve = self.sieve.checkpoint()?;
        commit.files.extend(sieve.files);
        commit.sieve = sieve.state;
        let ended = || Error::Invalid("the fetching thread has ended".to_owned());
        let position = position.recv().map_err(|_| ended())??;
        commit.files.extend(position.hosts.files);
        commit.handles.push(position.hosts.log);
        commit.table.host_records = position.hosts.newest;
        commit.position = position.oldest.map_or(self.sieve.next(), |oldest| oldest.min(self.sieve.next()));
        commit.led_to = self.led_to.clone();
        commit.reread = self.reread.as_ref().map(|reread| reread.progress().0);
        commit.hosts = self.store.hosts();
        self.tell();
        commit.counts = self.shared.counts();
        commit.described = self.sieve.describe();
        Ok(commit)
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
