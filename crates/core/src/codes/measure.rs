//! What a code makes of some numbers, for `crivello lab codes`: how many bytes, and how long it takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::{Code, streams};
use crate::{Pulse, Result};

/// How often each way is gone at most, and for how long.
const RUNS: usize = 9;
const ENOUGH: Duration = Duration::from_millis(150);

/// What a code makes of some numbers.
pub struct Measure {
    /// How long they are.
    pub bytes: u64,
    /// What writing them took, in seconds; the shortest of some runs.
    pub encoding: f64,
    /// What reading them took, in seconds; the shortest of some runs.
    pub decoding: f64,
}

/// Writes and reads `numbers` as [`streams`] do, some times.
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
