//! HyperBall: the sums of the distances of every node, estimated, in time O(m) per level.
//!
//! The ball of radius t of a node is the set of nodes at distance at most t: the union of the balls of radius
//! t - 1 of its neighbours, and itself. Each ball is a HyperLogLog counter, so a pass over the arcs computes all
//! balls of radius t from those of t - 1, and the growth of a ball is the number of nodes at distance t. A node
//! joins only the counters that changed in the last pass, and the passes end when none did.
//!
//! 2^b registers are 2^(b-6) independent counters of 64 registers, each with its own hash function and its own
//! passes, and the estimate is their mean. So the memory is that of as many counters as fit at the same time: at
//! least one, 196 bytes a node in all. The spread of the estimates between counters is an unbiased measure of
//! their error for everything that is computed from them, whatever the correlation between radii; the mean has a
//! standard error of 1.05/√2^b of a size. The result depends on the seed and on b, not on the memory or on the
//! number of threads.
//!
//! Source: P. Boldi and S. Vigna, "In-core computation of geometric centralities with HyperBall: a hundred billion
//! nodes and beyond", ICDMW 2013.

use std::ops::Range;

use rayon::prelude::*;

use super::super::{Lists, Node};
use super::hyperloglog::{Counter, Estimator, REGISTERS};
use crate::{Error, Pulse, Result};

/// Nodes of a task of a thread; a multiple of 64.
const CHUNK: usize = 1 << 12;

/// The sizes of counters that are allowed: at least 4 counters, or there is no spread.
pub const LOG2M: Range<u32> = 8..17;

/// The sums of the distances between a node and all others, estimated: an entry for each node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BallSums {
    /// The number of other nodes at a finite distance.
    pub reachable: Vec<f64>,
    /// The sum of the finite distances.
    pub distance: Vec<f64>,
    /// The sum of the reciprocals of the distances.
    pub harmonic: Vec<f64>,
    /// The estimated variance of `reachable`, of `distance`, and of `harmonic`, and the covariance of the first two.
    pub variances: [Vec<f64>; 4],
    /// The number of pairs of nodes at each distance, from 0.
    pub pairs: Vec<f64>,
    /// Its estimated variance.
    pub pairs_variance: Vec<f64>,
}

/// The sums of the distances of every node to all others along the lists, estimated with 2^`log2m` registers
/// a node, in `memory` bytes besides the lists.
pub fn hyperball(
    lists: &(impl Lists + ?Sized),
    log2m: u32,
    seed: u64,
    memory: usize,
    pulse: &Pulse,
) -> Result<BallSums> {
    if !LOG2M.contains(&log2m) {
        let (least, most) = (LOG2M.start, LOG2M.end - 1);
        return Err(Error::Invalid(format!("log2m goes from {least} to {most}, and {log2m} does not")));
    }
    let (nodes, counters) = (lists.nodes(), 1usize << log2m >> REGISTERS.ilog2());
    let least = nodes * (size_of::<Total>() + BYTES_PER_COUNTER);
    if memory < least {
        let reason = format!("HyperBall takes at least {least} bytes for {nodes} nodes, more than {memory}");
        return Err(Error::Invalid(reason));
    }
    let affordable = (memory - nodes * size_of::<Total>()) / (nodes.max(1) * BYTES_PER_COUNTER);
    let together = affordable.clamp(1, counters);
    let estimator = Estimator::new();
    let mut totals = vec![Total::default(); nodes];
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    pulse.set(0, counters as u64);
    for first in (0..counters).step_by(together) {
        let seeds: Vec<u64> =
            (first..counters.min(first + together)).map(|counter| mix(seed, counter as u64)).collect();
        let mut balls = Balls::new(nodes, &seeds, &estimator);
        for found in balls.grow(lists, pulse)? {
            pairs.resize(pairs.len().max(found.len()), (0.0, 0.0));
            for ((sum, squares), pairs) in pairs.iter_mut().zip(found) {
                *sum += pairs;
                *squares += pairs * pairs;
            }
        }
        totals.par_iter_mut().zip(balls.sums.par_chunks(seeds.len())).for_each(|(total, sums)| {
            sums.iter().for_each(|sums| total.add(sums));
        });
        pulse.add(seeds.len() as u64);
    }
    Ok(summed(&totals, &pairs, counters as f64, nodes))
}

const BYTES_PER_COUNTER: usize = 2 * size_of::<Counter>() + size_of::<Sums>();

fn summed(totals: &[Total], pairs: &[(f64, f64)], counters: f64, nodes: usize) -> BallSums {
    // The variance of the mean of the counters.
    let spread = |product: f64, one: f64, other: f64| {
        (product / counters - one / counters * (other / counters)) / (counters - 1.0)
    };
    let variance = |squares: f64, sum: f64| spread(squares, sum, sum).max(0.0);
    let all = |value: &(dyn Fn(&Total) -> f64 + Sync)| totals.iter().map(value).collect::<Vec<f64>>();
    BallSums {
        reachable: all(&|total| total.reachable / counters),
        distance: all(&|total| total.distance / counters),
        harmonic: all(&|total| total.harmonic / counters),
        variances: [
            all(&|total| variance(total.reachable_squares, total.reachable)),
            all(&|total| variance(total.distance_squares, total.distance)),
            all(&|total| variance(total.harmonic_squares, total.harmonic)),
            all(&|total| spread(total.products, total.reachable, total.distance)),
        ],
        pairs: std::iter::once(nodes as f64).chain(pairs.iter().map(|(sum, _)| sum / counters)).collect(),
        pairs_variance: std::iter::once(0.0)
            .chain(pairs.iter().map(|(sum, squares)| variance(*squares, *sum)))
            .collect(),
    }
}

/// The sums of a node by one counter.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// The size of the ball.
    size: f32,
    distance: f32,
    harmonic: f32,
}

/// The sums of a node by all counters so far, their squares, and the products of the first two.
#[derive(Clone, Default)]
struct Total {
    reachable: f64,
    distance: f64,
    harmonic: f64,
    reachable_squares: f64,
    distance_squares: f64,
    harmonic_squares: f64,
    products: f64,
}

impl Total {
    fn add(&mut self, sums: &Sums) {
        // A ball has its centre, which is not counted.
        let [reachable, distance, harmonic] = [sums.size - 1.0, sums.distance, sums.harmonic].map(f64::from);
        self.reachable += reachable;
        self.distance += distance;
        self.harmonic += harmonic;
        self.reachable_squares += reachable * reachable;
        self.distance_squares += distance * distance;
        self.harmonic_squares += harmonic * harmonic;
        self.products += reachable * distance;
    }
}

/// The balls of all nodes, by some counters: the counters of a node are adjacent.
struct Balls<'a> {
    estimator: &'a Estimator,
    /// The number of counters of a node.
    counters: usize,
    balls: Vec<Counter>,
    /// The balls of the next radius; equal to `balls` where neither pass changed them.
    next: Vec<Counter>,
    sums: Vec<Sums>,
    /// The nodes whose ball the last pass changed.
    changed: Vec<u64>,
}

impl<'a> Balls<'a> {
    fn new(nodes: usize, seeds: &[u64], estimator: &'a Estimator) -> Balls<'a> {
        let counters = seeds.len();
        let mut balls = vec![Counter::EMPTY; nodes * counters];
        balls.par_chunks_mut(counters).enumerate().for_each(|(node, balls)| {
            balls.iter_mut().zip(seeds).for_each(|(ball, seed)| ball.add(mix(*seed, node as u64)));
        });
        let sums = vec![Sums { size: 1.0, ..Sums::default() }; balls.len()];
        let next = balls.clone();
        Balls { estimator, counters, balls, next, sums, changed: vec![u64::MAX; nodes.div_ceil(64)] }
    }

    /// Grows the balls until they stop; returns the number of pairs at each distance from 1, by counter.
    fn grow(&mut self, lists: &(impl Lists + ?Sized), pulse: &Pulse) -> Result<Vec<Vec<f64>>> {
        let mut pairs = vec![Vec::new(); self.counters];
        for radius in 1.. {
            let grown = self.pass(lists, radius as f32, pulse)?;
            if self.changed.iter().all(|word| *word == 0) {
                break;
            }
            pairs.iter_mut().zip(grown).for_each(|(pairs, grown)| pairs.push(grown));
        }
        Ok(pairs)
    }

    /// One pass over the arcs; returns by how much all balls have grown, by counter.
    fn pass(&mut self, lists: &(impl Lists + ?Sized), radius: f32, pulse: &Pulse) -> Result<Vec<f64>> {
        let (counters, estimator, balls, changed) =
            (self.counters, self.estimator, &self.balls, &self.changed);
        let mut changing = vec![0u64; changed.len()];
        let chunks = self.next.par_chunks_mut(CHUNK * counters);
        let chunks =
            chunks.zip(self.sums.par_chunks_mut(CHUNK * counters)).zip(changing.par_chunks_mut(CHUNK / 64));
        let grown = chunks.enumerate().map(|(chunk, ((next, sums), changing))| {
            let start = chunk * CHUNK;
            let mut grown = vec![0.0; counters];
            let mut new = vec![Counter::EMPTY; counters];
            let visit = &mut |Node(node): Node, neighbours: &[u32]| {
                let node = node as usize;
                let old = &balls[node * counters..][..counters];
                new.copy_from_slice(old);
                for neighbour in neighbours {
                    let neighbour = *neighbour as usize;
                    if changed[neighbour / 64] >> (neighbour % 64) & 1 == 1 {
                        let theirs = &balls[neighbour * counters..][..counters];
                        new.iter_mut().zip(theirs).for_each(|(new, theirs)| new.join(theirs));
                    }
                }
                let at = node - start;
                if new != old {
                    changing[at / 64] |= 1 << (at % 64);
                    for (counter, new) in
                        new.iter().enumerate().filter(|(counter, new)| **new != old[*counter])
                    {
                        let sums = &mut sums[at * counters + counter];
                        let size = estimator.size(new);
                        let growth = size - sums.size;
                        sums.size = size;
                        sums.distance += growth * radius;
                        sums.harmonic += growth / radius;
                        grown[counter] += f64::from(growth);
                    }
                } else if changed[node / 64] >> (node % 64) & 1 == 0 {
                    return;
                }
                next[at * counters..][..counters].copy_from_slice(&new);
            };
            lists.scan(start..(start + CHUNK).min(lists.nodes()), pulse, visit)?;
            Ok(grown)
        });
        let grown: Vec<Vec<f64>> = grown.collect::<Result<_>>()?;
        std::mem::swap(&mut self.balls, &mut self.next);
        self.changed = changing;
        let sum = |counter: usize| grown.iter().map(|grown| grown[counter]).sum();
        Ok((0..counters).map(sum).collect())
    }
}

/// 64 random bits for a number (splitmix64).
pub(super) fn mix(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
