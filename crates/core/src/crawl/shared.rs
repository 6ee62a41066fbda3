//! What the threads of a crawl share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::Sender;
use tokio::sync::{Notify, Semaphore};

use super::counts::{Counts, Gauges};
use super::work::Order;
use crate::{Error, Result};

/// A unit of room between the threads stands for so many bytes of a body.
const BYTES_PER_UNIT: usize = 1 << 16;

/// A host that answers slowly.
#[derive(Clone, Debug)]
pub struct SlowHost {
    /// Scheme, host and port.
    pub name: String,
    /// How many seconds a request takes there.
    pub seconds: f64,
    /// How many requests were made there.
    pub requests: u64,
}

/// How a crawl came to its end.
#[derive(Debug)]
enum Ended {
    Not,
    /// There is nothing left, or this limit is reached.
    By(Option<&'static str>),
    /// It failed.
    With(Option<Error>),
}

/// What the threads share.
pub struct Shared {
    /// How the threads stand.
    pub gauges: Gauges,
    /// What became of the URLs.
    counts: Mutex<Counts>,
    /// Room for what was fetched and is not yet stored: so a slow disk or parser holds the fetching back.
    pub room: Semaphore,
    /// All of the room.
    pub all_room: u32,
    /// How many pages may still be fetched.
    pub budget: AtomicI64,
    /// Whether the fetching thread said that it has nothing to do.
    pub is_hungry: AtomicBool,
    /// The slowest hosts.
    slowest: Mutex<Vec<SlowHost>>,
    /// Wakes the fetching thread.
    pub wake: Notify,
    /// How many things are between the fetching thread and the store.
    on_their_way: AtomicI64,
    stopping: AtomicBool,
    /// The URLs that left their queues and have no row.
    open: Mutex<BTreeSet<u64>>,
    ended: Mutex<Ended>,
    end: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// For a crawl that may have `queue_bytes` of responses waiting and fetch `max_pages` (0: any number).
    pub fn new(queue_bytes: usize, connections: usize, max_pages: u64, counts: Counts) -> Shared {
        // Every request takes a unit, and there must be some left for what is on its way.
        let least = (2 * connections).max(64);
        let all_room = (queue_bytes / BYTES_PER_UNIT).clamp(least, 1 << 20) as u32;
        let budget =
            if max_pages == 0 { i64::MAX / 2 } else { i64::try_from(max_pages).unwrap_or(i64::MAX / 2) };
        Shared {
            gauges: Gauges::default(),
            counts: Mutex::new(counts),
            room: Semaphore::new(all_room as usize),
            all_room,
            budget: AtomicI64::new(budget),
            is_hungry: AtomicBool::new(false),
            slowest: Mutex::new(Vec::new()),
            wake: Notify::new(),
            on_their_way: AtomicI64::new(0),
            stopping: AtomicBool::new(false),
            open: Mutex::new(BTreeSet::new()),
            ended: Mutex::new(Ended::Not),
            end: Condvar::new(),
        }
    }

    /// How much room a body takes beside the unit that every request takes.
    pub fn units(&self, bytes: usize) -> u32 {
        ((bytes / BYTES_PER_UNIT) as u32).min(self.all_room / 2)
    }

    /// Says that something is on its way to be stored.
    pub fn sent(&self) {
        self.on_their_way.fetch_add(1, Ordering::AcqRel);
    }

    /// Says that something is stored, which took so much room.
    pub fn stored(&self, weight: u32) {
        self.on_their_way.fetch_sub(1, Ordering::AcqRel);
        self.room.add_permits(weight as usize);
        self.wake.notify_one();
    }

    /// Whether nothing is on its way to be stored.
    pub fn is_settled(&self) -> bool {
        self.on_their_way.load(Ordering::Acquire) == 0
    }

    /// Whether all room is free: nothing is being fetched, parsed or written.
    pub fn is_drained(&self) -> bool {
        self.room.available_permits() == self.all_room as usize
    }

    /// Whether no further request is to be made.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Asks for the end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Says that a URL left its queue.
    pub fn open(&self, offset: u64) {
        lock(&self.open).insert(offset);
    }

    /// Says that a URL has its row.
    pub fn close(&self, offset: u64) {
        lock(&self.open).remove(&offset);
    }

    /// The first URL that left its queue and has no row.
    pub fn first_open(&self) -> Option<u64> {
        lock(&self.open).first().copied()
    }

    /// Gives the fetching thread an order.
    pub fn order(&self, orders: &Sender<Order>, order: Order) {
        // A thread that ended because of an error takes no orders, and its error is what counts.
        drop(orders.send(order));
        self.wake.notify_one();
    }

    /// Says that the crawl is over: nothing is left, or a limit is reached.
    pub fn finish(&self, by: Option<&'static str>) {
        let mut ended = lock(&self.ended);
        if matches!(*ended, Ended::Not) {
            *ended = Ended::By(by);
        }
        self.end.notify_all();
    }

    /// Says that the crawl cannot go on; the first error counts.
    pub fn fail(&self, error: Error) {
        self.stopping.store(true, Ordering::Release);
        let mut ended = lock(&self.ended);
        if !matches!(*ended, Ended::With(_)) {
            *ended = Ended::With(Some(error));
        }
        self.end.notify_all();
        self.wake.notify_one();
    }

    /// Waits for the end, for a while: Some once it is there, with the limit that was reached.
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

    /// Changes the counts.
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    /// Says which hosts are the slowest.
    pub fn set_slowest(&self, slowest: Vec<SlowHost>) {
        *lock(&self.slowest) = slowest;
    }

    /// The slowest hosts.
    pub fn slowest(&self) -> Vec<SlowHost> {
        lock(&self.slowest).clone()
    }
}
