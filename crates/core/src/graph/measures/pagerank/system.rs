//! (I − αPᵀ) x = b by Gauss–Seidel, for one right-hand side or several at once.
//!
//! What is kept per node is its *share* y(u) = α x(u)/W(u), what each of its links carries, so that an equation is a
//! sum over predecessors, y(v) = c(v) (b(v) + Σ_{u → v, u ≠ v} w(u, v) y(u)); the self-loop is in c.
//! Nodes outside all cycles ([`Trim`]) are computed once, in the order of the arcs. The others, the *core*, are
//! copied into blocks of consecutive nodes of about as many arcs. A sweep goes through the blocks in eight *waves*:
//! the blocks of a wave are computed in parallel, each from its own newest values and those that the others had before
//! the wave. Blocks, and their order, depend on the graph alone, so the result does not depend on the
//! number of threads, and memory is read in order except for the shares of other blocks, few if the order of
//! nodes is that of URLs.
//!
//! Convergence is hastened twice. The sides are scaled by the one number σ for which the residual ρ = σb − (I − αPᵀ)x
//! sums to 0, so that the total, which converges slowest, is always right. And every fifth sweep the last change Δ
//! is continued, x + fΔ with f such that the next change would be least if it were a linear function of
//! the last two; parts of the graph that few arcs leave all converge at about the same rate, so one f serves them.
//!
//! A sweep that changes the sums in brackets by δ = Σ_v |Δ(v)| leaves a residual ‖ρ‖₁ of at most α δ, because
//! only the changes have not been taken into account, and each is passed on with weight at most α in total. r = x / Σ x,
//! which is what is asked for, has the residual (ρ − (Σ ρ) b) / Σ x in the equation of PageRank, so that
//!
//! ```text
//! ‖r − r*‖₁ ≤ (α δ + |Σ ρ|) / ((1 − α) Σ x)
//! ```
//!
//! and that is at most the tolerance at the end.
//!
//! Memory: 4 bytes per arc of the core (8 with weights), and, for k right-hand sides, 56 k + 40 bytes per
//! node. Time: O(n + m) per sweep; a crawl of ten sites takes 34 sweeps for 10⁻⁹, and 105 iterations of the power
//! method.
//!
//! Sources: Arvind Arasu, Jasmine Novak, Andrew Tomkins and John Tomlin, "PageRank computation and the structure
//! of the web", 2002; the extrapolation with one difference is that of Donald Anderson, "Iterative procedures for
//! nonlinear integral equations", 1965.

use std::ops::Range;

use rayon::prelude::*;

use super::super::super::View;
use super::super::Iterated;
use super::super::matrix::{Stop, sum};
use super::super::trim::{Place, Trim};
use super::block::{Block, Lanes, Swept, add};
use super::{Dangling, Settings};
use crate::{Pulse, Result};

/// The number of waves of a sweep.
const WAVES: usize = 8;
/// The number of arcs and nodes below which a block is not worth a thread's while.
const SMALLEST: u64 = if cfg!(test) { 8 } else { 1 << 14 };
/// The maximum number of blocks: more of them would make the waves wider than the machines.
const MOST: u64 = 256;
/// The number of nodes whose shares are in a core's cache.
const SMALL: usize = if cfg!(test) { 32 } else { 1 << 16 };
/// The number of sweeps between two extrapolations.
const PERIOD: u32 = 5;
/// The maximum factor of an extrapolation.
const FARTHEST: f64 = 20.0;
/// The number of nodes of a round from which on it is computed in parallel.
const ROUND: usize = 1 << 12;

/// The number of a node outside the core.
const NONE: u32 = u32::MAX;

/// The equations of a graph.
pub(super) struct System<'a> {
    forward: View<'a>,
    backward: View<'a>,
    damping: f64,
    stay: bool,
    trim: Trim,
    /// Consecutive nodes that make a block.
    ranges: Vec<Range<usize>>,
    /// The number of core nodes before each block, and of all.
    starts: Vec<u32>,
    /// The number of each core node among them; [`NONE`] for others.
    numbers: Vec<u32>,
}

impl<'a> System<'a> {
    /// The equations of a graph, given its lists and those of its transpose.
    pub fn of(
        forward: View<'a>,
        backward: View<'a>,
        settings: &Settings,
        pulse: &Pulse,
    ) -> Result<System<'a>> {
        let trim = Trim::of(forward, backward, pulse)?;
        let work = |node: usize| match trim.places[node] {
            Place::Core => backward.outdegree(node) as u64 + 1,
            _ => 0,
        };
        let total: u64 = (0..forward.nodes()).map(work).sum();
        let size = (total / MOST).max(SMALLEST);
        let (mut ranges, mut starts, mut numbers) = (Vec::new(), vec![0], vec![NONE; forward.nodes()]);
        let (mut first, mut cores, mut load) = (0, 0, 0);
        for (node, number) in numbers.iter_mut().enumerate() {
            if trim.places[node] == Place::Core {
                *number = cores;
                cores += 1;
                load += work(node);
            }
            if load >= size || (node + 1 == forward.nodes() && load > 0) {
                ranges.push(first..node + 1);
                starts.push(cores);
                (first, load) = (node + 1, 0);
            }
        }
        let stay = settings.dangling == Dangling::Stay;
        Ok(System { forward, backward, damping: settings.damping, stay, trim, ranges, starts, numbers })
    }

    /// W/α, by which a node's share becomes its value; 1 for a dangling node, whose share nobody reads.
    fn scale(&self, node: usize) -> f64 {
        let weight = self.forward.weight(node);
        if weight == 0.0 { 1.0 } else { weight / self.damping }
    }

    /// 1/c.
    fn divisor(&self, node: usize) -> f64 {
        let scale = self.scale(node);
        match self.forward.successors(node).binary_search(&(node as u32)) {
            Ok(at) => {
                let at = self.forward.range(node).start + at;
                scale - self.forward.weights.map_or(1.0, |weights| f64::from(weights[at]))
            }
            Err(_) if self.stay && self.forward.outdegree(node) == 0 => 1.0 - self.damping,
            Err(_) => scale,
        }
    }

    /// The weight of the arcs of a core node to others in the core.
    fn kept(&self, node: usize) -> f64 {
        let Some(weights) = self.forward.weights else { return f64::from(self.trim.kept[node]) };
        let arcs = self.forward.range(node).filter(|at| {
            let target = self.forward.targets[*at] as usize;
            target != node && self.numbers[target] != NONE
        });
        arcs.map(|at| f64::from(weights[at])).sum()
    }

    /// The sum of the values of the dangling nodes.
    pub fn dangling(&self, values: &[f64]) -> f64 {
        sum(values.len(), |node| if self.forward.weight(node) == 0.0 { values[node] } else { 0.0 })
    }

    /// What a node receives, given the shares of its predecessors.
    fn received<const L: usize>(&self, node: usize, base: Lanes<L>, shares: &[Lanes<L>]) -> Lanes<L> {
        let mut sum = base;
        for at in self.backward.range(node) {
            let source = self.backward.targets[at] as usize;
            if source != node {
                let weight = self.backward.weights.map_or(1.0, |weights| f64::from(weights[at]));
                add(&mut sum, weight, &shares[source]);
            }
        }
        sum
    }

    /// Computes nodes outside the core round by round.
    fn settle<'r, const L: usize>(
        &self,
        rounds: impl Iterator<Item = &'r [u32]>,
        base: &(impl Fn(usize) -> Lanes<L> + Sync),
        shares: &mut [Lanes<L>],
        pulse: &Pulse,
    ) -> Result<()> {
        for round in rounds {
            let seen: &[Lanes<L>] = shares;
            let one = |node: &u32| {
                let node = *node as usize;
                let divisor = self.divisor(node);
                self.received(node, base(node), seen).map(|sum| sum / divisor)
            };
            let new: Vec<Lanes<L>> = if round.len() < ROUND {
                pulse.beat()?;
                round.iter().map(one).collect()
            } else {
                let chunks = round.par_chunks(ROUND).map(|chunk| {
                    pulse.beat()?;
                    Ok(chunk.iter().map(one).collect::<Vec<_>>())
                });
                chunks.collect::<Result<Vec<_>>>()?.concat()
            };
            round.iter().zip(new).for_each(|(node, share)| shares[*node as usize] = share);
        }
        Ok(())
    }

    /// The block with this number; the shares of nodes in the core are still 0.
    fn block<const L: usize>(
        &self,
        number: usize,
        base: &(impl Fn(usize) -> Lanes<L> + Sync),
        shares: &[Lanes<L>],
    ) -> Block<L> {
        let (range, start) = (self.ranges[number].clone(), self.starts[number]);
        let length = self.starts[number + 1] - start;
        let longest = range.clone().map(|node| self.backward.outdegree(node)).max().unwrap_or(0);
        let arcs = self.backward.offsets[range.end] - self.backward.offsets[range.start];
        let mut block = Block::<L> {
            start: start as usize,
            sources: Vec::with_capacity(arcs as usize),
            ..Block::default()
        };
        // As the shares of the core are 0, they are not asked for, or added anyway where that costs less.
        let small = self.numbers.len() < SMALL;
        // Predecessors in other blocks, and in this one, with where they are in the list of the node. Whether
        // one is in the core, and in which block, is unpredictable: it is written, and then counted or not.
        let (mut outside, mut inside) = (vec![(0, 0); longest + 1], vec![(0, 0); longest + 1]);
        for node in range.filter(|node| self.numbers[*node] != NONE) {
            let (mut others, mut own, mut received) = (0, 0, base(node));
            let arcs = self.backward.range(node);
            for (place, at) in (0u32..).zip(arcs.clone()) {
                let source = self.backward.targets[at] as usize;
                let number = self.numbers[source];
                let counts = number != NONE && source != node;
                let here = number.wrapping_sub(start) < length;
                (outside[others], inside[own]) = ((number, place), (number.wrapping_sub(start), place));
                others += usize::from(counts && !here);
                own += usize::from(counts && here);
                if small || number == NONE {
                    let weight = self.backward.weights.map_or(1.0, |weights| f64::from(weights[at]));
                    add(&mut received, weight, &shares[source]);
                }
            }
            let chosen = outside[..others].iter().chain(&inside[..own]);
            block.sources.extend(chosen.clone().map(|(number, _)| *number));
            if let Some(weights) = self.backward.weights {
                let weights = &weights[arcs];
                block.weights.extend(chosen.map(|(_, place)| weights[*place as usize]));
            }
            let end = block.sources.len();
            block.ends.push(((end - own) as u32, end as u32));
            block.base.push(received);
            let divisor = self.divisor(node);
            block.divisors.push(divisor);
            block.leaks.push(divisor - self.kept(node));
        }
        block.shares = vec![[0.0; L]; block.base.len()];
        block.changes = block.shares.clone();
        block
    }

    /// The solutions for the given right-hand sides, at most `L`.
    pub fn solve<const L: usize>(
        &self,
        sides: &[&[f64]],
        stop: &Stop,
        pulse: &Pulse,
    ) -> Result<Vec<Iterated>> {
        let base = |node: usize| {
            let mut base = [0.0; L];
            sides.iter().enumerate().for_each(|(lane, side)| base[lane] = side[node]);
            base
        };
        let mut shares = vec![[0.0; L]; self.forward.nodes()];
        self.settle(self.trim.before.iter(), &base, &mut shares, pulse)?;
        let mut settled = [0.0; L];
        for round in self.trim.before.iter() {
            for node in round {
                add(&mut settled, self.scale(*node as usize), &shares[*node as usize]);
            }
        }
        let blocks = (0..self.ranges.len()).into_par_iter().map(|number| {
            pulse.beat()?;
            Ok(self.block(number, &base, &shares))
        });
        let mut waves: Vec<Vec<Block<L>>> = (0..WAVES).map(|_| Vec::new()).collect();
        for (number, block) in blocks.collect::<Result<Vec<_>>>()?.into_iter().enumerate() {
            waves[number % WAVES].push(block);
        }
        let mut given = [0.0; L];
        waves.iter().flatten().flat_map(|block| &block.base).for_each(|base| add(&mut given, 1.0, base));
        let mut core = vec![[0.0; L]; waves.iter().flatten().map(|block| block.base.len()).sum()];
        let (mut iterations, mut residual, mut scale) = (0, 0.0, [1.0; L]);
        let mut converged = core.is_empty();
        while !converged && iterations < stop.iterations {
            let mut swept = Swept::NOTHING;
            for wave in &mut waves {
                for block in sweep(wave, &scale, &core, pulse)? {
                    swept.add(&block);
                }
                publish(wave, &mut core);
            }
            iterations += 1;
            residual = error(&swept, &scale, &given, &settled, self.damping);
            converged = stop.reached(residual, pulse);
            if converged || iterations == stop.iterations {
                break;
            }
            if iterations % PERIOD == 0 {
                let factor = std::array::from_fn(|lane| match -swept.product[lane] / swept.square[lane] {
                    factor if factor.is_finite() => factor.clamp(-0.5, FARTHEST),
                    _ => 0.0,
                });
                for wave in &mut waves {
                    wave.par_iter_mut().for_each(|block| block.extrapolate(&factor));
                    publish(wave, &mut core);
                }
            } else {
                for lane in 0..L {
                    if swept.leak[lane] > 0.0 {
                        scale[lane] = swept.leak[lane] / given[lane];
                    }
                }
            }
        }
        for (range, block) in self.ranges.iter().zip(in_order(&waves)) {
            let nodes = range.clone().filter(|node| self.numbers[*node] != NONE);
            for (node, share) in nodes.zip(&block.shares) {
                shares[node] = std::array::from_fn(|lane| share[lane] / scale[lane]);
            }
        }
        drop(waves);
        self.settle(self.trim.after.iter().rev(), &base, &mut shares, pulse)?;
        let lanes = (0..sides.len()).map(|lane| {
            let values = (0..shares.len()).into_par_iter().map(|node| shares[node][lane] * self.scale(node));
            Iterated { values: values.collect(), iterations, residual, converged }
        });
        Ok(lanes.collect())
    }
}

/// The blocks of all waves, by their first nodes.
fn in_order<const L: usize>(waves: &[Vec<Block<L>>]) -> impl Iterator<Item = &Block<L>> {
    (0..).map_while(|number| waves[number % WAVES].get(number / WAVES))
}

/// Computes the blocks of a wave in parallel.
fn sweep<const L: usize>(
    wave: &mut [Block<L>],
    scale: &Lanes<L>,
    core: &[Lanes<L>],
    pulse: &Pulse,
) -> Result<Vec<Swept<L>>> {
    let blocks = wave.par_iter_mut().map(|block| {
        pulse.beat()?;
        Ok(block.sweep(scale, core))
    });
    blocks.collect()
}

/// Copies the newest shares of a wave to where all blocks see them.
fn publish<const L: usize>(wave: &[Block<L>], core: &mut [Lanes<L>]) {
    let (mut rest, mut at) = (core, 0);
    let mut places = Vec::with_capacity(wave.len());
    for block in wave {
        let (_, from) = rest.split_at_mut(block.start - at);
        let (place, after) = from.split_at_mut(block.shares.len());
        (rest, at) = (after, block.start + block.shares.len());
        places.push((place, block));
    }
    places.into_par_iter().for_each(|(place, block)| place.copy_from_slice(&block.shares));
}

/// The bound of the error of x / Σ x, the largest of all right-hand sides.
fn error<const L: usize>(
    swept: &Swept<L>,
    scale: &Lanes<L>,
    given: &Lanes<L>,
    settled: &Lanes<L>,
    damping: f64,
) -> f64 {
    let one = |lane: usize| match swept.change[lane] {
        0.0 => 0.0,
        change => {
            let missing = (scale[lane] * given[lane] - swept.leak[lane]).abs();
            let total = scale[lane] * settled[lane] + swept.total[lane];
            (damping * change + missing) / ((1.0 - damping) * total)
        }
    };
    (0..L).map(one).fold(0.0, f64::max)
}
