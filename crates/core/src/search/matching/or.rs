//! Union: the children are in a min-heap by document. A step costs the logarithm of the number of children
//! for each child that moves. Those on the current document are at the top of the heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Leaves, Node};
use crate::Result;
use crate::index::DocId;

/// The documents in any of the children.
pub struct Or {
    children: Vec<Node>,
    /// The document of each child and the child.
    heap: BinaryHeap<Reverse<(DocId, usize)>>,
    estimate: u64,
}

impl Or {
    /// The union of the children.
    pub fn of(children: Vec<Node>, leaves: &Leaves<'_>) -> Or {
        let places = children.iter().enumerate();
        let heap = places.map(|(place, child)| Reverse((child.document(leaves), place))).collect();
        let estimate = children.iter().map(|child| child.estimate(leaves)).sum();
        Or { children, heap, estimate }
    }

    /// The least document of all children.
    #[inline]
    pub fn document(&self) -> DocId {
        self.heap.peek().map_or(DocId::END, |Reverse((document, _))| *document)
    }

    /// Moves to the first document at or after `target`.
    pub fn skip_to(&mut self, leaves: &mut Leaves<'_>, target: DocId) -> Result<DocId> {
        while let Some(mut least) = self.heap.peek_mut() {
            let Reverse((document, child)) = *least;
            if document >= target {
                return Ok(document);
            }
            least.0.0 = self.children[child].skip_to(leaves, target)?;
            // Dropping the peek restores the heap order.
            if least.0.0 == DocId::END {
                PeekMut::pop(least);
            }
        }
        Ok(DocId::END)
    }

    /// Whether any child on the current document confirms.
    pub fn confirm(&mut self, leaves: &mut Leaves<'_>) -> Result<bool> {
        let document = self.document();
        for Reverse((of_child, child)) in &self.heap {
            if *of_child == document && self.children[*child].confirm(leaves)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The sum of the children's estimates.
    pub fn estimate(&self, _leaves: &Leaves<'_>) -> u64 {
        self.estimate
    }

    /// Whether every child is certain.
    pub fn is_certain(&self) -> bool {
        self.children.iter().all(Node::is_certain)
    }
}
