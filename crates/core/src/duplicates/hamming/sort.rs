//! Sorting of fingerprints: one scatter by the leading bits, then each part, which fits into the cache, by comparison.

use rayon::prelude::*;

/// The leading bits of the scatter.
const SCATTER: u32 = 11;
/// Fewer are sorted at once.
const FEW: usize = 1 << 14;

/// What is sorted: by a key whose leading bits are spread.
pub trait Sorted: Copy + Ord + Send + Sync + Default {
    /// The key.
    fn key(&self) -> u64;
}

impl Sorted for u64 {
    #[inline]
    fn key(&self) -> u64 {
        *self
    }
}

impl Sorted for (u64, u32) {
    #[inline]
    fn key(&self) -> u64 {
        self.0
    }
}

/// The sorted entries; takes the space of all of them once more.
pub fn sorted<T: Sorted>(count: usize, entry: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count < FEW {
        let mut entries: Vec<T> = (0..count).map(entry).collect();
        entries.sort_unstable();
        return entries;
    }
    let part = |entry: &T| (entry.key() >> (u64::BITS - SCATTER)) as usize;
    let mut ends = vec![0usize; 1 << SCATTER];
    (0..count).for_each(|number| ends[part(&entry(number))] += 1);
    let sizes = ends.clone();
    let mut next = 0;
    for end in &mut ends {
        next += std::mem::replace(end, next);
    }
    let mut entries = vec![T::default(); count];
    for number in 0..count {
        let entry = entry(number);
        let place = &mut ends[part(&entry)];
        entries[*place] = entry;
        *place += 1;
    }
    let mut parts = Vec::with_capacity(sizes.len());
    let mut rest = &mut entries[..];
    for size in sizes {
        let (part, after) = rest.split_at_mut(size);
        parts.push(part);
        rest = after;
    }
    parts.into_par_iter().for_each(|part| part.sort_unstable());
    entries
}
