//! One step of the random walk along the arcs: the mass that every node receives, and what dangling nodes hold.

use super::super::View;
use super::matrix::{Matrix, sum};
use crate::{Pulse, Result};

/// The walk that leaves a node by each of its arcs with probability w(x, y)/W(x).
pub(super) struct Walk<'a> {
    matrix: Matrix<'a>,
    weights: Vec<f64>,
    shares: Vec<f64>,
}

impl<'a> Walk<'a> {
    /// The walk on a graph, given its lists and those of its transpose.
    pub fn of(forward: View<'a>, backward: View<'a>) -> Walk<'a> {
        let weights: Vec<f64> = (0..forward.nodes()).map(|node| forward.weight(node)).collect();
        Walk { matrix: Matrix::of(backward), shares: vec![0.0; weights.len()], weights }
    }

    /// Whether the walk cannot leave a node.
    pub fn dangling(&self, node: usize) -> bool {
        self.weights[node] == 0.0
    }

    /// Sets `next(y)` to `finish(y, received, lost)`, where y receives Σ_{x → y} `values(x)` w(x, y)/W(x), and
    /// `lost` is the mass on dangling nodes.
    pub fn step(
        &mut self,
        values: &[f64],
        next: &mut [f64],
        finish: impl Fn(usize, f64, f64) -> f64 + Sync,
        pulse: &Pulse,
    ) -> Result<()> {
        for (share, (value, weight)) in self.shares.iter_mut().zip(values.iter().zip(&self.weights)) {
            *share = if *weight == 0.0 { 0.0 } else { value / weight };
        }
        let lost = sum(values.len(), |node| if self.dangling(node) { values[node] } else { 0.0 });
        self.matrix.multiply(&self.shares, next, |node, received| finish(node, received, lost), pulse)
    }
}
