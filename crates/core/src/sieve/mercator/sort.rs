//! A stable indirect sort of signatures: 4 bytes a key in addition to the keys, which stay in place.
//!
//! Signatures are uniformly distributed, so their top bits split them into buckets of about 40: one stable
//! counting pass groups the indices by bucket, and a bucket is sorted, in the L1 cache, only when the merge
//! reaches it. About 25 ns a key for millions of keys. Keys that are not uniform cost n log n comparisons,
//! and no more memory.

const BUCKET_BITS: u32 = 16;
/// The log2 of the target bucket size.
const BUCKET_SIZE_BITS: u32 = 6;
/// The number of entries gathered per step; only a bucket of skewed keys is larger.
const GATHERED: usize = 1 << 12;

/// The keys with their indices, ordered by key and then by index.
pub struct Sorted<'a> {
    keys: &'a [u64],
    indices: &'a mut [u32],
    /// Where each bucket ends in `indices`.
    ends: Vec<u32>,
    bucket: usize,
    /// The first index not yet gathered.
    next: usize,
    gathered: Vec<(u64, u32)>,
    at: usize,
}

/// Sorts `keys`, at most 2^32 of them, through `indices`.
pub fn sorted<'a>(keys: &'a [u64], indices: &'a mut Vec<u32>) -> Sorted<'a> {
    let bits = (usize::BITS - keys.len().leading_zeros()).saturating_sub(BUCKET_SIZE_BITS).min(BUCKET_BITS);
    let bucket = |key: u64| key.checked_shr(64 - bits).unwrap_or(0) as usize;
    let mut ends = vec![0u32; 1 << bits];
    keys.iter().for_each(|&key| ends[bucket(key)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    indices.clear();
    indices.resize(keys.len(), 0);
    for (index, &key) in keys.iter().enumerate() {
        let place = &mut ends[bucket(key)];
        indices[*place as usize] = index as u32;
        *place += 1;
    }
    Sorted { keys, indices, ends, bucket: 0, next: 0, gathered: Vec::with_capacity(GATHERED), at: 0 }
}

impl Sorted<'_> {
    /// Gathers the next entries; returns false at the end.
    fn gather(&mut self) -> bool {
        self.gathered.clear();
        self.at = 0;
        while self.bucket < self.ends.len() {
            let start = if self.bucket == 0 { 0 } else { self.ends[self.bucket - 1] as usize };
            let end = self.ends[self.bucket] as usize;
            let keys = self.keys;
            let entry = |&index: &u32| (keys[index as usize], index);
            let is_large = end - start > GATHERED;
            if is_large && self.next == start {
                self.indices[start..end].sort_unstable_by_key(entry);
            }
            let stop = end.min(self.next + GATHERED);
            self.gathered.extend(self.indices[self.next..stop].iter().map(entry));
            self.next = stop;
            self.bucket += usize::from(stop == end);
            if !self.gathered.is_empty() {
                if !is_large {
                    self.gathered.sort_unstable();
                }
                return true;
            }
        }
        false
    }
}

impl Iterator for Sorted<'_> {
    type Item = (u64, u32);

    #[inline]
    fn next(&mut self) -> Option<(u64, u32)> {
        if self.at == self.gathered.len() && !self.gather() {
            return None;
        }
        self.at += 1;
        Some(self.gathered[self.at - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(keys: &[u64]) {
        let mut model: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        model.sort();
        assert!(sorted(keys, &mut Vec::new()).eq(model));
    }

    proptest! {
        #[test]
        fn sorts_stably(keys in prop::collection::vec(prop_oneof![0u64..9, any::<u64>()], 0..3000)) {
            agrees(&keys);
        }
    }

    #[test]
    fn sorts_keys_that_are_all_in_one_bucket() {
        agrees(&(0..20_000u64).map(|key| key * 7919 % 10_007).collect::<Vec<_>>());
        agrees(&[u64::MAX; 10_000]);
    }
}
