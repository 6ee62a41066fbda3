//! Term at a time: one posting list after the other, with accumulators in memory.
//!
//! A union adds each posting list to the documents' accumulators; an intersection starts with the rarest
//! posting list and looks up what is left of it in the next ones by galloping search. Nothing is pruned.
//! Memory: eight bytes per document for a union, sixteen for each document of the rarest posting list for an
//! intersection.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;

/// Offers the documents that contain any scoring leaf and match `restriction`.
pub fn union(task: &mut Task<'_>, mut restriction: Option<Node>) -> Result<()> {
    let (start, end) = (task.range.start, task.range.end);
    let mut sums = vec![f64::NAN; (end - start) as usize];
    for place in 0..task.scoring.len() {
        let slot = task.scoring[place].slot;
        let mut document = task.leaves.cursors[slot].skip_to(DocId(start))?;
        while document.0 < end {
            let score = task.leaves.cursors[slot].score()?;
            let sum = &mut sums[(document.0 - start) as usize];
            *sum = if sum.is_nan() { score } else { *sum + score };
            document = task.leaves.cursors[slot].advance()?;
        }
        // Partial sums are not scores.
        if task.is_over()? {
            return Ok(());
        }
    }
    for (place, sum) in sums.iter().enumerate().filter(|(_, sum)| !sum.is_nan()) {
        let document = DocId(start + place as u32);
        match &mut restriction {
            Some(node) => task.offer(document, *sum, &mut Matches::Elsewhere(node))?,
            None => task.offer(document, *sum, &mut Matches::All)?,
        }
    }
    Ok(())
}

/// Offers the documents that contain every scoring leaf.
pub fn intersection(task: &mut Task<'_>) -> Result<()> {
    let mut slots: Vec<usize> = task.scoring.iter().map(|scored| scored.slot).collect();
    slots.sort_by_key(|slot| task.leaves.cursors[*slot].estimate());
    let Some((rarest, others)) = slots.split_first() else { return Ok(()) };
    let mut candidates = Vec::new();
    let cursor = &mut task.leaves.cursors[*rarest];
    let mut document = cursor.skip_to(DocId(task.range.start))?;
    while document.0 < task.range.end {
        candidates.push((document, cursor.score()?));
        document = cursor.advance()?;
    }
    for slot in others {
        if task.is_over()? {
            return Ok(());
        }
        let cursor = &mut task.leaves.cursors[*slot];
        let mut kept = 0;
        for place in 0..candidates.len() {
            let (document, sum) = candidates[place];
            let found = cursor.skip_to(document)?;
            if found == document {
                candidates[kept] = (document, sum + cursor.score()?);
                kept += 1;
            } else if found == DocId::END {
                break;
            }
        }
        candidates.truncate(kept);
    }
    for (document, sum) in candidates {
        task.offer(document, sum, &mut Matches::All)?;
    }
    Ok(())
}
