//! The outbox for one peer: an append-only log in parts, of which those that the peer has committed are dropped.
//!
//! A position counts the bytes of all records ever written for the peer, so it stays valid when parts are dropped; the
//! name of a part has the position of its first record. A part has [`PART`] bytes; there is always one, the last.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::record::Message;
use crate::collection::layout::{outbox, outbox_of};
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogStream, LogWriter};
use crate::sorted::Change;
use crate::{Pulse, Result};

/// The format of a part.
pub const FORMAT: Format = Format { kind: *b"OUTB", version: 2 };
/// The bytes after which a new part is begun.
pub const PART: u64 = 8 << 20;
const RECORDS_PER_BEAT: u64 = 1 << 14;

/// A part: the positions of its first record and after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first.
    pub base: u64,
    /// The last, as far as it was written.
    pub end: u64,
}

/// The writing end.
pub struct Outbox {
    folder: PathBuf,
    peer: u32,
    parts: Vec<Part>,
    log: LogWriter,
    /// Parts that were completed since the last checkpoint, to be synced.
    completed: Vec<DurableFile>,
    payload: Vec<u8>,
    /// The number of records ever written.
    pub records: u64,
}

impl Outbox {
    /// The peers that have an outbox among the committed files.
    pub fn peers(files: &HashMap<String, u64>) -> Vec<u32> {
        let mut peers: Vec<u32> =
            files.keys().filter_map(|name| outbox_of(name)).map(|(peer, _)| peer).collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Opens the outbox for a peer as it was committed.
    pub fn open(folder: &Path, peer: u32, files: &HashMap<String, u64>, records: u64) -> Result<Outbox> {
        let mut parts: Vec<Part> = files
            .iter()
            .filter_map(|(name, length)| Some((outbox_of(name)?, *length)))
            .filter(|((of, _), _)| *of == peer)
            .map(|((_, base), length)| Part { base, end: base + length - Format::HEADER as u64 })
            .collect();
        parts.sort_by_key(|part| part.base);
        let Some(Part { base, end }) = parts.last().copied() else { return Outbox::begin(folder, peer, 0) };
        let committed = end - base + Format::HEADER as u64;
        let log = LogWriter::open(&folder.join(outbox(peer, base)), FORMAT, committed)?;
        let folder = folder.to_path_buf();
        Ok(Outbox { folder, peer, parts, log, completed: Vec::new(), payload: Vec::new(), records })
    }

    /// Begins an outbox at a position.
    pub fn begin(folder: &Path, peer: u32, base: u64) -> Result<Outbox> {
        let log = LogWriter::open(&folder.join(outbox(peer, base)), FORMAT, 0)?;
        let (folder, parts) = (folder.to_path_buf(), vec![Part { base, end: base }]);
        Ok(Outbox { folder, peer, parts, log, completed: Vec::new(), payload: Vec::new(), records: 0 })
    }

    /// Appends a record.
    pub fn append(&mut self, message: &Message) -> Result<()> {
        if self.last().end - self.last().base >= PART {
            self.log.flush()?;
            self.completed.push(self.log.handle()?);
            let base = self.end();
            self.log = LogWriter::open(&self.folder.join(outbox(self.peer, base)), FORMAT, 0)?;
            self.parts.push(Part { base, end: base });
        }
        message.encode(&mut self.payload);
        self.log.append(message.key(), &self.payload)?;
        self.records += 1;
        let length = self.log.len() - Format::HEADER as u64;
        if let Some(last) = self.parts.last_mut() {
            last.end = last.base + length;
        }
        Ok(())
    }

    fn last(&self) -> Part {
        // There is always one.
        self.parts.last().copied().unwrap_or(Part { base: 0, end: 0 })
    }

    /// The position after the last record.
    pub fn end(&self) -> u64 {
        self.last().end
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Flushes, drops the parts that end before or at `acknowledged` unless they are the last, and returns what to commit
    /// and to sync.
    pub fn checkpoint(&mut self, acknowledged: u64) -> Result<(Vec<Change>, Vec<DurableFile>)> {
        self.log.flush()?;
        let last = self.last().base;
        let (gone, kept): (Vec<Part>, Vec<Part>) =
            self.parts.iter().partition(|part| part.end <= acknowledged && part.base != last);
        self.parts = kept;
        let mut files: Vec<Change> = gone.iter().map(|part| (outbox(self.peer, part.base), None)).collect();
        let length = |part: &Part| part.end - part.base + Format::HEADER as u64;
        files.extend(self.parts.iter().map(|part| (outbox(self.peer, part.base), Some(length(part)))));
        let mut handles = std::mem::take(&mut self.completed);
        handles.push(self.log.handle()?);
        Ok((files, handles))
    }

    /// The files of the outbox, to be removed.
    pub fn remove(self) -> Vec<Change> {
        self.parts.iter().map(|part| (outbox(self.peer, part.base), None)).collect()
    }

    /// Calls `each` with every record from a position on.
    pub fn each_from(
        &mut self,
        position: u64,
        pulse: &Pulse,
        mut each: impl FnMut(Message) -> Result<()>,
    ) -> Result<()> {
        self.log.flush()?;
        let mut count = 0;
        for part in self.parts.iter().filter(|part| part.end > position) {
            let mut stream = open_part(&self.folder, self.peer, *part, position.max(part.base), part.end)?;
            let path = stream.path().to_path_buf();
            while let Some(sealed) = stream.advance()? {
                count += 1;
                if count % RECORDS_PER_BEAT == 0 {
                    pulse.beat()?;
                }
                let record = sealed.open(&path)?;
                let damaged = || crate::Error::corrupt(&path, record.offset, "a record of an unknown kind");
                each(Message::decode(record.payload).ok_or_else(damaged)?)?;
            }
        }
        Ok(())
    }
}

/// The records of a part between two positions.
fn open_part(folder: &Path, peer: u32, part: Part, from: u64, to: u64) -> Result<LogStream> {
    let offset = |position: u64| position - part.base + Format::HEADER as u64;
    LogStream::open(&folder.join(outbox(peer, part.base)), FORMAT, offset(from), offset(to))
}

/// Appends the records for a peer from a position up to another to `batch`, until it has `limit` bytes more and at least
/// one record; returns the position after them.
pub fn read(
    folder: &Path,
    peer: u32,
    parts: &[Part],
    (from, to): (u64, u64),
    limit: usize,
    batch: &mut Vec<u8>,
) -> Result<u64> {
    let (mut position, mut left) = (from, limit);
    for part in parts.iter().filter(|part| part.end > from && part.base < to) {
        let mut stream = open_part(folder, peer, *part, position.max(part.base), part.end.min(to))?;
        while let Some(sealed) = stream.advance()? {
            if left < sealed.bytes.len() && position > from {
                return Ok(position);
            }
            left = left.saturating_sub(sealed.bytes.len());
            batch.extend_from_slice(sealed.bytes);
            position += sealed.bytes.len() as u64;
        }
    }
    Ok(position)
}
