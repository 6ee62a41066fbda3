//! Proximity: words of the query that stand close together.
//!
//! In each zone, two neighbouring occurrences of different leaves j, k at distance d make a minimal interval of two
//! leaves; it adds idf_k / d² to a_j and idf_j / d² to a_k, and
//!
//! ```text
//! proximity = weight · Σ_z Σ_j min(1, idf_j) · (k₁ + 1) a_j / (K_z + a_j),      K_z = k₁ (1 − b_z + b_z · l_z / l̄_z)
//! ```
//!
//! is added to the score of the documents that are best without it, as many as `depth` says: positions are dear, and what
//! is far behind does not get ahead by them. (Büttcher, Clarke and Lushman, *Term proximity scoring for ad-hoc retrieval
//! on very large text collections*, 2006.)

/// How closeness counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// What it is multiplied with; 0: no positions are read.
    pub weight: f64,
    /// For how many of the best documents it counts.
    pub depth: usize,
}

impl Default for Proximity {
    fn default() -> Proximity {
        Proximity { weight: 0.5, depth: 100 }
    }
}
