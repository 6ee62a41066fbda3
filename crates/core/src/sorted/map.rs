//! The writer of a map: the memory table, the threads that write and merge runs, and checkpoints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::cache::Cache;
use super::memory::Memory;
use super::merge::{Merge, Scan};
use super::run::{Run, RunWriter};
use super::view::View;
use super::{Checkpoint, FAN_IN, Options, READ_AHEAD, RunState, State, check};
use crate::disk::file::remove;
use crate::{Error, Result};

/// The runs of one level that may wait for a merge before a put waits for it too.
const MOST_WAITING: usize = 3 * FAN_IN;

/// A sorted map, open for writing; there is one writer.
pub struct SortedMap {
    shared: Arc<Shared>,
    memory: Memory,
    /// The position after the last record put into the memory table.
    position: u64,
    /// The full memory table that is being written to a run, and its position.
    frozen: Option<(Arc<Memory>, u64)>,
    writing: Option<JoinHandle<Result<Option<Run>>>>,
    merging: Vec<Merging>,
    /// From the oldest to the newest.
    runs: Vec<Arc<Run>>,
    applied: u64,
    next: u64,
    /// The files that the last checkpoint named.
    named: BTreeSet<String>,
}

/// What the threads need.
struct Shared {
    folder: PathBuf,
    options: Options,
    cache: Arc<Cache>,
    ahead: usize,
    stop: AtomicBool,
}

/// A merge that is running.
struct Merging {
    level: u32,
    /// The numbers of its inputs, from the oldest to the newest.
    inputs: Vec<u64>,
    thread: JoinHandle<Result<Option<Run>>>,
}

impl SortedMap {
    /// Opens a committed map (the default state: a new one); then the journal is to be replayed from
    /// [`SortedMap::applied`] on.
    pub fn open(folder: &Path, options: Options, state: &State) -> Result<SortedMap> {
        let cache = Arc::new(Cache::new(options.memory / 4));
        let open = |run: &RunState| Run::open(folder, &options, &cache, *run).map(Arc::new);
        let runs: Vec<Arc<Run>> = state.runs.iter().map(open).collect::<Result<_>>()?;
        let named = state.runs.iter().map(|run| (options.name)(run.number)).collect();
        let ahead = (options.memory / 256).clamp(1 << 12, READ_AHEAD);
        let folder = folder.to_path_buf();
        let shared = Shared { folder, options, cache, ahead, stop: AtomicBool::new(false) };
        Ok(SortedMap {
            shared: Arc::new(shared),
            memory: Memory::default(),
            position: state.applied,
            frozen: None,
            writing: None,
            merging: Vec::new(),
            runs,
            applied: state.applied,
            next: state.next,
            named,
        })
    }

    /// The position in the journal up to which the runs have everything.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Sets the value of a key; without a value the key is removed. `position` is the end of the journal record
    /// that says so, and never decreases; several puts may come from one record.
    pub fn put(&mut self, key: &[u8], value: Option<&[u8]>, position: u64) -> Result<()> {
        check(key, value)?;
        // Only between two records: the position of a run must have all of its last record.
        if position > self.position && self.memory.bytes() >= self.shared.options.memory / 3 {
            self.freeze()?;
        }
        self.position = self.position.max(position);
        self.memory.put(key, value);
        Ok(())
    }

    /// Says that the records of the journal up to a position, which never decreases, have all been put: those
    /// that had nothing for the map are not replayed either.
    pub fn pass(&mut self, position: u64) {
        self.position = self.position.max(position);
        if self.memory.is_empty() && self.frozen.is_none() {
            self.applied = self.position;
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.view().get(key)
    }

    /// The first entry from a key on, up to another, exclusive; all keys between must have the filtered prefix
    /// of `from`, and runs without it are not read.
    pub fn first(&self, from: &[u8], to: Option<&[u8]>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.view().first(from, to)
    }

    /// A few entries from a key on, up to another, exclusive, in key order, read as [`SortedMap::first`] reads.
    pub fn range(&self, from: &[u8], to: Option<&[u8]>) -> Result<Scan<'_>> {
        self.view().range(from, to)
    }

    /// The entries from a key on, up to another, exclusive, in key order.
    pub fn scan(&self, from: &[u8], to: Option<&[u8]>) -> Result<Scan<'_>> {
        self.view().scan(from, to)
    }

    fn view(&self) -> View<'_> {
        let frozen = self.frozen.as_ref().map(|(memory, _)| memory.as_ref());
        let Shared { options, ahead, .. } = &*self.shared;
        let memories = std::iter::once(&self.memory).chain(frozen).collect();
        View { memories, runs: &self.runs, filtered: options.filtered, ahead: *ahead }
    }

    /// What to commit now: the runs that are complete. What is in memory is replayed from the journal.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.collect()?;
        let name = self.shared.options.name;
        let runs = self.runs.iter().map(|run| run.state);
        let state = State { runs: runs.collect(), applied: self.applied, next: self.next };
        let now: BTreeSet<String> = state.runs.iter().map(|run| name(run.number)).collect();
        let gone = self.named.difference(&now).map(|file| (file.clone(), None));
        let live = state.runs.iter().map(|run| (name(run.number), Some(run.bytes)));
        let files = gone.chain(live).collect();
        self.named = now;
        Ok(Checkpoint { files, state })
    }

    /// Writes the memory table to a run now; the next checkpoint has everything put so far.
    pub fn flush(&mut self) -> Result<()> {
        if !self.memory.is_empty() {
            self.freeze()?;
        }
        self.finish_writing()
    }

    /// Waits until nothing is left to merge.
    pub fn settle(&mut self) -> Result<()> {
        self.finish_writing()?;
        while let Some(merging) = self.merging.pop() {
            self.finish_merge(merging)?;
        }
        Ok(())
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Begins a new memory table, and a thread that writes the full one.
    fn freeze(&mut self) -> Result<()> {
        self.finish_writing()?;
        self.frozen = Some((Arc::new(std::mem::take(&mut self.memory)), self.position));
        self.start_writing()?;
        self.collect()?;
        while self.runs.iter().filter(|run| run.state.level == 0).count() > MOST_WAITING {
            let Some(lowest) = (0..self.merging.len()).min_by_key(|merge| self.merging[*merge].level) else {
                break;
            };
            let merging = self.merging.swap_remove(lowest);
            self.finish_merge(merging)?;
        }
        Ok(())
    }

    fn start_writing(&mut self) -> Result<()> {
        let Some((memory, _)) = &self.frozen else { return Ok(()) };
        let (memory, shared, number) = (Arc::clone(memory), Arc::clone(&self.shared), self.next);
        self.next += 1;
        self.writing = Some(spawn(&self.shared, move || {
            let Shared { folder, options, cache, .. } = &*shared;
            let mut writer = RunWriter::create(folder, options, number)?;
            for (key, value) in memory.range(&[], None) {
                writer.add(key, value)?;
            }
            writer.finish(folder, options, cache, 0)
        })?);
        Ok(())
    }

    /// Waits for the thread that writes the full memory table. If it failed, that table is kept, and written
    /// at the next call.
    fn finish_writing(&mut self) -> Result<()> {
        if self.frozen.is_some() && self.writing.is_none() {
            self.start_writing()?;
        }
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let run = join(writing)?;
        if let Some((_, position)) = self.frozen.take() {
            self.applied = position;
        }
        self.runs.extend(run.map(Arc::new));
        self.start_merges()
    }

    /// Takes the results of the threads that have finished.
    fn collect(&mut self) -> Result<()> {
        if self.writing.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish_writing()?;
        }
        while let Some(done) = self.merging.iter().position(|merging| merging.thread.is_finished()) {
            let merging = self.merging.swap_remove(done);
            self.finish_merge(merging)?;
        }
        self.start_merges()
    }

    /// Starts a merge at each level that has enough runs and no merge.
    fn start_merges(&mut self) -> Result<()> {
        let levels: BTreeSet<u32> = self.runs.iter().map(|run| run.state.level).collect();
        for level in levels {
            let is_busy = self.merging.iter().any(|merging| merging.level == level);
            let start = self.runs.iter().position(|run| run.state.level == level).unwrap_or_default();
            let count = self.runs.iter().filter(|run| run.state.level == level).count();
            if is_busy || count < FAN_IN {
                continue;
            }
            let inputs = &self.runs[start..start + FAN_IN];
            let merge = Merge {
                inputs: inputs.iter().rev().cloned().collect(),
                number: self.next,
                level: level + 1,
                is_oldest: start == 0,
                ahead: self.shared.ahead,
            };
            let inputs = inputs.iter().map(|run| run.state.number).collect();
            self.next += 1;
            let shared = Arc::clone(&self.shared);
            let thread = spawn(&self.shared, move || {
                merge.run(&shared.folder, &shared.options, &shared.cache, &shared.stop)
            })?;
            self.merging.push(Merging { level, inputs, thread });
        }
        Ok(())
    }

    /// Waits for a merge and puts its run in the place of its inputs.
    fn finish_merge(&mut self, merging: Merging) -> Result<()> {
        let run = join(merging.thread)?;
        let is_input = |run: &Arc<Run>| merging.inputs.contains(&run.state.number);
        let Some(start) = self.runs.iter().position(is_input) else { return Ok(()) };
        let inputs: Vec<Arc<Run>> =
            self.runs.splice(start..start + merging.inputs.len(), run.map(Arc::new)).collect();
        for input in inputs {
            if !self.named.contains(&(self.shared.options.name)(input.state.number)) {
                remove(input.path())?;
            }
        }
        self.start_merges()
    }
}

impl Drop for SortedMap {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // What the threads were writing is in the journal, or still in the runs they were merging.
        let threads =
            self.writing.take().into_iter().chain(self.merging.drain(..).map(|merging| merging.thread));
        threads.for_each(|thread| drop(join(thread)));
    }
}

fn spawn<T: Send + 'static>(
    shared: &Shared,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    let builder = thread::Builder::new().name("crivello-runs".to_owned());
    builder.spawn(work).map_err(Error::io(&shared.folder))
}

fn join<T>(thread: JoinHandle<Result<T>>) -> Result<T> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Error::Invalid("a thread that writes a run has panicked".to_owned())))
}
