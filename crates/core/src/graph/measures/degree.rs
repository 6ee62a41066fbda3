//! The degree: the number of arcs of a node, or the sum of their weights.
//!
//! The indegree is the simplest measure of importance (each arc is a vote), and the easiest to manipulate.

use super::super::View;

/// The outdegree of each node; the indegree, if `graph` is the transpose.
pub fn degrees(graph: View) -> Vec<f64> {
    (0..graph.nodes()).map(|node| graph.weight(node)).collect()
}
