//! The policies of revisits.

use serde::Serialize;

use crate::settings::choices;

choices! {
    /// Which pages are visited again, and how often.
    #[derive(Serialize)]
    pub enum Policy, "refresh policy" {
        /// The intervals that keep important pages fresh, by estimated change rates and by signals.
        Optimal = "optimal",
        /// An interval per page, longer after a visit without a change, shorter after one with a change.
        Adaptive = "adaptive",
        /// All pages at the same interval.
        Uniform = "uniform",
        /// The oldest copy first.
        ByAge = "by-age",
    }
}
