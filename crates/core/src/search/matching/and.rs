//! Intersection, by three algorithms.
//!
//! *Greedy* (the default): the rarest child proposes a document, the others skip to it in order of document
//! frequency, and the first child that overshoots makes the next proposal. With posting lists of n₁ ≤ n₂ ≤ …
//! documents this takes O(n₁) skips in each list, whatever the length of the others; most documents fail at
//! the second child already. *Heap*: the child that is furthest behind skips to the furthest document, O(log
//! k) per step for k children. *Adaptive*: greedy, but the order follows how far each child overshoots, the
//! furthest first: for children whose frequency is unknown.

use serde::Serialize;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Leaves, Node};
use crate::Result;
use crate::index::DocId;
use crate::settings::choices;

choices! {
    /// How the children are moved to a common document.
    #[derive(Serialize)]
    pub enum Intersection, "intersection" {
        /// By rising frequency.
        Greedy = "greedy",
        /// The last one first.
        Heap = "heap",
        /// By how far they leap.
        Adaptive = "adaptive",
    }
}

/// The number of alignments after which the adaptive order is revised.
const PATIENCE: u32 = 32;

/// The documents in all of the children.
pub struct And {
    /// In the order in which they are advanced.
    children: Vec<Node>,
    kind: Intersection,
    /// How far each child skipped past the proposals, and how often it was advanced.
    leaps: Vec<(u64, u32)>,
    alignments: u32,
    heap: BinaryHeap<Reverse<(DocId, usize)>>,
    document: DocId,
}

impl And {
    /// The intersection of at least one child.
    pub fn of(mut children: Vec<Node>, kind: Intersection, leaves: &mut Leaves<'_>) -> Result<And> {
        if kind == Intersection::Greedy {
            children.sort_by_key(|child| child.estimate(leaves));
        }
        let leaps = vec![(0, 0); children.len()];
        let mut and =
            And { children, kind, leaps, alignments: 0, heap: BinaryHeap::new(), document: DocId(0) };
        and.align(leaves, DocId(0))?;
        Ok(and)
    }

    /// The document of all children.
    #[inline]
    pub fn document(&self, _leaves: &Leaves<'_>) -> DocId {
        self.document
    }

    /// Moves to the next document.
    #[inline]
    pub fn next(&mut self, leaves: &mut Leaves<'_>) -> Result<DocId> {
        if self.document == DocId::END {
            return Ok(DocId::END);
        }
        let target = self.children[0].next(leaves)?;
        self.align(leaves, target)
    }

    /// Moves to the first document at or after `target`.
    #[inline]
    pub fn skip_to(&mut self, leaves: &mut Leaves<'_>, target: DocId) -> Result<DocId> {
        if self.document >= target {
            return Ok(self.document);
        }
        self.align(leaves, target)
    }

    /// Whether every child confirms.
    pub fn confirm(&mut self, leaves: &mut Leaves<'_>) -> Result<bool> {
        for child in &mut self.children {
            if !child.confirm(leaves)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The estimate of the rarest child.
    pub fn estimate(&self, leaves: &Leaves<'_>) -> u64 {
        self.children.iter().map(|child| child.estimate(leaves)).min().unwrap_or(0)
    }

    /// Whether every child is certain.
    pub fn is_certain(&self) -> bool {
        self.children.iter().all(Node::is_certain)
    }

    #[inline]
    fn align(&mut self, leaves: &mut Leaves<'_>, target: DocId) -> Result<DocId> {
        self.document = match self.kind {
            Intersection::Greedy => self.align_in_order(leaves, target)?,
            Intersection::Heap => self.align_by_heap(leaves, target)?,
            Intersection::Adaptive => self.align_adaptively(leaves, target)?,
        };
        Ok(self.document)
    }

    #[inline]
    fn align_in_order(&mut self, leaves: &mut Leaves<'_>, mut target: DocId) -> Result<DocId> {
        'proposals: loop {
            for child in &mut self.children {
                let document = child.skip_to(leaves, target)?;
                if document > target {
                    target = document;
                    continue 'proposals;
                }
            }
            return Ok(target);
        }
    }

    fn align_by_heap(&mut self, leaves: &mut Leaves<'_>, target: DocId) -> Result<DocId> {
        if self.heap.is_empty() {
            let places = self.children.iter().enumerate();
            self.heap = places.map(|(place, child)| Reverse((child.document(leaves), place))).collect();
        }
        let mut furthest = target;
        for Reverse((document, _)) in &self.heap {
            furthest = furthest.max(*document);
        }
        while let Some(mut last) = self.heap.peek_mut() {
            let Reverse((document, place)) = *last;
            if document == furthest {
                break;
            }
            let document = self.children[place].skip_to(leaves, furthest)?;
            furthest = furthest.max(document);
            *last = Reverse((document, place));
        }
        Ok(furthest)
    }

    fn align_adaptively(&mut self, leaves: &mut Leaves<'_>, mut target: DocId) -> Result<DocId> {
        self.alignments += 1;
        if self.alignments.is_multiple_of(PATIENCE) {
            self.reorder();
        }
        'proposals: loop {
            for (child, leap) in self.children.iter_mut().zip(&mut self.leaps) {
                let document = child.skip_to(leaves, target)?;
                if document == DocId::END {
                    return Ok(DocId::END);
                }
                leap.0 += u64::from(document.0 - target.0);
                leap.1 += 1;
                if document > target {
                    target = document;
                    continue 'proposals;
                }
            }
            return Ok(target);
        }
    }

    /// The child that skips furthest is the rarest and goes first.
    fn reorder(&mut self) {
        let mean = |(distance, times): (u64, u32)| distance / u64::from(times.max(1));
        let mut places: Vec<usize> = (0..self.children.len()).collect();
        places.sort_by_key(|place| Reverse(mean(self.leaps[*place])));
        if places.is_sorted() {
            return;
        }
        let mut children: Vec<Option<Node>> = self.children.drain(..).map(Some).collect();
        self.children = places.iter().filter_map(|place| children[*place].take()).collect();
        self.leaps = places.iter().map(|place| self.leaps[*place]).collect();
    }
}
