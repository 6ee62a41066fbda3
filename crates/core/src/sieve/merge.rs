//! The two sequential passes with which `mercator` and `offline` decide: a merge of sorted entries with the
//! sorted file of all signatures seen, then a copy from the auxiliary file to the queue.

use super::words::{WordFile, WordReader, WordWriter};
use crate::disk::fault;
use crate::disk::log::{LogStream, LogWriter};
use crate::{Pulse, Result};

/// Merges entries (signature, ordinal), sorted by both, with the sorted signatures `seen` into `target`.
///
/// `fresh` is called with the first ordinal of each new signature, and `again` with that ordinal and each
/// further one of the same signature.
pub fn merge(
    entries: impl Iterator<Item = Result<[u64; 2]>>,
    mut seen: Option<WordReader>,
    mut target: WordWriter,
    pulse: &Pulse,
    mut fresh: impl FnMut(u64) -> Result<()>,
    mut again: impl FnMut(u64, u64),
) -> Result<WordFile> {
    let mut previous = None;
    for entry in entries {
        let [signature, ordinal] = entry?;
        if let Some((last, first)) = previous
            && last == signature
        {
            again(first, ordinal);
            continue;
        }
        previous = Some((signature, ordinal));
        let known = match &mut seen {
            Some(seen) => seen.copy_below(signature, &mut target, pulse)?,
            None => false,
        };
        if !known {
            target.push(signature)?;
            fresh(ordinal)?;
        }
    }
    if let Some(seen) = &mut seen {
        seen.copy_rest(&mut target, pulse)?;
    }
    fault::point("flush.after-merge");
    target.finish()
}

/// Appends the records of `auxiliary` with these ascending ordinals to the queue; returns their number.
pub fn copy_fresh(
    mut auxiliary: LogStream,
    ordinals: impl Iterator<Item = Result<u64>>,
    queue: &mut LogWriter,
    pulse: &Pulse,
) -> Result<u64> {
    let path = auxiliary.path().to_path_buf();
    let (mut at, mut copied) = (0, 0u64);
    for ordinal in ordinals {
        let ordinal = ordinal?;
        while at < ordinal && auxiliary.advance()?.is_some() {
            at += 1;
        }
        if let Some(sealed) = auxiliary.advance()? {
            // Damage must be reported here, where it is, and not later in the queue.
            sealed.open(&path)?;
            queue.append_sealed(sealed.bytes)?;
        }
        at += 1;
        copied += 1;
        fault::point("flush.copying");
        if copied.is_multiple_of(1 << 12) {
            pulse.beat()?;
        }
    }
    queue.flush()?;
    fault::point("flush.after-copy");
    Ok(copied)
}
