//! Documents as the matching nodes find them, with what cannot be among the best passed over.
//!
//! For each window of documents in which there is a candidate, the leaves' blocks bound what any document of it can
//! score; where that does not pass the threshold, the nodes skip the whole window. On an intersection this is block-max
//! AND. A candidate is scored before it is confirmed, leaf by leaf from the one with the largest bound, and left as soon
//! as what is left cannot lift it: so positions are decoded only for documents that would be among the best.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;
use crate::search::matching::leaf::WINDOW;

/// Offers the documents of a node that may be among the best.
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

/// What the leaves score at most in a window.
#[derive(Default)]
struct Bounds {
    /// From each scoring leaf on, what it and those after it score.
    rest: Vec<f64>,
    /// What else a document may score.
    beside: f64,
    whole: f64,
}

impl Bounds {
    fn find(&mut self, task: &mut Task<'_>, document: DocId, start: DocId, end: DocId) -> Result<()> {
        self.beside = task.prior.bound(start);
        // No window is passed before there is a threshold.
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
