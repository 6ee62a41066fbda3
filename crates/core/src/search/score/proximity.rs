//! Proximity: query words that occur close together.
//!
//! In each zone, two neighbouring occurrences of different leaves j, k at distance d make a minimal interval
//! of two leaves; it adds idf_k / d² to a_j and idf_j / d² to a_k, and
//!
//! ```text
//! proximity = weight · Σ_z Σ_j min(1, idf_j) · (k₁ + 1) a_j / (K_z + a_j),      K_z = k₁ (1 − b + b · l_z / l̄_z)
//! ```
//!
//! is added to the scores of the top `depth` documents without it (reranking): decoding positions is
//! expensive, and documents far behind would not catch up by it. (Büttcher, Clarke and Lushman, *Term
//! proximity scoring for ad-hoc retrieval on very large text collections*, 2006.)

use serde::{Deserialize, Serialize};

/// The settings of proximity scoring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proximity {
    /// Its weight; 0: no positions are read.
    #[serde(rename = "proximity")]
    pub(crate) weight: f64,
    /// The number of top documents that are reranked by proximity.
    #[serde(rename = "proximity_depth")]
    pub(crate) depth: usize,
}

#[cfg(test)]
impl Default for Proximity {
    fn default() -> Proximity {
        Proximity { weight: 0.5, depth: 100 }
    }
}
