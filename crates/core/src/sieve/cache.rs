//! An LRU cache of recently seen signatures, in front of every sieve.
//!
//! On the web most links repeat one that was seen a moment ago (a page's menu, the home page), so a small
//! cache saves the sieve most of its work (Broder, Najork and Wiener, *Efficient URL caching for World Wide
//! Web crawling*, 2003: 50,000 entries catch about 80 %).
//!
//! Eight-way set-associative: a set is one cache line of eight signatures, most recent first, so each set is
//! exactly LRU. 10 bytes a signature: 8, and 2 of *check*, a second hash of the URL: a hit whose check
//! differs is a signature collision.

use crate::Signature;

const WAYS: usize = 8;

/// A fixed number of recent signatures; the least recently used of a set is evicted.
pub struct RecentSignatures {
    /// Zero is an empty slot: the signature zero itself is never cached.
    sets: Vec<[u64; WAYS]>,
    checks: Vec<[u16; WAYS]>,
    lookups: u64,
    hits: u64,
    collisions: u64,
}

impl RecentSignatures {
    /// A cache of at least `size` signatures, with a power of two of sets; 0: no cache.
    pub fn new(size: usize) -> RecentSignatures {
        let sets = if size == 0 { 0 } else { size.div_ceil(WAYS).next_power_of_two() };
        RecentSignatures {
            sets: vec![[0; WAYS]; sets],
            checks: vec![[0; WAYS]; sets],
            lookups: 0,
            hits: 0,
            collisions: 0,
        }
    }

    /// Returns whether the signature was cached, and makes it the most recent one.
    #[inline]
    pub fn touch(&mut self, signature: Signature, check: u16) -> bool {
        if self.sets.is_empty() || signature.0 == 0 {
            return false;
        }
        self.lookups += 1;
        let index = signature.0 as usize & (self.sets.len() - 1);
        let set = &mut self.sets[index];
        let place = set.iter().position(|&value| value == signature.0);
        let last = place.unwrap_or(WAYS - 1);
        set.copy_within(..last, 1);
        set[0] = signature.0;
        let checks = &mut self.checks[index];
        // A signature stands for the URL that came first.
        let first = if place.is_some() { checks[last] } else { check };
        checks.copy_within(..last, 1);
        checks[0] = first;
        if place.is_some() {
            self.hits += 1;
            self.collisions += u64::from(first != check);
        }
        place.is_some()
    }

    /// Forgets every signature.
    pub fn clear(&mut self) {
        self.sets.fill([0; WAYS]);
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.sets.len() * WAYS * (size_of::<u64>() + size_of::<u16>())
    }

    /// The number of lookups.
    pub fn lookups(&self) -> u64 {
        self.lookups
    }

    /// The number of hits.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The number of hits that were other URLs (signature collisions).
    pub fn collisions(&self) -> u64 {
        self.collisions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list in LRU order: one set contains exactly its last eight signatures.
        #[test]
        fn knows_the_last_eight_of_a_set(values in prop::collection::vec(1u64..30, 0..300)) {
            let mut cache = RecentSignatures::new(1);
            let mut model: Vec<u64> = Vec::new();
            for value in values {
                let known = model.iter().position(|&other| other == value);
                prop_assert_eq!(cache.touch(Signature(value), 0), known.is_some());
                known.map(|place| model.remove(place));
                model.insert(0, value);
                model.truncate(WAYS);
            }
        }
    }

    #[test]
    fn a_hit_with_another_check_is_a_collision() {
        let mut cache = RecentSignatures::new(100);
        for check in [1, 1, 2, 1, 3] {
            cache.touch(Signature(5), check);
        }
        assert_eq!((cache.lookups(), cache.hits(), cache.collisions()), (5, 4, 2));
        assert!(!RecentSignatures::new(0).touch(Signature(5), 1));
    }
}
