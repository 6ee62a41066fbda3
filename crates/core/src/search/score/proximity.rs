//! Proximity: words of the query that stand close together.
//!
//! In each zone, two neighbouring occurrences of different leaves j, k at distance d make a minimal interval of two
//! leaves; it adds idf_k / d² to a_j and idf_j / d² to a_k, and
//!
//! ```text
//! proximity = weight · Σ_z Σ_j min(1, idf_j) · (k₁ + 1) a_j / (K_z + a_j),      K_z = k₁ (1 − b + b · l_z / l̄_z)
//! ```
//!
//! is added to the score of the documents that are best without it, as many as `depth` says: positions are dear, and what
//! is far behind does not get ahead by them. (Büttcher, Clarke and Lushman, *Term proximity scoring for ad-hoc retrieval
//! on very large text collections*, 2006.)

use serde::Deserialize;

/// How closeness counts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Proximity {
    /// What it is multiplied with; 0: no positions are read.
    #[serde(rename = "proximity")]
    pub(crate) weight: f64,
    /// For how many of the best documents it counts.
    #[serde(rename = "proximity_depth")]
    pub(crate) depth: usize,
}

#[cfg(test)]
impl Default for Proximity {
    fn default() -> Proximity {
        Proximity { weight: 0.5, depth: 100 }
    }
}
