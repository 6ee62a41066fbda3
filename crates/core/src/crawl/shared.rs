//! The state that the threads of a crawl share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tokio::sync::{Notify, Semaphore};

use super::counts::{Counts, Gauge, Gauges};
use super::tag::Layout;
use super::work::Order;
use crate::{Error, Result};

/// The number of body bytes that one permit stands for.
const BYTES_PER_UNIT: usize = 1 << 16;

/// A slow host.
#[derive(Clone, Debug)]
pub struct SlowHost {
    /// Scheme, host and port.
    pub name: String,
    /// The mean time of a request, in seconds.
    pub seconds: f64,
    /// The number of requests made.
    pub requests: u64,
}

/// A host that rests.
#[derive(Clone, Debug)]
pub struct RestingHost {
    /// Scheme, host and port.
    pub name: String,
    /// When it may be fetched from again, in seconds since 1970.
    pub until: f64,
    /// What made the rest that long.
    pub why: &'static str,
}

/// The longest time for which requests can be allowed.
const LONGEST_PERMISSION: Duration = Duration::from_secs(86_400);

/// When requests may be made. Without an exchange they always may; with one, only after a quiet time at the start, in which
/// the rests of earlier requests end, and while a permission lasts that has to be extended again and again.
#[derive(Debug)]
pub struct Permission {
    started: Instant,
    quiet_until: AtomicU64,
    /// In microseconds since `started`, as the above.
    until: AtomicU64,
    /// Whether no further request is begun.
    is_draining: AtomicBool,
}

impl Permission {
    fn new(is_needed: bool) -> Permission {
        let until = AtomicU64::new(if is_needed { 0 } else { u64::MAX });
        let (quiet_until, is_draining) = (AtomicU64::new(0), AtomicBool::new(false));
        Permission { started: Instant::now(), quiet_until, until, is_draining }
    }

    /// Makes no request before a time from the start is over.
    pub fn be_quiet(&self, time: Duration) {
        self.quiet_until.fetch_max(time.as_micros() as u64, Ordering::AcqRel);
    }

    /// Allows requests for a time from now.
    pub fn extend(&self, time: Duration) {
        let until = (self.started.elapsed() + time.min(LONGEST_PERMISSION)).as_micros() as u64;
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    /// Begins no further request, whatever is allowed; those that are being made go on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Whether no further request is begun.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Whether a request may be made now.
    pub fn holds(&self) -> bool {
        if self.is_draining() {
            return false;
        }
        let now = self.started.elapsed().as_micros() as u64;
        now > self.quiet_until.load(Ordering::Acquire) && now < self.until.load(Ordering::Acquire)
    }

    /// When the quiet time is over.
    pub fn begins(&self) -> Instant {
        self.started + Duration::from_micros(self.quiet_until.load(Ordering::Acquire) + 1)
    }

    /// When it lapses, as of now; `None`: never.
    pub fn lapses(&self) -> Option<Instant> {
        let until = self.until.load(Ordering::Acquire);
        (until < u64::MAX).then(|| self.started + Duration::from_micros(until))
    }
}

/// How a crawl ended.
#[derive(Debug)]
enum Ended {
    Not,
    /// Nothing is left, or this limit is reached.
    By(Option<&'static str>),
    /// It failed.
    With(Option<Error>),
}

/// The shared state.
pub struct Shared {
    /// The current state of the threads.
    pub gauges: Gauges,
    /// The layout of the tags in this collection.
    pub tags: Layout,
    /// The outcome counters.
    counts: Mutex<Counts>,
    /// Permits for what is fetched and not yet stored (backpressure): a slow disk or parser holds the fetcher
    /// back.
    pub room: Semaphore,
    /// The total number of permits.
    pub all_room: u32,
    /// How many more pages may be fetched.
    pub budget: AtomicI64,
    /// Whether the fetcher thread reported that it is idle.
    pub is_hungry: AtomicBool,
    /// The slowest hosts.
    slowest: Mutex<Vec<SlowHost>>,
    /// The hosts that rest longest.
    resting: Mutex<Vec<RestingHost>>,
    /// Wakes the fetcher thread.
    pub wake: Notify,
    /// The number of items between the fetcher thread and the store.
    on_their_way: AtomicI64,
    /// When requests may be made.
    pub permission: Permission,
    /// Whether a crawl with an exchange has nothing to do.
    pub is_idle: AtomicBool,
    /// Whether the marks of other agents are still to come.
    pub is_handing_over: AtomicBool,
    /// The number of hosts whose URLs other agents fetch.
    pub handed_hosts: Gauge,
    /// The longest rest of a host or an address so far, in microseconds.
    pub longest_rest: Gauge,
    stopping: AtomicBool,
    /// The URLs that were dequeued and have no row.
    open: Mutex<BTreeSet<u64>>,
    ended: Mutex<Ended>,
    end: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these locks protect is consistent after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// For a crawl with at most `queue_bytes` of responses in flight and at most `max_pages` pages (0: no
    /// limit).
    pub fn new(
        queue_bytes: usize,
        connections: usize,
        max_pages: u64,
        tags: Layout,
        counts: Counts,
        has_exchange: bool,
    ) -> Shared {
        // Every request takes a permit, and some must be left for what is in flight.
        let least = (2 * connections).max(64);
        let all_room = (queue_bytes / BYTES_PER_UNIT).clamp(least, 1 << 20) as u32;
        let budget =
            if max_pages == 0 { i64::MAX / 2 } else { i64::try_from(max_pages).unwrap_or(i64::MAX / 2) };
        Shared {
            gauges: Gauges::default(),
            tags,
            counts: Mutex::new(counts),
            room: Semaphore::new(all_room as usize),
            all_room,
            budget: AtomicI64::new(budget),
            is_hungry: AtomicBool::new(false),
            slowest: Mutex::new(Vec::new()),
            resting: Mutex::new(Vec::new()),
            wake: Notify::new(),
            on_their_way: AtomicI64::new(0),
            permission: Permission::new(has_exchange),
            is_idle: AtomicBool::new(false),
            is_handing_over: AtomicBool::new(false),
            handed_hosts: Gauge::default(),
            longest_rest: Gauge::default(),
            stopping: AtomicBool::new(false),
            open: Mutex::new(BTreeSet::new()),
            ended: Mutex::new(Ended::Not),
            end: Condvar::new(),
        }
    }

    /// The number of permits a body takes, in addition to the one that every request takes.
    pub fn units(&self, bytes: usize) -> u32 {
        ((bytes / BYTES_PER_UNIT) as u32).min(self.all_room / 2)
    }

    /// Records that an item is on its way to the store.
    pub fn sent(&self) {
        self.on_their_way.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that an item is stored, and releases its `weight` permits.
    pub fn stored(&self, weight: u32) {
        self.on_their_way.fetch_sub(1, Ordering::AcqRel);
        self.room.add_permits(weight as usize);
        self.wake.notify_one();
    }

    /// Whether nothing is on its way to the store.
    pub fn is_settled(&self) -> bool {
        self.on_their_way.load(Ordering::Acquire) == 0
    }

    /// Whether all permits are free: nothing is being fetched, parsed or written.
    pub fn is_drained(&self) -> bool {
        self.room.available_permits() == self.all_room as usize
    }

    /// Whether no further request may be made.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Whether nothing new is to be emitted or asked for: the crawl stops, or its agents are about to change.
    pub fn is_pausing(&self) -> bool {
        self.is_stopping() || self.permission.is_draining()
    }

    /// Asks the crawl to stop.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Records that a URL was dequeued.
    pub fn open(&self, offset: u64) {
        lock(&self.open).insert(offset);
    }

    /// Records that a URL has its row.
    pub fn close(&self, offset: u64) {
        lock(&self.open).remove(&offset);
    }

    /// The first URL that was dequeued and has no row.
    pub fn first_open(&self) -> Option<u64> {
        lock(&self.open).first().copied()
    }

    /// Sends the fetcher thread an order.
    pub fn order(&self, orders: &Sender<Order>, order: Order) {
        // A thread that ended with an error takes no orders, and its error is what is reported.
        drop(orders.send(order));
        self.wake.notify_one();
    }

    /// Ends the crawl: nothing is left, or a limit is reached.
    pub fn finish(&self, by: Option<&'static str>) {
        let mut ended = lock(&self.ended);
        if matches!(*ended, Ended::Not) {
            *ended = Ended::By(by);
        }
        self.end.notify_all();
    }

    /// Aborts the crawl with an error; only the first is kept.
    pub fn fail(&self, error: Error) {
        self.stopping.store(true, Ordering::Release);
        let mut ended = lock(&self.ended);
        if !matches!(*ended, Ended::With(_)) {
            *ended = Ended::With(Some(error));
        }
        self.end.notify_all();
        self.wake.notify_one();
    }

    /// Waits at most `timeout` for the end: `Some` once it is reached, with the limit that was reached.
    pub fn wait(&self, timeout: Duration) -> Result<Option<Option<&'static str>>> {
        let ended = lock(&self.ended);
        let waited = self.end.wait_timeout_while(ended, timeout, |ended| matches!(ended, Ended::Not));
        let (mut ended, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &mut *ended {
            Ended::Not => Ok(None),
            Ended::By(limit) => Ok(Some(*limit)),
            Ended::With(error) => {
                Err(error.take().unwrap_or_else(|| Error::Invalid("the crawl has failed".to_owned())))
            }
        }
    }

    /// A copy of the counts.
    pub fn counts(&self) -> Counts {
        lock(&self.counts).clone()
    }

    /// Updates the counts.
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    /// Sets the slowest hosts.
    pub fn set_slowest(&self, slowest: Vec<SlowHost>) {
        *lock(&self.slowest) = slowest;
    }

    /// The slowest hosts.
    pub fn slowest(&self) -> Vec<SlowHost> {
        lock(&self.slowest).clone()
    }

    /// Sets the hosts that rest longest.
    pub fn set_resting(&self, resting: Vec<RestingHost>) {
        *lock(&self.resting) = resting;
    }

    /// The hosts that rest longest.
    pub fn resting(&self) -> Vec<RestingHost> {
        lock(&self.resting).clone()
    }
}
