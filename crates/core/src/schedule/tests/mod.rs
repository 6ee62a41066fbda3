//! The contracts of the schedule, against slow models written from the formulas.

mod allocation;
mod cell;
mod evidence;
mod plan;
mod value;

use super::{Options, Policy};

pub(super) const HOUR: f64 = 3600.0;
pub(super) const DAY: f64 = 86_400.0;

/// The defaults of the settings, with intervals that do not interfere.
pub(super) fn options(policy: Policy) -> Options {
    Options {
        policy,
        budget: 0.0,
        interval: 7.0 * DAY,
        min_interval: HOUR,
        max_interval: 365.0 * DAY,
        grace: 14.0 * DAY,
        increase: 0.4,
        decrease: 0.2,
        prior_interval: 30.0 * DAY,
        prior_changes: 0.5,
    }
}

/// Uniform numbers in 0..1, always the same.
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        let bits = crate::signature::hash::random(7, self.0);
        ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1.
    pub fn waiting(&mut self) -> f64 {
        -self.next().ln()
    }

    /// Log-uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }
}
