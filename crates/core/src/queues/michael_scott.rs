//! The lock-free queue of Michael and Scott: a linked list with a pointer to its first and its last node.
//!
//! A push links a new node behind the last one by compare-and-swap on that node's `next`, then moves `tail`;
//! a thread that finds `tail` behind moves it for the other, so no thread ever waits for another: each failed
//! compare-and-swap is another thread's success. The first node is a dummy: a pop reads the number of the
//! second, and moves `head` there. After a failure a thread backs off, for twice as long each time.
//!
//! **Reclamation.** Nodes are indices into an array, in a free list while they are unused, and never given
//! back to the allocator: a thread that is late reads an old node, never freed memory. A node may be reused
//! while it sleeps (the ABA problem), so every link carries a counter of its changes in the upper 32 bits, as
//! in the paper, and its compare-and-swap fails; it would succeed wrongly only after exactly 2^32 changes.
//! A number is 16 bytes of memory; the capacity is fixed.
//!
//! Source: Maged Michael and Michael Scott, "Simple, fast, and practical non-blocking and blocking concurrent
//! queue algorithms", 1996.

use super::atomics::{AtomicU64, Backoff, Ordering};

/// The index of no node.
const NONE: u32 = u32::MAX;

/// An index, with the number of changes of the place where it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Link {
    changes: u32,
    node: u32,
}

impl Link {
    fn pack(self) -> u64 {
        u64::from(self.changes) << 32 | u64::from(self.node)
    }

    fn unpack(packed: u64) -> Link {
        Link { changes: (packed >> 32) as u32, node: packed as u32 }
    }

    /// The link that replaces this one.
    fn to(self, node: u32) -> Link {
        Link { changes: self.changes.wrapping_add(1), node }
    }
}

/// A place that holds a link.
struct Place(AtomicU64);

impl Place {
    fn new(node: u32) -> Place {
        Place(AtomicU64::new(Link { changes: 0, node }.pack()))
    }

    #[inline]
    fn load(&self) -> Link {
        Link::unpack(self.0.load(Ordering::Acquire))
    }

    /// Stores a link to `node`; only for a place that no other thread changes.
    #[inline]
    fn point(&self, node: u32) {
        let now = Link::unpack(self.0.load(Ordering::Relaxed));
        self.0.store(now.to(node).pack(), Ordering::Release);
    }

    /// Replaces `seen` by a link to `node`, unless it has changed.
    #[inline]
    fn swap(&self, seen: Link, node: u32) -> bool {
        let (seen, wanted) = (seen.pack(), seen.to(node).pack());
        self.0.compare_exchange(seen, wanted, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

struct Node {
    number: AtomicU64,
    next: Place,
}

/// A queue of numbers that threads share.
pub struct MichaelScott {
    nodes: Vec<Node>,
    head: Place,
    tail: Place,
    free: Place,
}

impl MichaelScott {
    /// An empty queue for at most `capacity` numbers.
    pub fn new(capacity: u32) -> MichaelScott {
        // Node 0 is the first dummy; the others are free, each linked to the one after it.
        let after = |node: u32| if node == 0 || node == capacity { NONE } else { node + 1 };
        let node = |node| Node { number: AtomicU64::new(0), next: Place::new(after(node)) };
        MichaelScott {
            nodes: (0..=capacity).map(node).collect(),
            head: Place::new(0),
            tail: Place::new(0),
            free: Place::new(if capacity == 0 { NONE } else { 1 }),
        }
    }

    /// Appends a number; false if there is no room.
    pub fn push(&self, number: u64) -> bool {
        let Some(node) = self.take_free() else { return false };
        let mine = &self.nodes[node as usize];
        mine.number.store(number, Ordering::Relaxed);
        mine.next.point(NONE);
        let mut backoff = Backoff::default();
        loop {
            let tail = self.tail.load();
            let last = &self.nodes[tail.node as usize].next;
            let next = last.load();
            // Between the two reads the last node may have been removed, and reused elsewhere.
            if tail != self.tail.load() {
                continue;
            }
            if next.node != NONE {
                self.tail.swap(tail, next.node);
            } else if last.swap(next, node) {
                // If this fails, another thread has moved it.
                self.tail.swap(tail, node);
                return true;
            } else {
                backoff.wait();
            }
        }
    }

    /// Removes the first number; `None` if the queue is empty.
    pub fn pop(&self) -> Option<u64> {
        let mut backoff = Backoff::default();
        loop {
            let head = self.head.load();
            let tail = self.tail.load();
            let next = self.nodes[head.node as usize].next.load();
            if head != self.head.load() {
                continue;
            }
            if next.node == NONE {
                return None;
            }
            if head.node == tail.node {
                self.tail.swap(tail, next.node);
                continue;
            }
            // Read before the swap: afterwards the node is the dummy, and may be removed and reused.
            let number = self.nodes[next.node as usize].number.load(Ordering::Relaxed);
            if self.head.swap(head, next.node) {
                self.give_back(head.node);
                return Some(number);
            }
            backoff.wait();
        }
    }

    fn take_free(&self) -> Option<u32> {
        let mut backoff = Backoff::default();
        loop {
            let free = self.free.load();
            let node = self.nodes.get(free.node as usize)?;
            let next = node.next.load();
            if self.free.swap(free, next.node) {
                return Some(free.node);
            }
            backoff.wait();
        }
    }

    fn give_back(&self, node: u32) {
        let mut backoff = Backoff::default();
        loop {
            let free = self.free.load();
            self.nodes[node as usize].next.point(free.node);
            if self.free.swap(free, node) {
                return;
            }
            backoff.wait();
        }
    }
}
