//! Distances between all pairs of nodes, summed for each node.
//!
//! d(y, x) is the number of arcs of a shortest path from y to x, infinite if there is none. For a node x and all
//! *other* nodes y with a finite d(y, x): how many they are, Σ d(y, x), Σ 1/d(y, x), and the largest d(y, x), the
//! eccentricity of x. Closeness, Lin's index and harmonic centrality are functions of these (P. Boldi and
//! S. Vigna, "Axioms for centrality", Internet Mathematics 10, 2014).
//!
//! Cost: a search for each node that has successors, 512 at a time ([`ManyBfs`]), batches in parallel. The sums
//! are integers, the reciprocals in units of 2^-80, so their order does not matter: the result is the same on
//! any number of threads, and the rounding of Σ 1/d is that of its conversion to `f64`.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::View;
use super::many_bfs::{self, ManyBfs, Row, SOURCES, Visit, Ways};
use crate::{Error, Pulse, Result};

/// The memory that the searches of all threads may take; one runs in any case.
const MEMORY: usize = 4 << 30;

/// Bits after the point of a sum of reciprocals: 2^32 nodes leave it below 2^112.
const POINT: u32 = 80;

/// The distances between a node and all others, summed; an entry for each node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DistanceSums {
    /// The number of other nodes at a finite distance.
    pub reachable: Vec<f64>,
    /// The sum of the finite distances.
    pub distance: Vec<f64>,
    /// The sum of the reciprocals of the distances, each times the weight of the other node.
    pub harmonic: Vec<f64>,
    /// The largest finite distance.
    pub eccentricity: Vec<f64>,
    /// The number of pairs of these nodes and others at each distance, from 0.
    pub pairs: Vec<u64>,
}

/// The sums of the distances to every node from all others; from it, if `along` is the transpose, `against` the
/// graph. Self-loops and weights of arcs do not matter.
pub fn distance_sums(along: View, against: View, pulse: &Pulse) -> Result<DistanceSums> {
    let nodes = along.nodes();
    let sources: Vec<u32> = (0..nodes as u32).filter(|node| along.outdegree(*node as usize) > 0).collect();
    let new = || Targets { nodes: vec![Target::default(); nodes], pairs: Vec::new(), reciprocal: (0, 0) };
    let bytes = size_of::<Target>();
    let merge = |mut one: Targets, other: Targets| {
        one.nodes.iter_mut().zip(&other.nodes).for_each(|(one, other)| one.add(other));
        add_pairs(&mut one.pairs, &other.pairs);
        one
    };
    let batch = |targets: &mut Targets, search: &mut ManyBfs, _at: usize, batch: &[u32]| {
        search.search(Ways { along, against }, batch, targets, pulse)
    };
    let workers = in_batches(nodes, &sources, bytes, new, batch, pulse)?;
    let total = workers.into_iter().reduce(merge).unwrap_or_else(new);
    let mut sums = DistanceSums::with_capacity(nodes);
    for target in &total.nodes {
        let harmonic = target.harmonic as f64 / (1u128 << POINT) as f64;
        sums.push(u64::from(target.reachable), target.distance, harmonic, target.eccentricity);
    }
    sums.pairs = vec![nodes as u64];
    sums.pairs.extend(total.pairs.iter().skip(1));
    Ok(sums)
}

/// The sums of the distances from each of these nodes to all others, with a weight for each node; to it, if
/// `along` is the transpose. Cost: one step for each pair at a finite distance, besides the searches.
pub fn distance_sums_of(
    along: View,
    against: View,
    of: &[u32],
    weights: Option<&[f64]>,
    pulse: &Pulse,
) -> Result<DistanceSums> {
    let nodes = along.nodes();
    if let Some(node) = of.iter().find(|node| **node as usize >= nodes) {
        return Err(Error::Invalid(format!("there is no node {node} in a graph of {nodes} nodes")));
    }
    if let Some(weights) = weights.filter(|weights| weights.len() != nodes) {
        return Err(Error::Invalid(format!("there are {} weights for {nodes} nodes", weights.len())));
    }
    type Done = Vec<(usize, Vec<Source>, Vec<u64>)>;
    let batch = |done: &mut Done, search: &mut ManyBfs, at: usize, batch: &[u32]| {
        let mut sums = Sources::new(batch.len(), weights);
        search.search(Ways { along, against }, batch, &mut sums, pulse)?;
        done.push((at, sums.sums, sums.pairs));
        Ok(())
    };
    let mut batches = in_batches(nodes, of, 0, Done::new, batch, pulse)?.concat();
    batches.sort_by_key(|(at, ..)| *at);
    let mut sums = DistanceSums::with_capacity(of.len());
    sums.pairs = vec![of.len() as u64];
    for (_, sources, pairs) in &batches {
        for source in sources {
            sums.push(source.reachable, source.distance, source.harmonic, source.eccentricity);
        }
        add_pairs(&mut sums.pairs, pairs);
    }
    Ok(sums)
}

/// The distance of every node from a source, along the lists; `u32::MAX` where there is no path. Cost: O(n + m).
pub fn distances_from(along: View, source: usize, pulse: &Pulse) -> Result<Vec<u32>> {
    let nodes = along.nodes();
    if source >= nodes {
        return Err(Error::Invalid(format!("there is no node {source} in a graph of {nodes} nodes")));
    }
    let mut distances = vec![u32::MAX; nodes];
    distances[source] = 0;
    let mut queue = vec![source as u32];
    let mut at = 0;
    while let Some(node) = queue.get(at) {
        if at.is_multiple_of(1 << 12) {
            pulse.beat()?;
        }
        at += 1;
        let distance = distances[*node as usize] + 1;
        for target in along.successors(*node as usize) {
            if distances[*target as usize] == u32::MAX {
                distances[*target as usize] = distance;
                queue.push(*target);
            }
        }
    }
    Ok(distances)
}

/// Runs `batch` on every batch of the sources, on as many threads as the memory allows, each with what `new`
/// makes, of `bytes` a node; returns these.
fn in_batches<T: Send>(
    nodes: usize,
    sources: &[u32],
    bytes: usize,
    new: impl Fn() -> T + Sync,
    batch: impl Fn(&mut T, &mut ManyBfs, usize, &[u32]) -> Result<()> + Sync,
    pulse: &Pulse,
) -> Result<Vec<T>> {
    let batches = sources.len().div_ceil(SOURCES);
    pulse.set(0, batches as u64);
    let affordable = MEMORY / (nodes.max(1) * (many_bfs::BYTES_PER_NODE + bytes));
    let workers = rayon::current_num_threads().min(batches).min(affordable.max(1));
    let next = AtomicUsize::new(0);
    let work = |_| {
        let (mut made, mut search) = (new(), ManyBfs::new(nodes));
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(sources) = sources.chunks(SOURCES).nth(at) else { return Ok(made) };
            batch(&mut made, &mut search, at, sources)?;
            pulse.add(1);
        }
    };
    (0..workers).into_par_iter().with_max_len(1).map(work).collect()
}

fn add_pairs(pairs: &mut Vec<u64>, others: &[u64]) {
    pairs.resize(pairs.len().max(others.len()), 0);
    pairs.iter_mut().zip(others).for_each(|(pairs, others)| *pairs += others);
}

impl DistanceSums {
    fn with_capacity(nodes: usize) -> DistanceSums {
        let new = || Vec::with_capacity(nodes);
        let pairs = Vec::new();
        DistanceSums { reachable: new(), distance: new(), harmonic: new(), eccentricity: new(), pairs }
    }

    fn push(&mut self, reachable: u64, distance: u64, harmonic: f64, eccentricity: u32) {
        self.reachable.push(reachable as f64);
        self.distance.push(distance as f64);
        self.harmonic.push(harmonic);
        self.eccentricity.push(f64::from(eccentricity));
    }
}

/// The sums of a node that is reached.
#[derive(Clone, Default)]
struct Target {
    harmonic: u128,
    distance: u64,
    reachable: u32,
    eccentricity: u32,
}

impl Target {
    fn add(&mut self, other: &Target) {
        self.harmonic += other.harmonic;
        self.distance += other.distance;
        self.reachable += other.reachable;
        self.eccentricity = self.eccentricity.max(other.eccentricity);
    }
}

/// The sums of all nodes as they are reached: a popcount for each node and level.
struct Targets {
    nodes: Vec<Target>,
    pairs: Vec<u64>,
    /// The distance of the level, and its reciprocal in units of 2^-[`POINT`].
    reciprocal: (u32, u128),
}

impl Visit for Targets {
    #[inline(always)]
    fn reached(&mut self, node: usize, sources: &Row, distance: u32) {
        if self.reciprocal.0 != distance {
            self.reciprocal = (distance, (1 << POINT) / u128::from(distance));
            self.pairs.resize(self.pairs.len().max(distance as usize + 1), 0);
        }
        let count = sources.count();
        self.nodes[node].add(&Target {
            harmonic: u128::from(count) * self.reciprocal.1,
            distance: u64::from(count) * u64::from(distance),
            reachable: count,
            eccentricity: distance,
        });
        self.pairs[distance as usize] += u64::from(count);
    }
}

/// The sums of a source.
#[derive(Clone, Default)]
struct Source {
    reachable: u64,
    distance: u64,
    harmonic: f64,
    eccentricity: u32,
}

/// The sums of the sources of a batch: a step for each pair.
struct Sources<'a> {
    weights: Option<&'a [f64]>,
    /// The number and the weight of the nodes that each source reaches at this level.
    level: Vec<(u64, f64)>,
    sums: Vec<Source>,
    pairs: Vec<u64>,
}

impl<'a> Sources<'a> {
    fn new(sources: usize, weights: Option<&'a [f64]>) -> Sources<'a> {
        Sources {
            weights,
            level: vec![(0, 0.0); sources],
            sums: vec![Source::default(); sources],
            pairs: vec![0],
        }
    }
}

impl Visit for Sources<'_> {
    #[inline(always)]
    fn reached(&mut self, node: usize, sources: &Row, _distance: u32) {
        let weight = self.weights.map_or(1.0, |weights| weights[node]);
        sources.for_each(|source| {
            let (count, sum) = &mut self.level[source];
            *count += 1;
            *sum += weight;
        });
    }

    fn level(&mut self, distance: u32) {
        let mut pairs = 0;
        for (source, (count, weight)) in self.sums.iter_mut().zip(&mut self.level) {
            if *count > 0 {
                pairs += *count;
                source.reachable += *count;
                source.distance += *count * u64::from(distance);
                source.harmonic += *weight / f64::from(distance);
                source.eccentricity = distance;
                (*count, *weight) = (0, 0.0);
            }
        }
        if pairs > 0 {
            self.pairs.push(pairs);
        }
    }
}
