//! PageRank by the power method: r' = α Pᵀr + α r(D) u + (1 − α) v, from r = v.
//!
//! Each iteration shrinks the error by a factor of at most α in the norm ℓ₁, so if one changes the ranks by δ =
//! ‖r' − r‖₁, they are within δ α/(1 − α) of the solution: that is at most the tolerance at the end. O(n + m)
//! per iteration, 32 bytes per node.

use super::super::super::View;
use super::super::Iterated;
use super::super::matrix::change;
use super::super::walk::Walk;
use super::{Dangling, Settings};
use crate::{Pulse, Result};

/// The ranks for each of the preferences, one after the other.
pub(super) fn solve(
    forward: View,
    backward: View,
    preferences: &[Vec<f64>],
    jump: Option<&[f64]>,
    settings: &Settings,
    pulse: &Pulse,
) -> Result<Vec<Iterated>> {
    let mut walk = Walk::of(forward, backward);
    preferences.iter().map(|preference| one(&mut walk, preference, jump, settings, pulse)).collect()
}

fn one(
    walk: &mut Walk,
    preference: &[f64],
    jump: Option<&[f64]>,
    settings: &Settings,
    pulse: &Pulse,
) -> Result<Iterated> {
    let (alpha, jump) = (settings.damping, jump.unwrap_or(preference));
    let stays: Vec<bool> = match settings.dangling {
        Dangling::Stay => (0..preference.len()).map(|node| walk.dangling(node)).collect(),
        _ => Vec::new(),
    };
    let (mut ranks, mut next) = (preference.to_vec(), vec![0.0; preference.len()]);
    let mut outcome = Iterated { values: Vec::new(), iterations: 0, residual: 0.0, converged: false };
    while !outcome.converged && outcome.iterations < settings.stop.iterations {
        let finish = |node: usize, received: f64, lost: f64| {
            let rest = match stays.get(node) {
                None => lost * jump[node],
                Some(true) => ranks[node],
                Some(false) => 0.0,
            };
            alpha * (received + rest) + (1.0 - alpha) * preference[node]
        };
        walk.step(&ranks, &mut next, finish, pulse)?;
        outcome.iterations += 1;
        outcome.residual = change(&next, &ranks) * alpha / (1.0 - alpha);
        std::mem::swap(&mut ranks, &mut next);
        outcome.converged = settings.stop.reached(outcome.residual, pulse);
    }
    outcome.values = ranks;
    Ok(outcome)
}
