//! Merging runs: table by table, each read and written once, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{BLOCK, Run, RunWriter};
use crate::disk::file::remove;
use crate::duplicates::hamming::layout::{Costs, Layout};
use crate::duplicates::hamming::table::check;
use crate::{Error, Pulse, Result};

/// The blocks that are read of a run at a time.
const AHEAD: usize = 16;

/// The memory of a fingerprint while a run is written.
const BYTES: usize = 64;

/// Writes a run of fingerprints, numbered in their order, in parts that fit in the memory and are merged.
pub fn build(path: &Path, words: &[u64], distance: u32, memory: usize, pulse: &Pulse) -> Result<()> {
    let layout = Layout::choose(u64::BITS, words.len() as u64, check(distance)?, &Costs::DISK);
    let part = (memory / BYTES).max(BLOCK);
    let mut parts: Vec<Arc<Run>> = Vec::new();
    let mut build = || {
        for (number, words) in words.chunks(part).enumerate() {
            pulse.beat()?;
            let start = number * part;
            let numbered = words.iter().enumerate().map(|(place, word)| (*word, (start + place) as u64));
            let numbered: Vec<(u64, u64)> = numbered.collect();
            let path = PathBuf::from(format!("{}.{number}", path.display()));
            RunWriter::write(&path, &layout, &numbered)?;
            parts.push(Arc::new(Run::open(&path)?));
        }
        if parts.is_empty() {
            return RunWriter::write(path, &layout, &[]);
        }
        merge(&parts, path, &AtomicBool::new(false))
    };
    let built = build();
    parts.iter().try_for_each(|part| remove(part.path()))?;
    built.map(drop)
}

/// Merges runs of one layout into a new one at a path; of equal fingerprints the least number stays. Returns its length.
///
/// Memory: a few blocks of each run. [`Error::Stopped`] after `stop` was set.
pub fn merge(runs: &[Arc<Run>], path: &Path, stop: &AtomicBool) -> Result<u64> {
    let Some(layout) = runs.first().map(|run| run.layout()) else {
        return Err(Error::Invalid("there are no runs to merge".into()));
    };
    if runs.iter().any(|run| run.layout() != layout) {
        return Err(Error::Invalid("only runs of one layout are merged".into()));
    }
    let mut writer = RunWriter::create(path, layout)?;
    let sections = layout.leads.len();
    for table in 0..sections {
        each(runs, table, false, stop, |key, _| writer.add(key))?;
        writer.end_section()?;
    }
    each(runs, 0, true, stop, |_, number| writer.add(number))?;
    writer.finish()
}

/// Calls `tell` with the keys of a table of all runs, each once, and their least numbers, if they are read.
fn each(
    runs: &[Arc<Run>],
    table: usize,
    is_numbered: bool,
    stop: &AtomicBool,
    mut tell: impl FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let open = |run: &Arc<Run>| Stream::open(run, table, is_numbered);
    let mut streams: Vec<Stream> = runs.iter().map(open).collect::<Result<_>>()?;
    // The next key of each stream, from the least on.
    let next = |(place, stream): (usize, &Stream)| stream.key().map(|key| Reverse((key, place)));
    let mut nexts: BinaryHeap<_> = streams.iter().enumerate().filter_map(next).collect();
    let mut count = 0u64;
    while let Some(Reverse((least, _))) = nexts.peek().copied() {
        count += 1;
        if count.is_multiple_of(1 << 14) && stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let mut number = u64::MAX;
        while let Some(mut first) = nexts.peek_mut().filter(|first| first.0.0 == least) {
            let stream = &mut streams[first.0.1];
            number = number.min(stream.number());
            stream.advance()?;
            match stream.key() {
                Some(key) => first.0.0 = key,
                None => drop(PeekMut::pop(first)),
            }
        }
        tell(least, number)?;
    }
    Ok(())
}

/// The keys of a table of a run, in order.
struct Stream {
    run: Arc<Run>,
    table: usize,
    is_numbered: bool,
    keys: Vec<u64>,
    numbers: Vec<u64>,
    place: usize,
    block: usize,
}

impl Stream {
    fn open(run: &Arc<Run>, table: usize, is_numbered: bool) -> Result<Stream> {
        let run = Arc::clone(run);
        let mut stream =
            Stream { run, table, is_numbered, keys: Vec::new(), numbers: Vec::new(), place: 0, block: 0 };
        stream.fill()?;
        Ok(stream)
    }

    fn key(&self) -> Option<u64> {
        self.keys.get(self.place).copied()
    }

    fn number(&self) -> u64 {
        self.numbers.get(self.place).copied().unwrap_or(u64::MAX)
    }

    fn advance(&mut self) -> Result<()> {
        self.place += 1;
        if self.place == self.keys.len() { self.fill() } else { Ok(()) }
    }

    fn fill(&mut self) -> Result<()> {
        let Stream { run, table, is_numbered, keys, numbers, place, block } = self;
        let blocks = *block..*block + AHEAD;
        keys.clear();
        numbers.clear();
        run.read(*table, blocks.clone(), |read| keys.extend_from_slice(read))?;
        if *is_numbered {
            run.read(run.parts.len(), blocks.clone(), |read| numbers.extend_from_slice(read))?;
        }
        (*place, *block) = (0, blocks.end);
        Ok(())
    }
}
