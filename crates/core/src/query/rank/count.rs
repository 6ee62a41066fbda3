//! All documents that match, without scores: for counting, and for facets.

use std::ops::Range;

use super::{Limits, WINDOW};
use crate::Result;
use crate::index::DocId;
use crate::index::replaced::Replaced;
use crate::query::matching::{Leaves, Node, Slot};

/// The documents that hold any of some leaves: a bit each, a window at a time; calls `see` with the first document of
/// each window and its bits, until it says that it is enough. Returns whether it came to the end.
pub fn union(
    leaves: &mut Leaves<'_>,
    slots: &[Slot],
    range: Range<u32>,
    replaced: &Replaced,
    limits: &Limits<'_>,
    mut see: impl FnMut(DocId, &[u64]) -> bool,
) -> Result<bool> {
    let mut bits = [0u64; WINDOW as usize / 64];
    let mut start = range.start;
    loop {
        let next = slots.iter().map(|slot| leaves.cursors[*slot].document()).min().unwrap_or(DocId::END).0;
        if next >= range.end {
            return Ok(true);
        }
        if limits.is_over()? {
            return Ok(false);
        }
        start = start.max(next);
        let floor = DocId(start / WINDOW * WINDOW);
        let end = floor.0.saturating_add(WINDOW).min(range.end);
        for slot in slots {
            let cursor = &mut leaves.cursors[*slot];
            cursor.skip_to(DocId(start))?;
            cursor.mark(floor, DocId(end), &mut bits)?;
        }
        if replaced.count() > 0 {
            replaced.strike_out(floor, &mut bits);
        }
        if !see(floor, &bits) {
            return Ok(false);
        }
        bits.fill(0);
        start = end;
    }
}

/// The documents of a node, one after the other, until `see` says that it is enough. Returns whether it came to the end.
pub fn matches(
    leaves: &mut Leaves<'_>,
    node: &mut Node,
    range: Range<u32>,
    replaced: &Replaced,
    limits: &Limits<'_>,
    mut see: impl FnMut(DocId) -> bool,
) -> Result<bool> {
    let certain = node.is_certain();
    let mut document = node.skip_to(leaves, DocId(range.start))?;
    let mut steps = 0u32;
    while document.0 < range.end {
        steps += 1;
        if steps.is_multiple_of(1024) && limits.is_over()? {
            return Ok(false);
        }
        if !replaced.contains(document) && (certain || node.confirm(leaves)?) && !see(document) {
            return Ok(false);
        }
        document = node.next(leaves)?;
    }
    Ok(true)
}
