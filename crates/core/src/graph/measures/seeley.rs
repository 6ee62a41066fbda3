//! Seeley's index: a node divides its importance equally among its successors.
//!
//! r = Pᵀr with P(x, y) = w(x, y)/W(x): PageRank without damping, the stationary distribution of the walk along
//! the arcs. From dangling nodes the walk goes on to any node, each as likely. Where there are several
//! stationary distributions (several parts that are never left), it is the limit of the walk that starts
//! anywhere. Each iteration is one of the lazy walk, r' = (r + Pᵀr)/2, which has the same stationary distributions
//! and converges on periodic graphs too; it has converged when ‖r' − r‖₁ is at most the tolerance. Without damping
//! there is no bound of the error: graphs with parts that are hard to leave converge slowly. O(n + m) per
//! iteration, 32 bytes per node. The values sum to 1.
//!
//! Source: John R. Seeley, "The net of reciprocal influence", 1949.

use super::super::View;
use super::Iterated;
use super::matrix::{Stop, change};
use super::walk::Walk;
use crate::{Pulse, Result};

/// Seeley's index of every node.
pub fn seeley(forward: View, backward: View, stop: &Stop, pulse: &Pulse) -> Result<Iterated> {
    stop.check()?;
    let (mut walk, nodes) = (Walk::of(forward, backward), forward.nodes());
    let (mut values, mut next) = (vec![1.0 / nodes as f64; nodes], vec![0.0; nodes]);
    let mut outcome = Iterated { values: Vec::new(), iterations: 0, residual: 0.0, converged: nodes == 0 };
    while !outcome.converged && outcome.iterations < stop.iterations {
        let lazy = |node: usize, received, lost| 0.5 * (values[node] + received + lost / nodes as f64);
        walk.step(&values, &mut next, lazy, pulse)?;
        outcome.iterations += 1;
        outcome.residual = change(&next, &values);
        std::mem::swap(&mut values, &mut next);
        outcome.converged = stop.reached(outcome.residual, pulse);
    }
    outcome.values = values;
    Ok(outcome)
}
