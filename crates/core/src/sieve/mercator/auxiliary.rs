//! What was added since the last flush: the signatures in memory, the URLs in an auxiliary file.

use std::path::Path;

use crate::disk::fault;
use crate::disk::log::{LogStream, LogWriter};
use crate::sieve::Batch;
use crate::sieve::queue::FORMAT;
use crate::{Pulse, Result, Signature};

/// The number of payload bytes before the URL.
const TAG: usize = 4;

/// The in-memory part of an auxiliary file: a signature and a check of the URL per entry.
#[derive(Default)]
pub struct Slots {
    /// The signatures in file order.
    pub signatures: Vec<u64>,
    /// See [`Signature::check`].
    pub checks: Vec<u16>,
}

impl Slots {
    /// Empties the slots, keeping their memory.
    pub fn emptied(mut self) -> Slots {
        self.signatures.clear();
        self.checks.clear();
        self
    }
}

/// An auxiliary file and its slots.
pub struct Auxiliary {
    /// The number in the file's name.
    pub number: u64,
    /// The entries, encoded as queue records.
    pub log: LogWriter,
    /// Their signatures and checks.
    pub slots: Slots,
}

impl Auxiliary {
    /// Creates an empty auxiliary file, reusing the memory of an earlier one.
    pub fn create(path: &Path, number: u64, slots: Slots) -> Result<Auxiliary> {
        Ok(Auxiliary { number, log: LogWriter::open(path, FORMAT, 0)?, slots })
    }

    /// Opens an auxiliary file at its committed length, and rebuilds the slots.
    pub fn open(path: &Path, number: u64, committed: u64, pulse: &Pulse) -> Result<Auxiliary> {
        let log = LogWriter::open(path, FORMAT, committed)?;
        let mut slots = Slots::default();
        let mut records = LogStream::open(path, FORMAT, 0, log.len())?;
        while let Some(sealed) = records.advance()? {
            let record = sealed.open(path)?;
            slots.signatures.push(record.key.0);
            slots.checks.push(Signature::check(record.payload.get(TAG..).unwrap_or_default()));
            if slots.signatures.len().is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
        }
        Ok(Auxiliary { number, log, slots })
    }

    /// Adds the entries of a batch from the `from`-th to before the `to`-th.
    pub fn add(&mut self, batch: &Batch, from: usize, to: usize) -> Result<()> {
        self.log.append_sealed(batch.records(from, to))?;
        self.slots.signatures.extend(batch.signatures()[from..to].iter().map(|signature| signature.0));
        self.slots.checks.extend_from_slice(&batch.checks()[from..to]);
        fault::point("mercator.add.after-append");
        Ok(())
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.slots.signatures.len()
    }
}
