//! Training of the models.
//!
//! Without a sample there are [`MODELS`] models of two shapes and many means: geometric (gaps of evenly
//! spread postings) and Lomax with its heavy tail (counts, positions, gaps in clusters). With a sample these
//! are the initial centres of a k-means: each list is assigned to the model that encodes it in the fewest
//! bits, and each model is refitted to its lists, for several rounds; no round makes the encoded sample
//! longer, apart from rounding. Logarithms and powers come from `libm`, because those of the system may
//! differ in the last bit, and models must be the same on every machine.

use super::buckets::{ESCAPE, SYMBOLS, bucket, symbol};
use super::model::{Model, SLOTS};
use super::plain::FEW_NUMBERS;

/// The maximum number of models.
pub const MODELS: usize = 32;
const ROUNDS: usize = 6;
/// A symbol with less than this share of a slot is left to the escape.
const LEAST: f64 = 0.25;

/// The symbols of a list, each with its count.
pub type Counts = Vec<(u8, u32)>;

/// Counts the symbols of a list.
pub fn counts(numbers: &[u32]) -> Counts {
    let mut often = [0; SYMBOLS];
    for number in numbers {
        often[symbol(*number)] += 1;
    }
    often
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .map(|(symbol, count)| (symbol as u8, count))
        .collect()
}

/// The model that encodes a list in the fewest bits, and its cost.
pub fn best(models: &[Model], counts: &Counts) -> (usize, u64) {
    let cost = |model: &Model| -> u64 {
        counts
            .iter()
            .map(|(symbol, count)| u64::from(*count) * u64::from(model.cost(usize::from(*symbol))))
            .sum()
    };
    models.iter().map(cost).enumerate().min_by_key(|(_, cost)| *cost).unwrap_or((0, 0))
}

/// Models fitted to a sample of lists.
pub fn train(sample: &[Vec<u32>]) -> Vec<Model> {
    let lists: Vec<Counts> =
        sample.iter().filter(|list| list.len() >= FEW_NUMBERS).map(|list| counts(list)).collect();
    let mut models = untrained();
    if lists.is_empty() {
        return models;
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![[0.0; SYMBOLS]; models.len()];
        for list in &lists {
            let sum = &mut sums[best(&models, list).0];
            for (symbol, count) in list {
                sum[usize::from(*symbol)] += f64::from(*count);
            }
        }
        let used = sums.into_iter().filter(|sum| sum.iter().any(|weight| *weight > 0.0));
        models = used.filter_map(|weights| Model::new(frequencies(&weights))).collect();
    }
    models
}

/// The default models, used without a sample.
pub fn untrained() -> Vec<Model> {
    let geometric = |mean: f64| move |x: f64| libm::exp(-x / mean);
    let lomax = |scale: f64| move |x: f64| libm::pow(1.0 + x / scale, -1.5);
    let half = MODELS as i32 / 2;
    let shapes = (0..half).filter_map(|octave| of_tail(geometric(2f64.powi(octave - 3))));
    shapes.chain((0..half).filter_map(|octave| of_tail(lomax(2f64.powi(octave - 3))))).collect()
}

/// The model of a distribution, given its tail: the probability that a number is at least x.
fn of_tail(tail: impl Fn(f64) -> f64) -> Option<Model> {
    let mut weights = [0.0; SYMBOLS];
    for (symbol, weight) in weights.iter_mut().enumerate().take(ESCAPE) {
        let (base, raw) = bucket(symbol);
        let start = f64::from(base);
        *weight = tail(start) - tail(start + 2f64.powi(raw as i32));
    }
    Model::new(frequencies(&weights))
}

/// Quantises weights to frequencies: they add up to [`SLOTS`], every symbol with enough weight has at least
/// one slot, and so does the escape, which gets the weight of the others.
fn frequencies(weights: &[f64; SYMBOLS]) -> [u16; SYMBOLS] {
    let sum: f64 = weights.iter().sum();
    let mut shares = weights.map(|weight| weight / sum * SLOTS as f64);
    for symbol in 0..ESCAPE {
        if shares[symbol] < LEAST {
            shares[ESCAPE] += shares[symbol];
            shares[symbol] = 0.0;
        }
    }
    let mut slots = shares.map(|share| if share > 0.0 { share.round().max(1.0) } else { 0.0 });
    slots[ESCAPE] = slots[ESCAPE].max(1.0);
    let total = |slots: &[f64; SYMBOLS]| slots.iter().sum::<f64>() as usize;
    // The effect of one slot more or less: the share times the logarithm of the frequency.
    while total(&slots) > SLOTS {
        change(&mut slots, -1.0, |symbol, slots| shares[symbol] * libm::log(slots / (slots - 1.0)));
    }
    while total(&slots) < SLOTS {
        change(&mut slots, 1.0, |symbol, slots| -shares[symbol] * libm::log((slots + 1.0) / slots));
    }
    slots.map(|count| count as u16)
}

/// Adds `difference` slots where that loses the least; no symbol is left without any.
fn change(slots: &mut [f64; SYMBOLS], difference: f64, loss: impl Fn(usize, f64) -> f64) {
    let able = (0..SYMBOLS).filter(|symbol| slots[*symbol] > 0.0 && slots[*symbol] + difference >= 1.0);
    let least = able.min_by(|one, other| loss(*one, slots[*one]).total_cmp(&loss(*other, slots[*other])));
    if let Some(symbol) = least {
        slots[symbol] += difference;
    }
}
