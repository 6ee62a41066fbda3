//! Who says of each key of a stream, in its order, whether it was there before.
//!
//! Any [`Filter`] does, in a memory of fixed size and with its own errors. [`Exact`] errs only where two keys
//! share a signature (n keys: n² / 2^65 times), and takes memory for every key: about 12 bytes, or while the
//! table grows by doubling up to 21. So it has a bound, and stops the stream when the table has passed it.

use crate::filter::Filter;
use crate::sieve::{Membership, SignatureSet};
use crate::{Error, Pulse, Result, Signature};

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

/// How many keys are taken between two looks at the memory.
const BETWEEN_LOOKS: usize = 1 << 10;

/// The exact answer, in a bounded memory.
pub struct Exact {
    seen: SignatureSet,
    memory: usize,
}

impl Exact {
    /// An empty set that may take `memory` bytes.
    pub fn new(memory: usize) -> Exact {
        Exact { seen: SignatureSet::default(), memory }
    }

    /// How many different keys there were.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// How many bytes the set takes.
    pub fn bytes(&self) -> usize {
        self.seen.bytes()
    }
}

impl Judge for Exact {
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        for (keys, seen) in keys.chunks(BETWEEN_LOOKS).zip(seen.chunks_mut(BETWEEN_LOOKS)) {
            pulse.beat()?;
            for (key, seen) in keys.iter().zip(seen) {
                *seen = !self.seen.insert(*key);
            }
            if self.seen.bytes() > self.memory {
                return Err(Error::Invalid(format!(
                    "the exact set is full: about {} different keys fit in its {} bytes; \
                     give it more memory, or take a filter",
                    self.seen.len(),
                    self.memory
                )));
            }
        }
        Ok(())
    }
}
