//! The false-positive rate of a blocked Bloom filter, and the number of blocks needed to stay below a rate.
//!
//! Each of n keys falls into one of B blocks of 512 bits, and sets d bits of that block. The number of keys
//! per block is binomial, nearly Poisson with mean λ = n/B; overfull blocks lose more than the others gain,
//! and 512 bits are so few that the number of set bits varies as well. Both effects are accounted for:
//!
//! ```text
//! error(n, B, d) = Σ_k Binomial(n, 1/B; k) E_d(k)      E_d(k) = E[(X_dk / 512)^d]
//! ```
//!
//! where X_t, the number of bits set by t random throws into 512, is a Markov chain: from x it goes to x + 1
//! with probability 1 − x/512. The table of E_d takes 512 d steps per key of the fullest block, about a
//! millisecond. (Using the mean of X instead, as in the paper, would understate a rate of 10^-5 by 5 %.)
//!
//! Source: Felix Putze, Peter Sanders, Johannes Singler, "Cache-, hash-, and space-efficient Bloom filters",
//! 2009.

/// The number of bits per block: a cache line.
pub const BLOCK_BITS: usize = 512;

/// The false-positive rate of a block by its number of keys, for one number of hash functions.
struct BlockErrors(Vec<f64>);

impl BlockErrors {
    /// The rates for up to `most` keys.
    fn new(hashes: u32, most: usize) -> BlockErrors {
        let powers: Vec<f64> =
            (0..=BLOCK_BITS).map(|set| (set as f64 / BLOCK_BITS as f64).powi(hashes as i32)).collect();
        let mut chances = vec![0.0; BLOCK_BITS + 1];
        chances[0] = 1.0;
        let mut errors = vec![0.0];
        for _ in 0..most {
            for _ in 0..hashes {
                throw(&mut chances);
            }
            errors.push(chances.iter().zip(&powers).map(|(chance, power)| chance * power).sum());
        }
        BlockErrors(errors)
    }

    /// The rate with this many keys; beyond the table it is 1.
    fn get(&self, keys: u64) -> f64 {
        self.0.get(keys as usize).copied().unwrap_or(1.0)
    }

    /// The false-positive rate of `keys` keys in `blocks` blocks.
    fn over(&self, keys: u64, blocks: u64) -> f64 {
        if blocks == 1 {
            return self.get(keys);
        }
        let odds = 1.0 / (blocks as f64 - 1.0);
        // From the most probable load outwards, relative to it, to avoid overflow and underflow.
        let mode = ((keys as f64 + 1.0) / blocks as f64) as u64;
        let (mut total, mut error) = (1.0, self.get(mode));
        let mut weight = 1.0;
        for load in mode..keys {
            weight *= (keys - load) as f64 / (load + 1) as f64 * odds;
            if weight < NEGLIGIBLE {
                break;
            }
            total += weight;
            error += weight * self.get(load + 1);
        }
        weight = 1.0;
        for load in (1..=mode).rev() {
            weight *= load as f64 / (keys - load + 1) as f64 / odds;
            if weight < NEGLIGIBLE {
                break;
            }
            total += weight;
            error += weight * self.get(load - 1);
        }
        error / total
    }
}

/// Loads with a smaller relative weight do not affect the result.
const NEGLIGIBLE: f64 = 1e-24;

/// One more random throw: `chances[x]` is the probability that x bits are set.
fn throw(chances: &mut [f64]) {
    for set in (1..=BLOCK_BITS).rev() {
        let kept = set as f64 / BLOCK_BITS as f64;
        let grown = (BLOCK_BITS + 1 - set) as f64 / BLOCK_BITS as f64;
        chances[set] = chances[set] * kept + chances[set - 1] * grown;
    }
    chances[0] = 0.0;
}

/// The smallest number of blocks, at least `least`, with which `keys` keys have a false-positive rate of at
/// most `error`.
pub fn blocks_for(keys: u64, error: f64, hashes: u32, least: u64) -> u64 {
    let load = keys as f64 / least as f64;
    let fullest = (load + 12.0 * load.sqrt() + 40.0).min(keys as f64) as usize;
    let errors = BlockErrors::new(hashes, fullest);
    let mut enough = least;
    while errors.over(keys, enough) > error {
        enough *= 2;
    }
    let mut too_few = (enough / 2).max(least - 1);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        match errors.over(keys, middle) > error {
            true => too_few = middle,
            false => enough = middle,
        }
    }
    enough
}

/// The number of hash functions, at most `most`, with the lowest false-positive rate for `keys` keys in
/// `blocks` blocks.
pub fn hashes_for(keys: u64, blocks: u64, most: u32) -> u32 {
    let load = keys as f64 / blocks as f64;
    // Overfull filters are 1 beyond a thousand keys per block, whatever the number of hashes.
    let fullest = (load + 12.0 * load.sqrt() + 40.0).min(keys as f64).min(2000.0) as usize;
    // Uneven blocks call for fewer hashes than a Bloom filter, never more.
    let optimum = BLOCK_BITS as f64 / load * std::f64::consts::LN_2;
    let candidates = 1..=optimum.ceil().clamp(1.0, f64::from(most)) as u32;
    let rated = candidates.map(|hashes| (BlockErrors::new(hashes, fullest).over(keys, blocks), hashes));
    rated.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(1, |(_, hashes)| hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_throws_by_hand() {
        // One key with one hash sets 1 bit of 512; with two hashes it sets 2, or 1 in one of 512 cases.
        let bits = BLOCK_BITS as f64;
        assert!((BlockErrors::new(1, 1).get(1) - 1.0 / bits).abs() < 1e-15);
        let expected = (4.0 * (1.0 - 1.0 / bits) + 1.0 / bits) / (bits * bits);
        assert!((BlockErrors::new(2, 1).get(1) - expected).abs() < 1e-18);
    }

    #[test]
    fn the_loads_are_binomial() {
        // With one hash the rate of a block is 1 − (1 − 1/512)^k; its mean over binomial loads has a closed
        // form.
        for (keys, blocks) in [(1, 1), (5, 1), (5, 3), (1000, 7), (100_000, 512), (3_000_000, 2001)] {
            let errors = BlockErrors::new(1, 4000);
            let all = (blocks as f64) * BLOCK_BITS as f64;
            let expected = -(keys as f64 * (-1.0 / all).ln_1p()).exp_m1();
            let found = errors.over(keys, blocks);
            assert!((found / expected - 1.0).abs() < 1e-9, "{keys} {blocks} {found} {expected}");
        }
    }

    #[test]
    fn no_other_number_of_hashes_errs_less() {
        for (keys, blocks) in [(1, 1), (50, 1), (1000, 20), (100_000, 2500)] {
            let best = hashes_for(keys, blocks, 64);
            let error = |hashes| BlockErrors::new(hashes, 180).over(keys, blocks);
            for other in (1..=12).chain([30, 64]) {
                assert!(error(best) <= error(other) * (1.0 + 1e-9), "{keys} {blocks} {best} {other}");
            }
        }
    }

    #[test]
    fn one_block_less_is_too_few() {
        for (keys, error, hashes) in
            [(1, 0.1, 1), (1000, 0.01, 6), (100_000, 1e-4, 11), (1_000_000, 1e-5, 14)]
        {
            let blocks = blocks_for(keys, error, hashes, 1.max(keys / 512));
            let errors = BlockErrors::new(hashes, 2000);
            assert!(errors.over(keys, blocks) <= error);
            assert!(blocks == 1 || errors.over(keys, blocks - 1) > error);
        }
    }
}
