//! Exhaustive scoring of every match: slow, obvious, and the reference for the other methods.

use super::Task;
use super::task::Matches;
use crate::Result;
use crate::index::DocId;
use crate::search::matching::Node;

/// Offers every document of a node to the top k.
pub fn exhaustive(task: &mut Task<'_>, mut node: Node) -> Result<()> {
    let nothing = vec![f64::INFINITY; task.scoring.len()];
    let mut document = node.skip_to(&mut task.leaves, DocId(task.range.start))?;
    let mut seen = 0u32;
    while document.0 < task.range.end {
        seen += 1;
        if seen.is_multiple_of(1024) && task.is_over()? {
            break;
        }
        if node.confirm(&mut task.leaves)?
            && let Some(sum) = task.score(document, &nothing, 0.0)?
        {
            task.offer(document, sum, &mut Matches::All)?;
        }
        document = node.next(&mut task.leaves)?;
    }
    Ok(())
}
