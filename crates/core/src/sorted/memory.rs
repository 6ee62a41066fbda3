//! The memory table: what was put since the last run, in key order.
//!
//! Key and value are one allocation: a put costs one, and an entry 24 bytes in the tree.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeSet, btree_set};
use std::ops::Bound;

/// What an entry costs beside its key and value: its place in the tree, whose nodes are two thirds full, and what
/// the allocator adds.
const OVERHEAD: usize = 56;

/// Entries in key order; one without a value is a removal.
#[derive(Default)]
pub struct Memory {
    entries: BTreeSet<Entry>,
    bytes: usize,
}

/// An entry, compared by its key.
struct Entry {
    /// The key, then the value.
    bytes: Box<[u8]>,
    key: u32,
    is_removed: bool,
}

impl Entry {
    fn new(key: &[u8], value: Option<&[u8]>) -> Entry {
        let bytes = [key, value.unwrap_or_default()].concat().into_boxed_slice();
        Entry { bytes, key: key.len() as u32, is_removed: value.is_none() }
    }

    fn key(&self) -> &[u8] {
        &self.bytes[..self.key as usize]
    }

    fn value(&self) -> Option<&[u8]> {
        (!self.is_removed).then(|| &self.bytes[self.key as usize..])
    }
}

impl Borrow<[u8]> for Entry {
    fn borrow(&self) -> &[u8] {
        self.key()
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.key().cmp(other.key())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl Memory {
    /// Sets the value of a key.
    pub fn put(&mut self, key: &[u8], value: Option<&[u8]>) {
        let entry = Entry::new(key, value);
        self.bytes += entry.bytes.len() + OVERHEAD;
        if let Some(old) = self.entries.replace(entry) {
            self.bytes -= old.bytes.len() + OVERHEAD;
        }
    }

    /// The value of a key: `None` if it is not here, `Some(None)` if it is removed.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.entries.get(key).map(Entry::value)
    }

    /// The entries from a key on, up to another, exclusive.
    pub fn range(&self, from: &[u8], to: Option<&[u8]>) -> Entries<'_> {
        let to = match to {
            Some(to) if to <= from => Bound::Excluded(from),
            Some(to) => Bound::Excluded(to),
            None => Bound::Unbounded,
        };
        Entries(self.entries.range::<[u8], _>((Bound::Included(from), to)))
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

/// Some entries in key order: the key, and the value unless it is removed.
pub struct Entries<'a>(btree_set::Range<'a, Entry>);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|entry| (entry.key(), entry.value()))
    }
}
