//! The row of the journal whose page has each text, and the first row of each host that answered.
//!
//! A sorted map over the journal, from the digest of a text (16 bytes) or the signature of an origin (8 bytes) to
//! the offset of the row: 24 bytes a text on disk, and constant memory. A page with a text that is no duplicate takes the
//! text over: the page that had it before has another one now, or is gone. Rows that are replayed in order lead to
//! the same map.
//!
//! Nearly every page is of a host that answered before. Those whose rows came last are [`Recent`], at most 128 KiB of
//! signatures, so that few pages look their host up in the runs.

use std::ops::Range;
use std::path::Path;

use crate::collection::{Outcome, Row, layout};
use crate::crawl::parsing::origin;
use crate::sorted::{Checkpoint, Options, SortedMap, State};
use crate::{Error, Result, Signature};

/// The most sets of recent hosts: 128 KiB.
const MOST_SETS: usize = 1 << 11;
/// The hosts of a set, which is a cache line.
const WAYS: usize = 8;
/// The share of the memory that recent hosts take at most, as a divisor.
const RECENT_SHARE: usize = 64;

/// The first rows.
pub struct Firsts {
    map: SortedMap,
    /// Hosts of rows that were added, which have their first row in the map.
    recent: Recent,
    /// The number of hosts that answered.
    pub hosts: u64,
}

impl Firsts {
    /// Opens the map as it was committed.
    pub fn open(folder: &Path, memory: usize, state: &State) -> Result<Firsts> {
        let recent = Recent::new(memory / RECENT_SHARE);
        let options = Firsts::options(memory - memory / RECENT_SHARE);
        Ok(Firsts { map: SortedMap::open(folder, options, state)?, recent, hosts: 0 })
    }

    /// How the map is kept.
    pub fn options(memory: usize) -> Options {
        Options { memory, name: layout::firsts, filtered: |key| key, keep: None }
    }

    /// The position in the journal from which it is to be replayed.
    pub fn applied(&self) -> u64 {
        self.map.applied()
    }

    /// The offset of the row whose page has a text.
    pub fn with_text(&self, digest: u128) -> Result<Option<u64>> {
        self.get(&digest.to_be_bytes())
    }

    /// Adds a row. Rows come in the order of the journal.
    pub fn add(&mut self, row: &Row, place: &Range<u64>) -> Result<()> {
        if row.status.is_some() {
            let host = Signature::of(origin(&row.url).as_bytes());
            // The first row of a recent host is an earlier one, also in a replay.
            if !self.recent.has(host) {
                self.hosts += u64::from(self.put(&host.0.to_be_bytes(), place)?);
                self.recent.insert(host);
            }
        }
        // A row that is replayed for another map has its place in the runs of this one.
        let is_new = place.end > self.map.applied();
        if let Some(digest) = row.text_digest().filter(|_| is_new && row.has_own_text()) {
            // A page that was found unchanged has its text already.
            let is_known = row.outcome == Outcome::NotModified && self.with_text(digest)?.is_some();
            if !is_known {
                self.map.put(&digest.to_be_bytes(), Some(&place.start.to_le_bytes()), place.end)?;
            }
        }
        self.map.pass(place.end);
        Ok(())
    }

    /// See [`crate::collection::TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<Checkpoint> {
        if is_last {
            self.map.flush()?;
        }
        self.map.checkpoint()
    }

    fn get(&self, key: &[u8]) -> Result<Option<u64>> {
        let damaged = |_| Error::corrupt(layout::TABLE, 0, "a first row has no place in the journal");
        let found = self.map.get(key)?;
        found.map(|value| value.try_into().map(u64::from_le_bytes).map_err(damaged)).transpose()
    }

    /// Whether the row at a place is the first with a key.
    fn put(&mut self, key: &[u8], place: &Range<u64>) -> Result<bool> {
        if let Some(first) = self.get(key)? {
            return Ok(first == place.start);
        }
        self.map.put(key, Some(&place.start.to_le_bytes()), place.end)?;
        Ok(true)
    }
}

/// A set-associative cache of signatures: sets of eight, in each the most recently used one first.
struct Recent {
    sets: Vec<[u64; WAYS]>,
}

impl Recent {
    /// An empty cache of at most `bytes`, but of two sets at least.
    fn new(bytes: usize) -> Recent {
        let most = bytes / size_of::<[u64; WAYS]>();
        let count = 1u64 << most.clamp(2, MOST_SETS).ilog2();
        // The lowest bits of a signature are the number of its set, so the complement of that is none of its signatures.
        Recent { sets: (0..count).map(|number| [!number; WAYS]).collect() }
    }

    /// Whether a signature is cached; if so, it is used.
    fn has(&mut self, signature: Signature) -> bool {
        let set = self.set(signature);
        let place = set.iter().position(|one| *one == signature.0);
        if let Some(place) = place {
            set[..=place].rotate_right(1);
        }
        place.is_some()
    }

    /// Caches a signature that is not, in the place of the least recently used one of its set.
    fn insert(&mut self, signature: Signature) {
        let set = self.set(signature);
        set.rotate_right(1);
        set[0] = signature.0;
    }

    fn set(&mut self, signature: Signature) -> &mut [u64; WAYS] {
        let mask = self.sets.len() - 1;
        &mut self.sets[signature.0 as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_has_the_most_recently_used(signatures in prop::collection::vec(prop_oneof![0u64..40, (0u64..40).prop_map(|less| u64::MAX - less)], 0..300)) {
            let mut recent = Recent::new(0);
            let mut used = [Vec::new(), Vec::new()];
            for signature in signatures {
                let of_set = &mut used[signature as usize % 2];
                let is_known = of_set.iter().rev().take(WAYS).any(|one| *one == signature);
                prop_assert_eq!(recent.has(Signature(signature)), is_known);
                if !is_known {
                    recent.insert(Signature(signature));
                }
                of_set.retain(|one| *one != signature);
                of_set.push(signature);
            }
        }
    }

    #[test]
    fn recent_hosts_take_their_share_of_the_memory() {
        for (bytes, sets) in [(0, 2), (127, 2), (1000, 8), (1 << 17, MOST_SETS), (1 << 30, MOST_SETS)] {
            assert_eq!(Recent::new(bytes).sets.len(), sets);
        }
    }
}
