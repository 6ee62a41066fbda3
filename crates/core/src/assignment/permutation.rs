//! Random permutations: the first live agent in an order of the universe that depends on the key.
//!
//! The universe P is the numbers below |P|, the live agents a subset A. A Fisher–Yates shuffle whose random
//! numbers are SplitMix64 of the key's hash draws a permutation of P, element by element, and stops at the
//! first in A: no later step moves it. That is (|P| + 1) / (|A| + 1) steps on average. The order does not depend on A, hence
//! contravariance; an agent is found with probability 1 / |A|.
//!
//! The array is not initialised for each key: the swaps are undone, last first.

use crate::signature::hash::{random, reduce};

/// Marks an element of the universe that is no live agent.
const NOBODY: u16 = u16::MAX;

#[derive(Clone, Debug)]
pub struct Permutation {
    /// For each element of the universe the rank of the agent, or [`NOBODY`].
    ranks: Vec<u16>,
}

/// The array that is shuffled: the numbers in order, before and after each key.
#[derive(Default)]
pub struct Shuffle {
    array: Vec<u32>,
    swapped: Vec<u32>,
}

impl Permutation {
    /// Of agents with these ids below `universe`, in order.
    pub fn new(universe: u32, ids: &[u32]) -> Permutation {
        let mut ranks = vec![NOBODY; universe as usize];
        for (rank, &id) in ids.iter().enumerate() {
            ranks[id as usize] = rank as u16;
        }
        Permutation { ranks }
    }

    pub fn universe(&self) -> usize {
        self.ranks.len()
    }

    /// The array included that a batch of keys needs.
    pub fn memory(&self) -> usize {
        size_of_val(&self.ranks[..]) + self.ranks.len() * size_of::<u32>()
    }

    /// The array for a batch of keys.
    pub fn shuffle(&self) -> Shuffle {
        Shuffle { array: (0..self.ranks.len() as u32).collect(), swapped: Vec::new() }
    }

    /// The rank of the agent of a key; of those that are not gone, if any is (by rank; some are left).
    pub fn agent(&self, key: u64, shuffle: &mut Shuffle, gone: &[bool]) -> usize {
        let Shuffle { array, swapped } = shuffle;
        let mut found = 0;
        for index in 0..array.len() {
            let left = (array.len() - index) as u64;
            let other = index + reduce(random(key, index as u64), left) as usize;
            array.swap(index, other);
            swapped.push(other as u32);
            let rank = self.ranks[array[index] as usize];
            if rank != NOBODY && !gone.get(usize::from(rank)).is_some_and(|&gone| gone) {
                found = rank.into();
                break;
            }
        }
        while let Some(other) = swapped.pop() {
            array.swap(swapped.len(), other as usize);
        }
        found
    }
}
