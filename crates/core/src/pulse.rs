//! Cooperative cancellation of long loops.
//!
//! The core never calls Python. A loop that may take longer than a tenth of a second receives a
//! [`Pulse`] and calls [`Pulse::beat`] once per batch of work; the boundary defines what a beat does
//! (check for Ctrl-C, at most ten times a second).

use crate::{Error, Result};

/// A cancellation check for long loops.
pub struct Pulse<'a> {
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Pulse<'a> {
    /// A pulse that calls `go_on` at every beat.
    pub fn new(go_on: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Pulse { go_on }
    }

    /// Returns [`Error::Stopped`] when the loop should end.
    pub fn beat(&self) -> Result<()> {
        if (self.go_on)() { Ok(()) } else { Err(Error::Stopped) }
    }
}

impl Pulse<'static> {
    /// A pulse that never cancels.
    pub const STEADY: Pulse<'static> = Pulse { go_on: &|| true };
}
