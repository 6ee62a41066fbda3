//! The judge of a stream: decides for each key, in order, whether it was seen before.
//!
//! Any [`Filter`] is one, in memory of fixed size and with its error rates, and so is
//! [`Exact`](super::Exact), without errors and with the help of the disk.

use crate::filters::Filter;
use crate::{Pulse, Result, Signature};

/// Distinguishes duplicates from new keys.
pub trait Judge {
    /// Processes the keys in order; sets `seen` for each that was seen before.
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;
}

impl Judge for &mut dyn Filter {
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.add(keys, seen, pulse)
    }
}
