//! How a long loop hears that it should stop.
//!
//! The core never calls Python. A loop that may take longer than a tenth of a second is given a
//! [`Pulse`] and calls [`Pulse::beat`] once per batch of work; the boundary supplies what a beat does
//! (look for Ctrl-C, at most ten times a second).

use crate::{Error, Result};

/// A question that a long loop asks now and then: go on?
pub struct Pulse<'a> {
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Pulse<'a> {
    /// A pulse that asks `go_on` at every beat.
    pub fn new(go_on: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Pulse { go_on }
    }

    /// Returns [`Error::Stopped`] when the caller wants the loop to end.
    pub fn beat(&self) -> Result<()> {
        if (self.go_on)() { Ok(()) } else { Err(Error::Stopped) }
    }
}

impl Pulse<'static> {
    /// A pulse that never stops anything.
    pub const STEADY: Pulse<'static> = Pulse { go_on: &|| true };
}
