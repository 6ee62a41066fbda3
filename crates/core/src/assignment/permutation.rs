//! Random permutations: the first live agent in an order of the universe that depends on the key.
//!
//! The universe P is the numbers below |P|, the live agents a subset A. A Fisher–Yates shuffle whose random
//! numbers are SplitMix64 of the key's hash draws a permutation of P, element by element, and stops at the
//! first in A: no later step moves it. That is (|P| + 1) / (|A| + 1) steps on average. The order does not depend on A, hence
//! contravariance; an agent is found with probability 1 / |A|.
//!
//! What a dead element is does not matter, only that it is dead. So the array has the ranks of the live ones and nothing else:
//! a step draws a number and looks at one place, nearly always in vain, and changes the array only if it moves a live one. The
//! draws do not depend on each other, so the processor overlaps the steps: about 1.5 ns each. Such changes are undone after
//! each key, last first. A single agent is found without any step.

use crate::signature::hash::{random, reduce};

/// Marks an element of the universe that is no live agent.
const NOBODY: u16 = u16::MAX;

#[derive(Clone, Debug)]
pub struct Permutation {
    /// For each element of the universe the rank of the agent, or [`NOBODY`].
    ranks: Vec<u16>,
    agents: usize,
}

/// The array that is shuffled: the ranks in order of the universe, before and after each key.
#[derive(Default)]
pub struct Shuffle {
    array: Vec<u16>,
    swapped: Vec<(u32, u32)>,
}

impl Permutation {
    /// Of agents with these ids below `universe`, in order.
    pub fn new(universe: u32, ids: &[u32]) -> Permutation {
        let mut ranks = vec![NOBODY; universe as usize];
        for (rank, &id) in ids.iter().enumerate() {
            ranks[id as usize] = rank as u16;
        }
        Permutation { ranks, agents: ids.len() }
    }

    pub fn universe(&self) -> usize {
        self.ranks.len()
    }

    /// The array included that a batch of keys needs.
    pub fn memory(&self) -> usize {
        2 * size_of_val(&self.ranks[..])
    }

    /// The array for a batch of keys.
    pub fn shuffle(&self) -> Shuffle {
        Shuffle { array: self.ranks.clone(), swapped: Vec::new() }
    }

    /// The rank of the agent of a key; of those that are not gone, if any is (by rank; some are left).
    pub fn agent(&self, key: u64, shuffle: &mut Shuffle, gone: &[bool]) -> usize {
        if self.agents == 1 {
            return 0;
        }
        let Shuffle { array, swapped } = shuffle;
        let mut found = 0;
        for index in 0..array.len() {
            let left = (array.len() - index) as u64;
            let other = index + reduce(random(key, index as u64), left) as usize;
            let rank = array[other];
            if rank != NOBODY && !gone.get(usize::from(rank)).is_some_and(|&gone| gone) {
                found = rank.into();
                break;
            }
            if rank != array[index] {
                array.swap(index, other);
                swapped.push((index as u32, other as u32));
            }
        }
        while let Some((index, other)) = swapped.pop() {
            array.swap(index as usize, other as usize);
        }
        found
    }
}
