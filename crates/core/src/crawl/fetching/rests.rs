//! The longest rest that a crawl divided among agents has let a host or an address take, for the time after a crash.
//!
//! Which hosts were asked since the last checkpoint is lost in a crash, and so is when they may be asked again; and an
//! address that moves to another agent leaves its rest behind. What is left is a bound: every request was before the end
//! of the process, and no rest is longer than the longest. So an agent that starts makes no request until that time has
//! passed. The bound is synced before the rest that raises it begins, in steps of a quarter, so that happens a few times in
//! a crawl: a Crawl-delay raises it as soon as it is known, before any page of the host is asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::collection::layout::RESTS;
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

/// By which factor the bound is larger than the rest that raised it.
const STEP: f64 = 1.25;

#[derive(Default, Deserialize, Serialize)]
struct Saved {
    /// In seconds.
    longest: f64,
}

/// The bound of all rests.
pub struct Rests {
    path: PathBuf,
    longest: Duration,
    /// What it was at the start; zero if there was no run before.
    inherited: Duration,
}

impl Rests {
    /// Opens the bound, which is at least `usual`.
    pub fn open(folder: &Path, usual: Duration) -> Result<Rests> {
        let path = folder.join(RESTS);
        let saved: Saved = match std::fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| Error::corrupt(&path, 0, error.to_string()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Saved::default(),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let inherited = duration(saved.longest);
        let mut rests = Rests { path, longest: inherited, inherited };
        if usual > inherited || inherited.is_zero() {
            rests.save(usual)?;
        }
        Ok(rests)
    }

    /// For how long after the start no request is made, if the rests of other agents, in seconds, count as well.
    pub fn quiet(&self, others: f64) -> Duration {
        self.inherited.max(duration(others))
    }

    /// The bound.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Raises the bound for a rest that is about to begin; returns the bound.
    pub fn note(&mut self, rest: Duration) -> Result<Duration> {
        if rest > self.longest {
            self.save(rest.mul_f64(STEP))?;
        }
        Ok(self.longest)
    }

    fn save(&mut self, longest: Duration) -> Result<()> {
        let saved = Saved { longest: longest.as_secs_f64() };
        let content = serde_json::to_vec(&saved).map_err(|error| Error::Invalid(error.to_string()))?;
        let mut file = NewFile::create(&self.path)?;
        file.append(&content)?;
        file.finish()?;
        self.longest = longest;
        Ok(())
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_longest_rest_outlives_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let mut rests = Rests::open(folder.path(), SECOND).unwrap();
        // Nothing was asked before the first start.
        assert_eq!((rests.quiet(0.0), rests.longest()), (Duration::ZERO, SECOND));
        assert_eq!(rests.quiet(3.0), 3 * SECOND);
        rests.note(SECOND).unwrap();
        assert!(rests.note(30 * SECOND).unwrap() >= 30 * SECOND);
        rests.note(2 * SECOND).unwrap();
        drop(rests);
        let rests = Rests::open(folder.path(), SECOND).unwrap();
        assert!(rests.quiet(3.0) >= 30 * SECOND && rests.quiet(90.0) == 90 * SECOND);
    }
}
