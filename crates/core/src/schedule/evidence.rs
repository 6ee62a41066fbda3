//! The rate at which a page changes, from what its visits have shown.
//!
//! Changes are a Poisson process of unknown rate Δ; a visit only tells whether there was any change since the visit
//! before (Cho and Garcia-Molina, Estimating Frequency of Change, 2003). Three kinds of observations, with their
//! likelihoods:
//!
//! - an interval of t seconds without a change: e^(-Δt);
//! - an interval of t seconds with at least one: 1 - e^(-Δt);
//! - a change whose moment is known, t seconds after the last visit, since a signal announced it: Δe^(-Δt).
//!
//! The logarithm of their product at each rate of a grid is what the posterior needs ([`super::prior`]). The plain
//! ratio of changes to time, in comparison, is biased, since several changes between two visits count as one.
//!
//! Known moments and all time without a change are two sums. The intervals with a change have no finite sufficient
//! statistic: they are grouped by powers of two and each group is replaced by its count and mean, at most [`GROUPS`] of
//! them: 11 bytes a group. That loses nothing if the intervals are equal, and changes the estimate by less than 12 % if they
//! are of any length between a minute and half a year (in the tests). After [`MEMORY`] intervals or [`CHANGES`] changes
//! everything is halved, so that the estimate follows a page that changes its habits.

use serde::{Deserialize, Serialize};

use super::prior::{POINTS, add_changed, add_exact};

/// Groups of intervals with a change.
const GROUPS: usize = 6;

/// Intervals, or changes, after which the evidence is halved.
const MEMORY: f32 = 256.0;
const CHANGES: f32 = 32.0;

/// Intervals of similar length in which the page changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Group {
    count: f32,
    /// The mean length.
    seconds: f32,
}

/// What the visits of a page have shown of its rate of change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    intervals: f32,
    exact: f32,
    quiet: f32,
    /// By length.
    changed: Vec<Group>,
}

impl Evidence {
    /// Adds an interval without a change.
    pub fn unchanged(&mut self, seconds: f64) {
        self.quiet += seconds.max(0.0) as f32;
        self.count();
    }

    /// Adds an interval with at least one change.
    pub fn changed(&mut self, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        let seconds = seconds as f32;
        let octave = |seconds: f32| seconds.log2().floor();
        match self.changed.iter_mut().find(|group| octave(group.seconds) == octave(seconds)) {
            Some(group) => group.merge(Group { count: 1.0, seconds }),
            None => {
                let place = self.changed.partition_point(|group| group.seconds < seconds);
                self.changed.insert(place, Group { count: 1.0, seconds });
                self.shrink();
            }
        }
        self.count();
    }

    /// Adds a change at a known moment, `seconds` after the page was last known to be unchanged.
    pub fn exactly(&mut self, seconds: f64) {
        self.exact += 1.0;
        self.quiet += seconds.max(0.0) as f32;
        self.count();
    }

    /// Adds the logarithm of the likelihood of what was seen, at each rate of the grid.
    pub(super) fn add_likelihood(&self, ln: &mut [f64; POINTS]) {
        add_exact(ln, f64::from(self.exact), f64::from(self.quiet));
        for group in &self.changed {
            add_changed(ln, f64::from(group.count), f64::from(group.seconds));
        }
    }

    fn count(&mut self) {
        self.intervals += 1.0;
        let changes = self.exact + self.changed.iter().map(|group| group.count).sum::<f32>();
        if self.intervals >= MEMORY || changes >= CHANGES {
            self.intervals /= 2.0;
            self.exact /= 2.0;
            self.quiet /= 2.0;
            for group in &mut self.changed {
                group.count /= 2.0;
            }
        }
    }

    /// Merges the two groups closest in length if there are too many.
    fn shrink(&mut self) {
        if self.changed.len() <= GROUPS {
            return;
        }
        let ratio = |place: usize| self.changed[place + 1].seconds / self.changed[place].seconds;
        let closest = (0..GROUPS).min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or(0);
        let longer = self.changed.remove(closest + 1);
        self.changed[closest].merge(longer);
    }
}

impl Group {
    fn merge(&mut self, other: Group) {
        let count = self.count + other.count;
        self.seconds += (other.seconds - self.seconds) * (other.count / count);
        self.count = count;
    }
}
