//! PageRank: the stationary distribution of a random surfer who follows links and now and then jumps.
//!
//! With damping α, weights w (1 each, or the number of parallel links), W(u) = Σ_v w(u, v), the preference v (a
//! distribution, uniform unless given), D the dangling nodes (those with W = 0) and u the distribution that the
//! surfer jumps by from them, the ranks are the one solution of
//!
//! ```text
//! r = α Pᵀr + α r(D) u + (1 − α) v,      P(x, y) = w(x, y)/W(x),      Σ r = 1
//! ```
//!
//! It is *strongly preferential* if u = v, and *weakly preferential* if u is another distribution; a third way
//! is that the surfer stays on dangling nodes until he jumps.
//!
//! The power method ([`power`]) iterates the equation. Gauss–Seidel ([`system`]) solves the linear systems
//! (I − αPᵀ) x = v and, if u is not v, (I − αPᵀ) y = u; with s = Σ over D of x and t = Σ over D of y,
//!
//! ```text
//! r = (1 − α) (x + α s/(1 − α t) y)
//! ```
//!
//! and r = x / Σ x if u = v. Both stop when ‖r − r*‖₁, r* being the solution, is at most the tolerance, by a
//! bound that holds for every graph. Several preferences (topic-sensitive PageRank) are solved together, so that
//! the graph is read once for up to eight of them.
//!
//! Sources: Lawrence Page, Sergey Brin, Rajeev Motwani and Terry Winograd, "The PageRank citation ranking",
//! 1998; Taher Haveliwala, "Topic-sensitive PageRank", 2002; the linear system, and the names for what dangling
//! nodes do, in Paolo Boldi, Massimo Santini and Sebastiano Vigna, "PageRank: functional dependencies", 2009.

mod block;
mod power;
mod system;

use super::super::View;
use super::Iterated;
use super::matrix::{Stop, distribution, sum};
use crate::{Error, Pulse, Result};
use system::System;

/// How the equation is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Blocks of nodes in turn, each with the newest values.
    GaussSeidel,
    /// All nodes at once, each with the values of the iteration before.
    Power,
}

/// What the surfer does on a node without successors.
#[derive(Clone, Debug, PartialEq)]
pub enum Dangling {
    /// Jumps by the preference: strongly preferential.
    Preference,
    /// Stays there.
    Stay,
    /// Jumps by these weights, one per node: weakly preferential.
    Weights(Vec<f64>),
}

/// How PageRank is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The damping factor α: the probability of following a link rather than jumping, at least 0 and below 1.
    pub damping: f64,
    /// The tolerance is an upper bound of the error in the norm ℓ₁, the ranks summing to 1.
    pub stop: Stop,
    /// How the equation is solved.
    pub method: Method,
    /// What the surfer does on a node without successors.
    pub dangling: Dangling,
}

impl Settings {
    fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.damping) {
            let reason = format!("the damping is {}, and must be at least 0 and below 1", self.damping);
            return Err(Error::Invalid(reason));
        }
        self.stop.check()
    }
}

/// The PageRank of every node for each of the preferences, given as weights of the nodes; they sum to 1.
pub fn pagerank(
    forward: View,
    backward: View,
    preferences: &[&[f64]],
    settings: &Settings,
    pulse: &Pulse,
) -> Result<Vec<Iterated>> {
    settings.check()?;
    let nodes = forward.nodes();
    let mut starts = Vec::with_capacity(preferences.len());
    for preference in preferences {
        starts.push(distribution(preference, nodes, "preference")?);
    }
    let jump = match &settings.dangling {
        Dangling::Weights(weights) => Some(distribution(weights, nodes, "distribution of dangling nodes")?),
        _ => None,
    };
    if settings.damping == 0.0 || nodes == 0 {
        let known = |values| Iterated { values, iterations: 0, residual: 0.0, converged: true };
        return Ok(starts.into_iter().map(known).collect());
    }
    match settings.method {
        Method::Power => power::solve(forward, backward, &starts, jump.as_deref(), settings, pulse),
        Method::GaussSeidel => {
            let system = System::of(forward, backward, settings, pulse)?;
            let lanes = 8 - usize::from(jump.is_some());
            let mut ranks = Vec::with_capacity(starts.len());
            for batch in starts.chunks(lanes) {
                ranks.append(&mut together(&system, batch, jump.as_deref(), settings, pulse)?);
            }
            Ok(ranks)
        }
    }
}

/// The ranks for up to eight right-hand sides, the last of them the distribution of dangling nodes, if given.
fn together(
    system: &System,
    starts: &[Vec<f64>],
    jump: Option<&[f64]>,
    settings: &Settings,
    pulse: &Pulse,
) -> Result<Vec<Iterated>> {
    let sides: Vec<&[f64]> = starts.iter().map(Vec::as_slice).chain(jump).collect();
    // If both solutions are within ε of theirs, relative to their sums, then (1 − α) Σ x + α s = 1 makes the
    // errors of x, s, t and y add up to at most ε/(1 − α) in the ranks, and scaling at most doubles that.
    let precision = if jump.is_some() { (1.0 - settings.damping) / 2.0 } else { 1.0 };
    let stop = Stop { tolerance: settings.stop.tolerance * precision, ..settings.stop };
    let mut solved = match sides.len() {
        1 => system.solve::<1>(&sides, &stop, pulse)?,
        2 => system.solve::<2>(&sides, &stop, pulse)?,
        3..=4 => system.solve::<4>(&sides, &stop, pulse)?,
        _ => system.solve::<8>(&sides, &stop, pulse)?,
    };
    let jumped = jump.and_then(|_| solved.pop());
    for one in &mut solved {
        if let Some(jumped) = &jumped {
            let (mine, theirs) = (system.dangling(&one.values), system.dangling(&jumped.values));
            let factor = settings.damping * mine / (1.0 - settings.damping * theirs);
            one.values.iter_mut().zip(&jumped.values).for_each(|(rank, jumped)| *rank += factor * jumped);
            one.residual /= precision;
        }
        let total = sum(one.values.len(), |node| one.values[node]);
        one.values.iter_mut().for_each(|rank| *rank /= total);
    }
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::super::super::Adjacency;
    use super::*;
    use proptest::prelude::*;

    /// Iterates the definition, with the matrix in dense form.
    fn slow(graph: View, settings: &Settings, preference: &[f64]) -> Vec<f64> {
        let nodes = graph.nodes();
        let preference = distribution(preference, nodes, "preference").unwrap();
        let jump = match &settings.dangling {
            Dangling::Weights(weights) => distribution(weights, nodes, "jump").unwrap(),
            _ => preference.clone(),
        };
        let row = |node: usize| {
            let mut row = vec![0.0; nodes];
            let weight = graph.weight(node);
            for at in graph.range(node) {
                row[graph.targets[at] as usize] = graph.weights.map_or(1.0, |w| f64::from(w[at])) / weight;
            }
            match (weight == 0.0, &settings.dangling) {
                (false, _) => {}
                (true, Dangling::Stay) => row[node] = 1.0,
                (true, _) => row = jump.clone(),
            }
            row
        };
        let matrix: Vec<Vec<f64>> = (0..nodes).map(row).collect();
        let mut ranks = preference.clone();
        for _ in 0..400 {
            let mut next: Vec<f64> = preference.iter().map(|v| v * (1.0 - settings.damping)).collect();
            for (rank, row) in ranks.iter().zip(&matrix) {
                next.iter_mut().zip(row).for_each(|(next, step)| *next += settings.damping * rank * step);
            }
            ranks = next;
        }
        ranks
    }

    fn settings(dangling: Dangling, method: Method, tolerance: f64) -> Settings {
        Settings { damping: 0.85, stop: Stop { tolerance, iterations: 500 }, method, dangling }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases(24)))]

        #[test]
        fn is_within_the_tolerance_of_the_solution(
            arcs in prop::collection::vec((0u32..40, 0u32..40), 0..160),
            preferences in prop::collection::vec(prop::collection::vec(0.1..1.0, 40), 1..10),
            count in any::<bool>(),
            way in 0..3,
            digits in 2..11i32,
        ) {
            let graph = Adjacency::from_arcs(40, arcs, count, &Pulse::STEADY).unwrap();
            let transpose = graph.transpose(&Pulse::STEADY).unwrap();
            let dangling = match way {
                0 => Dangling::Preference,
                1 => Dangling::Stay,
                _ => Dangling::Weights((0..40).map(f64::from).collect()),
            };
            let tolerance = 10f64.powi(-digits);
            let sides: Vec<&[f64]> = preferences.iter().map(Vec::as_slice).collect();
            for method in [Method::GaussSeidel, Method::Power] {
                let settings = settings(dangling.clone(), method, tolerance);
                let ranks = pagerank(graph.view(), transpose.view(), &sides, &settings, &Pulse::STEADY).unwrap();
                prop_assert_eq!(ranks.len(), preferences.len());
                for (found, side) in ranks.iter().zip(&sides) {
                    prop_assert!(found.converged && found.residual <= tolerance);
                    let expected = slow(graph.view(), &settings, side);
                    let error: f64 = found.values.iter().zip(&expected).map(|(one, other)| (one - other).abs()).sum();
                    prop_assert!(error <= tolerance, "{error} {tolerance}");
                }
            }
        }
    }

    #[test]
    fn blocks_give_the_same_bits_on_any_number_of_threads() {
        let arcs = (0..40_000u64).map(|arc| {
            let random = arc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            ((random % 3000) as u32, ((random >> 20) % 2500) as u32)
        });
        let graph = Adjacency::from_arcs(3000, arcs.collect(), true, &Pulse::STEADY).unwrap();
        let transpose = graph.transpose(&Pulse::STEADY).unwrap();
        let settings = settings(Dangling::Preference, Method::GaussSeidel, 1e-9);
        let ranks = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let even = vec![1.0; 3000];
            let run = || pagerank(graph.view(), transpose.view(), &[&even], &settings, &Pulse::STEADY);
            pool.install(run).unwrap()
        });
        assert_eq!(ranks[0], ranks[1]);
        assert_eq!(ranks[0], ranks[2]);
    }

    #[test]
    fn stops_when_it_is_told() {
        let graph = Adjacency::from_arcs(2, vec![(0, 1), (1, 0)], false, &Pulse::STEADY).unwrap();
        let settings = settings(Dangling::Preference, Method::GaussSeidel, 1e-9);
        let stopped = Pulse::new(&|| false);
        let ranks = pagerank(graph.view(), graph.view(), &[&[1.0, 1.0]], &settings, &stopped);
        assert!(matches!(ranks, Err(Error::Stopped)));
    }
}
