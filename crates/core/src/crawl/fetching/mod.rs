//! The fetcher thread: it owns the frontier and the HTTP client, and starts a visit whenever a host may be
//! fetched from and a connection is free.
//!
//! One current-thread runtime carries thousands of visits. The frontier belongs to this thread alone, so
//! dequeuing a host takes no lock; messages from other threads arrive through a bounded lock-free queue and a
//! wake-up, and between two events the thread sleeps exactly until the next host may be fetched from.

pub(crate) mod cookies;
pub(crate) mod domains;
pub(crate) mod hosts;
pub(crate) mod politeness;
pub(crate) mod rests;
pub(crate) mod rules;
pub(crate) mod visit;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use super::exchange::membership::Owners;
use super::fetching::domains::Domains;
use super::fetching::hosts::{Host, HostMemory, SharedHost};
use super::fetching::rests::Rests;
use super::fetching::visit::KEEP_ALIVE;
use super::parsing::origin;
use super::plan::Plan;
use super::revisit;
use super::shared::{RestingHost, Shared, SlowHost};
use super::tag::Tag;
use super::work::{Event, Fetched, Order, Position, Work};
use crate::collection::layout::{REVISITS, URLS};
use crate::collection::{Manifest, Outcome};
use crate::disk::log::LogAccess;
use crate::fetch::{Client, Failure, Origin};
use crate::frontier::{self, Frontier, HostKey, Moment};
use crate::sieve::unpack;
use crate::url::QueryCounter;
use crate::{Error, Pulse, Result};

/// The maximum number of concurrent DNS lookups.
const RESOLVING: usize = 256;
/// The number of URLs a host may have fetched before it yields its slot to hosts waiting for the workbench.
const QUANTUM: u32 = 100;
/// How often the list of slowest hosts is recomputed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
const SLOWEST: usize = 5;
const RESTING: usize = 20;
/// The number of hosts kept in memory after they left the workbench.
const OUTSIDE: usize = 1000;

/// Why nothing is fetched from a host that the settings block.
const BLOCKED: &str = "its host is blocked";

/// The address of a host that has none, or none that is of use here.
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Where a host is crawled.
enum Whereabouts {
    /// Here, at its address.
    Here(IpAddr),
    /// Nowhere: its name does not resolve.
    Unknown(Failure),
    /// By another agent, at an address if that is why.
    Elsewhere(u32, Option<IpAddr>),
}

/// The state owned by the fetcher thread.
pub struct Scheduler {
    pub(in crate::crawl) plan: Arc<Plan>,
    pub(in crate::crawl) shared: Arc<Shared>,
    pub(in crate::crawl) client: Client,
    pub(in crate::crawl) frontier: RefCell<Frontier>,
    pub(in crate::crawl) hosts: RefCell<HashMap<HostKey, SharedHost>>,
    /// The hosts that left the workbench and are still cached, oldest first.
    outside: RefCell<VecDeque<HostKey>>,
    pub(in crate::crawl) memory: RefCell<HostMemory>,
    domains: RefCell<Domains>,
    /// Whose names and addresses are, if the crawl is divided among agents.
    owners: Option<Arc<Owners>>,
    pub(in crate::crawl) rests: RefCell<Option<Rests>>,
    /// How often hosts were given to this agent.
    pub(in crate::crawl) pins: Cell<u64>,
    pub(in crate::crawl) queries: RefCell<QueryCounter>,
    pub(in crate::crawl) to_parse: Sender<Fetched>,
    pub(in crate::crawl) to_convert: Sender<Fetched>,
    pub(in crate::crawl) events: Sender<Event>,
    urls: RefCell<LogAccess>,
    revisits: RefCell<Option<LogAccess>>,
    resolving: Semaphore,
    /// Errands (single requests to another host) waiting for an address.
    pub(in crate::crawl) waiting: RefCell<HashMap<IpAddr, VecDeque<oneshot::Sender<()>>>>,
    active: Cell<usize>,
    /// The number of idle keep-alive connections.
    pub(in crate::crawl) idle: Cell<usize>,
    started: Instant,
    accounted: Cell<Instant>,
    looked: Cell<Instant>,
}

impl Scheduler {
    /// Opens the frontier, which is empty until URLs arrive.
    pub fn open(
        plan: Arc<Plan>,
        shared: Arc<Shared>,
        files: &HashMap<String, u64>,
        owners: Option<Arc<Owners>>,
        (to_parse, to_convert): (Sender<Fetched>, Sender<Fetched>),
        events: Sender<Event>,
        pulse: &Pulse,
    ) -> Result<Scheduler> {
        let (max_hosts, visit) = (plan.crawl.workbench_hosts, plan.crawl.visit);
        let options = frontier::Options { max_hosts, quantum: QUANTUM, visit };
        let now = Instant::now();
        let revisits = (plan.revisits > 0).then(|| LogAccess::open(&plan.folder.join(REVISITS)));
        let revisits = revisits.transpose()?;
        let state = Manifest::read(&plan.folder)?.table_state()?.host_records;
        let memory = HostMemory::open(&plan.folder, files, &state, plan.store.of_hosts(), pulse)?;
        let mut rests = None;
        if let Some(membership) = &plan.exchange {
            let opened = Rests::open(&plan.folder, plan.crawl.politeness.usual_rest())?;
            shared.permission.be_quiet(opened.quiet(membership.rest));
            shared.longest_rest.set(opened.longest().as_micros() as u64);
            rests = Some(opened);
        }
        Ok(Scheduler {
            client: Client::new(plan.crawl.fetch.clone(), &plan.software)?,
            frontier: RefCell::new(Frontier::new(&plan.folder, options)?),
            hosts: RefCell::default(),
            outside: RefCell::default(),
            memory: RefCell::new(memory),
            domains: RefCell::default(),
            owners,
            rests: RefCell::new(rests),
            pins: Cell::new(0),
            queries: RefCell::new(QueryCounter::new(plan.crawl.max_queries)),
            urls: RefCell::new(LogAccess::open(&plan.folder.join(URLS))?),
            revisits: RefCell::new(revisits),
            resolving: Semaphore::new(RESOLVING),
            waiting: RefCell::default(),
            active: Cell::new(0),
            idle: Cell::new(0),
            started: now,
            accounted: Cell::new(now),
            looked: Cell::new(now),
            plan,
            shared,
            to_parse,
            to_convert,
            events,
        })
    }

    /// Runs until ordered to end.
    pub async fn run(self: Rc<Self>, orders: Receiver<Order>) {
        let mut tasks = JoinSet::new();
        loop {
            let at_work = Instant::now();
            if self.obey(&orders, &mut tasks) {
                return;
            }
            while tasks.try_join_next().is_some() {}
            if !self.shared.is_pausing() {
                self.admit(&mut tasks);
                self.start_visits(&mut tasks);
                self.look_at_limits();
            }
            self.look_around();
            let is_allowed = self.shared.permission.lapses().is_none_or(|lapses| Instant::now() < lapses);
            let has_room = self.has_room() && is_allowed && !self.shared.permission.is_draining();
            let moment = if has_room { self.frontier.borrow().next_moment() } else { None };
            let begins = self.shared.permission.begins();
            let sleep = self.instant(moment.unwrap_or(Moment::MAX)).max(begins);
            let sleep = tokio::time::sleep_until(sleep.into());
            self.shared.gauges.fetch_micros.add(at_work.elapsed().as_micros() as u64);
            tokio::select! {
                () = self.shared.wake.notified() => {}
                () = sleep, if moment.is_some() => {}
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
            }
        }
    }

    /// Executes pending orders; returns whether to end.
    fn obey(self: &Rc<Self>, orders: &Receiver<Order>, tasks: &mut JoinSet<()>) -> bool {
        for order in orders.try_iter() {
            match order {
                Order::Visit(visits) => {
                    let mut frontier = self.frontier.borrow_mut();
                    for (offset, host, level) in visits {
                        if let Err(error) = frontier.push(HostKey(host), level, offset) {
                            self.shared.fail(error);
                        }
                    }
                }
                Order::Pin(pins) => {
                    self.pins.set(self.pins.get() + 1);
                    for (name, address) in pins {
                        if let Err(error) = self.memory.borrow_mut().remember_pin(&name, address) {
                            self.shared.fail(error);
                        }
                    }
                }
                Order::Ask(question) => {
                    let scheduler = Rc::clone(self);
                    tasks.spawn_local(async move { scheduler.answer(question).await });
                }
                Order::Answer(name, encoded) => {
                    if let Err(error) = self.memory.borrow_mut().remember_answer(&name, &encoded) {
                        self.shared.fail(error);
                    }
                }
                Order::Checkpoint(reply) => drop(reply.send(self.position())),
                Order::Stop => {
                    tasks.abort_all();
                    self.account(0);
                }
                Order::End => return true,
            }
        }
        false
    }

    fn position(&self) -> Result<Position> {
        for (key, host) in self.hosts.borrow().iter() {
            let mut host = host.borrow_mut();
            if host.record != host.saved {
                host.saved = host.record.clone();
                self.memory.borrow_mut().remember(key.0, &host.record);
            }
        }
        self.domains.borrow_mut().save(&mut self.memory.borrow_mut());
        self.look();
        let hosts = self.memory.borrow_mut().checkpoint()?;
        let waiting = self.frontier.borrow().oldest();
        let oldest = waiting.into_iter().chain(self.shared.first_open()).min();
        Ok(Position { oldest, hosts })
    }

    /// Resolves the hosts that entered the workbench, and forgets those that left it.
    fn admit(self: &Rc<Self>, tasks: &mut JoinSet<()>) {
        while let Some(key) = self.evicted() {
            if let Some(host) = self.hosts.borrow().get(&key) {
                host.borrow_mut().inside = false;
                self.outside.borrow_mut().push_back(key);
            }
        }
        self.forget();
        while let Some((key, offset)) = self.admitted() {
            let scheduler = Rc::clone(self);
            tasks.spawn_local(async move {
                if let Err(error) = scheduler.place(key, offset).await {
                    scheduler.shared.fail(error);
                }
                scheduler.shared.wake.notify_one();
            });
        }
    }

    /// Forgets the hosts that left the workbench first; most of those that left last will return soon.
    fn forget(&self) {
        let mut outside = self.outside.borrow_mut();
        while outside.len() > OUTSIDE
            && let Some(key) = outside.pop_front()
        {
            let mut hosts = self.hosts.borrow_mut();
            if hosts.get(&key).is_some_and(|host| !host.borrow().inside)
                && let Some(host) = hosts.remove(&key)
            {
                self.hang_up(&mut host.borrow_mut());
                self.memory.borrow_mut().remember(key.0, &host.borrow().record);
            }
        }
    }

    /// Closes the keep-alive connection of a resting host.
    fn hang_up(&self, host: &mut Host) {
        self.idle.set(self.idle.get() - usize::from(host.connection.take().is_some()));
    }

    fn evicted(&self) -> Option<HostKey> {
        self.frontier.borrow_mut().next_evicted()
    }

    fn admitted(&self) -> Option<(HostKey, u64)> {
        self.frontier.borrow_mut().next_admitted()
    }

    async fn place(&self, key: HostKey, offset: u64) -> Result<()> {
        let known = self.hosts.borrow().get(&key).cloned();
        if let Some(host) = known {
            let place = {
                let mut host = host.borrow_mut();
                host.inside = true;
                self.place_of(key, &host)
            };
            self.frontier.borrow_mut().place(key, place, self.now());
            return Ok(());
        }
        let work = self.read(offset)?;
        let name = origin(&work.url).to_owned();
        let damaged = || Error::Invalid(format!("{} is no URL that can be crawled", work.url));
        let origin = Origin::of(&work.url).ok_or_else(damaged)?;
        let record = self.memory.borrow_mut().recall(key.0)?;
        let domain = self.domains.borrow_mut().of(&work.url, &mut self.memory.borrow_mut())?;
        let blocked = self.plan.crawl.blocks(&origin).then(|| BLOCKED.to_owned());
        // The URLs of a host without an address get their rows when it is visited, and those of another agent's are
        // handed over then.
        let whereabouts = match &blocked {
            Some(reason) => Err((Outcome::Limit, reason.clone())),
            None => Ok(self.locate(&name, &work.url, &origin.host).await?),
        };
        let (address, given_up, elsewhere) = match whereabouts {
            Err(blocked) => (NOWHERE, Some(blocked), None),
            Ok(Whereabouts::Here(address)) => (address, None, None),
            Ok(Whereabouts::Unknown(failure)) => (NOWHERE, Some((outcome(&failure), failure.reason)), None),
            Ok(Whereabouts::Elsewhere(agent, address)) => (NOWHERE, None, Some((agent, address))),
        };
        let ready = self.moment(Duration::from_secs_f64((record.ready_at - now()).clamp(0.0, 86_400.0)));
        let host = Host {
            origin,
            name,
            address,
            rules: None,
            sitemaps: Vec::new(),
            given_up,
            elsewhere,
            asked: None,
            away: blocked,
            connection: None,
            cookies: Default::default(),
            used: Instant::now(),
            visited: false,
            again: Default::default(),
            inside: true,
            saved: record.clone(),
            record,
            why: "",
            domain,
            failures: 0,
            requests: 0,
            seconds: 0.0,
        };
        let place = self.place_of(key, &host);
        let ready = if elsewhere.is_some() { self.now() } else { ready };
        self.shared.handed_hosts.add(u64::from(elsewhere.is_some()));
        self.hosts.borrow_mut().insert(key, Rc::new(RefCell::new(host)));
        self.frontier.borrow_mut().place(key, place, ready);
        Ok(())
    }

    /// Where a host is crawled. Among agents, the owner of its name resolves it, and the owner of its address crawls it;
    /// that one does not own the name and was told the address.
    async fn locate(&self, name: &str, url: &str, host: &str) -> Result<Whereabouts> {
        let owners = self.owners.as_deref();
        if let Some(owners) = owners
            && owners.of_name(url) != owners.me
        {
            let pin = self.memory.borrow_mut().pin(name)?;
            return Ok(match pin {
                Some(address) if owners.of_address(address) == owners.me => Whereabouts::Here(address),
                Some(address) => Whereabouts::Elsewhere(owners.of_address(address), pin),
                None => Whereabouts::Elsewhere(owners.of_name(url), None),
            });
        }
        Ok(match self.resolve(host).await {
            Err(failure) => Whereabouts::Unknown(failure),
            Ok(address) => match self.owner_if_another(address) {
                Some(owner) => Whereabouts::Elsewhere(owner, Some(address)),
                None => Whereabouts::Here(address),
            },
        })
    }

    /// The owner of an address, if that is another agent.
    pub(in crate::crawl) fn owner_if_another(&self, address: IpAddr) -> Option<u32> {
        let is_proxied = self.plan.crawl.fetch.proxy.is_some();
        let owners = self.owners.as_ref().filter(|_| !is_proxied)?;
        Some(owners.of_address(address)).filter(|owner| *owner != owners.me)
    }

    /// Whether a host whose URLs were handed over is crawled here after all.
    pub(in crate::crawl) fn is_pinned_here(&self, host: &SharedHost) -> Result<bool> {
        let Some(owners) = &self.owners else { return Ok(false) };
        let (name, elsewhere) = (host.borrow().name.clone(), host.borrow().elsewhere);
        let pin = self.memory.borrow_mut().pin(&name)?;
        let is_own_name = owners.of_name(&name) == owners.me;
        Ok(!is_own_name
            && elsewhere.is_some_and(|(_, address)| address != pin)
            && pin.is_some_and(|pin| owners.of_address(pin) == owners.me))
    }

    /// The address under which a host is scheduled; behind a proxy, which has one address for all hosts, each
    /// host has its own, and so has one whose URLs are handed over.
    fn place_of(&self, key: HostKey, host: &Host) -> IpAddr {
        match self.plan.crawl.fetch.proxy {
            None if host.elsewhere.is_none() => host.address,
            _ => Ipv6Addr::from((0xfd00_u128 << 112) | u128::from(key.0)).into(),
        }
    }

    async fn resolve(&self, host: &str) -> std::result::Result<IpAddr, Failure> {
        // The semaphore is never closed, and without a permit the name is resolved all the same.
        let _permit = self.resolving.acquire().await.ok();
        let mut failures = 0;
        loop {
            match self.client.resolve(host).await {
                Err(failure) if failure.class.again() && failures < self.plan.crawl.retries => {
                    failures += 1;
                    tokio::time::sleep(self.plan.crawl.politeness.backoff(failures)).await;
                }
                resolved => return resolved,
            }
        }
    }

    fn has_room(&self) -> bool {
        self.active.get() < self.plan.crawl.connections && self.shared.budget.load(Ordering::Acquire) > 0
    }

    fn start_visits(self: &Rc<Self>, tasks: &mut JoinSet<()>) {
        while self.has_room() && self.shared.permission.holds() {
            let token = self.frontier.borrow_mut().take(self.now());
            let Some(token) = token else {
                if !self.shared.is_hungry.swap(true, Ordering::AcqRel)
                    && self.events.try_send(Event::Hungry).is_err()
                {
                    // The queue is full: it is told when the next visit ends.
                    self.shared.is_hungry.store(false, Ordering::Release);
                }
                return;
            };
            self.account(self.active.get() + 1);
            let scheduler = Rc::clone(self);
            tasks.spawn_local(async move {
                scheduler.visit(token).await;
                scheduler.account(scheduler.active.get().saturating_sub(1));
                scheduler.shared.wake.notify_one();
            });
        }
    }

    /// Ends the crawl once it has reached a limit.
    fn look_at_limits(&self) {
        let volume = self.plan.crawl.max_volume;
        if volume > 0 && self.shared.gauges.bytes.get() >= volume {
            self.shared.finish(Some("max_volume"));
        }
        let spent = self.shared.budget.load(Ordering::Acquire) <= 0;
        if spent && self.active.get() == 0 && self.shared.is_drained() {
            self.shared.finish(Some("max_pages"));
        }
    }

    /// Changes the number of connections in use, after accounting for the time spent at the old number.
    fn account(&self, active: usize) {
        let now = Instant::now();
        let elapsed = now.duration_since(self.accounted.replace(now)).as_micros() as u64;
        self.shared.gauges.busy_micros.add(elapsed * self.active.get() as u64);
        self.shared.gauges.slot_micros.add(elapsed * self.plan.crawl.connections as u64);
        self.active.set(active);
        self.shared.gauges.active.set(active as u64);
    }

    fn look_around(&self) {
        if self.looked.get().elapsed() >= BETWEEN_LOOKS {
            self.look();
        }
    }

    /// Publishes the gauges.
    fn look(&self) {
        let gauges = &self.shared.gauges;
        let now = Instant::now();
        self.looked.set(now);
        self.account(self.active.get());
        let stats = self.frontier.borrow().stats();
        gauges.hosts_in_workbench.set(stats.hosts_in_workbench as u64);
        gauges.hosts_waiting.set(stats.hosts_waiting as u64);
        gauges.addresses.set(stats.addresses as u64);
        gauges.resolving.set(stats.resolving as u64);
        gauges.queued.set(stats.urls);
        let hosts = self.hosts.borrow();
        for host in hosts.values() {
            let mut host = host.borrow_mut();
            if !host.visited && now.duration_since(host.used) > KEEP_ALIVE {
                self.hang_up(&mut host);
            }
        }
        let seconds = |host: &Host| (host.requests > 0).then(|| host.seconds / host.requests as f64);
        let slowest = largest(&hosts, SLOWEST, seconds).into_iter().map(|(seconds, host)| {
            let host = host.borrow();
            SlowHost { name: host.name.clone(), seconds, requests: host.requests }
        });
        self.shared.set_slowest(slowest.collect());
        let now = self::now();
        let until = |host: &Host| (host.record.ready_at > now).then_some(host.record.ready_at);
        let resting = largest(&hosts, RESTING, until).into_iter().map(|(until, host)| {
            let host = host.borrow();
            RestingHost { name: host.name.clone(), until, why: host.why }
        });
        self.shared.set_resting(resting.collect());
    }

    /// The URL at an offset of the sieve's queue, or of the queue of revisits.
    pub(in crate::crawl) fn read(&self, offset: u64) -> Result<Work> {
        if let Some(work) = revisit::read(self.revisits.borrow_mut().as_mut(), offset)? {
            return Ok(work);
        }
        let mut urls = self.urls.borrow_mut();
        let record = urls.get(offset)?;
        let (tag, url) = unpack(record.payload).map_err(|reason| Error::corrupt(URLS, offset, reason))?;
        let (tag, url) = (Tag::unpack(tag, self.shared.tags), url.to_owned());
        Ok(Work { offset, tag, url, attempts: 0, counted: false, revisit: None })
    }

    /// The current moment on the frontier's clock.
    pub(in crate::crawl) fn now(&self) -> Moment {
        self.started.elapsed().as_micros() as Moment
    }

    /// The moment `after` from now.
    pub(in crate::crawl) fn moment(&self, after: Duration) -> Moment {
        self.now() + after.as_micros() as Moment
    }

    pub(in crate::crawl) fn instant(&self, moment: Moment) -> Instant {
        // Rounded up, so that the moment has passed when the sleep ends.
        self.started + Duration::from_micros(moment.min(1 << 40).saturating_add(1))
    }
}

/// The hosts with the largest values, largest first.
fn largest(
    hosts: &HashMap<HostKey, SharedHost>,
    count: usize,
    value: impl Fn(&Host) -> Option<f64>,
) -> Vec<(f64, &SharedHost)> {
    let valued = hosts.values().filter_map(|host| Some((value(&host.borrow())?, host)));
    let mut largest: Vec<_> = valued.collect();
    let count = count.min(largest.len());
    if count > 0 {
        largest.select_nth_unstable_by(count - 1, |left, right| right.0.total_cmp(&left.0));
        largest.truncate(count);
        largest.sort_by(|left, right| right.0.total_cmp(&left.0));
    }
    largest
}

/// Seconds since 1970.
pub(in crate::crawl) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The outcome of a URL whose request failed.
pub(in crate::crawl) fn outcome(failure: &Failure) -> Outcome {
    use crate::fetch::Class;
    match failure.class {
        Class::Dns | Class::NameServer => Outcome::Dns,
        Class::Private => Outcome::Private,
        Class::Refused => Outcome::Refused,
        Class::Unreachable => Outcome::Unreachable,
        Class::ConnectTimeout | Class::Timeout => Outcome::Timeout,
        Class::Tls => Outcome::Tls,
        Class::Reset => Outcome::Reset,
        Class::TooLarge => Outcome::TooLarge,
        Class::BadResponse => Outcome::BadResponse,
        Class::Proxy => Outcome::Proxy,
    }
}
