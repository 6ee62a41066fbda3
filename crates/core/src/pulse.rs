//! Cooperative cancellation and progress of long loops.
//!
//! The core never calls Python. A loop that may take longer than a tenth of a second receives a
//! [`Pulse`] and calls [`Pulse::beat`] once per batch of work; the boundary defines what a beat does
//! (check for Ctrl-C, at most ten times a second). A loop that knows how far it has come says so with
//! [`Pulse::set`]; whoever shows the progress reads it from another thread.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// How far a long computation has come.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    residual: AtomicU64,
}

impl Progress {
    /// The amount of work done, and all of it, in a unit of the computation's choice; 0 if unknown.
    pub fn done(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// The change of the last iteration; 0 if the computation does not iterate.
    pub fn residual(&self) -> f64 {
        f64::from_bits(self.residual.load(Ordering::Relaxed))
    }
}

/// A cancellation check for long loops, and the place for their progress.
pub struct Pulse<'a> {
    go_on: &'a (dyn Fn() -> bool + Sync),
    progress: Option<&'a Progress>,
}

impl<'a> Pulse<'a> {
    /// A pulse that calls `go_on` at every beat.
    pub fn new(go_on: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Pulse { go_on, progress: None }
    }

    /// The same, with a place for the progress.
    pub fn showing(self, progress: Option<&'a Progress>) -> Self {
        Pulse { progress, ..self }
    }

    /// Returns [`Error::Stopped`] when the loop should end.
    pub fn beat(&self) -> Result<()> {
        if (self.go_on)() { Ok(()) } else { Err(Error::Stopped) }
    }

    /// Sets the progress: `done` of `total`.
    pub fn set(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress.total.store(total, Ordering::Relaxed);
            progress.done.store(done, Ordering::Relaxed);
        }
    }

    /// Adds to the work done; several threads may.
    pub fn add(&self, done: u64) {
        if let Some(progress) = self.progress {
            progress.done.fetch_add(done, Ordering::Relaxed);
        }
    }

    /// Sets the change of the last iteration.
    pub fn residual(&self, residual: f64) {
        if let Some(progress) = self.progress {
            progress.residual.store(residual.to_bits(), Ordering::Relaxed);
        }
    }
}

impl Pulse<'static> {
    /// A pulse that never cancels.
    pub const STEADY: Pulse<'static> = Pulse { go_on: &|| true, progress: None };
}
