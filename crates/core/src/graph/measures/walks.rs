//! Walks of a given length: powers of the adjacency matrix.
//!
//! The entry (x, y) of Aᵏ is the number of walks (paths that may repeat nodes) of k arcs from x to y, parallel arcs counted
//! by their weights, and (Aᵀ)ᵏ v at y is the sum of the weights v(x) of the nodes where those that end in y
//! start. O(k (n + m)) for a vector or for one node's walks.

use super::super::View;
use super::matrix::{Matrix, check_weights};
use crate::{Error, Pulse, Result};

/// The number of nodes between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 12;
/// The maximum number of nodes of a graph whose matrix of counts is made: 128 MiB.
const MOST_NODES: usize = 1 << 12;

/// (Aᵀ)ᵏ v, given the lists of the transpose; 16 bytes per node.
pub fn walks(backward: View, length: u32, start: &[f64], pulse: &Pulse) -> Result<Vec<f64>> {
    check_weights(start, backward.nodes(), "start")?;
    let matrix = Matrix::of(backward);
    let (mut values, mut next) = (start.to_vec(), vec![0.0; start.len()]);
    for step in 0..length {
        pulse.set(u64::from(step), u64::from(length));
        matrix.multiply(&values, &mut next, |_, received| received, pulse)?;
        std::mem::swap(&mut values, &mut next);
    }
    Ok(values)
}

/// The number of walks of `length` arcs from a node to each node, exact; 32 bytes per node.
pub fn walks_from(forward: View, length: u32, source: usize, pulse: &Pulse) -> Result<Vec<u128>> {
    let nodes = forward.nodes();
    if source >= nodes {
        let reason = format!("there is no node {source}: they go from 0 to {}", nodes as i64 - 1);
        return Err(Error::Invalid(reason));
    }
    let (mut counts, mut next) = (vec![0u128; nodes], vec![0u128; nodes]);
    counts[source] = 1;
    for step in 0..length {
        pulse.set(u64::from(step), u64::from(length));
        next.fill(0);
        for (node, count) in counts.iter().enumerate() {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            if *count == 0 {
                continue;
            }
            for at in forward.range(node) {
                let weight = forward.weights.map_or(1, |weights| u128::from(weights[at]));
                let place = &mut next[forward.targets[at] as usize];
                let sum = count.checked_mul(weight).and_then(|walks| place.checked_add(walks));
                *place = sum.ok_or_else(|| {
                    Error::Invalid(format!("there are 2^128 or more walks of length {}", step + 1))
                })?;
            }
        }
        std::mem::swap(&mut counts, &mut next);
    }
    Ok(counts)
}

/// Aᵏ by rows, exact, of a small graph.
pub fn walk_matrix(forward: View, length: u32, pulse: &Pulse) -> Result<Vec<u64>> {
    let nodes = forward.nodes();
    if nodes > MOST_NODES {
        let reason =
            format!("a matrix of counts is for at most {MOST_NODES} nodes, and the graph has {nodes}");
        return Err(Error::Invalid(reason));
    }
    let mut matrix = Vec::with_capacity(nodes * nodes);
    for source in 0..nodes {
        for count in walks_from(forward, length, source, pulse)? {
            let count = u64::try_from(count).map_err(|_| {
                Error::Invalid(format!("there are 2^64 or more walks of length {length} from node {source}"))
            })?;
            matrix.push(count);
        }
    }
    Ok(matrix)
}
