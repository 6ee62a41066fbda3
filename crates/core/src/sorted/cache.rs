//! The cache of blocks, bounded in bytes: a second chance for what was used since the hand last passed (CLOCK).
//!
//! It is cut into shards by the hash of a block's place, each behind a lock that is held for one look-up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::block::Block;
use crate::signature::hash::random;

const SHARDS: usize = 8;
/// What a cached block costs beside itself: two entries of tables, and the allocations' headers.
const OVERHEAD: usize = 96;

/// The number of a run, and an offset in its file.
type Key = (u64, u64);

/// A bounded cache of blocks. Thread-safe.
pub struct Cache {
    shards: [Mutex<Shard>; SHARDS],
    /// The budget of a shard in bytes.
    budget: usize,
}

#[derive(Default)]
struct Shard {
    blocks: FxHashMap<Key, Cached>,
    hand: VecDeque<Key>,
    bytes: usize,
}

struct Cached {
    block: Arc<Block>,
    is_used: bool,
}

impl Cache {
    /// An empty cache of at most `budget` bytes.
    pub fn new(budget: usize) -> Cache {
        Cache { shards: Default::default(), budget: budget / SHARDS }
    }

    /// A block, if it is cached.
    pub fn get(&self, key: Key) -> Option<Arc<Block>> {
        let mut shard = self.shard(key);
        let cached = shard.blocks.get_mut(&key)?;
        cached.is_used = true;
        Some(Arc::clone(&cached.block))
    }

    /// Caches a block, in place of others if there is no room.
    pub fn insert(&self, key: Key, block: &Arc<Block>) {
        let size = block.size() + OVERHEAD;
        if size > self.budget {
            return;
        }
        let mut shard = self.shard(key);
        shard.make_room(self.budget - size);
        let cached = Cached { block: Arc::clone(block), is_used: false };
        if shard.blocks.insert(key, cached).is_none() {
            shard.hand.push_back(key);
            shard.bytes += size;
        }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, Shard> {
        let shard = random(key.0, key.1) as usize % SHARDS;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// Drops blocks until at most `most` bytes are left.
    fn make_room(&mut self, most: usize) {
        while self.bytes > most {
            let Some(key) = self.hand.pop_front() else { return };
            let Some(cached) = self.blocks.get_mut(&key) else { continue };
            if std::mem::take(&mut cached.is_used) {
                self.hand.push_back(key);
                continue;
            }
            self.bytes -= cached.block.size() + OVERHEAD;
            self.blocks.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorted::block::BlockBuilder;

    fn block(length: usize) -> Arc<Block> {
        let mut builder = BlockBuilder::default();
        builder.add(b"key", Some(&vec![7; length]));
        let mut sealed = Vec::new();
        builder.seal(&mut sealed);
        Arc::new(Block::open(&sealed).unwrap())
    }

    #[test]
    fn stays_within_its_budget_and_keeps_what_is_used() {
        let cache = Cache::new(SHARDS * 20_000);
        cache.insert((0, 0), &block(1000));
        for offset in 1..10_000 {
            assert!(cache.get((0, 0)).is_some(), "used before each insertion, at {offset}");
            cache.insert((0, offset), &block(1000 + offset as usize % 3000));
        }
        cache.insert((1, 1), &block(30_000));
        assert!(cache.get((1, 1)).is_none(), "larger than a shard");
        let held: usize = cache.shards.iter().map(|shard| shard.lock().unwrap().bytes).sum();
        assert!((SHARDS * 10_000..=SHARDS * 20_000).contains(&held), "{held}");
    }
}
