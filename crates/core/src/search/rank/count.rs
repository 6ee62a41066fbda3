//! All matching documents, without scores: for counting, and for facets.

use std::ops::Range;

use super::Limits;
use crate::Result;
use crate::index::DocId;
use crate::index::read::replaced::Replaced;
use crate::search::matching::leaf::WINDOW;
use crate::search::matching::{Leaves, Node, Slot};

/// Calls `see` with the number of matches of each window, until it returns false: documents that contain any
/// of the leaves or, if `all`, all of them. Returns whether the end was reached.
///
/// A byte per document of a window counts its leaves, so that nothing needs to be searched.
pub fn by_windows(
    leaves: &mut Leaves<'_>,
    slots: &[Slot],
    all: bool,
    range: Range<u32>,
    replaced: &Replaced,
    limits: &Limits<'_>,
    mut see: impl FnMut(u64) -> bool,
) -> Result<bool> {
    let wanted = if all { slots.len() as u8 } else { 1 };
    let mut start = range.start;
    loop {
        let documents = slots.iter().map(|slot| leaves.cursors[*slot].document());
        let next = if all { documents.max() } else { documents.min() };
        let next = next.unwrap_or(DocId::END).0;
        if next >= range.end {
            return Ok(true);
        }
        if limits.is_over()? {
            return Ok(false);
        }
        start = start.max(next);
        let floor = DocId(start / WINDOW * WINDOW);
        let end = floor.0.saturating_add(WINDOW).min(range.end);
        let mut marks = [0; WINDOW as usize];
        for (place, slot) in slots.iter().enumerate() {
            let cursor = &mut leaves.cursors[*slot];
            cursor.skip_to(DocId(start))?;
            cursor.mark(floor, DocId(end), if all { place as u8 } else { 0 }, &mut marks)?;
        }
        let mut found = marks.iter().map(|mark| u64::from(*mark == wanted)).sum::<u64>();
        if replaced.count() > 0 {
            let gone = (floor.0..end).filter(|document| marks[(document - floor.0) as usize] == wanted);
            found -= gone.filter(|document| replaced.contains(DocId(*document))).count() as u64;
        }
        if !see(found) {
            return Ok(false);
        }
        start = end;
    }
}

/// Whether an intersection is faster to count by windows than by skipping: if the rarest leaf is in a good
/// part of the documents of the others.
pub fn is_dense(leaves: &Leaves<'_>, slots: &[Slot]) -> bool {
    let estimates = slots.iter().map(|slot| leaves.cursors[*slot].estimate());
    let (least, sum) = estimates.fold((u64::MAX, 0), |(least, sum), one| (least.min(one), sum + one));
    (2..=MOST_MARKED).contains(&slots.len()) && sum / least.max(1) < DENSE
}

/// The most leaves that a byte can count.
const MOST_MARKED: usize = 250;

/// The most postings that may be read for each posting of the rarest leaf.
const DENSE: u64 = 24;

/// Calls `see` with each document of a node until it returns false. Returns whether the end was reached.
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
