//! Breadth-first search from many sources at once, a bit for each.
//!
//! A node has a row of 512 bits, one cache line, with a bit for each source of a batch: the sources that have
//! reached it. One pass over the arcs moves all the searches on by one level, so the arcs are read once a level
//! for 512 sources, instead of once a source. A level pushes the rows of the frontier to their successors while
//! few arcs leave it; otherwise each node that some source has not reached pulls the rows of its predecessors,
//! which writes in order.
//!
//! Cost: O(m) operations on rows a level at worst, 200 bytes a node. Source: M. Then et al., "The more the
//! merrier: efficient multi-source graph traversal", PVLDB 8(4), 2014; S. Beamer et al., "Direction-optimizing
//! breadth-first search", SC 2012.

use super::super::View;
use crate::{Pulse, Result};

/// How many sources a batch has at most.
pub(super) const SOURCES: usize = 512;

/// The bytes that a search takes for each node.
pub(super) const BYTES_PER_NODE: usize = 3 * size_of::<Row>() + 9;

/// Pull when more than this share of the arcs leaves the frontier.
const PULL_SHARE: u64 = 8;

/// How many nodes are processed between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 12;

/// A set of sources of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Row([u64; SOURCES / 64]);

impl Row {
    pub(super) const EMPTY: Row = Row([0; SOURCES / 64]);

    #[inline(always)]
    fn add(&mut self, other: &Row) {
        for (one, other) in self.0.iter_mut().zip(&other.0) {
            *one |= other;
        }
    }

    #[inline(always)]
    fn without(&self, other: &Row) -> Row {
        let mut left = *self;
        for (one, other) in left.0.iter_mut().zip(&other.0) {
            *one &= !other;
        }
        left
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    fn insert(&mut self, source: usize) {
        self.0[source / 64] |= 1 << (source % 64);
    }

    /// The number of sources.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The sources, by their place in the batch.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize)) {
        for (place, mut word) in self.0.into_iter().enumerate() {
            while word != 0 {
                visit(place * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

/// What a search tells of its progress.
pub(super) trait Visit {
    /// These sources reach a node at this distance (at least 1) first.
    fn reached(&mut self, node: usize, sources: &Row, distance: u32);

    /// Every node at this distance was reported.
    fn level(&mut self, _distance: u32) {}
}

/// The lists along which a search goes, and those of the transpose.
#[derive(Clone, Copy)]
pub(super) struct Ways<'a> {
    pub(super) along: View<'a>,
    pub(super) against: View<'a>,
}

/// The memory of a search; it serves any number of batches.
pub(super) struct ManyBfs {
    /// The sources that have reached each node.
    seen: Vec<Row>,
    /// The sources that reached a node at the last level, and at this one: empty but for the nodes listed.
    frontier: Vec<Row>,
    next: Vec<Row>,
    active: Vec<u32>,
    touched: Vec<u32>,
    /// The nodes that `touched` or, when pulling, `active` lists.
    listed: Vec<u64>,
}

impl ManyBfs {
    pub(super) fn new(nodes: usize) -> ManyBfs {
        ManyBfs {
            seen: vec![Row::EMPTY; nodes],
            frontier: vec![Row::EMPTY; nodes],
            next: vec![Row::EMPTY; nodes],
            active: Vec::new(),
            touched: Vec::new(),
            listed: vec![0; nodes.div_ceil(64)],
        }
    }

    /// Searches from these sources, at most [`SOURCES`].
    pub(super) fn search(
        &mut self,
        ways: Ways,
        sources: &[u32],
        visit: &mut impl Visit,
        pulse: &Pulse,
    ) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
        {
            // SAFETY: the processor has these features.
            return unsafe { self.search_avx2(ways, sources, visit, pulse) };
        }
        self.search_with(ways, sources, visit, pulse)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn search_avx2(
        &mut self,
        ways: Ways,
        sources: &[u32],
        visit: &mut impl Visit,
        pulse: &Pulse,
    ) -> Result<()> {
        self.search_with(ways, sources, visit, pulse)
    }

    #[inline(always)]
    fn search_with(
        &mut self,
        ways: Ways,
        sources: &[u32],
        visit: &mut impl Visit,
        pulse: &Pulse,
    ) -> Result<()> {
        self.seen.fill(Row::EMPTY);
        self.active.clear();
        let mut all = Row::EMPTY;
        for (place, source) in sources.iter().enumerate() {
            let source = *source as usize;
            if self.frontier[source].is_empty() {
                self.active.push(source as u32);
            }
            self.frontier[source].insert(place);
            self.seen[source].insert(place);
            all.insert(place);
        }
        let mut distance = 0;
        while !self.active.is_empty() {
            distance += 1;
            let leaving: u64 =
                self.active.iter().map(|node| ways.along.outdegree(*node as usize) as u64).sum();
            if leaving * PULL_SHARE > ways.along.targets.len() as u64 {
                self.pull(ways.against, &all, distance, visit, pulse)?;
            } else {
                self.push(ways.along, distance, visit, pulse)?;
            }
            visit.level(distance);
            for node in self.active.drain(..) {
                self.frontier[node as usize] = Row::EMPTY;
            }
            std::mem::swap(&mut self.frontier, &mut self.next);
            std::mem::swap(&mut self.active, &mut self.touched);
        }
        Ok(())
    }

    /// One level: the nodes of the frontier reach their successors.
    #[inline(always)]
    fn push(&mut self, along: View, distance: u32, visit: &mut impl Visit, pulse: &Pulse) -> Result<()> {
        for nodes in self.active.chunks(NODES_PER_BEAT) {
            pulse.beat()?;
            for node in nodes {
                let sources = self.frontier[*node as usize];
                for target in along.successors(*node as usize) {
                    let (word, bit) = (*target as usize / 64, 1 << (target % 64));
                    if self.listed[word] & bit == 0 {
                        self.listed[word] |= bit;
                        self.touched.push(*target);
                    }
                    self.next[*target as usize].add(&sources);
                }
            }
        }
        let (listed, next, seen) = (&mut self.listed, &mut self.next, &mut self.seen);
        self.touched.retain(|node| {
            let node = *node as usize;
            listed[node / 64] = 0;
            let new = next[node].without(&seen[node]);
            next[node] = new;
            if new.is_empty() {
                return false;
            }
            seen[node].add(&new);
            visit.reached(node, &new, distance);
            true
        });
        Ok(())
    }

    /// One level: each node that some source has not reached looks for it among its predecessors.
    #[inline(always)]
    fn pull(
        &mut self,
        against: View,
        all: &Row,
        distance: u32,
        visit: &mut impl Visit,
        pulse: &Pulse,
    ) -> Result<()> {
        for node in &self.active {
            self.listed[*node as usize / 64] |= 1 << (node % 64);
        }
        for node in 0..against.nodes() {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            let sources = against.successors(node);
            if sources.is_empty() || self.seen[node] == *all {
                continue;
            }
            let mut found = Row::EMPTY;
            for source in sources {
                let source = *source as usize;
                if self.listed[source / 64] >> (source % 64) & 1 == 1 {
                    found.add(&self.frontier[source]);
                }
            }
            let new = found.without(&self.seen[node]);
            if !new.is_empty() {
                self.next[node] = new;
                self.seen[node].add(&new);
                self.touched.push(node as u32);
                visit.reached(node, &new, distance);
            }
        }
        for node in &self.active {
            self.listed[*node as usize / 64] = 0;
        }
        Ok(())
    }
}
