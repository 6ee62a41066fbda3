//! Consistent hashing: replicas of each agent on a circle, and a table that finds the next one in one cache line.
//!
//! The circle is the 64-bit numbers. The replica r of agent a is at SplitMix64(SplitMix64(seed, a), r). A key
//! belongs to the agent of the first replica at or after its hash, around the circle; of replicas at one
//! position that of the smallest id counts. A new agent's replicas split arcs, and take the first part of
//! each: contravariance. With C replicas the share of an agent has a relative standard deviation of
//! √((n − 1) / (nC + 1)), about 1/√C: the share is a Beta variable.
//!
//! An ordered map would do. Here it is a sorted array, O(log n) cache misses, under a table of buckets by the
//! top bits of the hash. A bucket is a cache line: the next 16 bits of its replicas (at most 15, 3 to 6 on
//! average) and the agents of the arcs that they divide it into. The agent is at the number of replicas below the hash,
//! which are compared at once, in vectors. If 16 bits do not decide (1 key in 10,000), or the bucket has more
//! replicas (at most 1 in 2,000), the array is searched. So a key costs one cache miss, which a batch hides.
//!
//! Memory: 10 bytes per replica in the array, and 11 to 21 in the table.

use crate::prefetch::Prefetch;
use crate::signature::hash::random;

/// What the positions of replicas derive from. Part of the protocol.
const SEED: u64 = 0x636f_6e73_6973_7400;
/// The largest mean number of replicas in a bucket.
const LOAD: usize = 6;
/// The agents in a line; there is one replica less.
const WIDTH: usize = 16;
/// The bits of a position that a line keeps.
const KEPT: u32 = 16;

/// A bucket.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    /// The kept bits of each replica, in order, then the maximum. All are the minimum if there is no room for
    /// them.
    replicas: [i16; WIDTH],
    /// The agent before each replica, then that of the next replica after the bucket.
    owners: [u16; WIDTH],
}

/// A line that finds nothing: whatever the key, the number of replicas below it or equal to it says so.
const FULL: Line = Line { replicas: [i16::MIN; WIDTH], owners: [0; WIDTH] };

impl Line {
    /// The number of replicas below a key; `None` if one is equal to it, or if all are below.
    #[inline]
    fn arc(&self, kept: i16) -> Option<usize> {
        let (below, above) = self.compared(kept);
        // The replicas are in order: those below are the first ones.
        (below ^ above == u16::MAX && below != u16::MAX).then_some(below.trailing_ones() as usize)
    }

    /// A bit for each replica below a key, and for each above it.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    fn compared(&self, kept: i16) -> (u16, u16) {
        use std::arch::x86_64::{
            __m128i, _mm_cmpgt_epi16, _mm_load_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16,
        };
        let lanes: *const __m128i = self.replicas.as_ptr().cast();
        // SAFETY: every x86-64 processor has SSE2. The replicas are two vectors at the start of a line, which is
        // aligned to 64 bytes.
        unsafe {
            let (low, high) = (_mm_load_si128(lanes), _mm_load_si128(lanes.add(1)));
            let key = _mm_set1_epi16(kept);
            let below = _mm_packs_epi16(_mm_cmpgt_epi16(key, low), _mm_cmpgt_epi16(key, high));
            let above = _mm_packs_epi16(_mm_cmpgt_epi16(low, key), _mm_cmpgt_epi16(high, key));
            (_mm_movemask_epi8(below) as u16, _mm_movemask_epi8(above) as u16)
        }
    }

    /// A bit for each replica below a key, and for each above it.
    #[inline]
    #[cfg(not(target_arch = "x86_64"))]
    fn compared(&self, kept: i16) -> (u16, u16) {
        self.compared_one_by_one(kept)
    }

    #[inline]
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn compared_one_by_one(&self, kept: i16) -> (u16, u16) {
        let bits = |of: &dyn Fn(i16) -> bool| {
            let bit = |bits, (lane, replica): (usize, &i16)| bits | u16::from(of(*replica)) << lane;
            self.replicas.iter().enumerate().fold(0, bit)
        };
        (bits(&|replica| replica < kept), bits(&|replica| replica > kept))
    }
}

#[derive(Clone, Debug)]
pub struct Ring {
    /// Of replicas, ascending and distinct.
    positions: Vec<u64>,
    /// The rank of the agent of each replica.
    owners: Vec<u16>,
    lines: Vec<Line>,
    /// The bits of a hash below those that choose the bucket.
    shift: u32,
}

impl Ring {
    /// Of agents in the order of ids, each with its number of replicas.
    pub fn new(agents: &[(u32, u32)]) -> Ring {
        let mut replicas: Vec<(u64, u16)> = Vec::new();
        for (rank, &(id, count)) in agents.iter().enumerate() {
            let state = random(SEED, id.into());
            replicas.extend((0..count).map(|replica| (random(state, replica.into()), rank as u16)));
        }
        // Positions repeat so rarely that only the order of ranks within one matters.
        replicas.sort_unstable();
        replicas.dedup_by_key(|(position, _)| *position);
        Ring::of(&replicas)
    }

    /// Of distinct positions in ascending order, each with the rank of its agent; there are some.
    fn of(replicas: &[(u64, u16)]) -> Ring {
        let positions: Vec<u64> = replicas.iter().map(|(position, _)| *position).collect();
        let owners: Vec<u16> = replicas.iter().map(|(_, owner)| *owner).collect();
        let bits = replicas.len().div_ceil(LOAD).next_power_of_two().trailing_zeros().max(1);
        let shift = u64::BITS - bits;
        let mut lines = Vec::with_capacity(1 << bits);
        let mut start = 0;
        for bucket in 0..1u64 << bits {
            let length =
                positions[start..].iter().take_while(|&&position| position >> shift == bucket).count();
            lines.push(line(&positions[start..start + length], &owners, start, shift));
            start += length;
        }
        Ring { positions, owners, lines, shift }
    }

    pub fn memory(&self) -> usize {
        size_of_val(&self.positions[..]) + size_of_val(&self.owners[..]) + size_of_val(&self.lines[..])
    }

    /// The rank of the agent of a key.
    #[inline]
    pub fn agent(&self, key: u64) -> usize {
        let line = &self.lines[(key >> self.shift) as usize];
        let kept = kept(key, self.shift);
        match line.arc(kept) {
            Some(arc) => line.owners[arc].into(),
            None => self.owners[self.replica(key)].into(),
        }
    }

    /// Passes on the rank of the agent of each key.
    pub fn each(&self, keys: &[u64], mut found: impl FnMut(usize)) {
        let lines = Prefetch::of(&self.lines);
        for key in keys {
            lines.line((key >> self.shift) as usize * size_of::<Line>());
        }
        for &key in keys {
            found(self.agent(key));
        }
    }

    /// The rank of the agent of a key among those that are not gone (by rank; some are left).
    pub fn next_agent(&self, key: u64, gone: &[bool]) -> usize {
        let start = self.replica(key);
        let around = self.owners[start..].iter().chain(&self.owners[..start]).map(|&rank| usize::from(rank));
        around.into_iter().find(|&rank| !gone[rank]).unwrap_or_default()
    }

    /// The first replica at or after a key.
    #[cold]
    fn replica(&self, key: u64) -> usize {
        let after = self.positions.partition_point(|&position| position < key);
        if after == self.positions.len() { 0 } else { after }
    }
}

/// The bits of a position below those that choose the bucket, in the same order as a signed number: vectors
/// of signed numbers are what processors compare.
#[inline]
fn kept(position: u64, shift: u32) -> i16 {
    (position << (u64::BITS - shift) >> (u64::BITS - KEPT)) as u16 as i16 ^ i16::MIN
}

/// The line of the bucket whose replicas are those from `start` on.
fn line(positions: &[u64], owners: &[u16], start: usize, shift: u32) -> Line {
    if positions.len() >= WIDTH {
        return FULL;
    }
    let mut line = Line { replicas: [i16::MAX; WIDTH], owners: [0; WIDTH] };
    for (index, &position) in positions.iter().enumerate() {
        line.replicas[index] = kept(position, shift);
        line.owners[index] = owners[start + index];
    }
    let after = start + positions.len();
    line.owners[positions.len()] = owners[if after == owners.len() { 0 } else { after }];
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: the smallest upper bound, around the circle.
    fn slow(replicas: &[(u64, u16)], key: u64) -> usize {
        replicas.iter().find(|(position, _)| *position >= key).unwrap_or(&replicas[0]).1.into()
    }

    /// Positions that are dense in places, so that lines are full and kept bits are equal.
    fn positions() -> impl Strategy<Value = Vec<u64>> {
        let near = (any::<u64>(), 0..64u32).prop_map(|(bits, shift)| bits >> shift);
        let last = (any::<u64>(), 0..64u32).prop_map(|(bits, shift)| !(bits >> shift));
        prop::collection::vec(prop_oneof![any::<u64>(), near, last], 1..300)
    }

    proptest! {
        #[test]
        fn finds_the_next_replica(positions in positions(), keys in positions()) {
            let mut replicas: Vec<(u64, u16)> =
                positions.iter().map(|&position| (position, (position % 7) as u16)).collect();
            replicas.sort_unstable();
            replicas.dedup_by_key(|(position, _)| *position);
            let ring = Ring::of(&replicas);
            let around = positions.iter().flat_map(|&at| [at, at.wrapping_add(1), at.wrapping_sub(1)]);
            for key in keys.iter().copied().chain(around).chain([0, u64::MAX]) {
                let line = &ring.lines[(key >> ring.shift) as usize];
                let kept = kept(key, ring.shift);
                prop_assert_eq!(line.compared(kept), line.compared_one_by_one(kept));
                prop_assert_eq!(ring.agent(key), slow(&replicas, key), "{}", key);
            }
        }
    }

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!(size_of::<Line>(), 64);
    }
}
