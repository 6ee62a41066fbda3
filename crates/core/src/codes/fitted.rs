//! Golomb and Rice codes with a parameter fitted to each list.
//!
//! For a geometric distribution with ratio p, P(n) = p (1−p)^n, the optimal code is the Golomb code of
//! modulus ⌈−log(2−p) / log(1−p)⌉ (Gallager and Van Voorhis, "Optimal source codes for geometrically
//! distributed integer alphabets", 1975); its mean m is (1−p)/p, so p = 1/(m+1). The Rice parameter is found
//! by trying the three values around the logarithm of the mean. Either is written before the list, the
//! modulus minus one in δ, the parameter in γ.

use super::bits::{BitReader, BitWriter};
use super::lists::{self, Natural};
use super::words::{Delta, Gamma, Golomb, LONGEST, Rice, Words};
use crate::{Error, Result};

/// The best modulus for a geometric distribution of ratio `p`.
pub fn golomb_modulus(p: f64) -> Result<u64> {
    if !(p > 0.0 && p <= 1.0) {
        return Err(Error::Invalid(format!(
            "the ratio of a geometric distribution is above 0 and at most 1, and this one is {p}"
        )));
    }
    // log1p is exact even for a p so small that 1 − p rounds to 1.
    Ok((-libm::log(2.0 - p) / libm::log1p(-p)).ceil().max(1.0) as u64)
}

/// The Golomb code of the gaps of `n` numbers out of `all`, drawn at random: of the best modulus for p = n / all.
/// Both are known to the reader, so no modulus is stored.
pub fn golomb_of(n: usize, all: u64) -> Golomb {
    let p = (n as f64 / all as f64).min(1.0);
    // Of no numbers, or of all of them, any modulus will do.
    Golomb::new(golomb_modulus(p).unwrap_or(1))
}

/// The modulus for a nonempty list.
pub fn modulus<T: Natural>(numbers: &[T]) -> u64 {
    let best = golomb_modulus(1.0 / (mean(numbers) + 1.0)).unwrap_or(1);
    // However far a number is from the mean, its codeword must not be absurdly long.
    best.max(largest(numbers) / (LONGEST / 2))
}

/// The parameter for a nonempty list.
pub fn parameter<T: Natural>(numbers: &[T]) -> u32 {
    let around = ((mean(numbers) + 1.0) as u64).ilog2();
    let least = (largest(numbers) / (LONGEST / 2)).checked_ilog2().map_or(0, |log| log + 1);
    let tried = around.saturating_sub(1).max(least)..=(around + 1).max(least).min(63);
    tried
        .min_by_key(|parameter| lists::length(Rice(*parameter), numbers).unwrap_or(u64::MAX))
        .unwrap_or(least)
}

fn mean<T: Natural>(numbers: &[T]) -> f64 {
    numbers.iter().map(|number| number.widened() as f64).sum::<f64>() / numbers.len().max(1) as f64
}

fn largest<T: Natural>(numbers: &[T]) -> u64 {
    numbers.iter().map(|number| number.widened()).max().unwrap_or(0)
}

/// A code that is fitted to each list.
#[derive(Clone, Copy)]
pub enum Fitted {
    /// Golomb's, by the mean.
    Golomb,
    /// Rice's, by trial.
    Rice,
}

impl Fitted {
    /// How many bits `numbers` take.
    pub fn length<T: Natural>(self, numbers: &[T]) -> Result<u64> {
        if numbers.is_empty() {
            return Ok(0);
        }
        match self {
            Fitted::Golomb => {
                let modulus = modulus(numbers);
                Ok(Delta.length(modulus - 1).unwrap_or(0) + lists::length(Golomb::new(modulus), numbers)?)
            }
            Fitted::Rice => {
                let parameter = parameter(numbers);
                let head = Gamma.length(u64::from(parameter)).unwrap_or(0);
                Ok(head + lists::length(Rice(parameter), numbers)?)
            }
        }
    }

    /// Appends `numbers`.
    pub fn write<T: Natural>(self, numbers: &[T], bits: &mut BitWriter) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        match self {
            Fitted::Golomb => {
                let modulus = modulus(numbers);
                Delta.write(modulus - 1, bits);
                lists::write(Golomb::new(modulus), numbers, bits)
            }
            Fitted::Rice => {
                let parameter = parameter(numbers);
                Gamma.write(u64::from(parameter), bits);
                lists::write(Rice(parameter), numbers, bits)
            }
        }
    }

    /// Decodes `n` numbers into `numbers`, replacing its contents.
    pub fn read<T: Natural>(self, bits: &mut BitReader, n: usize, numbers: &mut Vec<T>) -> Option<()> {
        numbers.clear();
        if n == 0 {
            return Some(());
        }
        match self {
            Fitted::Golomb => {
                let modulus = Delta.read(bits)?.checked_add(1)?;
                lists::read(Golomb::new(modulus), bits, n, numbers)
            }
            Fitted::Rice => {
                let parameter = u32::try_from(Gamma.read(bits)?).ok().filter(|parameter| *parameter < 64)?;
                lists::read(Rice(parameter), bits, n, numbers)
            }
        }
    }
}
