//! Block-max AND: queries with required leaves.
//!
//! The rarest of the required leaves leads. Within a range of documents in which no leaf changes its block,
//! the block maxima bound the score of any document; if the bound does not exceed the threshold, the leader
//! skips the whole range. Otherwise its block is scored in one go, and only documents that can still exceed
//! the threshold are looked up in the other leaves, the rarest first, and abandoned as soon as one is missing
//! or the remaining bounds cannot lift them above the threshold. Expensive checks, such as positions, come
//! last, for documents that would enter the top k.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::leaf::{BlockScores, WINDOW};
use crate::search::matching::{Node, Slot};

/// A leaf other than the leader.
struct Other {
    slot: Slot,
    /// Whether it scores, or is only required.
    scores: bool,
    required: bool,
    /// An upper bound on its score in the range.
    bound: f64,
    /// The first document past the blocks that the bound is valid for.
    end: DocId,
}

/// The rarest of the required leaves.
pub fn leader(task: &Task<'_>, required: &[Slot]) -> Slot {
    required.iter().copied().min_by_key(|slot| task.leaves.cursors[*slot].estimate()).unwrap_or(0)
}

/// Offers the documents that may enter the top k, given the leaves that all of them must contain, and a node
/// if containing them is not sufficient. `leads` is the rarest of these leaves, and `leader` a cursor for it
/// that the node does not use.
pub fn conjunction(
    task: &mut Task<'_>,
    mut node: Option<Node>,
    required: &[Slot],
    leads: Slot,
    leader: Slot,
) -> Result<()> {
    let mut others = others(task, required, leads);
    let leader_scores = task.scoring.iter().any(|scored| scored.slot == leads);
    let mut block = BlockScores::new();
    let mut document = task.leaves.cursors[leader].skip_to(DocId(task.range.start))?;
    let (mut bound_of_leader, mut end_of_leader) = (0.0, DocId(0));
    let mut steps = 0u32;
    while document.0 < task.range.end {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(16) && task.is_over()? {
            return Ok(());
        }
        let mut end = DocId(task.range.end);
        let mut rest = 0.0;
        let beside = task.prior.bound(document);
        if task.threshold() > f64::NEG_INFINITY {
            if document >= end_of_leader {
                (bound_of_leader, end_of_leader) = task.leaves.cursors[leader].bound_at(document)?;
                if !leader_scores {
                    bound_of_leader = 0.0;
                }
            }
            end = end.min(end_of_leader);
            for other in &mut others {
                if document >= other.end {
                    (other.bound, other.end) = task.leaves.cursors[other.slot].bound_at(document)?;
                    if !other.scores {
                        other.bound = 0.0;
                    }
                }
                rest += other.bound;
                end = end.min(other.end);
            }
            // The bound on the prior holds within a window.
            end = end.min(DocId((document.0 / WINDOW + 1).saturating_mul(WINDOW)));
            if bound_of_leader + rest + beside <= task.threshold() {
                document = task.leaves.cursors[leader].skip_to(end)?;
                continue;
            }
        } else {
            rest = f64::INFINITY;
        }
        task.leaves.cursors[leader].score_block(end, &mut block)?;
        document = task.leaves.cursors[leader].document();
        let mut least = task.threshold() - rest - beside;
        // The first document that may match, according to the other leaves.
        let mut next = 0;
        for place in 0..block.documents.len() {
            let candidate = block.documents[place];
            let score = if leader_scores { block.scores[place] } else { 0.0 };
            if candidate < next || score <= least {
                continue;
            }
            match complete(task, &others, DocId(candidate), score, rest, beside)? {
                Outcome::Scores(sum) => {
                    let mut matches = node.as_mut().map_or(Matches::All, Matches::Elsewhere);
                    task.offer(DocId(candidate), sum, &mut matches)?;
                    least = task.threshold() - rest - beside;
                }
                Outcome::Missing(found) => next = found.0,
                Outcome::TooLittle => {}
            }
        }
        if document.0 < next {
            document = task.leaves.cursors[leader].skip_to(DocId(next))?;
        }
    }
    Ok(())
}

/// The leaves other than the leader: the required ones by increasing frequency, then the optional ones.
fn others(task: &Task<'_>, required: &[Slot], leader: Slot) -> Vec<Other> {
    let other = |slot: Slot, required: bool| Other {
        slot,
        scores: task.scoring.iter().any(|scored| scored.slot == slot),
        required,
        bound: 0.0,
        end: DocId(0),
    };
    let mut others: Vec<Other> =
        required.iter().filter(|slot| **slot != leader).map(|slot| other(*slot, true)).collect();
    others.sort_by_key(|other| task.leaves.cursors[other.slot].estimate());
    let optional = task.scoring.iter().map(|scored| scored.slot);
    let optional = optional.filter(|slot| *slot != leader && !required.contains(slot));
    others.extend(optional.map(|slot| other(slot, false)));
    others
}

enum Outcome {
    /// All required leaves occur, with this score.
    Scores(f64),
    /// A required leaf is missing; its next document is this one.
    Missing(DocId),
    /// The document cannot enter the top k.
    TooLittle,
}

#[inline]
fn complete(
    task: &mut Task<'_>,
    others: &[Other],
    document: DocId,
    mut sum: f64,
    mut rest: f64,
    beside: f64,
) -> Result<Outcome> {
    for other in others {
        if sum + rest + beside <= task.threshold() {
            return Ok(Outcome::TooLittle);
        }
        let cursor = &mut task.leaves.cursors[other.slot];
        let found = cursor.skip_to(document)?;
        if found == document {
            if other.scores {
                sum += cursor.score()?;
            }
        } else if other.required {
            return Ok(Outcome::Missing(found));
        }
        rest -= other.bound * (1.0 - 1e-12);
    }
    Ok(Outcome::Scores(sum))
}
