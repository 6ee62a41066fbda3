//! Katz's index: the number of walks that end in a node, each arc of a walk worth β.
//!
//! ```text
//! k = Σ_{i ≥ 0} βⁱ (Aᵀ)ⁱ v,      that is      k = v + β Aᵀk
//! ```
//!
//! with v the preference (1 for every node, unless given); the walk of length 0 is counted. The sum is finite
//! if β is below 1/λ, λ being the largest eigenvalue of A; β is 0.85/λ unless given, and 0.85 on a graph
//! without cycles, where λ is 0 and any β will do. k is not normalised. The equation is iterated from v; the terms
//! are positive, so k only grows, and it has converged when an iteration adds at most the tolerance times
//! ‖k‖₁, in the norm ℓ₁. At the default β the rest is at most about 6 times as much. O(n + m) per iteration,
//! 16 bytes per node.
//!
//! Source: Leo Katz, "A new status index derived from sociometric analysis", 1953.

use super::super::View;
use super::Iterated;
use super::eigenvector::{cyclic, eigenvector};
use super::matrix::{Matrix, Stop, change, check_weights, sum};
use crate::{Error, Pulse, Result};

/// β times λ, unless β is given.
const DEFAULT: f64 = 0.85;
/// How precisely λ is estimated: a thousandth is less than what the default leaves below 1.
const ESTIMATE: Stop = Stop { tolerance: 1e-7, iterations: 1000 };

/// Katz's index of every node.
pub fn katz(
    forward: View,
    backward: View,
    attenuation: Option<f64>,
    preference: &[f64],
    stop: &Stop,
    pulse: &Pulse,
) -> Result<Iterated> {
    stop.check()?;
    check_weights(preference, forward.nodes(), "preference")?;
    let largest = match cyclic(forward, backward, pulse)? {
        true => eigenvector(forward, backward, &ESTIMATE, pulse)?.1,
        false => 0.0,
    };
    // A graph with a cycle has an eigenvalue of at least 1.
    let beta = attenuation.unwrap_or(DEFAULT / largest.max(1.0));
    if !(beta >= 0.0 && beta.is_finite()) {
        return Err(Error::Invalid(format!("the attenuation is {beta}, and must be at least 0")));
    }
    if beta * largest >= 1.0 {
        let (limit, largest) = (1.0 / largest, largest);
        return Err(Error::Invalid(format!(
            "the attenuation is {beta}, and must be below {limit:.6}: the largest eigenvalue is {largest:.6}"
        )));
    }
    let matrix = Matrix::of(backward);
    let (mut values, mut next) = (preference.to_vec(), vec![0.0; preference.len()]);
    let mut outcome =
        Iterated { values: Vec::new(), iterations: 0, residual: 0.0, converged: values.is_empty() };
    while !outcome.converged && outcome.iterations < stop.iterations {
        let finish = |node: usize, received: f64| preference[node] + beta * received;
        matrix.multiply(&values, &mut next, finish, pulse)?;
        outcome.iterations += 1;
        outcome.residual = change(&next, &values) / sum(next.len(), |node| next[node]);
        std::mem::swap(&mut values, &mut next);
        if !outcome.residual.is_finite() {
            let reason = format!("the attenuation is {beta}, and the sum has no limit: it must be lower");
            return Err(Error::Invalid(reason));
        }
        outcome.converged = stop.reached(outcome.residual, pulse);
    }
    outcome.values = values;
    Ok(outcome)
}
