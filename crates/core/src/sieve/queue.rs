//! The queue of a sieve: every new URL, in first-seen order, in one append-only log.
//!
//! It is the frontier, the visit order and, for the kinds that keep their set in memory, what that set is
//! rebuilt from. An entry costs 20 bytes beside its URL. The reader sees entries up to a length that the
//! writer *published*; so a flush is atomic: what it appended counts completely or, after a crash, not at
//! all.

use std::path::Path;

use super::batch::{Entries, unpack};
use super::{Opening, State};
use crate::collection::layout::URLS;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogStream, LogWriter};
use crate::{Error, Result};

/// The format of the queue, and of every file of entries. Version 2 has other tags (`crawl::tag`).
pub const FORMAT: Format = Format { kind: *b"URLS", version: 2 };

/// The reading end.
pub struct Queue {
    stream: LogStream,
    handle: DurableFile,
    /// The published length, up to which the queue may be read.
    length: u64,
    appended: u64,
    taken: u64,
}

impl Queue {
    /// Opens both ends of the queue.
    pub fn open(opening: Opening) -> Result<(Queue, LogWriter)> {
        let path = opening.folder.join(URLS);
        let committed = opening.files.get(URLS).copied().unwrap_or(0);
        let mut writer = LogWriter::open(&path, FORMAT, committed)?;
        let length = writer.flush()?;
        let next = opening.remembered("next")?.max(Format::HEADER as u64);
        let (appended, mut taken) = (opening.remembered("seen")?, opening.remembered("taken")?);
        let start = opening.start.unwrap_or(next).max(Format::HEADER as u64);
        let mut again = LogStream::open(&path, FORMAT, start, next.max(start).min(length))?;
        while again.position() < next {
            taken = taken.checked_sub(1).ok_or_else(|| misplaced(&path, start))?;
            // Reading from within a record fails here: the bytes match no checksum.
            again.advance()?.ok_or_else(|| misplaced(&path, start))?.open(&path)?;
        }
        if again.position() != next {
            return Err(misplaced(&path, start));
        }
        let stream = LogStream::open(&path, FORMAT, start, length)?;
        Ok((Queue { stream, handle: writer.handle()?, length, appended, taken }, writer))
    }

    /// Dequeues at most `n` entries.
    pub fn take(&mut self, n: usize) -> Result<Entries> {
        let mut entries = Entries::default();
        let path = self.stream.path().to_path_buf();
        while entries.len() < n
            && let Some(sealed) = self.stream.advance()?
        {
            let record = sealed.open(&path)?;
            let (tag, url) =
                unpack(record.payload).map_err(|reason| Error::corrupt(&path, record.offset, reason))?;
            entries.push(record.offset, tag, url);
        }
        self.taken += entries.len() as u64;
        Ok(entries)
    }

    /// Publishes what was appended, `fresh` entries up to `length`.
    pub fn publish(&mut self, length: u64, fresh: u64) {
        self.length = length;
        self.appended += fresh;
        self.stream.extend(length);
    }

    /// Syncs what was published.
    pub fn sync(&self) -> Result<()> {
        self.handle.sync()
    }

    /// Whether everything published was dequeued.
    pub fn is_exhausted(&self) -> bool {
        self.taken == self.appended
    }

    /// The queue's state for the manifest.
    pub fn state(&self) -> State {
        [("next", self.next()), ("seen", self.appended), ("taken", self.taken)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// The offset of the next entry to dequeue, now or in the future.
    pub fn next(&self) -> u64 {
        self.stream.position()
    }

    /// The published length.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The number of entries ever published.
    pub fn appended(&self) -> u64 {
        self.appended
    }

    /// The number of entries not yet dequeued.
    pub fn waiting(&self) -> u64 {
        self.appended - self.taken
    }
}

fn misplaced(path: &Path, offset: u64) -> Error {
    Error::corrupt(path, offset, "no URL of the queue starts where the visit stands")
}
