//! What is presumed of the rate of change of a page: how the rates of all pages are distributed.
//!
//! A distribution over a grid of rates, a quarter of an octave apart, from one change in eight years to one in
//! half a minute. It begins as the Gamma distribution of the settings and is fitted to the pages: each plan replaces
//! it by the mean of the posteriors of all pages under the one before,
//!
//! ```text
//! π'(Δ) = (n·π₀(Δ) + Σₚ P(Δ | evidence of p, π)) / (n + pages)         n = 20
//! ```
//!
//! a step of expectation maximisation towards the distribution that makes all that was seen most likely (empirical Bayes;
//! Robbins 1956; Kiefer and Wolfowitz 1956), held to the settings' π₀ by as much as n pages weigh. So the history of many
//! pages says what to expect of one with little history of its own, whatever the law of the rates.
//!
//! The estimate of a page's rate is (E√Δ)² over its posterior. A visit to a page is worth about Δt²/2 after a short
//! time and at most 1/Δ: the mean of the posterior errs on pages of which little is known one way, its geometric mean the
//! other, and this is between the two. It takes 0.7 µs for a page without a change, and half a microsecond more for
//! each group of intervals with one.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;

/// Points an octave.
const STEPS: usize = 4;
/// The slowest rate, as an exponent of 2.
const SLOWEST: f64 = -28.0;
/// Points of the grid.
pub(super) const POINTS: usize = 23 * STEPS + 1;
/// The number of pages that the prior of the settings weighs.
const SETTINGS: f64 = 20.0;
/// The logarithm of the smallest weight: no rate is impossible.
const LEAST: f64 = -600.0;

static RATES: LazyLock<[f64; POINTS]> = LazyLock::new(|| std::array::from_fn(|point| ln_rate(point).exp()));

fn ln_rate(point: usize) -> f64 {
    (SLOWEST + point as f64 / STEPS as f64) * std::f64::consts::LN_2
}

/// How rates of change are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Prior {
    /// The logarithms of the weights, as exact as they are stored.
    ln: [f64; POINTS],
}

impl Prior {
    /// A Gamma distribution: a number of changes (its shape) in a number of seconds (its inverse scale).
    pub fn gamma(changes: f64, seconds: f64) -> Prior {
        Prior::of(std::array::from_fn(|point| changes * ln_rate(point) - seconds * RATES[point]))
    }

    /// Normalises.
    fn of(mut ln: [f64; POINTS]) -> Prior {
        let top = ln.iter().copied().fold(f64::MIN, f64::max);
        let sum = ln.iter().map(|ln| (ln - top).exp()).sum::<f64>().ln();
        ln.iter_mut().for_each(|ln| *ln = f64::from((*ln - top - sum).max(LEAST) as f32));
        Prior { ln }
    }

    /// What to believe of the rate of a page, after what its visits have shown.
    pub(super) fn posterior(&self, evidence: &Evidence) -> Posterior {
        let mut weights = self.ln;
        evidence.add_likelihood(&mut weights);
        let top = weights.iter().copied().fold(f64::MIN, f64::max);
        let mut sum = 0.0;
        for weight in &mut weights {
            *weight = if *weight > top - 40.0 { (*weight - top).exp() } else { 0.0 };
            sum += *weight;
        }
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Posterior(weights)
    }

    /// The estimated rate of a page, in changes per second.
    pub fn rate(&self, evidence: &Evidence) -> f64 {
        self.posterior(evidence).rate()
    }
}

impl From<Prior> for Vec<f32> {
    fn from(prior: Prior) -> Vec<f32> {
        prior.ln.map(|ln| ln as f32).to_vec()
    }
}

impl TryFrom<Vec<f32>> for Prior {
    type Error = &'static str;

    fn try_from(ln: Vec<f32>) -> Result<Prior, &'static str> {
        let ln: [f32; POINTS] = ln.try_into().map_err(|_| "a prior on another grid")?;
        Ok(Prior { ln: ln.map(f64::from) })
    }
}

/// How likely each rate of the grid is, of a page.
pub(super) struct Posterior([f64; POINTS]);

impl Posterior {
    /// The estimated rate.
    pub fn rate(&self) -> f64 {
        let root: f64 = self.0.iter().zip(&*RATES).map(|(weight, rate)| weight * rate.sqrt()).sum();
        root * root
    }
}

/// The mean of the posteriors of pages.
#[derive(Default)]
pub(super) struct Fit {
    sums: Vec<f64>,
    pages: f64,
}

impl Fit {
    pub fn add(&mut self, posterior: &Posterior) {
        self.sums.resize(POINTS, 0.0);
        self.sums.iter_mut().zip(&posterior.0).for_each(|(sum, weight)| *sum += weight);
        self.pages += 1.0;
    }

    /// The prior that fits the pages, and that of the settings.
    pub fn prior(&self, settings: &Prior) -> Prior {
        if self.pages == 0.0 {
            return settings.clone();
        }
        Prior::of(std::array::from_fn(|point| {
            (self.sums[point] + SETTINGS * settings.ln[point].exp()).ln().max(LEAST)
        }))
    }
}

/// Adds to each point the logarithm of (1 - e^(-Δt))^count: a change in each of `count` intervals of t seconds.
pub(super) fn add_changed(ln: &mut [f64; POINTS], count: f64, seconds: f64) {
    // 1 - e^(-2x) = y(2 - y) where y = 1 - e^(-x): an exponential an octave step, without cancellation.
    for first in 0..STEPS {
        let mut changed = -(-RATES[first] * seconds).exp_m1();
        for ln in ln[first..].iter_mut().step_by(STEPS) {
            *ln += count * changed.ln();
            changed *= 2.0 - changed;
        }
    }
}

/// Adds to each point the logarithm of Δ^exact · e^(-Δ·quiet).
pub(super) fn add_exact(ln: &mut [f64; POINTS], exact: f64, quiet: f64) {
    for (point, ln) in ln.iter_mut().enumerate() {
        *ln += exact * ln_rate(point) - RATES[point] * quiet;
    }
}
