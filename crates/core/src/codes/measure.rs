//! Measurements of a code on given numbers, for `crivello lab codes`: encoded size and time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::{Code, streams};
use crate::{Pulse, Result};

/// The maximum number of runs in each direction, and their total time.
const RUNS: usize = 9;
const ENOUGH: Duration = Duration::from_millis(150);

/// The cost of a code on some numbers.
pub struct Measure {
    /// The encoded size.
    pub bytes: u64,
    /// The time to encode, in seconds; the shortest of several runs.
    pub encoding: f64,
    /// The time to decode, in seconds; the shortest of several runs.
    pub decoding: f64,
}

/// Encodes and decodes `numbers` as [`streams`] do, several times.
pub fn measure(code: Code, numbers: &[u64], pulse: &Pulse) -> Result<Measure> {
    let mut bytes = Vec::new();
    let encoding = shortest(|| {
        bytes = streams::encode(code, numbers, pulse)?;
        Ok(())
    })?;
    let decoding = shortest(|| {
        black_box(streams::decode(code, &bytes, numbers.len(), pulse)?);
        Ok(())
    })?;
    Ok(Measure { bytes: bytes.len() as u64, encoding, decoding })
}

fn shortest(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    let begun = Instant::now();
    for _ in 0..RUNS {
        let started = Instant::now();
        work()?;
        best = best.min(started.elapsed().as_secs_f64());
        if begun.elapsed() > ENOUGH {
            break;
        }
    }
    Ok(best)
}
