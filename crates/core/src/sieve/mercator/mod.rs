//! The `mercator` sieve: exact, in a fixed amount of memory, with sequential disk I/O only.
//!
//! Adding a URL stores its signature in an array *S* and appends the URL to an auxiliary file *A*. When *S*
//! is full a *flush* (see [`flush`]) sorts it, merges it with *Z*, the sorted file of all signatures seen,
//! and copies the new URLs from *A* to the queue, in their original order. There are two pairs of *S* and
//! *A*: one is filled while the other is flushed in the background; an addition blocks only when both are
//! full. Dequeuing from an empty queue forces a flush.
//!
//! **Cost.** Memory is one setting: a slot takes 25 bytes (two arrays of 8 + 2 bytes, 4 of index and a bit
//! for the flush), so 64 MiB are 2.7 million slots; some 2 MiB of buffers come on top. On disk 8 bytes a URL
//! seen, and *A*. A flush reads and writes *Z* once, so with n URLs seen and m slots an addition costs a
//! constant plus n/m times 8 bytes of sequential reads and writes: at 200 million signatures about 1.2 KB.
//! More memory means fewer flushes; too little only makes it slower.
//!
//! *S* is rebuilt from *A* on opening. A checkpoint during a flush names the old *Z*, both *A* and the queue
//! as it was before the flush, so it need not wait; after a crash the flush is simply repeated.
//!
//! From Heydon and Najork, *Mercator: a scalable, extensible web crawler* (1999), in the form of the notes'
//! section 2.5.

mod auxiliary;
mod flush;
mod sort;

use std::time::Duration;

use self::auxiliary::{Auxiliary, Slots};
use self::flush::{Outcome, Running, Tools, Work};
use super::files::NumberedFiles;
use super::queue::Queue;
use super::{Batch, Checkpoint, Entries, Opening, Sieve, Stats};
use crate::disk::fault;
use crate::disk::file::DurableFile;
use crate::{Error, Pulse, Result};

/// The total memory of one slot: two signatures with checks, an index and a mark.
const BYTES_PER_SLOT: usize = 25;
const AUXILIARY: &str = "auxiliary";
const SEEN: &str = "seen";

/// The file of all signatures.
struct Seen {
    /// The number in its name; 0: there is no file yet.
    number: u64,
    length: u64,
    /// The file, if it is not yet synced.
    unsynced: Option<DurableFile>,
}

/// The state of the background worker.
enum Worker {
    Idle(Box<Tools>),
    Running(Flushing),
    /// An error lost the tools: what was committed is safe, and this sieve accepts nothing more.
    Failed,
}

struct Flushing {
    running: Running,
    auxiliary: u64,
    entries: usize,
    length: u64,
    unsynced: Option<DurableFile>,
    /// The number of the file of all signatures that is being written.
    target: u64,
}

/// A sieve in a fixed amount of memory.
pub struct MercatorSieve {
    files: NumberedFiles,
    queue: Queue,
    slots: usize,
    filling: Auxiliary,
    worker: Worker,
    seen: Seen,
    last_number: u64,
    flushes: u64,
    flush_time: Duration,
    collisions: u64,
}

impl MercatorSieve {
    /// Opens the sieve as it was committed, with a memory budget in bytes.
    pub fn open(opening: Opening, memory: usize, pulse: &Pulse) -> Result<MercatorSieve> {
        let (queue, writer) = Queue::open(opening)?;
        let numbered = NumberedFiles::new(opening);
        let committed = |what: &str, number| opening.files.get(&NumberedFiles::name(what, number)).copied();
        let auxiliary = |number| {
            let length = committed(AUXILIARY, number).unwrap_or(0);
            Auxiliary::open(&numbered.path(AUXILIARY, number), number, length, pulse)
        };
        let seen = opening.remembered("signatures")?;
        let (flushing, filling) = (opening.remembered("flushing")?, opening.remembered("filling")?);
        let interrupted = if flushing == 0 { None } else { Some(auxiliary(flushing)?) };
        let filling = auxiliary(filling.max(1))?;
        let tools = Tools { queue: writer, indices: Vec::new(), marks: Vec::new(), slots: Slots::default() };
        let mut sieve = MercatorSieve {
            last_number: seen.max(flushing).max(filling.number),
            seen: Seen { number: seen, length: committed(SEEN, seen).unwrap_or(0), unsynced: None },
            files: numbered,
            queue,
            slots: (memory / BYTES_PER_SLOT).clamp(1, u32::MAX as usize),
            filling,
            worker: Worker::Idle(Box::new(tools)),
            flushes: 0,
            flush_time: Duration::ZERO,
            collisions: 0,
        };
        if let Some(auxiliary) = interrupted {
            sieve.start(auxiliary)?;
        }
        Ok(sieve)
    }

    /// Flushes the pair being filled, in the background; waits for the previous flush, if any.
    fn rotate(&mut self, pulse: &Pulse) -> Result<()> {
        self.wait(pulse)?;
        let Worker::Idle(tools) = &mut self.worker else { return Err(failed()) };
        fault::point("mercator.rotate.before-new-auxiliary");
        self.last_number += 1;
        let path = self.files.path(AUXILIARY, self.last_number);
        let next = Auxiliary::create(&path, self.last_number, std::mem::take(&mut tools.slots))?;
        fault::point("mercator.rotate.after-new-auxiliary");
        let full = std::mem::replace(&mut self.filling, next);
        self.start(full)
    }

    /// Starts a flush of a pair.
    fn start(&mut self, mut auxiliary: Auxiliary) -> Result<()> {
        let Worker::Idle(tools) = std::mem::replace(&mut self.worker, Worker::Failed) else {
            return Err(failed());
        };
        self.last_number += 1;
        let (number, entries, target) = (auxiliary.number, auxiliary.len(), self.last_number);
        let (length, handle) = (auxiliary.log.flush()?, auxiliary.log.handle()?);
        let seen = (self.seen.number != 0).then(|| self.files.path(SEEN, self.seen.number));
        let work = Work {
            auxiliary,
            seen: seen.map(|path| (path, self.seen.length)),
            target: self.files.path(SEEN, target),
            has_checkpoints: self.files.has_checkpoints(),
            tools: *tools,
        };
        let running = Running::start(work)?;
        let unsynced = Some(handle);
        self.worker =
            Worker::Running(Flushing { running, auxiliary: number, entries, length, unsynced, target });
        Ok(())
    }

    /// Waits until no flush runs.
    fn wait(&mut self, pulse: &Pulse) -> Result<()> {
        loop {
            self.collect()?;
            let Worker::Running(flushing) = &self.worker else { return Ok(()) };
            flushing.running.wait();
            pulse.beat()?;
        }
    }

    /// Takes over the result of a flush, if it is done.
    fn collect(&mut self) -> Result<()> {
        let Worker::Running(flushing) = &mut self.worker else { return Ok(()) };
        let Some(outcome) = flushing.running.outcome() else { return Ok(()) };
        let (auxiliary, target) = (flushing.auxiliary, flushing.target);
        self.worker = Worker::Failed;
        let Outcome { tools, seen, is_durable, fresh, collisions, time } = outcome?;
        fault::point("mercator.collect.before-publish");
        self.queue.publish(tools.queue.len(), fresh);
        let unsynced = (!is_durable).then_some(seen.file);
        let next = Seen { number: target, length: seen.length, unsynced };
        let former = std::mem::replace(&mut self.seen, next);
        fault::point("mercator.collect.after-publish");
        self.files.retire(AUXILIARY, auxiliary)?;
        if former.number != 0 {
            self.files.retire(SEEN, former.number)?;
        }
        self.flushes += 1;
        self.flush_time += time;
        self.collisions += collisions;
        self.worker = Worker::Idle(Box::new(tools));
        Ok(())
    }

    fn pending(&self) -> usize {
        let flushing = if let Worker::Running(flushing) = &self.worker { flushing.entries } else { 0 };
        self.filling.len() + flushing
    }
}

impl Sieve for MercatorSieve {
    fn add(&mut self, batch: &Batch, pulse: &Pulse) -> Result<()> {
        self.collect()?;
        let mut from = 0;
        while from < batch.len() {
            let room = self.slots.saturating_sub(self.filling.len());
            if room == 0 {
                self.rotate(pulse)?;
                continue;
            }
            let to = batch.len().min(from + room);
            self.filling.add(batch, from, to)?;
            from = to;
        }
        Ok(())
    }

    fn take_ready(&mut self, n: usize) -> Result<Entries> {
        self.collect()?;
        self.queue.take(n)
    }

    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries> {
        self.collect()?;
        while n > 0 && self.queue.is_exhausted() && self.pending() > 0 {
            if matches!(self.worker, Worker::Running(_)) {
                self.wait(pulse)?;
            } else {
                self.rotate(pulse)?;
            }
        }
        self.queue.take(n)
    }

    fn flush(&mut self, pulse: &Pulse) -> Result<()> {
        if self.filling.len() > 0 {
            self.rotate(pulse)?;
        }
        self.wait(pulse)
    }

    fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.collect()?;
        fault::point("mercator.checkpoint.before-sync");
        let mut live = Vec::new();
        let mut flushing_number = 0;
        match &mut self.worker {
            Worker::Idle(_) => {}
            Worker::Failed => return Err(failed()),
            Worker::Running(flushing) => {
                flushing_number = flushing.auxiliary;
                sync(&mut flushing.unsynced)?;
                live.push((NumberedFiles::name(AUXILIARY, flushing_number), flushing.length));
            }
        }
        live.push((NumberedFiles::name(AUXILIARY, self.filling.number), self.filling.log.sync()?));
        if self.seen.number != 0 {
            sync(&mut self.seen.unsynced)?;
            live.push((NumberedFiles::name(SEEN, self.seen.number), self.seen.length));
        }
        let mut checkpoint = self.files.checkpoint(&self.queue, live)?;
        let numbers = [
            ("signatures", self.seen.number),
            ("flushing", flushing_number),
            ("filling", self.filling.number),
        ];
        checkpoint.state.extend(numbers.map(|(name, number)| (name.to_owned(), number)));
        fault::point("mercator.checkpoint.after-sync");
        Ok(checkpoint)
    }

    fn next(&self) -> u64 {
        self.queue.next()
    }

    fn stats(&self) -> Stats {
        Stats {
            seen: self.queue.appended(),
            waiting: self.queue.waiting(),
            pending: self.pending() as u64,
            bytes: self.slots * BYTES_PER_SLOT,
            flushes: self.flushes,
            flush_seconds: self.flush_time.as_secs_f64(),
            collisions: self.collisions,
        }
    }
}

fn sync(unsynced: &mut Option<DurableFile>) -> Result<()> {
    if let Some(file) = unsynced {
        file.sync()?;
        *unsynced = None;
    }
    Ok(())
}

fn failed() -> Error {
    Error::Invalid("the sieve stopped at an earlier error: open the collection again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sieve::tests::contract;
    use crate::sieve::{Files, State};

    contract::test!(few_slots, |opening| {
        let memory = 5 * BYTES_PER_SLOT;
        Box::new(MercatorSieve::open(opening, memory, &Pulse::STEADY).unwrap())
    });

    contract::test!(many_slots, |opening| {
        Box::new(MercatorSieve::open(opening, 1 << 20, &Pulse::STEADY).unwrap())
    });

    #[test]
    fn a_collision_within_a_flush_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let (files, state) = (Files::new(), State::new());
        let opening = Opening { folder: folder.path(), files: &files, state: &state, start: None };
        let mut sieve = MercatorSieve::open(opening, 1 << 20, &Pulse::STEADY).unwrap();
        let mut batch = Batch::default();
        for (check, url) in [(1, "a"), (2, "b"), (1, "a")] {
            batch.push(crate::Signature(5), check, 0, url.as_bytes());
        }
        sieve.add(&batch, &Pulse::STEADY).unwrap();
        assert_eq!(sieve.take(9, &Pulse::STEADY).unwrap().iter().map(|e| e.url).collect::<Vec<_>>(), ["a"]);
        assert_eq!(sieve.stats().collisions, 1);
    }
}
