//! The section `[refresh]` of the settings.

use serde::{Deserialize, Serialize};

use super::policy::Policy;
use super::prior::Prior;
use crate::Result;
use crate::settings::section;

const DAY: f64 = 86_400.0;

/// The options of the revisits; times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    pub(crate) policy: Policy,
    /// Requests a day; 0: a visit a page per `interval`.
    pub(crate) budget: f64,
    pub(crate) interval: f64,
    pub(crate) min_interval: f64,
    pub(crate) max_interval: f64,
    pub(crate) grace: f64,
    pub(crate) increase: f64,
    pub(crate) decrease: f64,
    pub(crate) prior_interval: f64,
    pub(crate) prior_changes: f64,
}

impl Options {
    /// Reads the section from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        section("[refresh]", json)
    }

    /// The grace period: how long a page must have been failing to be gone.
    pub fn grace(&self) -> f64 {
        self.grace
    }

    /// The number of requests a second for a number of pages.
    pub fn budget(&self, pages: u64) -> f64 {
        if self.budget > 0.0 { self.budget / DAY } else { pages as f64 / self.interval }
    }

    /// What is assumed of the rate of change of a page.
    pub fn prior(&self) -> Prior {
        Prior::gamma(self.prior_changes, self.prior_changes * self.prior_interval)
    }

    /// The longest interval between visits; never shorter than the shortest one.
    pub(super) fn longest(&self) -> f64 {
        self.max_interval.max(self.min_interval)
    }
}
