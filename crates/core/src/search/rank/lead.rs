//! Documents as the matching nodes find them, with dynamic pruning.
//!
//! For each window of documents that has a candidate, the block maxima of the leaves bound the score of any
//! document in it; if the bound does not exceed the threshold, the nodes skip the whole window. On an
//! intersection this is block-max AND. A candidate is scored before it is confirmed, leaf by leaf from the
//! one with the highest bound, and abandoned as soon as the remaining bounds cannot lift it above the
//! threshold: so positions are decoded only for documents that would enter the top k.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;
use crate::search::matching::leaf::WINDOW;

/// Offers the documents of a node that may enter the top k.
pub fn lead(task: &mut Task<'_>, mut node: Node) -> Result<()> {
    let mut document = node.skip_to(&mut task.leaves, DocId(task.range.start))?;
    let mut bounds = Bounds::default();
    let mut end = DocId(0);
    while document.0 < task.range.end {
        if document >= end {
            if task.is_over()? {
                break;
            }
            let start = document.0 / WINDOW * WINDOW;
            end = DocId((start.saturating_add(WINDOW)).min(task.range.end));
            bounds.find(task, document, DocId(start), end)?;
        }
        if bounds.whole <= task.threshold() {
            document = node.skip_to(&mut task.leaves, end)?;
            continue;
        }
        if let Some(sum) = task.score(document, &bounds.rest, bounds.beside)? {
            task.offer(document, sum, &mut Matches::Here(&mut node))?;
        }
        document = node.next(&mut task.leaves)?;
    }
    Ok(())
}

/// Upper bounds on the scores of the leaves in a window.
#[derive(Default)]
struct Bounds {
    /// The suffix sums of the bounds: of each scoring leaf and those after it.
    rest: Vec<f64>,
    /// An upper bound on the rest of a document's score.
    beside: f64,
    whole: f64,
}

impl Bounds {
    fn find(&mut self, task: &mut Task<'_>, document: DocId, start: DocId, end: DocId) -> Result<()> {
        self.beside = task.prior.bound(start);
        // No window is skipped before there is a threshold.
        if task.threshold() == f64::NEG_INFINITY {
            self.rest.clear();
            self.rest.resize(task.scoring.len(), f64::INFINITY);
            self.whole = f64::INFINITY;
            return Ok(());
        }
        let mut of_leaves = Vec::with_capacity(task.scoring.len());
        for scored in &task.scoring {
            of_leaves.push((task.leaves.cursors[scored.slot].bound(document, end)?, *scored));
        }
        of_leaves.sort_by(|left, right| right.0.total_cmp(&left.0));
        task.scoring.clear();
        task.scoring.extend(of_leaves.iter().map(|(_, scored)| *scored));
        self.rest.clear();
        self.rest.extend(of_leaves.iter().map(|(bound, _)| *bound));
        let mut sum = 0.0;
        for bound in self.rest.iter_mut().rev() {
            sum += *bound;
            *bound = sum;
        }
        self.whole = sum + self.beside;
        Ok(())
    }
}
