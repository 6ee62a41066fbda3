//! A HyperLogLog counter of 64 registers, one cache line: an estimate of the size of a set, and of unions.
//!
//! An element is hashed to a register and to a number r ≥ 1, with probability 2^-r; a register keeps the largest.
//! The counter of a union is the maximum of the counters, register by register. With C₀ empty registers of m, the
//! size is estimated by α m² / (m σ(C₀/m) + Σ 2^-r over the others), α = 1/(2 ln 2), σ(x) = x + Σ_k 2^(k-1) x^(2^k):
//! linear counting when most registers are empty, the harmonic mean when none is, and smooth in between. With
//! 64 registers that is 0.8 % too large for small sets and 1.7 % for large ones, which is divided out; what
//! remains is below 0.1 %. The standard error is 13 % of the size, 1.05/√m, and less for sets below a few
//! hundred; the mean of k independent counters has 13/√k %.
//!
//! Sources: P. Flajolet et al., "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm",
//! AofA 2007; O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv 1702.01284, 2017.

/// The number of registers.
pub(super) const REGISTERS: usize = 64;

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Counter([u8; REGISTERS]);

impl Counter {
    pub(super) const EMPTY: Counter = Counter([0; REGISTERS]);

    /// Adds an element, given by 64 random bits.
    pub(super) fn add(&mut self, hash: u64) {
        let register = &mut self.0[hash as usize % REGISTERS];
        *register = (*register).max((hash | 63).leading_zeros() as u8 + 1);
    }

    /// The counter of the union.
    #[inline(always)]
    pub(super) fn join(&mut self, other: &Counter) {
        for (one, other) in self.0.iter_mut().zip(&other.0) {
            *one = (*one).max(*other);
        }
    }
}

/// Estimates sizes from counters.
pub(super) struct Estimator {
    /// m σ(C₀/m) - C₀ for each number of empty registers C₀.
    empty: [f32; REGISTERS + 1],
}

impl Estimator {
    pub(super) fn new() -> Estimator {
        let mut empty = [0.0; REGISTERS + 1];
        for (count, empty) in empty.iter_mut().enumerate() {
            let share = count as f64 / REGISTERS as f64;
            *empty = (REGISTERS as f64 * sigma(share) - count as f64) as f32;
        }
        Estimator { empty }
    }

    /// The estimated number of elements of a counter; increasing in its registers.
    #[inline(always)]
    pub(super) fn size(&self, counter: &Counter) -> f32 {
        const LANES: usize = 16;
        const M: f32 = REGISTERS as f32;
        let (mut sums, mut empty) = ([0f32; LANES], 0u8);
        for registers in counter.0.chunks_exact(LANES) {
            for (sum, register) in sums.iter_mut().zip(registers) {
                // 2^-register, made from its exponent.
                *sum += f32::from_bits((127 - u32::from(*register)) << 23);
            }
        }
        for register in counter.0 {
            empty += u8::from(register == 0);
        }
        let sum: f32 = sums.iter().sum();
        let size = std::f32::consts::LOG2_E / 2.0 * M * M / (self.empty[empty as usize] + sum);
        let load = (size / M).powi(2);
        size / (1.0079 + 0.0092 * load / (load + 3.0))
    }
}

fn sigma(share: f64) -> f64 {
    let (mut power, mut weight, mut sum) = (share, 1.0, share);
    loop {
        power *= power;
        let before = sum;
        sum += power * weight;
        weight += weight;
        if sum == before || sum.is_infinite() {
            return sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean and the relative standard deviation of the estimates of sets of a size.
    fn estimates(size: u64, trials: u64) -> (f64, f64) {
        let estimator = Estimator::new();
        let (mut sum, mut squares) = (0.0, 0.0);
        for trial in 0..trials {
            let mut counter = Counter::EMPTY;
            (0..size).for_each(|element| counter.add(super::super::hyperball::mix(trial, element)));
            let estimate = f64::from(estimator.size(&counter));
            sum += estimate;
            squares += estimate * estimate;
        }
        let mean = sum / trials as f64;
        (mean, (squares / trials as f64 - mean * mean).max(0.0).sqrt() / mean)
    }

    #[test]
    fn is_unbiased_for_sets_of_any_size() {
        assert!((estimates(1, 10).0 - 1.0).abs() < 1e-3);
        for size in [2, 10, 50, 100, 200, 400, 1000] {
            let (mean, deviation) = estimates(size, 8000);
            assert!((mean / size as f64 - 1.0).abs() < 0.006, "{mean} for {size}");
            assert!(deviation < 0.137, "{deviation} for {size}");
        }
    }

    #[test]
    fn a_union_counts_each_element_once() {
        let of = |elements: std::ops::Range<u64>| {
            let mut counter = Counter::EMPTY;
            elements.for_each(|element| counter.add(super::super::hyperball::mix(1, element)));
            counter
        };
        let mut union = of(0..60);
        union.join(&of(40..100));
        assert!(union == of(0..100));
    }
}
