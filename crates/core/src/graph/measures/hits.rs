//! HITS: a good hub points to good authorities, and a good authority is pointed to by good hubs.
//!
//! a = Aᵀh and h = Aa, up to scale: the authorities are the dominant eigenvector of AᵀA, the hubs that of AAᵀ. Both
//! are scaled to sum to 1. An iteration computes both, from equal hubs; it has converged when the
//! authorities change by at most the tolerance in the norm ℓ₁. AᵀA is symmetric and has no negative eigenvalues, so
//! it always converges, as fast as the ratio of its two largest eigenvalues is small; if they are equal (two
//! equal parts without a common node), to a mixture that depends on the start. A graph without arcs has zeros. O(n + m) per
//! iteration, 24 bytes per node.
//!
//! Source: Jon Kleinberg, "Authoritative sources in a hyperlinked environment", 1999.

use super::super::View;
use super::Iterated;
use super::matrix::{Matrix, Stop, change, scale, sum};
use crate::{Pulse, Result};

/// The hubs and the authorities.
pub fn hits(forward: View, backward: View, stop: &Stop, pulse: &Pulse) -> Result<(Iterated, Iterated)> {
    stop.check()?;
    let nodes = forward.nodes();
    let (along, against) = (Matrix::of(forward), Matrix::of(backward));
    let mut hubs = vec![1.0 / nodes as f64; nodes];
    let (mut authorities, mut next) = (vec![0.0; nodes], vec![0.0; nodes]);
    let (mut iterations, mut residual, mut converged) = (0, 0.0, nodes == 0);
    while !converged && iterations < stop.iterations {
        against.multiply(&hubs, &mut next, |_, received| received, pulse)?;
        normalise(&mut next);
        along.multiply(&next, &mut hubs, |_, received| received, pulse)?;
        normalise(&mut hubs);
        iterations += 1;
        residual = change(&next, &authorities);
        std::mem::swap(&mut authorities, &mut next);
        converged = stop.reached(residual, pulse);
    }
    let outcome = |values| Iterated { values, iterations, residual, converged };
    Ok((outcome(hubs), outcome(authorities)))
}

/// Scales values to sum to 1, unless all are 0.
fn normalise(values: &mut [f64]) {
    let total = sum(values.len(), |node| values[node]);
    if total > 0.0 {
        scale(values, 1.0 / total);
    }
}
