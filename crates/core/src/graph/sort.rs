//! The external sort of arcs: any number of them, in any order, in a fixed amount of memory.
//!
//! Arcs are buffered, 8 bytes each (16 with weights), until the memory is full; then they are sorted in
//! parallel and written as a *run*: distinct arcs with their numbers of occurrences, as gaps in variable byte
//! code, 2 to 4 bytes per arc of a web graph. Runs are merged through a heap, at most [`FAN_IN`] at a time:
//! whenever that many of one level exist they become a run of the next level, so the number of open files is
//! bounded too. Arcs that fit into memory never touch the disk.
//!
//! Memory: the given amount, and while merging [`FAN_IN`] buffers of 64 KiB (at most 4 MiB) and the list of one
//! node. Disk: the runs, twice while a level is merged. Time: O(m log m), and each arc is written once per
//! level: one for up to 64 times the memory.
//!
//! A run is a sequence of arcs: a number t; if t is odd, the source is ⌊t / 4⌋ more than the one before and its
//! target follows as a number of its own; otherwise the source is the same and the target is ⌊t / 4⌋ + 1 more
//! than the one before. If t mod 4 > 1 the number of occurrences, less 2, follows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use super::scratch::{Run, RunReader, RunWriter};
use crate::{Pulse, Result};

/// The number of runs that are merged at once.
const FAN_IN: usize = 64;
/// The number of arcs that are processed between two beats of the pulse.
const ARCS_PER_BEAT: usize = 1 << 16;
/// The capacity that a buffer starts with.
const FIRST: usize = 1 << 12;

/// An arc with the number of its occurrences, as a sorter keeps it; its order is that of arcs.
pub trait Row: Ord + Copy + Send + 'static {
    /// The row of an arc.
    fn new(source: u32, target: u32, weight: u32) -> Self;

    /// Its arc, and how often it occurs.
    fn arc(self) -> (u64, u32);
}

impl Row for u64 {
    #[inline]
    fn new(source: u32, target: u32, _weight: u32) -> u64 {
        u64::from(source) << 32 | u64::from(target)
    }

    #[inline]
    fn arc(self) -> (u64, u32) {
        (self, 1)
    }
}

impl Row for u128 {
    #[inline]
    fn new(source: u32, target: u32, weight: u32) -> u128 {
        u128::from(<u64 as Row>::new(source, target, 1)) << 64 | u128::from(weight)
    }

    #[inline]
    fn arc(self) -> (u64, u32) {
        ((self >> 64) as u64, self as u32)
    }
}

/// The input side of the sort; `ArcSorter<u128>` takes arcs with weights.
pub struct ArcSorter<R = u64> {
    folder: PathBuf,
    rows: Vec<R>,
    capacity: usize,
    /// Runs with their levels, which do not increase.
    runs: Vec<(u32, Run)>,
    pushed: u64,
}

impl<R: Row> ArcSorter<R> {
    /// A sorter that keeps about `memory` bytes in memory and writes runs without names in `folder`.
    pub fn new(folder: &Path, memory: usize) -> Self {
        let capacity = (memory / size_of::<R>()).max(1);
        ArcSorter { folder: folder.to_owned(), rows: Vec::new(), capacity, runs: Vec::new(), pushed: 0 }
    }

    /// The number of arcs so far.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Adds an arc that occurs `weight` times (at least once; a sorter without weights takes it for once).
    #[inline]
    pub fn push_weighted(&mut self, source: u32, target: u32, weight: u32) -> Result<()> {
        if self.rows.len() == self.rows.capacity() {
            self.make_room()?;
        }
        self.rows.push(R::new(source, target, weight));
        self.pushed += 1;
        Ok(())
    }

    /// Doubles the buffer, never beyond the memory; once it is full, writes it as a run.
    fn make_room(&mut self) -> Result<()> {
        if self.rows.len() < self.capacity {
            let more = self.rows.len().max(FIRST).min(self.capacity - self.rows.len());
            self.rows.reserve_exact(more);
            return Ok(());
        }
        self.write_run()?;
        let first = |level| self.runs.iter().position(|(other, _)| *other == level);
        if let Some((level, _)) = self.runs.last()
            && let Some(first) = first(*level)
            && self.runs.len() - first == FAN_IN
        {
            self.merge_from(first, &Pulse::STEADY)?;
        }
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        self.rows.par_sort_unstable();
        let mut run = ArcWriter::create(&self.folder)?;
        for_each_distinct(&self.rows, |arc, weight| run.push(arc, weight))?;
        self.runs.push((0, run.run.finish()?));
        self.rows.clear();
        Ok(())
    }

    /// Merges the runs from number `first` on into one of the next level.
    fn merge_from(&mut self, first: usize, pulse: &Pulse) -> Result<()> {
        let level = self.runs[first].0;
        let mut merge = Merge::new(self.runs.drain(first..).map(|(_, run)| run))?;
        let mut run = ArcWriter::create(&self.folder)?;
        let mut count = 0usize;
        while let Some((arc, weight)) = merge.next()? {
            run.push(arc, weight)?;
            count += 1;
            if count.is_multiple_of(ARCS_PER_BEAT) {
                pulse.beat()?;
            }
        }
        self.runs.push((level + 1, run.run.finish()?));
        Ok(())
    }

    /// The arcs in order.
    pub fn finish(mut self, pulse: &Pulse) -> Result<SortedArcs> {
        pulse.beat()?;
        let pushed = self.pushed;
        let source = if self.runs.is_empty() {
            self.rows.par_sort_unstable();
            Sorted::Memory(Box::new(InMemory { rows: std::mem::take(&mut self.rows), at: 0 }))
        } else {
            if !self.rows.is_empty() {
                self.write_run()?;
            }
            self.rows = Vec::new();
            while self.runs.len() > FAN_IN {
                self.merge_from(self.runs.len() - FAN_IN, pulse)?;
            }
            Sorted::Runs(Merge::new(self.runs.into_iter().map(|(_, run)| run))?)
        };
        let mut sorted = SortedArcs { source, next: None, targets: Vec::new(), counts: Vec::new(), pushed };
        sorted.next = sorted.source.next()?;
        Ok(sorted)
    }
}

impl ArcSorter<u64> {
    /// Adds an arc.
    #[inline]
    pub fn push(&mut self, source: u32, target: u32) -> Result<()> {
        self.push_weighted(source, target, 1)
    }
}

/// Calls `visit` with each distinct arc of sorted rows, and how often it occurs.
fn for_each_distinct<R: Row>(rows: &[R], mut visit: impl FnMut(u64, u32) -> Result<()>) -> Result<()> {
    let mut rest = rows.iter().map(|row| row.arc());
    let Some((mut arc, mut weight)) = rest.next() else { return Ok(()) };
    for (next, more) in rest {
        if next == arc {
            weight = weight.saturating_add(more);
        } else {
            visit(arc, weight)?;
            (arc, weight) = (next, more);
        }
    }
    visit(arc, weight)
}

/// Writes a run.
struct ArcWriter {
    run: RunWriter,
    source: u64,
    /// The least target that the next arc of the same source can have.
    least: u64,
}

impl ArcWriter {
    fn create(folder: &Path) -> Result<ArcWriter> {
        Ok(ArcWriter { run: RunWriter::create(folder)?, source: 0, least: 0 })
    }

    #[inline]
    fn push(&mut self, arc: u64, weight: u32) -> Result<()> {
        let (source, target) = (arc >> 32, arc & u64::from(u32::MAX));
        let repeated = u64::from(weight > 1) << 1;
        if source == self.source {
            self.run.number((target - self.least) << 2 | repeated)?;
        } else {
            self.run.number((source - self.source) << 2 | repeated | 1)?;
            self.run.number(target)?;
        }
        if weight > 1 {
            self.run.number(u64::from(weight) - 2)?;
        }
        (self.source, self.least) = (source, target + 1);
        Ok(())
    }
}

/// Reads a run.
struct ArcReader {
    run: RunReader,
    source: u64,
    least: u64,
}

impl ArcReader {
    #[inline]
    fn next(&mut self) -> Result<Option<(u64, u32)>> {
        if self.run.is_at_end() {
            return Ok(None);
        }
        let token = self.run.number()?;
        let target = if token & 1 == 0 {
            self.least + (token >> 2)
        } else {
            self.source += token >> 2;
            self.run.number()?
        };
        let weight = if token & 2 == 0 { 1 } else { self.run.number()? as u32 + 2 };
        self.least = target + 1;
        Ok(Some((self.source << 32 | target, weight)))
    }
}

/// Runs that are being merged: the next arc of each in a heap.
struct Merge {
    readers: Vec<ArcReader>,
    heads: BinaryHeap<Reverse<(u64, u32, usize)>>,
}

impl Merge {
    fn new(runs: impl Iterator<Item = Run>) -> Result<Merge> {
        let open = |run: Run| run.read().map(|run| ArcReader { run, source: 0, least: 0 });
        let mut readers = runs.map(open).collect::<Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::with_capacity(readers.len());
        for (index, reader) in readers.iter_mut().enumerate() {
            heads.extend(reader.next()?.map(|(arc, weight)| Reverse((arc, weight, index))));
        }
        Ok(Merge { readers, heads })
    }

    /// The next arc of any run.
    #[inline]
    fn advance(&mut self) -> Result<Option<(u64, u32)>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((arc, weight, index)) = *head;
        match self.readers[index].next()? {
            Some((next, more)) => *head = Reverse((next, more, index)),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some((arc, weight)))
    }

    /// The next distinct arc, and how often it occurs.
    fn next(&mut self) -> Result<Option<(u64, u32)>> {
        let Some((arc, mut weight)) = self.advance()? else { return Ok(None) };
        while self.heads.peek().is_some_and(|Reverse((next, _, _))| *next == arc) {
            weight = weight.saturating_add(self.advance()?.map_or(0, |(_, more)| more));
        }
        Ok(Some((arc, weight)))
    }
}

/// Sorted rows in memory, read one by one.
struct InMemory<R> {
    rows: Vec<R>,
    at: usize,
}

trait Distinct {
    fn next(&mut self) -> Option<(u64, u32)>;
}

impl<R: Row> Distinct for InMemory<R> {
    fn next(&mut self) -> Option<(u64, u32)> {
        let (arc, mut weight) = self.rows.get(self.at)?.arc();
        self.at += 1;
        while let Some((_, more)) = self.rows.get(self.at).map(|row| row.arc()).filter(|row| row.0 == arc) {
            weight = weight.saturating_add(more);
            self.at += 1;
        }
        Some((arc, weight))
    }
}

enum Sorted {
    Memory(Box<dyn Distinct + Send>),
    Runs(Merge),
}

impl Sorted {
    #[inline]
    fn next(&mut self) -> Result<Option<(u64, u32)>> {
        match self {
            Sorted::Memory(rows) => Ok(rows.next()),
            Sorted::Runs(merge) => merge.next(),
        }
    }
}

/// The arcs of a sort, in order.
pub struct SortedArcs {
    source: Sorted,
    next: Option<(u64, u32)>,
    targets: Vec<u32>,
    counts: Vec<u32>,
    pushed: u64,
}

/// The arcs of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<'a> {
    /// The node.
    pub source: u32,
    /// Its successors, increasing and distinct.
    pub targets: &'a [u32],
    /// How often each arc was pushed, or the sum of the weights it was pushed with, at most 2^32 − 1.
    pub counts: &'a [u32],
}

impl SortedArcs {
    /// The number of arcs that were pushed, parallel ones counted.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// The next node that has arcs, and those.
    pub fn next_list(&mut self) -> Result<Option<List<'_>>> {
        let Some((first, _)) = self.next else { return Ok(None) };
        let source = (first >> 32) as u32;
        self.targets.clear();
        self.counts.clear();
        while let Some((arc, count)) = self.next.filter(|(arc, _)| (arc >> 32) as u32 == source) {
            self.targets.push(arc as u32);
            self.counts.push(count);
            self.next = self.source.next()?;
        }
        Ok(Some(List { source, targets: &self.targets, counts: &self.counts }))
    }

    /// Calls `visit` with each node that has arcs, in order; the progress is in arcs.
    pub fn scan(&mut self, pulse: &Pulse, mut visit: impl FnMut(List<'_>) -> Result<()>) -> Result<()> {
        let (mut done, mut beaten) = (0, 0);
        let total = self.pushed;
        pulse.set(0, total);
        while let Some(list) = self.next_list()? {
            done += list.counts.iter().map(|count| u64::from(*count)).sum::<u64>();
            visit(list)?;
            if done - beaten >= ARCS_PER_BEAT as u64 {
                beaten = done;
                pulse.set(done.min(total), total);
                pulse.beat()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Arcs = BTreeMap<(u32, u32), u32>;

    fn sorted<R: Row>(arcs: &[(u32, u32, u32)], memory: usize) -> Arcs {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = ArcSorter::<R>::new(folder.path(), memory);
        for (source, target, weight) in arcs {
            sorter.push_weighted(*source, *target, *weight).unwrap();
        }
        let mut sorted = sorter.finish(&Pulse::STEADY).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let (mut found, mut last) = (Arcs::new(), None);
        let scanned = sorted.scan(&Pulse::STEADY, |list| {
            assert!(last < Some(list.source) && list.targets.is_sorted_by(|one, other| one < other));
            last = Some(list.source);
            let arcs = list.targets.iter().zip(list.counts);
            found.extend(arcs.map(|(target, count)| ((list.source, *target), *count)));
            Ok(())
        });
        scanned.unwrap();
        found
    }

    fn nodes() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..8, Just(u32::MAX), any::<u32>()]
    }

    proptest! {
        #[test]
        fn sorts_and_counts_in_any_amount_of_memory(
            arcs in prop::collection::vec((nodes(), nodes(), prop_oneof![Just(1), 1u32..9, any::<u32>()]), 0..300),
            memory in prop_oneof![Just(0usize), 0..600usize, Just(1 << 20)],
        ) {
            let weight = |weight: u32| weight.max(1);
            let arcs: Vec<_> = arcs.into_iter().map(|(source, target, w)| (source, target, weight(w))).collect();
            let (mut once, mut weighted) = (Arcs::new(), Arcs::new());
            for (source, target, weight) in &arcs {
                *once.entry((*source, *target)).or_insert(0) += 1;
                let sum = weighted.entry((*source, *target)).or_insert(0u32);
                *sum = sum.saturating_add(*weight);
            }
            prop_assert_eq!(sorted::<u64>(&arcs, memory), once);
            prop_assert_eq!(sorted::<u128>(&arcs, memory), weighted);
        }
    }

    #[test]
    fn merges_in_several_passes() {
        let arcs: Vec<_> = (0..20_000u64).map(|n| ((n * n % 997) as u32, (n * 7 % 1009) as u32, 1)).collect();
        let mut expected = Arcs::new();
        arcs.iter().for_each(|(source, target, _)| *expected.entry((*source, *target)).or_insert(0) += 1);
        // Three arcs in memory: more than 64 times 64 runs.
        assert_eq!(sorted::<u64>(&arcs, 24), expected);
    }

    #[test]
    fn stops_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let sorter = ArcSorter::<u64>::new(folder.path(), 1 << 20);
        assert!(matches!(sorter.finish(&Pulse::new(&|| false)), Err(crate::Error::Stopped)));
    }
}
