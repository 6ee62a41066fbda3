//! An indexed priority queue: numbered items whose ranks can change.
//!
//! A binary heap with an array of the position of each item in it, so that an item is moved or removed in
//! O(log n) and no stale entry is ever left behind. The array belongs to the caller: several heaps may share
//! one, as long as an item is in at most one of them. 32 bytes per item, and 4 for its position.

use super::Moment;

/// What orders a heap: the smallest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The priority level; 0 if only time counts.
    pub level: u8,
    /// The moment from which the item may be taken.
    pub moment: Moment,
    /// The order of arrival.
    pub sequence: u64,
}

impl Rank {
    /// A rank ordered by time alone.
    pub fn at(moment: Moment) -> Rank {
        Rank { level: 0, moment, sequence: 0 }
    }
}

/// The position of each item in its heap, by its number.
#[derive(Default)]
pub struct Places(Vec<u32>);

const NOWHERE: u32 = u32::MAX;

impl Places {
    fn of(&self, item: u32) -> Option<usize> {
        self.0.get(item as usize).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    fn put(&mut self, item: u32, place: u32) {
        let item = item as usize;
        if item >= self.0.len() {
            self.0.resize(item + 1, NOWHERE);
        }
        self.0[item] = place;
    }

    /// The memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }
}

/// The heap.
#[derive(Default)]
pub struct Heap(Vec<(Rank, u32)>);

impl Heap {
    /// The smallest item.
    pub fn first(&self) -> Option<(Rank, u32)> {
        self.0.first().copied()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(Rank, u32)>()
    }

    /// Adds an item, or changes its rank.
    pub fn set(&mut self, places: &mut Places, item: u32, rank: Rank) {
        let place = places.of(item).unwrap_or_else(|| {
            self.0.push((rank, item));
            self.0.len() - 1
        });
        self.0[place].0 = rank;
        self.settle(places, place);
    }

    /// Adds an item with a rank, or changes its rank; removes it if there is no rank.
    pub fn put(&mut self, places: &mut Places, item: u32, rank: Option<Rank>) {
        match rank {
            Some(rank) => self.set(places, item, rank),
            None => self.remove(places, item),
        }
    }

    /// Changes the rank of an item, if it is there.
    pub fn change(&mut self, places: &mut Places, item: u32, change: impl FnOnce(Rank) -> Rank) {
        if let Some(place) = places.of(item) {
            self.0[place].0 = change(self.0[place].0);
            self.settle(places, place);
        }
    }

    /// Removes an item, if it is there.
    pub fn remove(&mut self, places: &mut Places, item: u32) {
        let Some(place) = places.of(item) else { return };
        self.0.swap_remove(place);
        places.put(item, NOWHERE);
        if place < self.0.len() {
            self.settle(places, place);
        }
    }

    /// Restores the heap order for the item at a position.
    fn settle(&mut self, places: &mut Places, mut place: usize) {
        let moving = self.0[place];
        while place > 0 && moving < self.0[(place - 1) / 2] {
            self.shift(places, (place - 1) / 2, place);
            place = (place - 1) / 2;
        }
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(&at_left) = self.0.get(left) else { break };
            let child =
                if self.0.get(right).is_some_and(|at_right| *at_right < at_left) { right } else { left };
            if moving <= self.0[child] {
                break;
            }
            self.shift(places, child, place);
            place = child;
        }
        self.0[place] = moving;
        places.put(moving.1, place as u32);
    }

    fn shift(&mut self, places: &mut Places, from: usize, to: usize) {
        self.0[to] = self.0[from];
        places.put(self.0[to].1, to as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a linear search.
        #[test]
        fn the_first_is_the_smallest(steps in prop::collection::vec((0u32..20, prop::option::weighted(0.7, 0u64..30)), 0..300)) {
            let (mut heap, mut places) = (Heap::default(), Places::default());
            let mut model: Vec<(Rank, u32)> = Vec::new();
            for (item, moment) in steps {
                model.retain(|(_, other)| *other != item);
                match moment {
                    Some(moment) => {
                        let rank = Rank { level: 0, moment, sequence: 0 };
                        heap.set(&mut places, item, rank);
                        model.push((rank, item));
                    }
                    None => heap.remove(&mut places, item),
                }
                prop_assert_eq!(heap.first(), model.iter().min().copied());
                prop_assert_eq!(heap.is_empty(), model.is_empty());
            }
        }
    }
}
