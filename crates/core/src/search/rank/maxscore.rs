//! Block-max MaxScore, a window of documents at a time.
//!
//! In each window the posting lists are ordered by their score bounds there. Those that together cannot
//! exceed the threshold are *non-essential*: no document enters the top k by them alone. The postings of the
//! essential ones are added to an array of accumulators, one per document, list after list, which is fast;
//! then the documents found are completed with the non-essential ones, from the highest bound on, and
//! abandoned as soon as the remaining bounds cannot lift them above the threshold. A window that cannot
//! exceed the threshold at all is not read. (Turtle and Flood, *Query evaluation: strategies and
//! optimizations*, 1995; Ding and Suel, *Faster top-k document retrieval using block-max indexes*, 2011; by
//! windows as in Mackenzie, Petri and Moffat, *Anytime ranking on document-ordered indexes*, 2022.)
//!
//! Memory: 36 KiB.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;
use crate::search::matching::leaf::{BlockScores, Pool, WINDOW, each_set};

/// The accumulators of a window, and the scores of a block.
struct Window {
    pool: Box<Pool>,
    block: BlockScores,
}

/// Offers the documents of any scoring leaf that may enter the top k and match `restriction`.
pub fn maxscore(task: &mut Task<'_>, mut restriction: Option<Node>) -> Result<()> {
    let mut window = Window { pool: Pool::new(), block: BlockScores::new() };
    let mut bounds: Vec<(f64, usize)> = Vec::with_capacity(task.scoring.len());
    let mut start = task.range.start;
    loop {
        // A posting list that was not read lags behind until it is needed, so its document counts as no less
        // than the current start.
        let cursors = task.scoring.iter().map(|scored| task.leaves.cursors[scored.slot].document());
        let next = cursors.min().unwrap_or(DocId::END).0.max(start);
        if next >= task.range.end {
            return Ok(());
        }
        if task.is_over()? {
            return Ok(());
        }
        start = next;
        let floor = start / WINDOW * WINDOW;
        let end = floor.saturating_add(WINDOW).min(task.range.end);
        let beside = task.prior.bound(DocId(floor));
        bounds.clear();
        for scored in &task.scoring {
            let bound = task.leaves.cursors[scored.slot].bound(DocId(start), DocId(end))?;
            if bound > 0.0 {
                bounds.push((bound, scored.slot));
            }
        }
        bounds.sort_by(|left, right| left.0.total_cmp(&right.0));
        let threshold = task.threshold();
        let mut rest = 0.0;
        let mut first = 0;
        while first < bounds.len() && rest + bounds[first].0 + beside <= threshold {
            rest += bounds[first].0;
            first += 1;
        }
        if first < bounds.len() {
            let (others, essential) = bounds.split_at(first);
            let places = Places { floor, start, end, beside };
            match essential {
                [only] => window.follow(task, &mut restriction, others, only.1, rest, &places)?,
                _ => window.pour(task, &mut restriction, others, essential, rest, &places)?,
            }
        }
        start = end;
    }
}

/// The bounds of a window.
struct Places {
    /// The first document of the window on the grid.
    floor: u32,
    /// The first document that may match.
    start: u32,
    /// The first document past the window.
    end: u32,
    /// An upper bound on a document's score besides its leaves.
    beside: f64,
}

impl Window {
    /// One posting list is essential: its documents are completed as they are read.
    fn follow(
        &mut self,
        task: &mut Task<'_>,
        restriction: &mut Option<Node>,
        others: &[(f64, usize)],
        leader: usize,
        rest: f64,
        places: &Places,
    ) -> Result<()> {
        let mut document = task.leaves.cursors[leader].skip_to(DocId(places.start))?;
        while document.0 < places.end {
            let (bound, end) = task.leaves.cursors[leader].bound_at(document)?;
            let end = end.min(DocId(places.end));
            if bound + rest + places.beside <= task.threshold() {
                document = task.leaves.cursors[leader].skip_to(end)?;
                continue;
            }
            task.leaves.cursors[leader].score_block(end, &mut self.block)?;
            document = task.leaves.cursors[leader].document();
            let mut least = task.threshold() - rest - places.beside;
            for place in 0..self.block.documents.len() {
                let sum = self.block.scores[place];
                if sum > least {
                    complete(task, restriction, others, DocId(self.block.documents[place]), sum, rest)?;
                    least = task.threshold() - rest - places.beside;
                }
            }
        }
        Ok(())
    }

    /// Several posting lists are essential: their scores are accumulated, and the documents are completed
    /// afterwards.
    fn pour(
        &mut self,
        task: &mut Task<'_>,
        restriction: &mut Option<Node>,
        others: &[(f64, usize)],
        essential: &[(f64, usize)],
        rest: f64,
        places: &Places,
    ) -> Result<()> {
        let (floor, end) = (DocId(places.floor), DocId(places.end));
        let rest_and_beside = rest + places.beside;
        // If a sum of 0 cannot exceed the threshold, non-zero sums alone show which documents occurred.
        let meets = task.threshold() - rest_and_beside < 0.0;
        for (_, slot) in essential {
            let cursor = &mut task.leaves.cursors[*slot];
            cursor.skip_to(DocId(places.start))?;
            if meets {
                cursor.pour::<true>(floor, end, &mut self.pool)?;
            } else {
                cursor.pour::<false>(floor, end, &mut self.pool)?;
            }
        }
        let Pool { sums, met, .. } = &mut *self.pool;
        let mut offer = |place: usize, sum: f64| {
            complete(task, restriction, others, DocId(places.floor + place as u32), sum, rest)?;
            Ok(task.threshold() - rest_and_beside)
        };
        if meets {
            let mut least = f64::NEG_INFINITY;
            each_set(met, |place| {
                if sums[place] > least {
                    least = offer(place, sums[place])?;
                }
                Ok(())
            })?;
        } else {
            let mut least = 0.0;
            for (place, sum) in sums.iter().enumerate() {
                if *sum > least {
                    least = offer(place, *sum)?;
                }
            }
        }
        sums.fill(0.0);
        met.fill(0);
        Ok(())
    }
}

/// Adds the scores of the non-essential posting lists to a document's sum, and offers it.
#[inline]
fn complete(
    task: &mut Task<'_>,
    restriction: &mut Option<Node>,
    others: &[(f64, usize)],
    document: DocId,
    mut sum: f64,
    mut rest: f64,
) -> Result<()> {
    let prior = task.prior.of(document);
    for (bound, slot) in others.iter().rev() {
        if sum + rest + prior <= task.threshold() {
            return Ok(());
        }
        // The remainder stays an upper bound despite rounding.
        rest -= bound * (1.0 - 1e-12);
        let cursor = &mut task.leaves.cursors[*slot];
        if cursor.skip_to(document)? == document {
            sum += cursor.score()?;
        }
    }
    match restriction {
        Some(node) => task.offer(document, sum, &mut Matches::Elsewhere(node)),
        None => task.offer(document, sum, &mut Matches::All),
    }
}
