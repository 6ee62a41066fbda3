//! The memory table: what was put since the last run, in key order.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::Bound;

/// What an entry costs beside its key and value: two fat pointers in the tree, whose nodes are two thirds full,
/// and two allocations.
const OVERHEAD: usize = 80;

type Key = Box<[u8]>;
type Value = Option<Box<[u8]>>;

/// Entries in key order; one without a value is a removal.
#[derive(Default)]
pub struct Memory {
    entries: BTreeMap<Key, Value>,
    bytes: usize,
}

impl Memory {
    /// Sets the value of a key.
    pub fn put(&mut self, key: &[u8], value: Option<&[u8]>) {
        let length = value.map_or(0, <[u8]>::len);
        let value = value.map(Box::from);
        match self.entries.get_mut(key) {
            Some(old) => {
                self.bytes -= old.as_ref().map_or(0, |old| old.len());
                *old = value;
            }
            None => {
                self.bytes += key.len() + OVERHEAD;
                self.entries.insert(key.into(), value);
            }
        }
        self.bytes += length;
    }

    /// The value of a key: `None` if it is not here, `Some(None)` if it is removed.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.entries.get(key).map(Option::as_deref)
    }

    /// The entries from a key on, up to another, exclusive.
    pub fn range(&self, from: &[u8], to: Option<&[u8]>) -> Range<'_, Key, Value> {
        let from = match to {
            Some(to) if to <= from => {
                return self.entries.range::<[u8], _>((Bound::Included(from), Bound::Excluded(from)));
            }
            _ => Bound::Included(from),
        };
        self.entries.range::<[u8], _>((from, to.map_or(Bound::Unbounded, Bound::Excluded)))
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
