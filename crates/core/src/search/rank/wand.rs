//! WAND and block-max WAND: unions, document at a time.
//!
//! The posting lists are kept in order of their current documents. The first document at which the running
//! sum of the lists' maxima exceeds the threshold is the *pivot*: no document before it can enter the top k,
//! so the lists skip to it. Block-max WAND also checks the block maxima around the pivot before decoding the
//! blocks. (Broder, Carmel, Herscovici, Soffer and Zien, *Efficient query evaluation using a two-level
//! retrieval process*, 2003; Ding and Suel, 2011.)

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;

/// A posting list and its maximum score.
struct Bounded {
    slot: usize,
    most: f64,
    /// The maximum score in its block, and the first document past the block.
    block: (f64, DocId),
}

/// Offers the documents of any scoring leaf that may enter the top k and match `restriction`.
pub fn wand(task: &mut Task<'_>, mut restriction: Option<Node>, by_blocks: bool) -> Result<()> {
    let mut lists = Vec::with_capacity(task.scoring.len());
    for scored in &task.scoring {
        let cursor = &mut task.leaves.cursors[scored.slot];
        cursor.skip_to(DocId(task.range.start))?;
        lists.push(Bounded { slot: scored.slot, most: cursor.most()?, block: (0.0, DocId(0)) });
    }
    let beside = task.prior.most();
    let mut steps = 0u32;
    loop {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(1024) && task.is_over()? {
            return Ok(());
        }
        let document = |task: &Task<'_>, list: &Bounded| task.leaves.cursors[list.slot].document();
        lists.sort_by_key(|list| document(task, list));
        let threshold = task.threshold();
        let mut sum = beside;
        let passes = |list: &Bounded| {
            sum += list.most;
            sum > threshold
        };
        let Some(pivot) = lists.iter().position(passes) else { return Ok(()) };
        let target = document(task, &lists[pivot]);
        if target.0 >= task.range.end {
            return Ok(());
        }
        let held = lists.iter().take_while(|list| document(task, list) <= target).count();
        if by_blocks {
            let mut bound = beside;
            let mut end = lists.get(held).map_or(DocId::END, |next| document(task, next));
            for list in &mut lists[..held] {
                if target >= list.block.1 {
                    list.block = task.leaves.cursors[list.slot].bound_at(target)?;
                }
                bound += list.block.0;
                end = end.min(list.block.1);
            }
            if bound <= threshold {
                // The list with the highest maximum skips first, so that the pivot moves furthest.
                let leaps = |left: &&Bounded, right: &&Bounded| left.most.total_cmp(&right.most);
                let Some(first) = lists[..held].iter().max_by(leaps) else { return Ok(()) };
                task.leaves.cursors[first.slot].skip_to(end.max(DocId(target.0 + 1)))?;
                continue;
            }
        }
        if document(task, &lists[0]) < target {
            let behind = lists.iter().take_while(|list| document(task, list) < target).count();
            for list in &lists[..behind] {
                task.leaves.cursors[list.slot].skip_to(target)?;
            }
            continue;
        }
        let mut sum = 0.0;
        for list in &lists[..held] {
            sum += task.leaves.cursors[list.slot].score()?;
        }
        match &mut restriction {
            Some(node) => task.offer(target, sum, &mut Matches::Elsewhere(node))?,
            None => task.offer(target, sum, &mut Matches::All)?,
        }
        for list in &lists[..held] {
            task.leaves.cursors[list.slot].advance()?;
        }
    }
}
