//! Min hashing, also called rendezvous hashing: the agent that minimises a random function of key and agent.
//!
//! h(u, a) is SplitMix64 of the key's hash xor a random number of the agent. The minimum of a set is the
//! minimum of each subset it is in, which is contravariance. With weights, x = h / 2^64 becomes
//! −ln(1 − x) / w, an exponential variable of rate w: of independent ones, that of rate w_a is the smallest
//! with probability w_a / Σ w. Equal values are decided by h, then by the id.
//!
//! O(n) per key, about 1 ns per agent: −ln(1 − x) ≥ x, so that the logarithm of a value that cannot be the
//! minimum is never computed. The logarithm is a software one, since those of platforms differ in the last bit.
//!
//! Source: Christian Schindelhauer and Gunnar Schomaker, "Weighted distributed hash tables", 2005.

use super::Agent;
use crate::signature::hash::random;

/// What the random numbers of agents derive from. Part of the protocol.
const SEED: u64 = 0x6d69_6e2d_6861_7368;
/// A lower bound is compared with this margin for the rounding of logarithms.
const MARGIN: f64 = 1.0 + 1e-9;

#[derive(Clone, Debug)]
pub struct MinHash {
    /// By rank.
    salts: Vec<u64>,
    /// By rank; empty if all are equal.
    weights: Vec<f64>,
}

/// The smallest value so far.
struct Least {
    cost: f64,
    hash: u64,
    rank: usize,
}

impl MinHash {
    /// Of agents in the order of ids.
    pub fn new(agents: &[Agent]) -> MinHash {
        let equal = agents.iter().all(|agent| agent.weight == agents[0].weight);
        MinHash {
            salts: agents.iter().map(|agent| random(SEED, agent.id.into())).collect(),
            weights: if equal { Vec::new() } else { agents.iter().map(|agent| agent.weight).collect() },
        }
    }

    pub fn memory(&self) -> usize {
        size_of_val(&self.salts[..]) + size_of_val(&self.weights[..])
    }

    /// The rank of the agent of a key.
    pub fn agent(&self, key: u64) -> usize {
        if !self.weights.is_empty() {
            return self.lightest(key, 0..self.salts.len());
        }
        let (mut least, mut found) = (u64::MAX, 0);
        for (rank, salt) in self.salts.iter().enumerate() {
            let hash = random(key ^ salt, 0);
            if hash < least {
                (least, found) = (hash, rank);
            }
        }
        found
    }

    /// The rank of the agent of a key among those left, which are some, in order.
    pub fn next_agent(&self, key: u64, left: &[u16]) -> usize {
        let left = left.iter().map(|&rank| usize::from(rank));
        if !self.weights.is_empty() {
            return self.lightest(key, left);
        }
        // Of equal minima the first: that with the smaller id.
        left.min_by_key(|&rank| random(key ^ self.salts[rank], 0)).unwrap_or_default()
    }

    fn lightest(&self, key: u64, ranks: impl Iterator<Item = usize>) -> usize {
        let mut least = Least { cost: f64::INFINITY, hash: u64::MAX, rank: 0 };
        for rank in ranks {
            let hash = random(key ^ self.salts[rank], 0);
            let fraction = (hash >> 11) as f64 * (-53f64).exp2();
            let weight = self.weights[rank];
            if fraction > least.cost * MARGIN * weight {
                continue;
            }
            let cost = -libm::log1p(-fraction) / weight;
            if (cost, hash) < (least.cost, least.hash) {
                least = Least { cost, hash, rank };
            }
        }
        least.rank
    }
}
