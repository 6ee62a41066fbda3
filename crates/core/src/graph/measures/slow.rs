//! Slow models for the tests of paths: reachability and shortest paths by their definitions.

use proptest::prelude::*;

/// The arcs of small graphs, with self-loops, parallel arcs, dangling nodes and several components.
pub fn arcs(nodes: u32, arcs: usize) -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1..nodes).prop_flat_map(move |nodes| {
        let arc = (0..nodes, 0..nodes);
        (Just(nodes as usize), prop::collection::vec(arc, 0..arcs))
    })
}

/// Whether one node reaches another, by paths of any length (Warshall).
pub fn reachable(nodes: usize, arcs: &[(u32, u32)]) -> Vec<Vec<bool>> {
    distances(nodes, arcs).iter().map(|row| row.iter().map(|distance| *distance < nodes).collect()).collect()
}

/// The distance from one node to another; at least the number of nodes if there is no path (Floyd).
pub fn distances(nodes: usize, arcs: &[(u32, u32)]) -> Vec<Vec<usize>> {
    let mut distances = vec![vec![nodes; nodes]; nodes];
    arcs.iter().for_each(|(source, target)| distances[*source as usize][*target as usize] = 1);
    (0..nodes).for_each(|node| distances[node][node] = 0);
    for middle in 0..nodes {
        for source in 0..nodes {
            for target in 0..nodes {
                let through = distances[source][middle] + distances[middle][target];
                distances[source][target] = distances[source][target].min(through);
            }
        }
    }
    distances
}

/// Every shortest path between two nodes; parallel arcs make different paths.
pub fn shortest_paths(
    nodes: usize,
    arcs: &[(u32, u32)],
    distances: &[Vec<usize>],
    source: usize,
    target: usize,
) -> Vec<Vec<usize>> {
    if source == target {
        return vec![vec![target]];
    }
    if distances[source][target] >= nodes {
        return Vec::new();
    }
    let first = arcs.iter().filter(|(from, to)| {
        *from as usize == source && distances[source][target] == 1 + distances[*to as usize][target]
    });
    let tails = first.flat_map(|(_, to)| shortest_paths(nodes, arcs, distances, *to as usize, target));
    tails.map(|tail| [vec![source], tail].concat()).collect()
}
