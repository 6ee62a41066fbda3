//! Intersection: the rarest child proposes a document, the others skip to it in order of frequency, and
//! whoever stands further on proposes next. With lists of n₁ ≤ n₂ ≤ … documents that is O(n₁) skips in each,
//! whatever the length of the others.

use super::Documents;
use crate::Result;
use crate::index::DocId;

/// The documents in all of the children.
pub struct And<D> {
    /// By rising frequency.
    children: Vec<D>,
}

impl<D: Documents> And<D> {
    /// The intersection of at least one child.
    pub fn of(mut children: Vec<D>) -> Result<And<D>> {
        children.sort_by_key(Documents::estimate);
        let mut and = And { children };
        and.align(and.document())?;
        Ok(and)
    }

    /// The children, all on the same document.
    pub fn children(&mut self) -> &mut [D] {
        &mut self.children
    }

    /// Moves to the first document, not before `target`, that all the children have.
    fn align(&mut self, mut target: DocId) -> Result<DocId> {
        'proposals: loop {
            for child in &mut self.children {
                let document = child.skip_to(target)?;
                if document > target {
                    target = document;
                    continue 'proposals;
                }
            }
            return Ok(target);
        }
    }
}

impl<D: Documents> Documents for And<D> {
    fn document(&self) -> DocId {
        self.children.first().map_or(DocId::END, Documents::document)
    }

    fn next(&mut self) -> Result<DocId> {
        let target = self.children.first_mut().map_or(Ok(DocId::END), Documents::next)?;
        self.align(target)
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        if self.document() >= target {
            return Ok(self.document());
        }
        self.align(target)
    }

    fn estimate(&self) -> u64 {
        self.children.first().map_or(0, Documents::estimate)
    }
}
