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
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::counts::{Counts, Failure, Revisited};
use super::exchange::ledger::Ledger;
use super::exchange::membership::Owners;
use super::exchange::{Exchange, Recipient};
use super::parsing::reach::Reach;
use super::parsing::{Parser, origin};
use super::revisit::Revisits;
use super::shared::Shared;
use super::tag::{Layout, Tag};
use super::work::{Asset, Event, Found, Handed, Incoming, Order, Parsed, Question, Unanswered, Work};
use super::writing::decisions::Decision;
use super::writing::duplicates::Treatment;
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
/// The number of assets that are remembered as offered to the sieve in this run.
const REMEMBERED_ASSETS: usize = 1 << 16;
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
    /// The state of the exchange with other agents, as JSON.
    pub exchange: Option<String>,
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
    /// Brings back links of stored pages; `None` if there is nothing to be read again, or no longer.
    reread: Option<Reread>,
    led_to: Vec<String>,
    /// The assets that were offered to the sieve in this run: most pages of a site have the same.
    assets: HashSet<Signature>,
    /// Which links are followed.
    reach: Arc<RwLock<Reach>>,
    /// The exchange with other agents, if the crawl is divided among them.
    exchange: Option<Exchange>,
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
        let (software, duplicates) = (&plan.software, plan.crawl.duplicates);
        let store = PageStore::open(&plan.folder, &plan.store, software, duplicates, pulse)?;
        let recent = plan.crawl.sieve_options.cache;
        let exchange = plan.exchange.as_ref();
        let exchange = exchange
            .map(|membership| Exchange::open(&plan.folder, membership, files, recent, pulse))
            .transpose()?;
        let mut writer = Writer {
            sieve,
            policy,
            store,
            reread: Reread::open(parser.clone(), files)?,
            led_to: Vec::new(),
            assets: HashSet::new(),
            reach: Arc::clone(&parser.reach),
            exchange,
            refresh: plan.refresh.clone(),
            revisits: (plan.revisits > 0).then(|| Revisits::open(&plan.folder, plan.revisits)).transpose()?,
            orders,
            open: 0,
            replayed: files.get(layout::URLS).copied().unwrap_or(0),
            next_flush: Instant::now(),
            hungry: false,
            has_more: false,
            shared,
        };
        writer.hand_over(files, &plan.led_to, pulse)?;
        Ok(writer)
    }

    /// Hands over what other agents own since the members have changed.
    fn hand_over(&mut self, files: &HashMap<String, u64>, led_to: &[String], pulse: &Pulse) -> Result<()> {
        let Writer { exchange: Some(exchange), store, sieve, shared, .. } = self else { return Ok(()) };
        if shared.tags != Layout::WithSite {
            return Err(Error::Invalid(
                "a collection that was begun by an early version of Crivello cannot be divided among agents"
                    .to_owned(),
            ));
        }
        let mut delivery = Delivery::new(sieve.as_mut());
        exchange.hand_over(files, led_to, |url| store.table().contains(url), &mut delivery, pulse)?;
        let delivered = delivery.end();
        shared.is_handing_over.store(exchange.is_waiting(), Ordering::Release);
        self.act_on(delivered)
    }

    /// The positions of the exchange.
    pub fn ledger(&self) -> Option<Arc<Ledger>> {
        self.exchange.as_ref().map(|exchange| Arc::clone(exchange.ledger()))
    }

    /// Whose URLs are.
    pub fn owners(&self) -> Option<Arc<Owners>> {
        self.exchange.as_ref().map(|exchange| Arc::clone(exchange.owners()))
    }

    /// Adds the seeds to the sieve, and logs them.
    pub fn take_seeds(&mut self, seeds: &[String]) -> Result<()> {
        for seed in seeds {
            let decision = Decision { time: now(), url: seed.clone(), event: "seed", ..Decision::default() };
            self.store.note(&decision)?;
            self.offer_one(seed, Tag::default())?;
        }
        self.settle()
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
                Ok(Event::Handed(handed)) => self.hand(*handed)?,
                Ok(Event::Incoming(incoming)) => self.receive(incoming)?,
                Ok(Event::Ask(question)) => {
                    if let Some(exchange) = &mut self.exchange {
                        exchange.ask(question.agent, &question.origin, &question.url, question.address)?;
                        exchange.publish();
                    }
                    self.shared.stored(1);
                }
                Ok(Event::Answer(reply)) => {
                    if let Some(exchange) = &mut self.exchange {
                        exchange.answer(reply.agent, &reply.origin, &reply.response)?;
                        exchange.publish();
                    }
                    self.shared.stored(1);
                }
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
            if !self.shared.is_pausing() {
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
        let stopping = self.shared.is_pausing();
        if (self.has_more || self.reread.is_some()) && !stopping {
            return Some(Instant::now());
        }
        (self.hungry && !stopping && self.sieve.has_waiting()).then_some(self.next_flush)
    }

    /// Stores a page, and adds its links to the sieve.
    fn take_in(&mut self, mut parsed: Parsed) -> Result<()> {
        let before = if parsed.work.revisit.is_some() { self.before(&parsed.row.url)? } else { None };
        let treatment = self.store.add(&mut parsed)?;
        if treatment >= Treatment::SkipLinks {
            let skipped = parsed.found.len() - parsed.sitemaps;
            self.shared.count(|counts| counts.save(treatment, skipped, &parsed));
            parsed.found.truncate(parsed.sitemaps);
            parsed.assets.clear();
        }
        let row = &parsed.row;
        if row.outcome == Outcome::Redirected && row.depth == 0 && row.detail.is_empty() {
            if let (Some(exchange), Some(target)) = (&mut self.exchange, &row.redirect) {
                exchange.widen(target)?;
            }
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
        // A sitemap is no page, and neither is a duplicate of which nothing is stored.
        let is_page = parsed.row.outcome != Outcome::Sitemap && treatment < Treatment::Drop;
        let counted = parsed.work.counted && !is_page;
        self.shared.budget.fetch_add(i64::from(counted), Ordering::AcqRel);
        self.announce(&parsed.signals)?;
        self.offer_assets(&parsed.row.url, &parsed.assets)?;
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

    /// Adds the assets of a page to the sieve, and logs whose they are; before its links, so that they are fetched
    /// early.
    fn offer_assets(&mut self, page: &str, assets: &[Asset]) -> Result<()> {
        for Asset { url, what, tag } in assets {
            if self.assets.len() >= REMEMBERED_ASSETS {
                self.assets.clear();
            }
            let is_new = self.assets.insert(Signature::of(url.as_bytes()));
            if !is_new || self.store.table().contains(url)? {
                continue;
            }
            let (detail, depth) = (format!("{what} of {page}"), Some(tag.depth));
            let (time, url, event) = (now(), url.clone(), "declared");
            self.store.note(&Decision {
                time,
                url: url.clone(),
                event,
                detail,
                depth,
                ..Decision::default()
            })?;
            self.offer_one(&url, *tag)?;
        }
        Ok(())
    }

    /// Adds links to the sieve.
    fn offer(&mut self, found: &[Found]) -> Result<()> {
        found.iter().try_for_each(|found| self.offer_one(&found.url, found.tag))?;
        self.settle()
    }

    /// Adds a URL to the sieve's batch, or hands it to the agent whose it is.
    fn offer_one(&mut self, url: &str, tag: Tag) -> Result<()> {
        let tag = tag.pack(self.shared.tags);
        if let Some(exchange) = &mut self.exchange
            && !exchange.is_own(url, tag)?
        {
            return Ok(());
        }
        self.sieve.offer(url, tag);
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        if let Some(exchange) = &mut self.exchange {
            exchange.publish();
        }
        self.sieve.settle()
    }

    /// Accepts a batch of another agent.
    fn receive(&mut self, incoming: Incoming) -> Result<()> {
        let Incoming { sender, start, batch, reply } = incoming;
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        let mut delivery = Delivery::new(self.sieve.as_mut());
        let positions = exchange.receive(sender, start, &batch, &mut delivery)?;
        let delivered = delivery.end();
        self.shared.is_handing_over.store(exchange.is_waiting(), Ordering::Release);
        self.shared.is_idle.store(false, Ordering::Release);
        self.act_on(delivered)?;
        // The sender may be gone; then it sends the batch again.
        let _ = reply.send(positions);
        Ok(())
    }

    /// Does what other agents' records ask for, beside offering URLs to the sieve.
    fn act_on(&mut self, delivered: Delivered) -> Result<()> {
        let Delivered { reopened, pins, led_to, orders } = delivered;
        orders.into_iter().for_each(|order| self.shared.order(&self.orders, order));
        self.sieve.settle()?;
        if !pins.is_empty() {
            self.shared.order(&self.orders, Order::Pin(pins.into_iter().collect()));
        }
        // What the sieve has not emitted yet in this run it will emit.
        let (tags, next) = (self.shared.tags, self.sieve.next());
        let visits = reopened
            .into_iter()
            .filter(|(offset, ..)| *offset < next)
            .map(|(offset, tag, host)| (offset, host, Tag::unpack(tag, tags).level))
            .collect();
        self.send(visits);
        for url in led_to {
            if !self.led_to.contains(&url) {
                self.reach.write().unwrap_or_else(PoisonError::into_inner).add_seed(&url);
                self.led_to.push(url);
            }
        }
        Ok(())
    }

    /// Leaves a URL to another agent.
    fn hand(&mut self, handed: Handed) -> Result<()> {
        let Handed { work, agent, address } = handed;
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        exchange.hand(&work.url, work.tag.pack(self.shared.tags), work.offset, agent, address)?;
        exchange.publish();
        let detail = match address {
            Some(address) => format!("to agent {agent}, which crawls {address}"),
            None => format!("to agent {agent}, which owns its name"),
        };
        let (url, depth) = (work.url.clone(), Some(work.tag.depth));
        let decision =
            Decision { time: now(), url, event: "handed over", detail, depth, ..Decision::default() };
        self.store.note(&decision)?;
        self.finish(&work, 1);
        Ok(())
    }

    /// Offers links of stored pages again, for a batch of pages.
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
            self.store.add_anchors(&page.url, &page.found[..page.new])?;
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
        if self.exchange.as_ref().is_some_and(Exchange::is_waiting) {
            return Ok(());
        }
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
            let go_on = move || !shared.is_pausing();
            let before = self.sieve.stats().flush_seconds;
            let entries = match self.sieve.take(BATCH, &Pulse::new(&go_on)) {
                Err(Error::Stopped) => return Ok(()),
                entries => entries?,
            };
            // Its own time, if it tells: what a busy machine adds says nothing of the next flush.
            let own = Duration::from_secs_f64((self.sieve.stats().flush_seconds - before).max(0.0));
            let took = if own.is_zero() { now.elapsed() } else { own };
            self.next_flush = Instant::now() + took.max(Duration::from_millis(1)) * FLUSH_SHARE;
            self.order(&entries)?;
        }
        if self.exchange.is_some() {
            // Other agents may send more.
            self.shared.is_idle.store(self.is_idle(), Ordering::Release);
        } else if self.is_idle() {
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
            if let Some(exchange) = &mut self.exchange
                && !exchange.emits(entry.url, entry.tag, entry.offset)?
            {
                continue;
            }
            let host = Signature::of(origin(entry.url).as_bytes()).0;
            visits.push((entry.offset, host, Tag::unpack(entry.tag, self.shared.tags).level));
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.publish();
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
        if let Some(exchange) = &mut self.exchange {
            let exchanged = exchange.checkpoint()?;
            commit.files.extend(exchanged.files);
            commit.handles.extend(exchanged.handles);
            commit.exchange = Some(exchanged.state);
        }
        self.tell();
        commit.counts = self.shared.counts();
        commit.described = self.sieve.describe();
        Ok(commit)
    }
}

/// What other agents' records ask for beside offering URLs to the sieve.
#[derive(Default)]
struct Delivered {
    /// The URLs to fetch that the sieve emitted before: their offsets in its queue, tags and hosts.
    reopened: Vec<(u64, u32, u64)>,
    /// Where to crawl the hosts of other agents' names.
    pins: HashMap<String, IpAddr>,
    led_to: Vec<String>,
    /// Questions and answers.
    orders: Vec<Order>,
}

/// Delivers other agents' URLs to the sieve.
struct Delivery<'a> {
    sieve: &'a mut dyn UrlSieve,
    delivered: Delivered,
}

impl Delivery<'_> {
    fn new(sieve: &mut dyn UrlSieve) -> Delivery<'_> {
        Delivery { sieve, delivered: Delivered::default() }
    }

    fn end(self) -> Delivered {
        self.delivered
    }
}

impl Recipient for Delivery<'_> {
    fn offer(&mut self, url: &str, tag: u32) {
        self.sieve.offer(url, tag);
    }

    fn reopen(&mut self, url: &str, tag: u32, offset: u64) {
        self.delivered.reopened.push((offset, tag, Signature::of(origin(url).as_bytes()).0));
    }

    fn pin(&mut self, url: &str, address: IpAddr) {
        let origin = origin(url);
        if self.delivered.pins.get(origin) != Some(&address) {
            self.delivered.pins.insert(origin.to_owned(), address);
        }
    }

    fn widen(&mut self, url: &str) {
        self.delivered.led_to.push(url.to_owned());
    }

    fn ask(&mut self, agent: u32, origin: &str, url: &str, address: IpAddr) {
        let (origin, url) = (origin.to_owned(), url.to_owned());
        self.delivered.orders.push(Order::Ask(Question { agent, origin, url, address }));
    }

    fn answer(&mut self, origin: &str, response: &[u8]) {
        self.delivered.orders.push(Order::Answer(origin.to_owned(), response.to_vec()));
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
