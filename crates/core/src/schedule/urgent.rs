//! The most urgent of a stream of pages.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Keeps the `limit` items with the largest keys of a stream, in memory for that many. Of equal keys the first stay.
#[derive(Debug)]
pub struct MostUrgent<T> {
    limit: usize,
    offered: u64,
    /// The least urgent on top.
    heap: BinaryHeap<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    key: f64,
    place: u64,
    item: T,
}

impl<T> MostUrgent<T> {
    /// An empty selection of at most `limit` items.
    pub fn new(limit: usize) -> Self {
        MostUrgent { limit, offered: 0, heap: BinaryHeap::new() }
    }

    /// Offers an item; it is built only if it is kept, for now.
    pub fn offer(&mut self, key: f64, item: impl FnOnce() -> T) {
        let place = self.offered;
        self.offered += 1;
        if self.heap.len() < self.limit {
            self.heap.push(Entry { key, place, item: item() });
        } else if let Some(mut least) = self.heap.peek_mut()
            && key.total_cmp(&least.key) == Ordering::Greater
        {
            *least = Entry { key, place, item: item() };
        }
    }

    /// How many were offered.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// The items with their keys, the most urgent first.
    pub fn into_sorted(self) -> Vec<(f64, T)> {
        self.heap.into_sorted_vec().into_iter().map(|entry| (entry.key, entry.item)).collect()
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then(self.place.cmp(&other.place))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}
