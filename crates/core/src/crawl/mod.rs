//! The crawl: from the sieve to stored pages, in native threads.
//!
//! ```text
//!             URLs                 responses               pages
//! writing ----------> fetching ---------------> parsing ---------> writing
//! (sieve)             (frontier, client)        (as many threads   (archive, table, links, log, sieve)
//!                                                as cores)
//! ```
//!
//! Three kinds of threads, each owning its state: the *fetcher* thread owns the frontier and the HTTP client
//! ([`fetching`]), the *parser* threads are stateless ([`parsing`]), the *writer* thread owns everything
//! durable ([`writing`]). They communicate only through bounded lock-free queues (crossbeam's array queues: a
//! slot is claimed by compare-and-swap, and a thread sleeps only when there is nothing to do). Backpressure:
//! the fetcher acquires a permit before it makes a request, and the permit is released when the page is
//! stored, so a slow stage holds the fast one back instead of filling memory.
//!
//! **Exactly once.** The sieve emits each URL once; the row of a URL, its record, its links and the sieve's
//! state are written by one thread, so a checkpoint is one consistent snapshot of all of them. What was not
//! committed is done again after a crash, from the first URL that has no row.

mod counts;
pub(crate) mod exchange;
pub(crate) mod fetching;
pub mod importing;
pub(crate) mod parsing;
mod plan;
mod revisit;
mod seen;
mod settings;
mod shared;
mod tag;
mod verify;
mod work;
pub(crate) mod writing;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::Serialize;

pub use counts::{Counts, Failure, Failures, Revisited, Saved};
pub use exchange::Traffic;
pub use fetching::hosts::{HostState, host_state};
pub use fetching::politeness::Manner;
pub use parsing::assets::Assets;
pub use plan::Plan;
pub use revisit::{Pushed, Revisit, RevisitWriter};
pub use seen::tag_of;
pub use shared::{RestingHost, SlowHost};
pub use tag::{Layout, Tag};
pub use verify::verify;
pub use work::{Found, Parsed, Work};
pub use writing::Commit;
pub use writing::duplicates::{Originals, Rules as DuplicateRules, Treatment};
pub use writing::policy::{Policy, Verdict};
pub use writing::sieve::{SieveCommit, UrlSieve};
pub use writing::store::{PageStore, Settings as StoreSettings, StoreCommit};

use crate::collection::layout::URLS;
use crate::{Error, Pulse, Result};
use exchange::ledger::Ledger;
use exchange::membership::Owners;
use exchange::record::Batch;
use fetching::Scheduler;
use parsing::Parser;
use parsing::convert::Converters;
use settings::Filters;
use shared::Shared;
use work::{Event, Fetched, Incoming, Order};
use writing::Writer;

/// How often is looked whether other agents wait for a checkpoint.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The capacity of the fetcher thread's order queue.
const ORDERS: usize = 64;
/// Queue capacity for messages that hold no permit.
const CONTROL: usize = 64;

/// The threads that wait for the conversions of other formats, each for a process of its own.
const CONVERT: &str = "convert";

/// Checks that a crawl with this plan can start; creates no file and makes no request.
pub fn check(plan: &Plan) -> Result<()> {
    crate::fetch::check(&plan.crawl.fetch, &plan.software)?;
    Filters::new(&plan.crawl.kept)?;
    if let Some(membership) = &plan.exchange {
        membership.check()?;
    }
    plan.reach().map(drop)
}

/// What a crawl is started with.
pub struct Start {
    /// Its configuration.
    pub plan: Plan,
    /// The committed files of the collection.
    pub files: HashMap<String, u64>,
    /// The sieve, if it is not a native one, opened as it was committed.
    pub sieve: Option<Box<dyn UrlSieve>>,
    /// Which links are followed and with which priority; `None`: all, in the order they are found.
    pub policy: Option<Box<dyn Policy>>,
}

/// A running crawl.
pub struct Crawl {
    shared: Arc<Shared>,
    events: Sender<Event>,
    orders: Sender<Order>,
    threads: Vec<JoinHandle<()>>,
    /// The positions of the exchange with other agents, if there is one.
    ledger: Option<Arc<Ledger>>,
}

impl Crawl {
    /// Starts the threads.
    pub fn start(start: Start, pulse: &Pulse) -> Result<Crawl> {
        let Start { plan, files, sieve, policy } = start;
        let sieve = match sieve {
            Some(sieve) => sieve,
            None => Box::new(plan.open_sieve(&files, pulse)?),
        };
        let plan = Arc::new(plan);
        let settings = &plan.crawl;
        let tags = Layout::of(&plan.folder, files.get(URLS).copied().unwrap_or(0))?;
        tags.check(settings.reach.max_site_depth)?;
        let reach = Arc::new(RwLock::new(plan.reach()?));
        let filters = Arc::new(Filters::new(&settings.kept)?);
        let shared = Arc::new(Shared::new(
            settings.queue_memory,
            settings.connections,
            settings.max_pages,
            tags,
            plan.counts(),
            plan.exchange.is_some(),
        ));
        let capacity = shared.all_room as usize + CONTROL;
        let (events, heard) = bounded(capacity);
        let (orders, obeyed) = bounded(ORDERS);
        let (to_parse, parsing) = bounded(capacity);
        let (to_convert, converting) = bounded(capacity);
        let scheduler_events = events.clone();
        let wants_pages = policy.is_some();
        let parser = Parser {
            plan: Arc::clone(&plan),
            filters,
            reach,
            submissions: Arc::default(),
            wants_pages,
            converters: Arc::new(Converters::new(&plan.converter, &settings.conversion)),
            shared: Arc::clone(&shared),
        };
        let mut writer = Writer::open(&parser, &files, sieve, policy, orders.clone(), pulse)?;
        writer.take_seeds(&plan.seeds)?;
        let (ledger, owners) = (writer.ledger(), writer.owners());
        let mut threads = Vec::new();
        let failing = Arc::clone(&shared);
        threads.push(spawn("write", move || {
            if let Err(error) = writer.run(&heard) {
                failing.fail(error);
            }
        })?);
        for _ in 0..settings.parsers {
            threads.push(parser_thread("parse", &parser, &parsing, &events)?);
        }
        for _ in 0..settings.conversion.processes {
            threads.push(parser_thread(CONVERT, &parser, &converting, &events)?);
        }
        let fetched = (to_parse, to_convert);
        threads.push(fetching_thread(plan, &shared, files, owners, fetched, scheduler_events, obeyed)?);
        Ok(Crawl { shared, events, orders, threads, ledger })
    }

    /// Waits at most `timeout` for the end: `Some` once nothing is left or a limit is reached, with the
    /// limit's name. After `patience` also until other agents wait for a checkpoint.
    pub fn wait(&self, timeout: Duration, patience: Duration) -> Result<Option<Option<&'static str>>> {
        let Some(ledger) = self.ledger.as_deref() else { return self.shared.wait(timeout) };
        let begun = Instant::now();
        let ended = self.shared.wait(timeout.min(patience))?;
        if ended.is_some() {
            return Ok(ended);
        }
        while let Some(left) = timeout.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
            if self.wants_checkpoint(ledger) {
                return Ok(None);
            }
            let ended = self.shared.wait(left.min(BETWEEN_LOOKS))?;
            if ended.is_some() {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    /// Whether other agents wait for a checkpoint rather than for this agent's crawl, and whether one would give them anything.
    pub fn others_wait(&self) -> (bool, bool) {
        self.ledger
            .as_deref()
            .map_or((false, false), |ledger| (self.wants_checkpoint(ledger), ledger.is_behind()))
    }

    fn wants_checkpoint(&self, ledger: &Ledger) -> bool {
        self.is_waiting() && ledger.is_behind()
    }

    /// Whether there is room for more visits than can be made now, or none may be made.
    fn is_waiting(&self) -> bool {
        self.shared.is_hungry.load(Ordering::Acquire)
            || self.shared.is_idle.load(Ordering::Acquire)
            || self.shared.is_handing_over.load(Ordering::Acquire)
            || !self.shared.permission.holds()
    }

    /// Whether nothing is being fetched, parsed or written any more, as was asked for.
    fn is_drained(&self) -> bool {
        // What has a permit is being fetched, parsed or written.
        self.shared.permission.is_draining() && self.shared.is_drained() && self.shared.is_settled()
    }

    /// Stops making requests, and waits at most `timeout` until what was fetched is stored.
    pub fn stop(&self, timeout: Duration) {
        self.shared.stop();
        self.shared.order(&self.orders, Order::Stop);
        let deadline = Instant::now() + timeout;
        while !self.shared.is_settled() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Why the writer thread does not answer.
    fn ended(&self) -> Error {
        match self.shared.wait(Duration::from_secs(1)) {
            Err(error) => error,
            Ok(_) => Error::Invalid("the crawl has ended".to_owned()),
        }
    }

    /// Makes everything durable, and returns what to commit.
    pub fn checkpoint(&self) -> Result<Commit> {
        let (reply, commit) = bounded(1);
        self.events.send(Event::Checkpoint(reply)).map_err(|_| self.ended())?;
        let mut commit = commit.recv().map_err(|_| self.ended())??;
        for handle in commit.handles.drain(..) {
            handle.sync()?;
        }
        Ok(commit)
    }

    /// Says that what the last checkpoint returned is committed: what it wrote for other agents may be sent.
    pub fn committed(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.commit();
        }
    }

    fn ledger(&self) -> Result<&Ledger> {
        let alone = || Error::Invalid("the crawl is not divided among agents".to_owned());
        self.ledger.as_deref().ok_or_else(alone)
    }

    /// See [`Ledger::outgoing`].
    pub fn outgoing(&self, peer: u32, limit: usize) -> Result<Option<(u64, u64, Vec<u8>)>> {
        self.ledger()?.outgoing(peer, limit)
    }

    /// See [`Ledger::rewind`].
    pub fn rewind(&self, peer: u32, position: u64) -> Result<()> {
        self.ledger().map(|ledger| ledger.rewind(peer, position))
    }

    /// See [`Ledger::acknowledge`].
    pub fn acknowledge(&self, peer: u32, position: u64) -> Result<()> {
        self.ledger().map(|ledger| ledger.acknowledge(peer, position))
    }

    /// Accepts a batch of another agent in the same epoch that begins at a position; returns the positions up to which
    /// that agent's records are accepted and committed. A batch past what is expected is refused by them.
    pub fn receive(&self, sender: u32, epoch: u64, start: u64, batch: &[u8]) -> Result<(u64, u64)> {
        let ledger = self.ledger()?;
        ledger.check_epoch(sender, epoch)?;
        let batch = Batch::read(batch)?;
        // Backpressure: one batch at a time waits for the writer thread.
        let _gate = ledger.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let (reply, positions) = bounded(1);
        let incoming = Incoming { sender, start, batch, reply };
        self.events.send(Event::Incoming(incoming)).map_err(|_| self.ended())?;
        positions.recv().map_err(|_| self.ended())
    }

    /// Allows requests for a time from now; without an exchange they always are.
    pub fn permit(&self, time: Duration) {
        self.shared.permission.extend(time);
        self.shared.wake.notify_one();
    }

    /// Begins no further request and emits nothing more, until the end: what is being fetched is stored, and the exchange
    /// goes on.
    pub fn drain(&self) {
        self.shared.permission.drain();
        self.shared.wake.notify_one();
    }

    /// The state of the exchange; `None` if the crawl is not divided among agents.
    pub fn exchange(&self) -> Option<ExchangeReport> {
        let ledger = self.ledger.as_deref()?;
        let handing_over = self.shared.is_handing_over.load(Ordering::Acquire);
        let (is_idle, is_delivered) = (self.shared.is_idle.load(Ordering::Acquire), ledger.is_delivered());
        let is_behind = ledger.is_behind();
        Some(ExchangeReport {
            agent: ledger.agent,
            epoch: ledger.epoch,
            is_idle: is_idle && is_delivered,
            is_drained: self.is_drained() && !is_behind,
            is_behind,
            is_waiting: self.is_waiting(),
            handing_over,
            longest_rest: self.shared.longest_rest.get() as f64 / 1e6,
            handed_hosts: self.shared.handed_hosts.get(),
            peers: ledger.traffic(),
        })
    }

    /// The outcome counters.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// The gauges, by name.
    pub fn gauges(&self) -> Vec<(&'static str, u64)> {
        self.shared.gauges.all()
    }

    /// The slowest hosts.
    pub fn slowest(&self) -> Vec<SlowHost> {
        self.shared.slowest()
    }

    /// The hosts that rest longest.
    pub fn resting(&self) -> Vec<RestingHost> {
        self.shared.resting()
    }
}

/// The state of the exchange with other agents.
#[derive(Clone, Debug, Serialize)]
pub struct ExchangeReport {
    /// This agent.
    pub agent: u32,
    /// The epoch.
    pub epoch: u64,
    /// Whether there is nothing to fetch, and every other agent has committed what it was sent.
    pub is_idle: bool,
    /// Whether nothing is being fetched or stored any more, as was asked for, and everything is committed.
    pub is_drained: bool,
    /// Whether something was written for other agents, or accepted from them, that is not committed.
    pub is_behind: bool,
    /// Whether the agent could do more than it has to do now, or may do nothing: what others have for it is wanted soon.
    pub is_waiting: bool,
    /// Whether the agents are still telling each other what has moved.
    pub handing_over: bool,
    /// The bound of all rests of hosts and addresses so far, in seconds.
    pub longest_rest: f64,
    /// The number of hosts whose URLs went to other agents in this run.
    pub handed_hosts: u64,
    /// The exchange with each of them.
    pub peers: BTreeMap<u32, Traffic>,
}

impl Drop for Crawl {
    fn drop(&mut self) {
        self.shared.stop();
        self.shared.order(&self.orders, Order::End);
        drop(self.events.send(Event::End));
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::io("a thread"))
}

fn parser_thread(
    name: &str,
    parser: &Parser,
    responses: &Receiver<Fetched>,
    events: &Sender<Event>,
) -> Result<JoinHandle<()>> {
    let (parser, shared) = (parser.clone(), Arc::clone(&parser.shared));
    let (responses, events) = (responses.clone(), events.clone());
    let abandons = name == CONVERT;
    spawn(name, move || {
        for fetched in &responses {
            let (started, weight) = (Instant::now(), fetched.weight);
            let event = match parser.parse(fetched) {
                Ok(Ok(parsed)) => Event::Parsed(parsed),
                Ok(Err(unanswered)) => Event::Unanswered(unanswered),
                Err(error) => return shared.fail(error),
            };
            shared.gauges.parse_micros.add(started.elapsed().as_micros() as u64);
            if abandons && shared.is_stopping() {
                // A crawl that is stopping does not wait for conversions: the next run does them.
                shared.stored(weight);
                continue;
            }
            if events.send(event).is_err() {
                return;
            }
        }
    })
}

fn fetching_thread(
    plan: Arc<Plan>,
    shared: &Arc<Shared>,
    files: HashMap<String, u64>,
    owners: Option<Arc<Owners>>,
    (to_parse, to_convert): (Sender<Fetched>, Sender<Fetched>),
    events: Sender<Event>,
    orders: Receiver<Order>,
) -> Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    spawn("fetch", move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let fetching = runtime.map_err(Error::io("the runtime")).and_then(|runtime| {
            let local = tokio::task::LocalSet::new();
            // The resolver must be created inside the runtime that it will use.
            let scheduler = local.block_on(&runtime, async {
                let shared = Arc::clone(&shared);
                Scheduler::open(plan, shared, &files, owners, (to_parse, to_convert), events, &Pulse::STEADY)
            })?;
            local.block_on(&runtime, Rc::new(scheduler).run(orders));
            Ok(())
        });
        if let Err(error) = fetching {
            shared.fail(error);
        }
    })
}
