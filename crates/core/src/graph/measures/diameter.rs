//! The diameter: the largest finite distance between two nodes, exactly, by a few searches where bounds allow it.
//!
//! The eccentricity of v is its largest finite distance along the lists. A search against them from w gives lower
//! bounds: e(v) ≥ d(v, w). Upper bounds follow from strong components: with a pivot p for the component of v,
//! e(v) ≤ d(v, p) + e(p), and e(p) ≤ max(the largest d(p, u) in the component, d(p, u) + 1 + d(w, q) + e(q)) over
//! the components that it has an arc u → w to, with pivot q, from the last to the first in topological order. The
//! same holds in the other direction, and the largest eccentricity is the diameter in both. Searches from the nodes
//! with the largest bounds alternate between the directions until, in one of them, no bound exceeds the largest
//! distance found. Where that takes many, they go on 512 at a time.
//!
//! Cost: O(n + m) for each search and each round of bounds, tens of them for most real graphs and at worst n / 512
//! of [`ManyBfs`](super::many_bfs); 40 bytes a node. Source: M. Borassi et al., "Fast diameter and radius BFS-based
//! computation in (weakly connected) real-world graphs", Theoretical Computer Science 586, 2015.

use std::cmp::Reverse;

use super::super::View;
use super::components::strong_labels;
use super::distances::{distance_sums_of, distances_from};
use super::many_bfs::SOURCES;
use crate::{Pulse, Result};

/// Searches one by one before they go on in batches.
const SINGLE: usize = 32;

/// The largest finite distance between two nodes of a graph, given with its transpose; 0 if no arc joins two.
pub fn diameter(forward: View, backward: View, pulse: &Pulse) -> Result<u32> {
    let labels = strong_labels(forward, pulse)?;
    // Every component after all that it reaches: their labels are larger.
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_unstable_by_key(|node| (Reverse(labels[*node as usize]), *node));
    let mut onward = Side::new(forward, backward, order.clone());
    order.reverse();
    let mut back = Side::new(backward, forward, order);
    let mut largest = 0;
    for round in 0.. {
        if round <= SINGLE {
            let pivots = pivots(&labels, &onward, &back);
            onward.tighten(&labels, &pivots, pulse)?;
            back.tighten(&labels, &pivots, pulse)?;
        }
        let (mut open, mut others) = (onward.open(largest), back.open(largest));
        pulse.set(largest.into(), largest.max(open.first().map_or(0, |(upper, _)| *upper)).into());
        if open.is_empty() || others.is_empty() {
            break;
        }
        let (mut side, mut other) = (&mut onward, &mut back);
        if if round < SINGLE { round % 2 == 1 } else { others.len() < open.len() } {
            std::mem::swap(&mut side, &mut other);
            std::mem::swap(&mut open, &mut others);
        }
        if round < SINGLE {
            largest = largest.max(side.search(open[0].1, other, pulse)?);
        } else {
            open.truncate(SOURCES * rayon::current_num_threads());
            largest = largest.max(side.search_all(&open, pulse)?);
        }
    }
    Ok(largest)
}

/// Of each component the node with the smallest lower bounds, and of these that with the most arcs: by label.
fn pivots(labels: &[u32], onward: &Side, back: &Side) -> Vec<u32> {
    let mut pivots = vec![u32::MAX; labels.len()];
    let bounds = |node: u32| {
        let node = node as usize;
        let arcs = onward.along.outdegree(node) + back.along.outdegree(node);
        (u64::from(onward.lower[node]) + u64::from(back.lower[node]), Reverse(arcs))
    };
    for (node, label) in labels.iter().enumerate() {
        let pivot = &mut pivots[*label as usize];
        if *pivot == u32::MAX || bounds(node as u32) < bounds(*pivot) {
            *pivot = node as u32;
        }
    }
    pivots
}

/// The eccentricities in one direction, between bounds.
struct Side<'a> {
    along: View<'a>,
    against: View<'a>,
    /// The nodes by component, each component after all that it reaches.
    order: Vec<u32>,
    lower: Vec<u32>,
    upper: Vec<u32>,
}

impl<'a> Side<'a> {
    fn new(along: View<'a>, against: View<'a>, order: Vec<u32>) -> Side<'a> {
        let nodes = order.len();
        Side { along, against, order, lower: vec![0; nodes], upper: vec![u32::MAX; nodes] }
    }

    /// The nodes whose eccentricity may exceed a distance, with their bounds, the largest first.
    fn open(&self, distance: u32) -> Vec<(u32, u32)> {
        let bounds = self.upper.iter().copied().zip(0..);
        let mut open: Vec<(u32, u32)> = bounds.filter(|(upper, _)| *upper > distance).collect();
        open.sort_unstable_by_key(|(upper, node)| (Reverse(*upper), *node));
        open
    }

    /// Finds the eccentricity of a node, and bounds for the other side.
    fn search(&mut self, node: u32, other: &mut Side, pulse: &Pulse) -> Result<u32> {
        let mut eccentricity = 0;
        let distances = distances_from(self.along, node as usize, pulse)?;
        for (lower, distance) in other.lower.iter_mut().zip(distances) {
            if distance != u32::MAX {
                *lower = (*lower).max(distance);
                eccentricity = eccentricity.max(distance);
            }
        }
        self.upper[node as usize] = eccentricity;
        self.lower[node as usize] = eccentricity;
        Ok(eccentricity)
    }

    /// Finds the eccentricities of some nodes; returns the largest.
    fn search_all(&mut self, open: &[(u32, u32)], pulse: &Pulse) -> Result<u32> {
        let nodes: Vec<u32> = open.iter().map(|(_, node)| *node).collect();
        let sums = distance_sums_of(self.along, self.against, &nodes, None, pulse)?;
        for (node, eccentricity) in nodes.iter().zip(&sums.eccentricity) {
            self.upper[*node as usize] = *eccentricity as u32;
        }
        Ok(sums.eccentricity.iter().fold(0.0, |one: f64, other| one.max(*other)) as u32)
    }

    /// Lowers the upper bounds by way of the pivots of the components.
    fn tighten(&mut self, labels: &[u32], pivots: &[u32], pulse: &Pulse) -> Result<()> {
        let from_pivot = within(self.along, labels, pivots, pulse)?;
        let to_pivot = within(self.against, labels, pivots, pulse)?;
        // The bound of the pivot of each component, by label, and the ways out of one: component, bound.
        let mut bounds = vec![0u32; labels.len()];
        let mut ways: Vec<(u32, u32)> = Vec::new();
        for nodes in self.order.chunk_by(|one, other| labels[*one as usize] == labels[*other as usize]) {
            pulse.beat()?;
            let label = labels[nodes[0] as usize];
            let mut bound = 0;
            ways.clear();
            for node in nodes.iter().map(|node| *node as usize) {
                bound = bound.max(from_pivot[node]);
                for target in self.along.successors(node).iter().map(|target| *target as usize) {
                    if labels[target] != label {
                        ways.push((labels[target], from_pivot[node] + 1 + to_pivot[target]));
                    }
                }
            }
            ways.sort_unstable();
            ways.dedup_by_key(|(component, _)| *component);
            for (component, length) in &ways {
                bound = bound.max(length.saturating_add(bounds[*component as usize]));
            }
            bound = bound.min(self.upper[pivots[label as usize] as usize]);
            bounds[label as usize] = bound;
            for node in nodes.iter().map(|node| *node as usize) {
                self.upper[node] = self.upper[node].min(to_pivot[node].saturating_add(bound));
            }
        }
        Ok(())
    }
}

/// The distance of each node from the pivot of its component: one search, from all pivots.
fn within(along: View, labels: &[u32], pivots: &[u32], pulse: &Pulse) -> Result<Vec<u32>> {
    let mut distances = vec![u32::MAX; labels.len()];
    let mut queue: Vec<u32> = pivots.iter().copied().filter(|pivot| *pivot != u32::MAX).collect();
    queue.iter().for_each(|pivot| distances[*pivot as usize] = 0);
    let mut at = 0;
    while let Some(node) = queue.get(at).map(|node| *node as usize) {
        if at.is_multiple_of(1 << 12) {
            pulse.beat()?;
        }
        at += 1;
        for target in along.successors(node) {
            let (target, label) = (*target as usize, labels[node]);
            if distances[target] == u32::MAX && labels[target] == label {
                distances[target] = distances[node] + 1;
                queue.push(target as u32);
            }
        }
    }
    Ok(distances)
}
