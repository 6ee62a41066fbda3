//! Fingerprints within a Hamming distance of a given one, among any number of them, in constant memory.
//!
//! The newest fingerprints are in memory ([`Growing`]). When there are enough they are written to a run ([`Run`]), an
//! immutable file of permuted sorted tables. A thread merges the newest runs as long as an older one has at most
//! [`RATIO`] times as many fingerprints as all newer ones together, so that n fingerprints, m of them in memory, are
//! in log₅(n / m) runs, which all have the same layout ([`Layout`]). The answers are those of a comparison with all:
//! the nearest, and among equals the earliest.
//!
//! The more fingerprints there are, the more of them are near a given one by chance ([`most_within`]). A search is
//! within the distance of opening as long as that happens to fewer than one page in 10,000 ([`BY_CHANCE`]), and then within
//! fewer bits: for a distance of 8, 7 bits from 360,000 fingerprints on, 6 from 2.6 million, 5 from 22 million.
//!
//! With t tables a fingerprint takes 8 (t + 1) bytes on disk, and a search uses the blocks of its probes of each run.
//!
//! The map is derived from the journal of rows. A map in a former format, or for a smaller distance, is made again from
//! its beginning.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::collection::layout;
use crate::disk::file::remove;
use crate::disk::format::Format;
use crate::duplicates::hamming::{Costs, Growing, Layout, Run, RunWriter, merge, most_within};
use crate::sorted::{Checkpoint, RunState, State};
use crate::{Error, Result};

/// The formats in which the fingerprints were: runs of a sorted map, and runs with an index that is read into memory.
const FORMER: [Format; 2] = [Format { kind: *b"SRUN", version: 1 }, Format { kind: *b"HRUN", version: 1 }];
/// The memory of a fingerprint that is not in a run, while it is written to one.
const BYTES: usize = 128;
/// How many times larger than all newer ones a run is that is not merged with them.
const RATIO: u64 = 4;
/// The most runs that wait for a merge before adding waits for it, too.
const MOST_WAITING: usize = 16;
/// The share of pages that may be near another by chance.
const BY_CHANCE: f64 = 1e-4;
/// The number of fingerprints up to which the layout is chosen.
const EXPECTED: u64 = 1 << 26;

/// The fingerprints of the texts.
pub struct NearMap {
    folder: PathBuf,
    layout: Layout,
    recent: Growing,
    /// The offset of the row of each recent fingerprint.
    offsets: Vec<u64>,
    /// The most fingerprints among which a search is within 0, 1, … bits.
    limits: Vec<u64>,
    /// The number of recent fingerprints that are kept.
    most: usize,
    /// The position in the journal after the last row, and up to which the runs have everything.
    position: u64,
    applied: u64,
    /// From the oldest to the newest.
    runs: Vec<(RunState, Arc<Run>)>,
    merging: Option<Merging>,
    stop: Arc<AtomicBool>,
    /// The number of the next run.
    next: u64,
    /// The files that the last checkpoint named.
    named: BTreeSet<String>,
}

/// A merge that is running.
struct Merging {
    inputs: Vec<u64>,
    number: u64,
    level: u32,
    thread: JoinHandle<Result<u64>>,
}

impl NearMap {
    /// Opens the map as it was committed, for searches within a distance.
    pub fn open(folder: &Path, memory: usize, state: &State, distance: u32) -> Result<NearMap> {
        let runs = open_runs(folder, state)?.unwrap_or_default();
        let layout = runs.first().map(|run| run.layout().clone());
        let is_same = |run: &Run| Some(run.layout()) == layout.as_ref() && run.layout().distance >= distance;
        let is_kept = runs.len() == state.runs.len() && runs.iter().all(is_same);
        let limits: Vec<u64> = (0..=distance).map(|bits| most_within(u64::BITS, bits, BY_CHANCE)).collect();
        let chosen = || Layout::choose_growing(u64::BITS, &stages(&limits), &Costs::DISK);
        let applied = if is_kept { state.applied } else { 0 };
        let runs = state.runs.iter().copied().zip(runs.into_iter().map(Arc::new));
        Ok(NearMap {
            folder: folder.to_path_buf(),
            layout: layout.filter(|_| is_kept).unwrap_or_else(chosen),
            recent: Growing::new(distance)?,
            offsets: Vec::new(),
            limits,
            most: (memory / 2 / BYTES).max(1),
            position: applied,
            applied,
            runs: runs.filter(|_| is_kept).collect(),
            merging: None,
            stop: Arc::default(),
            next: state.next,
            named: state.runs.iter().map(|run| layout::near(run.number)).collect(),
        })
    }

    /// The position in the journal from which it is to be replayed.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Adds the fingerprint of the row at an offset of the journal.
    pub fn add(&mut self, simhash: u64, offset: u64) -> Result<()> {
        if self.offsets.len() >= self.most {
            self.spill()?;
        }
        self.recent.add(simhash)?;
        self.offsets.push(offset);
        Ok(())
    }

    /// Says that the rows up to a position have been added, as far as they have fingerprints.
    pub fn pass(&mut self, position: u64) {
        self.position = self.position.max(position);
        if self.offsets.is_empty() {
            self.applied = self.position;
        }
    }

    /// The distance of searches, at most that of opening, which gets smaller as the fingerprints get more.
    fn distance(&self) -> u32 {
        let runs = self.runs.iter().map(|(_, run)| run.entries()).sum::<u64>();
        let count = runs + self.offsets.len() as u64;
        self.limits.iter().rposition(|limit| count <= *limit).unwrap_or(0) as u32
    }

    /// The offset and the distance of the nearest fingerprint within a distance; ties go to the earliest.
    pub fn nearest(&self, simhash: u64) -> Result<Option<(u64, u32)>> {
        let distance = self.distance();
        let mut nearest = None;
        for (_, run) in &self.runs {
            nearest = run.nearest(simhash, distance, nearest)?;
        }
        let most = nearest.map_or(distance, |(distance, _)| distance);
        let recent = self.recent.nearest(simhash, most)?;
        let recent = recent.map(|(number, distance)| (distance, self.offsets[number]));
        let nearest = [nearest, recent].into_iter().flatten().min();
        Ok(nearest.map(|(distance, offset)| (offset, distance)))
    }

    /// The distances and offsets of all fingerprints within the distance of searches, from the nearest and earliest on; of equal ones
    /// in a run there is one.
    pub fn within(&self, simhash: u64) -> Result<Vec<(u32, u64)>> {
        let distance = self.distance();
        let recent = self.recent.within(simhash, distance)?;
        let mut found: Vec<(u32, u64)> =
            recent.into_iter().map(|(distance, number)| (distance, self.offsets[number])).collect();
        for (_, run) in &self.runs {
            found.extend(run.within(simhash, distance)?);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// See [`crate::collection::TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<Checkpoint> {
        if is_last {
            self.spill()?;
        }
        if self.merging.as_ref().is_some_and(|merging| merging.thread.is_finished()) {
            self.finish_merge()?;
        }
        let runs = self.runs.iter().map(|(state, _)| *state);
        let state = State { runs: runs.collect(), applied: self.applied, next: self.next };
        let now: BTreeSet<String> = state.runs.iter().map(|run| layout::near(run.number)).collect();
        let gone = self.named.difference(&now).map(|file| (file.clone(), None));
        let live = state.runs.iter().map(|run| (layout::near(run.number), Some(run.bytes)));
        let files = gone.chain(live).collect();
        self.named = now;
        Ok(Checkpoint { files, state })
    }

    /// Writes the recent fingerprints to a run.
    fn spill(&mut self) -> Result<()> {
        if self.offsets.is_empty() {
            return Ok(());
        }
        let numbered = self.recent.words().iter().copied().zip(self.offsets.iter().copied());
        let numbered: Vec<(u64, u64)> = numbered.collect();
        let number = self.next;
        self.next += 1;
        let path = self.folder.join(layout::near(number));
        let bytes = RunWriter::write(&path, &self.layout, &numbered)?;
        self.runs.push((RunState { number, level: 0, bytes }, Arc::new(Run::open(&path)?)));
        self.recent.clear();
        self.offsets.clear();
        self.applied = self.position;
        let is_waiting = |merging: &Merging| merging.thread.is_finished();
        if self.merging.as_ref().is_some_and(is_waiting) || self.runs.len() > MOST_WAITING {
            self.finish_merge()?;
        }
        self.start_merge()
    }

    /// Merges the newest runs, if there are enough of them, and no other merge.
    fn start_merge(&mut self) -> Result<()> {
        let entries = |place: usize| self.runs[place].1.entries();
        let (mut start, mut newer) = (self.runs.len(), 0);
        while start > 0 && (newer == 0 || entries(start - 1) <= RATIO * newer) {
            start -= 1;
            newer += entries(start);
        }
        let inputs = &self.runs[start..];
        if inputs.len() < 2 || self.merging.is_some() {
            return Ok(());
        }
        let level = inputs.iter().map(|(state, _)| state.level + 1).max().unwrap_or_default();
        let (number, stop) = (self.next, Arc::clone(&self.stop));
        let (path, runs) = (
            self.folder.join(layout::near(number)),
            inputs.iter().map(|(_, run)| Arc::clone(run)).collect::<Vec<_>>(),
        );
        let inputs = inputs.iter().map(|(state, _)| state.number).collect();
        let builder = thread::Builder::new().name("crivello-near".to_owned());
        let thread = builder.spawn(move || merge(&runs, &path, &stop)).map_err(Error::io(&self.folder))?;
        self.merging = Some(Merging { inputs, number, level, thread });
        self.next += 1;
        Ok(())
    }

    /// Waits for the merge, if there is one, and puts its run in the place of its inputs.
    fn finish_merge(&mut self) -> Result<()> {
        let Some(Merging { inputs, number, level, thread }) = self.merging.take() else { return Ok(()) };
        let bytes = join(thread)?;
        let run = Run::open(&self.folder.join(layout::near(number)))?;
        let Some(start) = self.runs.iter().position(|(state, _)| state.number == inputs[0]) else {
            return Ok(());
        };
        let merged = (RunState { number, level, bytes }, Arc::new(run));
        let inputs: Vec<_> = self.runs.splice(start..start + inputs.len(), [merged]).collect();
        for (state, input) in inputs {
            if !self.named.contains(&layout::near(state.number)) {
                remove(input.path())?;
            }
        }
        self.start_merge()
    }
}

impl Drop for NearMap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // What it was merging is still in the runs.
        if let Some(merging) = self.merging.take() {
            drop(join(merging.thread));
        }
    }
}

/// The numbers of fingerprints at which the distance gets smaller, each with the distance before, up to [`EXPECTED`].
fn stages(limits: &[u64]) -> Vec<(u64, u32)> {
    let first = limits.iter().rposition(|limit| *limit >= EXPECTED).unwrap_or(0);
    let from = limits.iter().zip(0u32..).skip(first);
    from.map(|(limit, distance)| (EXPECTED.min(*limit), distance)).collect()
}

/// The committed runs, from the oldest to the newest; `None` if they have a former format.
pub fn open_runs(folder: &Path, state: &State) -> Result<Option<Vec<Run>>> {
    let paths: Vec<PathBuf> = state.runs.iter().map(|run| folder.join(layout::near(run.number))).collect();
    let is_former = |path: &PathBuf| FORMER.iter().any(|format| format.version_of(path).is_ok());
    if paths.iter().any(is_former) {
        return Ok(None);
    }
    paths.iter().map(|path| Run::open(path)).collect::<Result<_>>().map(Some)
}

fn join(thread: JoinHandle<Result<u64>>) -> Result<u64> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Error::Invalid("a thread that merges fingerprints has panicked".to_owned())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collection::layout::TABLE;
    use crate::signature::hash::random;

    /// Ten fingerprints fill it.
    const MEMORY: usize = 2 * 10 * BYTES;

    /// A fingerprint near one of three.
    fn fingerprint(seed: u64) -> u64 {
        let flips = random(seed, 1) & random(seed, 2) & random(seed, 3);
        random(random(seed, 4) % 3, 0) ^ flips
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn many_runs_and_merges_answer_as_a_comparison_with_all(
            count in 0u64..200, distance in 0u32..=8, every in 1u64..60, seed: u64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join(TABLE)).unwrap();
            let mut map = NearMap::open(folder.path(), MEMORY, &State::default(), distance).unwrap();
            let known: Vec<u64> = (0..count).map(|number| fingerprint(seed ^ number)).collect();
            let (mut number, mut steps, mut committed) = (0, 0, State::default());
            while number < count {
                let asked = known[number as usize];
                let distances = known[..number as usize].iter().map(|other| (other ^ asked).count_ones());
                let expected = distances.zip(0u64..).filter(|(found, _)| *found <= distance).min();
                let expected = expected.map(|(found, number)| (number * 10, found));
                prop_assert_eq!(map.nearest(asked).unwrap(), expected);
                let within = map.within(asked).unwrap();
                prop_assert_eq!(within.first().map(|(distance, offset)| (*offset, *distance)), expected);
                // Each fingerprint that is near, and of equal ones the first.
                let near: BTreeSet<u64> = known[..number as usize].iter().copied()
                    .filter(|other| (other ^ asked).count_ones() <= distance).collect();
                let found: BTreeSet<u64> = within.iter().map(|(_, offset)| known[*offset as usize / 10]).collect();
                prop_assert_eq!(found, near);
                map.add(asked, number * 10).unwrap();
                map.pass(number * 10 + 10);
                number += 1;
                steps += 1;
                if number.is_multiple_of(every) {
                    let Checkpoint { files, state } = map.checkpoint(number.is_multiple_of(2 * every)).unwrap();
                    committed = state;
                    for (name, length) in files {
                        let path = folder.path().join(name);
                        match length {
                            Some(length) => prop_assert_eq!(std::fs::metadata(path).unwrap().len(), length),
                            None => std::fs::remove_file(path).unwrap(),
                        }
                    }
                }
                // A crash: what is behind the committed position is added again.
                if random(seed, steps).is_multiple_of(50) {
                    drop(map);
                    map = NearMap::open(folder.path(), MEMORY, &committed, distance).unwrap();
                    number = map.applied() / 10;
                }
            }
            prop_assert!(map.runs.len() <= MOST_WAITING + 1);
        }
    }
}
