//! The `memory` sieve: signatures in a table, URLs in a queue on disk.
//!
//! The queue is a [`crate::log`] of every URL ever accepted, in first-seen order: it is the frontier, the
//! set of what was seen and the order of the visit at once. Opening rebuilds the table from the log's
//! keys. Memory is that of the table (see [`SignatureSet`]); a URL costs 20 bytes beside itself on disk.

use std::path::Path;

use super::SignatureSet;
use crate::format::Format;
use crate::log::{LogReader, LogWriter};
use crate::{Error, Pulse, Result, Signature};

const FORMAT: Format = Format { kind: *b"URLS", version: 1 };

/// A URL as it comes out of the sieve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands in the queue: later entries have larger ones.
    pub offset: u64,
    /// What it was added with.
    pub tag: u32,
    /// The URL.
    pub url: String,
}

/// A sieve with its signatures in memory.
pub struct MemorySieve {
    seen: SignatureSet,
    queue: LogWriter,
    /// The queue as far as it is mapped for taking.
    reader: LogReader,
    next: u64,
    taken: u64,
}

impl MemorySieve {
    /// Opens the sieve whose queue has `committed` bytes (0: a new one); taking starts at `next`, an
    /// offset that an [`Entry`] carried (0: at the beginning).
    pub fn open(path: &Path, committed: u64, next: u64, pulse: &Pulse) -> Result<MemorySieve> {
        let mut queue = LogWriter::open(path, FORMAT, committed)?;
        let reader = LogReader::open(path, FORMAT, queue.flush()?)?;
        let mut seen = SignatureSet::default();
        let mut taken = 0;
        let mut found = next == 0 || next == reader.len();
        reader.scan(0, pulse, |record| {
            seen.insert(record.key);
            taken += u64::from(record.offset < next);
            found |= record.offset == next;
            Ok(())
        })?;
        if !found {
            return Err(Error::corrupt(path, next, "no URL of the queue starts where the visit stands"));
        }
        Ok(MemorySieve { seen, queue, reader, next: next.max(Format::HEADER as u64), taken })
    }

    /// Adds URLs with their tags; returns how many were new.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = (&'a str, u32)>) -> Result<usize> {
        let mut fresh = 0;
        let mut payload = Vec::new();
        for (url, tag) in entries {
            let signature = Signature::of(url.as_bytes());
            if self.seen.insert(signature) {
                payload.clear();
                payload.extend_from_slice(&tag.to_le_bytes());
                payload.extend_from_slice(url.as_bytes());
                self.queue.append(signature, &payload)?;
                fresh += 1;
            }
        }
        Ok(fresh)
    }

    /// Takes at most `n` URLs, in first-seen order.
    pub fn take(&mut self, n: usize) -> Result<Vec<Entry>> {
        if self.next == self.reader.len() && self.queue.len() > self.next {
            let flushed = self.queue.flush()?;
            self.reader = LogReader::open(self.queue.path(), FORMAT, flushed)?;
        }
        let mut entries = Vec::new();
        for record in self.reader.records(self.next).take(n) {
            let record = record?;
            let damaged = |reason: &str| Error::corrupt(self.queue.path(), record.offset, reason);
            let (tag, url) =
                record.payload.split_first_chunk().ok_or_else(|| damaged("an entry has no tag"))?;
            let url = std::str::from_utf8(url).map_err(|_| damaged("a URL is not UTF-8"))?;
            entries.push(Entry { offset: record.offset, tag: u32::from_le_bytes(*tag), url: url.to_owned() });
            self.next = record.end();
        }
        self.taken += entries.len() as u64;
        Ok(entries)
    }

    /// Makes everything added so far durable; returns the length of the queue to commit.
    pub fn sync(&mut self) -> Result<u64> {
        self.queue.sync()
    }

    /// Where the next entry to take stands (or will stand).
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many different URLs were ever added.
    pub fn seen(&self) -> usize {
        self.seen.len()
    }

    /// How many of them were not yet taken.
    pub fn waiting(&self) -> u64 {
        self.seen.len() as u64 - self.taken
    }

    /// How many bytes of memory the signatures take.
    pub fn bytes(&self) -> usize {
        self.seen.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Add(Vec<u8>),
        Take(usize),
        Checkpoint,
        Crash,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Step::Add),
            3 => (0usize..15).prop_map(Step::Take),
            1 => Just(Step::Checkpoint),
            1 => Just(Step::Crash),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        /// Against a list: each URL once, in first-seen order, and a crash goes back to the checkpoint.
        #[test]
        fn gives_each_url_once_in_order(steps in steps()) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("urls.log");
            let mut sieve = MemorySieve::open(&path, 0, 0, &Pulse::STEADY).unwrap();
            let (mut order, mut taken): (Vec<u8>, usize) = (Vec::new(), 0);
            let (mut committed, mut saved) = ((sieve.sync().unwrap(), sieve.next()), (Vec::new(), 0));
            for step in steps {
                match step {
                    Step::Add(values) => {
                        let urls: Vec<String> = values.iter().map(|v| format!("http://a.example/{v}")).collect();
                        let before = order.len();
                        for value in values {
                            if !order.contains(&value) {
                                order.push(value);
                            }
                        }
                        let fresh = sieve.add(urls.iter().map(|u| (u.as_str(), 7))).unwrap();
                        prop_assert_eq!(fresh, order.len() - before);
                    }
                    Step::Take(n) => {
                        let entries = sieve.take(n).unwrap();
                        for entry in &entries {
                            prop_assert_eq!(&entry.url, &format!("http://a.example/{}", order[taken]));
                            prop_assert_eq!(entry.tag, 7);
                            taken += 1;
                        }
                        prop_assert!(n == 0 || !entries.is_empty() || taken == order.len());
                    }
                    Step::Checkpoint => {
                        committed = (sieve.sync().unwrap(), sieve.next());
                        saved = (order.clone(), taken);
                    }
                    Step::Crash => {
                        drop(sieve);
                        sieve = MemorySieve::open(&path, committed.0, committed.1, &Pulse::STEADY).unwrap();
                        (order, taken) = saved.clone();
                    }
                }
                prop_assert_eq!(sieve.seen(), order.len());
                prop_assert_eq!(sieve.waiting(), (order.len() - taken) as u64);
            }
        }
    }
}
