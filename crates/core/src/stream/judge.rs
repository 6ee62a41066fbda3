//! Who says of each key of a stream, in its order, whether it was there before.
//!
//! Any [`Filter`] does, in a memory of fixed size and with its own errors, and so does
//! [`Exact`](super::Exact), without errors and with the help of the disk.

use crate::filters::Filter;
use crate::{Pulse, Result, Signature};

/// Who tells duplicates from new keys.
pub trait Judge {
    /// Takes the keys in their order, and answers for each whether it was there before.
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()>;
}

impl Judge for &mut dyn Filter {
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.add(keys, seen, pulse)
    }
}
