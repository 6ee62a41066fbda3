//! The parameters of a stable Bloom filter, and the rates that follow from them.
//!
//! For every key, P of the m cells are decremented and K are set to Max. A cell is decremented with
//! probability P/m and set with probability K/m, so the fraction of zero cells decreases towards
//!
//! ```text
//! z = (1 / (1 + 1 / (P (1/K − 1/m))))^Max
//! ```
//!
//! and a new key is reported as a duplicate with probability at most FPS = (1 − z)^K, however long the
//! stream. Conversely, a given FPS requires
//!
//! ```text
//! P = 1 / ((1 / (1 − FPS^(1/K))^(1/Max) − 1) (1/K − 1/m))
//! ```
//!
//! rounded up: rounding down would violate the bound.
//!
//! The cost is that old keys are forgotten (false negatives). A cell that was set g keys ago is nonzero now
//! if fewer than Max decrements have hit it since it was last set. With s = (P + K) g / m and r = P / (P + K)
//! that is
//!
//! ```text
//! alive(g) = Σ_{j < Max} ( e^−s (rs)^j / j!  +  (1 − r) r^j (1 − e^−s Σ_{i ≤ j} s^i / i!) )
//! ```
//!
//! (never set again, or set and since then hit j times), and the duplicate of a key seen g keys ago is
//! recognised with probability recall(g) = alive(g)^K, which falls from 1 to FPS. The best K for a given
//! bound and memory is the one with the longest memory: whose recall is halfway from 1 to FPS at the largest
//! g. For small FPS and Max = 1 it is near ln(1/FPS) / 1.6.
//!
//! With P = 0 nothing is forgotten and there is no bound (FPS = 1); with Max = 1 besides, it is a Bloom filter.
//!
//! Source: Fan Deng and Davood Rafiei, "Approximately detecting duplicates for streaming data using stable
//! Bloom filters", 2006; the recall is derived here.

use super::{MOST_HASHES, check_bits, check_hashes};
use crate::settings::choices;
use crate::{Error, Result};

choices! {
    /// Which cells a stable Bloom filter decrements for a key.
    pub enum Decay, "decay" {
        /// A random cell and those that follow it: one cache miss per key.
        Consecutive = "consecutive",
        /// Cells drawn independently: a cache miss for each.
        Independent = "independent",
    }
}

/// The parameters of a stable Bloom filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stability {
    /// m: the number of cells.
    pub cells: u64,
    /// Max: the value that cells are set to.
    pub max: u8,
    /// K: the number of hash functions.
    pub k: u32,
    /// P: the number of cells decremented per key.
    pub p: u64,
}

impl Stability {
    /// The parameters of a filter of `bits` bits.
    pub fn new(bits: u64, max: u8, k: u32, p: u64) -> Result<Stability> {
        check_bits(bits)?;
        check_hashes(k)?;
        if max == 0 {
            return Err(Error::Invalid("max must be from 1 to 255, and 0 was asked for".to_owned()));
        }
        let stability = Stability { cells: bits / u64::from(cell_bits(max)), max, k, p };
        if stability.cells <= u64::from(k) {
            let cells = stability.cells;
            return Err(Error::Invalid(format!("{bits} bits are {cells} cells, too few for {k} hashes")));
        }
        if p > stability.cells {
            let cells = stability.cells;
            return Err(Error::Invalid(format!("p must be from 0 to the {cells} cells, and {p} is not")));
        }
        Ok(stability)
    }

    /// The parameters for `bits` bits that keep false positives below a bound; if `k` is `None`, the best K.
    pub fn for_bound(bits: u64, false_positives: f64, max: u8, k: Option<u32>) -> Result<Stability> {
        if !(false_positives > 0.0 && false_positives < 1.0) {
            return Err(Error::Invalid(format!(
                "the bound on false positives must be between 0 and 1, and {false_positives} is not"
            )));
        }
        let solve = |k: u32| {
            let any = Stability::new(bits, max, k, 1)?;
            let zeros = (1.0 - false_positives.powf(1.0 / f64::from(k))).powf(1.0 / f64::from(max));
            let p = (1.0 / ((1.0 / zeros - 1.0) * any.share())).ceil();
            if p > any.cells as f64 {
                return Err(Error::Invalid(format!(
                    "{bits} bits are too few to keep false positives below {false_positives} with k = {k}"
                )));
            }
            Ok(Stability { p: p as u64, ..any })
        };
        if let Some(k) = k {
            return solve(k);
        }
        let solved = (1..=MOST_HASHES).map(solve);
        let longer = |best: Result<Stability>, next: Result<Stability>| match (&best, &next) {
            (Ok(one), Ok(other)) if other.memory() > one.memory() => next,
            (Err(_), Ok(_)) => next,
            _ => best,
        };
        solved.reduce(longer).unwrap_or_else(|| solve(1))
    }

    /// The bits per cell: the width of Max.
    pub fn cell_bits(&self) -> u32 {
        cell_bits(self.max)
    }

    /// FPS: the upper bound on the false-positive rate.
    pub fn bound(&self) -> f64 {
        let zeros = (1.0 / (1.0 + 1.0 / (self.p as f64 * self.share()))).powi(i32::from(self.max));
        (1.0 - zeros).powi(self.k as i32)
    }

    /// The probability of recognising the duplicate of a key seen `gap` keys before.
    pub fn recall(&self, gap: f64) -> f64 {
        let (p, k) = (self.p as f64, f64::from(self.k));
        let hits = (p + k) * gap / self.cells as f64;
        let share = p / (p + k);
        let mut alive = 0.0;
        // The j-th terms of the sums in the module's comment, each computed from the previous one.
        let (mut untouched, mut term, mut partial, mut power) = ((-hits).exp(), (-hits).exp(), 0.0, 1.0);
        for j in 0..u32::from(self.max) {
            partial += term;
            alive += untouched + (1.0 - share) * power * (1.0 - partial);
            let next = f64::from(j + 1);
            untouched *= share * hits / next;
            term *= hits / next;
            power *= share;
        }
        alive.clamp(0.0, 1.0).powi(self.k as i32)
    }

    /// The gap at which the recall is halfway from 1 to the bound.
    pub fn memory(&self) -> f64 {
        let half = (1.0 + self.bound()) / 2.0;
        let (mut near, mut far) = (0.0, 1.0);
        while self.recall(far) > half && far < MOST_MEMORY {
            far *= 2.0;
        }
        for _ in 0..60 {
            let middle = (near + far) / 2.0;
            if self.recall(middle) > half { near = middle } else { far = middle }
        }
        far
    }

    /// 1/K − 1/m.
    fn share(&self) -> f64 {
        1.0 / f64::from(self.k) - 1.0 / self.cells as f64
    }
}

/// Longer than any stream.
const MOST_MEMORY: f64 = 1e30;

fn cell_bits(max: u8) -> u32 {
    u8::BITS - max.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_kept_and_one_decrement_less_breaks_it() {
        for bits in [1000, 65_536, 1 << 30] {
            for false_positives in [0.5, 0.1, 0.01, 1e-3, 1e-5] {
                for max in [1, 2, 3, 7, 255] {
                    for k in [None, Some(1), Some(2), Some(10)] {
                        let Ok(found) = Stability::for_bound(bits, false_positives, max, k) else {
                            continue;
                        };
                        assert!(found.bound() <= false_positives * (1.0 + 1e-9), "{found:?}");
                        let less = Stability { p: found.p - 1, ..found };
                        assert!(less.bound() > false_positives * (1.0 - 1e-9), "{found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_best_k_remembers_longest() {
        let best = Stability::for_bound(1 << 20, 0.01, 1, None).unwrap();
        assert_eq!(best.k, 3);
        for k in 1..=MOST_HASHES {
            let other = Stability::for_bound(1 << 20, 0.01, 1, Some(k)).unwrap();
            assert!(other.memory() <= best.memory());
        }
    }

    #[test]
    fn without_decrements_nothing_is_forgotten_and_nothing_is_bounded() {
        for max in [1, 3] {
            let stability = Stability::new(1000, max, 4, 0).unwrap();
            assert_eq!((stability.bound(), stability.recall(1e12)), (1.0, 1.0));
        }
    }

    #[test]
    fn recall_falls_from_one_to_the_bound() {
        for max in [1, 3, 200] {
            let stability = Stability::new(1 << 20, max, 4, 50).unwrap();
            let recalls: Vec<f64> = (0..60).map(|power| stability.recall(1.5f64.powi(power) - 1.0)).collect();
            assert_eq!(recalls[0], 1.0);
            assert!(recalls.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12));
            assert!(
                (recalls[59] / stability.bound() - 1.0).abs() < 1e-3,
                "{} {}",
                recalls[59],
                stability.bound()
            );
        }
    }
}
