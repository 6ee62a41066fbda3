//! The `offline` sieve: three files and no structure in memory.
//!
//! *A* receives the additions, *Z* has the sorted signatures of everything seen, and the queue is the
//! frontier. A flush, on request or when the queue is empty, sorts pairs (signature, ordinal in *A*)
//! externally, merges them with *Z*, sorts the ordinals of the new ones back, again externally, and scans *A*
//! in parallel with them, so the queue is in first-seen order.
//!
//! **Cost.** Memory is one setting: an entry of a run takes 24 bytes (a pair, and an ordinal to sort back),
//! so 64 MiB are runs of 2.8 million; while runs are merged, at most 64 of them, each has 128 KiB of buffers.
//! On disk 8 bytes a URL seen, *A*, and during a flush 16 bytes an entry of *A*. It answers late and is the
//! fastest way through a large file of URLs: *Z* is read and written once per 64 runs, not once per array.
//!
//! From the notes' section 2.4.

mod external;

use std::time::{Duration, Instant};

use self::external::ExternalSort;
use super::files::NumberedFiles;
use super::merge::{copy_fresh, merge};
use super::queue::{FORMAT, Queue};
use super::words::{WordFile, WordReader, WordWriter};
use super::{Batch, Checkpoint, Entries, Opening, Sieve, Stats};
use crate::disk::fault;
use crate::disk::file::DurableFile;
use crate::disk::log::{LogStream, LogWriter};
use crate::{Pulse, Result};

/// A pair while signatures are sorted, plus an ordinal while those of the new ones are.
const BYTES_PER_ENTRY: usize = 24;
/// The maximum number of runs per merge; beyond that *A* is flushed unasked.
const MOST_RUNS: u64 = 64;
const AUXILIARY: &str = "auxiliary";
const SEEN: &str = "seen";

/// A sieve that decides by external sorting.
pub struct OfflineSieve {
    files: NumberedFiles,
    queue: Queue,
    writer: LogWriter,
    auxiliary: LogWriter,
    /// The number in the names of the auxiliary file and, if there is one, of the signatures.
    number: u64,
    /// The number of entries in the auxiliary file.
    pending: u64,
    /// The length of the file of all signatures; 0: there is none.
    seen: u64,
    unsynced: Option<DurableFile>,
    /// The number of entries per run.
    entries: usize,
    flushes: u64,
    flush_time: Duration,
}

impl OfflineSieve {
    /// Opens the sieve as it was committed, with a memory budget in bytes.
    pub fn open(opening: Opening, memory: usize) -> Result<OfflineSieve> {
        let (queue, writer) = Queue::open(opening)?;
        let numbered = NumberedFiles::new(opening);
        let (number, pending) = (opening.remembered("number")?, opening.remembered("pending")?);
        let length = |what: &str| opening.files.get(&NumberedFiles::name(what, number)).copied().unwrap_or(0);
        Ok(OfflineSieve {
            auxiliary: LogWriter::open(&numbered.path(AUXILIARY, number), FORMAT, length(AUXILIARY))?,
            seen: length(SEEN),
            files: numbered,
            queue,
            writer,
            number,
            pending,
            unsynced: None,
            entries: (memory / BYTES_PER_ENTRY).max(1),
            flushes: 0,
            flush_time: Duration::ZERO,
        })
    }

    /// Finds the new entries of the auxiliary file and appends them to the queue.
    fn sift(&mut self, pulse: &Pulse) -> Result<(WordFile, u64)> {
        fault::point("flush.start");
        let path = self.auxiliary.path().to_path_buf();
        let length = self.auxiliary.flush()?;
        let mut pairs = ExternalSort::new(self.files.path("pairs", self.number), self.entries);
        let mut records = LogStream::open(&path, FORMAT, 0, length)?;
        let mut ordinal = 0u64;
        while let Some(sealed) = records.advance()? {
            pairs.push([sealed.open(&path)?.key.0, ordinal])?;
            ordinal += 1;
            if ordinal.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
        }
        let mut ordinals = ExternalSort::new(self.files.path("ordinals", self.number), self.entries);
        let seen = self.files.path(SEEN, self.number);
        let seen = if self.seen == 0 { None } else { Some(WordReader::open(&seen, self.seen)?) };
        let target = WordWriter::create(&self.files.path(SEEN, self.number + 1))?;
        let fresh = |ordinal| ordinals.push([ordinal]);
        let words = merge(pairs.finish()?, seen, target, pulse, fresh, |_, _| {})?;
        let ordinals = ordinals.finish()?.map(|row| row.map(|[ordinal]| ordinal));
        let records = LogStream::open(&path, FORMAT, 0, length)?;
        Ok((words, copy_fresh(records, ordinals, &mut self.writer, pulse)?))
    }
}

impl Sieve for OfflineSieve {
    fn add(&mut self, batch: &Batch, pulse: &Pulse) -> Result<()> {
        if self.pending >= MOST_RUNS * self.entries as u64 {
            self.flush(pulse)?;
        }
        self.auxiliary.append_sealed(batch.records(0, batch.len()))?;
        self.pending += batch.len() as u64;
        fault::point("offline.add.after-append");
        Ok(())
    }

    fn take_ready(&mut self, n: usize) -> Result<Entries> {
        self.queue.take(n)
    }

    fn take(&mut self, n: usize, pulse: &Pulse) -> Result<Entries> {
        if n > 0 && self.queue.is_exhausted() {
            self.flush(pulse)?;
        }
        self.queue.take(n)
    }

    fn flush(&mut self, pulse: &Pulse) -> Result<()> {
        if self.pending == 0 {
            return Ok(());
        }
        let started = Instant::now();
        let sifted = self.sift(pulse);
        if sifted.is_err() {
            // Ctrl-C, or damage: the entries stay in the auxiliary file, and the queue is as before.
            self.writer.cut_back(self.queue.length())?;
        }
        let (words, fresh) = sifted?;
        fault::point("offline.flush.before-publish");
        let next = self.files.path(AUXILIARY, self.number + 1);
        self.auxiliary = LogWriter::open(&next, FORMAT, 0)?;
        self.queue.publish(self.writer.len(), fresh);
        self.files.retire(AUXILIARY, self.number)?;
        self.files.retire(SEEN, self.number)?;
        self.number += 1;
        self.seen = words.length;
        self.unsynced = Some(words.file);
        self.pending = 0;
        self.flushes += 1;
        self.flush_time += started.elapsed();
        fault::point("offline.flush.after-publish");
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<Checkpoint> {
        fault::point("offline.checkpoint.before-sync");
        let mut live = vec![(NumberedFiles::name(AUXILIARY, self.number), self.auxiliary.sync()?)];
        if self.seen != 0 {
            if let Some(file) = &self.unsynced {
                file.sync()?;
                self.unsynced = None;
            }
            live.push((NumberedFiles::name(SEEN, self.number), self.seen));
        }
        let mut checkpoint = self.files.checkpoint(&self.queue, live)?;
        let numbers = [("number", self.number), ("pending", self.pending)];
        checkpoint.state.extend(numbers.map(|(name, number)| (name.to_owned(), number)));
        fault::point("offline.checkpoint.after-sync");
        Ok(checkpoint)
    }

    fn next(&self) -> u64 {
        self.queue.next()
    }

    fn stats(&self) -> Stats {
        Stats {
            seen: self.queue.appended(),
            waiting: self.queue.waiting(),
            pending: self.pending,
            bytes: self.entries * BYTES_PER_ENTRY,
            flushes: self.flushes,
            flush_seconds: self.flush_time.as_secs_f64(),
            ..Stats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::sieve::tests::contract;
    use crate::sieve::{Files, State};

    contract::test!(short_runs, |opening| {
        Box::new(OfflineSieve::open(opening, 2 * BYTES_PER_ENTRY).unwrap())
    });

    contract::test!(one_run, |opening| { Box::new(OfflineSieve::open(opening, 1 << 20).unwrap()) });

    #[test]
    fn a_flush_that_is_stopped_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let (files, state) = (Files::new(), State::new());
        let opening = Opening { folder: folder.path(), files: &files, state: &state, start: None };
        let mut sieve = OfflineSieve::open(opening, 1 << 20).unwrap();
        let urls: Vec<String> = (0..10_000).map(|number| format!("http://a.example/{number}")).collect();
        let mut batch = Batch::default();
        batch.extend(urls.iter().map(String::as_str));
        sieve.add(&batch, &Pulse::STEADY).unwrap();
        for beats in 0..3 {
            let left = std::sync::atomic::AtomicU32::new(beats);
            let go_on = || left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0;
            assert!(matches!(sieve.flush(&Pulse::new(&go_on)), Err(Error::Stopped) | Ok(())));
        }
        let entries = sieve.take(20_000, &Pulse::STEADY).unwrap();
        assert!(entries.iter().map(|entry| entry.url).eq(urls.iter().map(String::as_str)));
    }
}
