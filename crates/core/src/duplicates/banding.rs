//! Banding: two sketches are compared if they agree on all r numbers of one of b bands.
//!
//! ```text
//! P(compared) = 1 − (1 − Jʳ)ᵇ
//! ```
//!
//! Every pair that is compared is verified, so a pair too many costs time, and a pair too few is lost: of the bandings
//! that find a pair at the threshold with the wanted probability, [`Banding::tuned`] takes the one with the most rows, and
//! of these the one with the fewest bands.
//!
//! Source: Piotr Indyk and Rajeev Motwani, "Approximate nearest neighbors", 1998; the S-curve is in Jure Leskovec, Anand
//! Rajaraman, Jeffrey Ullman, "Mining of massive datasets", chapter 3.

use crate::signature::hash::random;

/// A division of the numbers of a sketch into bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Banding {
    /// The number of bands.
    pub bands: usize,
    /// The numbers of each.
    pub rows: usize,
}

impl Banding {
    /// The banding of sketches of `numbers` with the most rows, and then the fewest bands, that finds a pair of similarity
    /// `threshold` with a probability of at least `recall`; one row each if none does.
    pub fn tuned(numbers: usize, threshold: f64, recall: f64) -> Banding {
        let finds = |banding: &Banding| banding.probability(threshold) >= recall;
        let fewest = |rows: usize| {
            let mut bandings = (1..=numbers / rows).map(|bands| Banding { bands, rows });
            bandings.find(finds)
        };
        let with_rows = (1..=numbers).rev().find_map(fewest);
        with_rows.unwrap_or(Banding { bands: numbers, rows: 1 })
    }

    /// The probability that a pair of this similarity is compared.
    pub fn probability(self, similarity: f64) -> f64 {
        1.0 - (1.0 - similarity.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// The key of each band of a sketch: pairs with a key in common are compared.
    pub fn keys(self, sketch: &[u32]) -> impl Iterator<Item = u64> {
        let key = |(band, numbers): (usize, &[u32])| {
            numbers.iter().fold(random(band as u64, 0), |key, number| random(key ^ u64::from(*number), 0))
        };
        sketch.chunks_exact(self.rows).take(self.bands).enumerate().map(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_rows_that_find_enough() {
        for threshold in [0.5, 0.7, 0.8, 0.9] {
            let banding = Banding::tuned(128, threshold, 0.99);
            assert!(banding.probability(threshold) >= 0.99);
            let rows = banding.rows + 1;
            assert!(Banding { bands: 128 / rows, rows }.probability(threshold) < 0.99);
            assert!(Banding { bands: banding.bands - 1, ..banding }.probability(threshold) < 0.99);
            assert!(banding.bands * banding.rows <= 128);
        }
        assert_eq!(Banding::tuned(128, 1.0, 1.0), Banding { bands: 1, rows: 128 });
    }

    #[test]
    fn sketches_share_a_key_where_they_share_a_band() {
        let banding = Banding { bands: 3, rows: 2 };
        let keys = |sketch: &[u32]| banding.keys(sketch).collect::<Vec<_>>();
        let (one, other) = (keys(&[1, 2, 3, 4, 5, 6]), keys(&[1, 2, 4, 3, 5, 7]));
        assert_eq!((one[0] == other[0], one[1] == other[1], one[2] == other[2]), (true, false, false));
        assert_ne!(keys(&[1, 2, 1, 2, 1, 2])[0], keys(&[1, 2, 1, 2, 1, 2])[1]);
    }
}
