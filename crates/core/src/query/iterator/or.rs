//! Union: the children stand in a heap by their documents, the least on top. A step costs the logarithm
//! of the number of children for each child that moves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{AnyDocuments, Documents};
use crate::Result;
use crate::index::DocId;

/// The documents in any of the children.
pub struct Or<'a> {
    children: Vec<AnyDocuments<'a>>,
    /// The document of each child and the child.
    heap: BinaryHeap<Reverse<(DocId, usize)>>,
}

impl<'a> Or<'a> {
    /// The union of the children.
    pub fn of(children: Vec<AnyDocuments<'a>>) -> Or<'a> {
        let places =
            children.iter().enumerate().map(|(child, documents)| Reverse((documents.document(), child)));
        let heap = places.collect();
        Or { children, heap }
    }
}

impl Documents for Or<'_> {
    fn document(&self) -> DocId {
        self.heap.peek().map_or(DocId::END, |Reverse((document, _))| *document)
    }

    fn next(&mut self) -> Result<DocId> {
        let current = self.document();
        if current == DocId::END {
            return Ok(current);
        }
        self.skip_to(DocId(current.0 + 1))
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        while let Some(mut least) = self.heap.peek_mut() {
            let Reverse((document, child)) = *least;
            if document >= target {
                return Ok(document);
            }
            least.0.0 = self.children[child].skip_to(target)?;
            // Dropping the peek restores the order.
            if least.0.0 == DocId::END {
                PeekMut::pop(least);
            }
        }
        Ok(DocId::END)
    }

    fn estimate(&self) -> u64 {
        self.children.iter().map(Documents::estimate).sum()
    }
}
