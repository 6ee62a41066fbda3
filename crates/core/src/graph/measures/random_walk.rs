//! Random-walk betweenness: how often a random walk between two other nodes passes through a node.
//!
//! Shortest paths give a bridge between two communities an enormous betweenness that one more arc takes away.
//! Here a walk from s to t takes any edge, and what counts is its net flow through a node, which is the
//! current through it when one ampere enters a network of unit resistors at s and leaves it at t: b(x) =
//! Σ I_x(s, t) over the pairs s < t of other nodes in x's component. Arcs are edges of both directions here;
//! self-loops and parallel arcs do not count.
//!
//! With T the inverse of the Laplacian without the row and column of one node, the current through an edge
//! (u, v) is |x_s - x_t| for x = T_u - T_v, and the sum over all pairs comes from sorting x. For a component
//! of k nodes with e edges: O(k³ + e k log k) time by Cholesky's factorisation, 16 k² bytes. Sums are in a
//! fixed order: the result has the same bits on any number of threads.
//!
//! Source: Mark Newman, "A measure of betweenness centrality based on random walks", 2005.

use rayon::prelude::*;

use super::super::View;
use super::components::{room, weak_components};
use crate::{Error, Pulse, Result};

/// The largest component that is computed.
const MOST_NODES: usize = 4000;
/// How many columns or rows of a matrix are processed together, so that they stay in the cache.
const BLOCK: usize = 32;

/// The random-walk betweenness of each node.
pub fn random_walk_betweenness(graph: View, pulse: &Pulse) -> Result<Vec<f64>> {
    let nodes = graph.nodes();
    room(nodes)?;
    let components = weak_components(graph, pulse)?;
    let largest = components.sizes.first().map_or(0, |size| *size as usize);
    if largest > MOST_NODES {
        return Err(Error::Invalid(format!(
            "random-walk betweenness of a component of {largest} nodes would take {:.1} GiB of memory: at most \
             {MOST_NODES} nodes",
            (largest as f64).powi(2) * 16.0 / f64::from(1 << 30)
        )));
    }
    // The place of each node in its component, and the nodes and edges of each component of at least three.
    let large = components.sizes.iter().take_while(|size| **size > 2).count();
    let (mut members, mut edges) = (vec![Vec::new(); large], vec![Vec::new(); large]);
    let mut places = vec![0u32; nodes];
    for (node, label) in components.labels.iter().enumerate() {
        if let Some(members) = members.get_mut(*label as usize) {
            places[node] = members.len() as u32;
            members.push(node);
        }
    }
    for (node, label) in components.labels.iter().enumerate() {
        if let Some(edges) = edges.get_mut(*label as usize) {
            let ends = |successor: &u32| (places[node], places[*successor as usize]);
            let between = graph.successors(node).iter().map(ends).filter(|(one, other)| one != other);
            edges.extend(between.map(|(one, other)| (one.min(other), one.max(other))));
        }
    }
    pulse.set(0, components.sizes[..large].iter().map(|size| 2 * size).sum());
    let mut values = vec![0.0; nodes];
    for (members, mut edges) in members.into_iter().zip(edges) {
        edges.sort_unstable();
        edges.dedup();
        for (node, value) in members.iter().zip(flows(members.len(), &edges, pulse)?) {
            values[*node] = value;
        }
    }
    Ok(values)
}

/// The sums of the currents through the nodes of a connected graph.
fn flows(nodes: usize, edges: &[(u32, u32)], pulse: &Pulse) -> Result<Vec<f64>> {
    let inverse = inverse(laplacian(nodes, edges), nodes - 1, pulse)?;
    let potential = |node: usize, at: usize| {
        if node.max(at) == nodes - 1 { 0.0 } else { inverse[node * (nodes - 1) + at] }
    };
    // For an edge: the currents of all pairs, of those with its first end, and of those with its second.
    let currents = |(one, other): &(u32, u32)| -> Result<[f64; 3]> {
        pulse.beat()?;
        let (one, other) = (*one as usize, *other as usize);
        let mut flow: Vec<f64> = (0..nodes).map(|at| potential(one, at) - potential(other, at)).collect();
        let with = |end: usize| flow.iter().map(|value| (value - flow[end]).abs()).sum::<f64>();
        let ends = [with(one), with(other)];
        flow.sort_unstable_by(f64::total_cmp);
        let weigh = |(at, value): (usize, &f64)| (2 * at) as f64 * value - (nodes - 1) as f64 * value;
        Ok([flow.iter().enumerate().map(weigh).sum(), ends[0], ends[1]])
    };
    let mut sums = vec![0.0; nodes];
    for some in edges.chunks(1 << 12) {
        let found: Vec<[f64; 3]> = some.par_iter().map(currents).collect::<Result<_>>()?;
        for ((one, other), [all, with_one, with_other]) in some.iter().zip(found) {
            sums[*one as usize] += (all - with_one) / 2.0;
            sums[*other as usize] += (all - with_other) / 2.0;
        }
    }
    Ok(sums)
}

/// The Laplacian without its last row and column, by rows.
fn laplacian(nodes: usize, edges: &[(u32, u32)]) -> Vec<f64> {
    let size = nodes - 1;
    let mut matrix = vec![0.0; size * size];
    for (one, other) in edges {
        let (one, other) = (*one as usize, *other as usize);
        matrix[one * size + one] += 1.0;
        if other < size {
            matrix[other * size + other] += 1.0;
            matrix[one * size + other] = -1.0;
            matrix[other * size + one] = -1.0;
        }
    }
    matrix
}

/// The inverse of a symmetric positive definite matrix.
fn inverse(mut factor: Vec<f64>, size: usize, pulse: &Pulse) -> Result<Vec<f64>> {
    // Cholesky's factor L with L Lᵀ = A, in place, a block of columns at a time.
    for start in (0..size).step_by(BLOCK) {
        let end = (start + BLOCK).min(size);
        let (above, below) = factor.split_at_mut(end * size);
        for row in start..end {
            let (before, own) = above.split_at_mut(row * size);
            eliminate(&mut own[..size], before, start..row, size);
            let pivot = own[row] - dot(&own[..row], &own[..row]);
            own[row] = pivot.max(f64::MIN_POSITIVE).sqrt();
        }
        let above = &*above;
        below.par_chunks_mut(size).try_for_each(|own| {
            pulse.beat()?;
            eliminate(own, above, start..end, size);
            Ok(())
        })?;
        pulse.add((end - start) as u64);
    }
    // Columns of the inverse: L y = e, then Lᵀ x = y; what is above the diagonal follows from symmetry.
    let mut inverse = vec![0.0; size * size];
    inverse.par_chunks_mut(BLOCK * size).enumerate().try_for_each(|(block, rows)| -> Result<()> {
        let start = block * BLOCK;
        let mut columns = vec![[0.0f64; BLOCK]; size - start];
        (0..rows.len() / size).for_each(|column| columns[column][column] = 1.0);
        for row in start..size {
            pulse.beat()?;
            let own = &factor[row * size..row * size + row + 1];
            let (before, rest) = columns.split_at_mut(row - start);
            for (value, known) in own[start..row].iter().zip(before.iter()) {
                rest[0].iter_mut().zip(known).for_each(|(sum, known)| *sum -= value * known);
            }
            rest[0].iter_mut().for_each(|sum| *sum /= own[row]);
        }
        for row in (start..size).rev() {
            pulse.beat()?;
            let own = &factor[row * size..row * size + row + 1];
            let (before, rest) = columns.split_at_mut(row - start);
            rest[0].iter_mut().for_each(|value| *value /= own[row]);
            for (value, sums) in own[start..row].iter().zip(before.iter_mut()) {
                sums.iter_mut().zip(&rest[0]).for_each(|(sum, known)| *sum -= value * known);
            }
        }
        for (column, row) in rows.chunks_mut(size).enumerate() {
            row[start..].iter_mut().zip(&columns).for_each(|(place, values)| *place = values[column]);
        }
        pulse.add((rows.len() / size) as u64);
        Ok(())
    })?;
    for row in 1..size {
        let (before, own) = inverse.split_at_mut(row * size);
        (0..row).for_each(|column| own[column] = before[column * size + row]);
    }
    Ok(inverse)
}

/// Computes the entries of a row of the factor in some columns, whose rows of the factor are known.
fn eliminate(own: &mut [f64], known: &[f64], columns: std::ops::Range<usize>, size: usize) {
    for column in columns {
        let other = &known[column * size..column * size + column + 1];
        own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
    }
}

/// The scalar product, in eight sums that the compiler can keep in vectors.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f64 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0; 8];
    for (one, other) in ones.zip(others) {
        sums.iter_mut().zip(one.iter().zip(other)).for_each(|(sum, (one, other))| *sum += one * other);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::graph::measures::slow::arcs;
    use proptest::prelude::*;

    /// The potentials when one ampere flows from one node to another, by relaxation.
    fn potentials(adjacent: &[Vec<usize>], from: usize, to: usize) -> Vec<f64> {
        let mut values = vec![0.0; adjacent.len()];
        for _ in 0..20_000 {
            for node in (0..adjacent.len()).filter(|node| *node != to && !adjacent[*node].is_empty()) {
                let sum: f64 = adjacent[node].iter().map(|other| values[*other]).sum();
                values[node] = (sum + f64::from(u8::from(node == from))) / adjacent[node].len() as f64;
            }
        }
        values
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn is_the_net_flow_of_all_pairs((nodes, arcs) in arcs(7, 14)) {
            let graph = Adjacency::from_arcs(nodes, arcs.clone(), true, &Pulse::STEADY).unwrap();
            let adjacent: Vec<Vec<usize>> = (0..nodes).map(|node| {
                (0..nodes).filter(|other| *other != node && (arcs.contains(&(node as u32, *other as u32))
                    || arcs.contains(&(*other as u32, node as u32)))).collect()
            }).collect();
            let weak = weak_components(graph.view(), &Pulse::STEADY).unwrap().labels;
            let mut expected = vec![0.0; nodes];
            for from in 0..nodes {
                for to in (from + 1..nodes).filter(|to| weak[*to] == weak[from]) {
                    let values = potentials(&adjacent, from, to);
                    for node in (0..nodes).filter(|node| *node != from && *node != to && weak[*node] == weak[from]) {
                        let flow: f64 = adjacent[node].iter().map(|other| (values[node] - values[*other]).abs()).sum();
                        expected[node] += flow / 2.0;
                    }
                }
            }
            let found = random_walk_betweenness(graph.view(), &Pulse::STEADY).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
            }
        }
    }

    #[test]
    fn the_inverse_of_a_larger_matrix_is_its_inverse() {
        let nodes = 3 * BLOCK + 7;
        let edges: Vec<(u32, u32)> =
            (1..nodes as u32).flat_map(|node| [(node / 2, node), (node / 3, node)]).collect();
        let mut edges: Vec<(u32, u32)> = edges.into_iter().filter(|(one, other)| one != other).collect();
        edges.sort_unstable();
        edges.dedup();
        let size = nodes - 1;
        let matrix = laplacian(nodes, &edges);
        let inverse = inverse(matrix.clone(), size, &Pulse::STEADY).unwrap();
        for row in 0..size {
            for column in 0..size {
                let product: f64 =
                    (0..size).map(|at| matrix[row * size + at] * inverse[at * size + column]).sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_large_component_is_refused_with_the_memory_it_would_take() {
        let arcs = (0..MOST_NODES as u32).map(|node| (node, node + 1)).collect();
        let graph = Adjacency::from_arcs(MOST_NODES + 1, arcs, false, &Pulse::STEADY).unwrap();
        let error = random_walk_betweenness(graph.view(), &Pulse::STEADY).unwrap_err().to_string();
        assert!(error.contains("0.2 GiB") && error.contains("4001 nodes"), "{error}");
    }
}
