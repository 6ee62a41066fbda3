//! An append-only log of records keyed by signature: the one durable structure under the sieve's URLs, the
//! table's rows and the graph's links.
//!
//! After the header (see [`crate::disk::format`]), a record is
//!
//! ```text
//! u32  length of the payload, little-endian
//! u32  CRC-32 of key and payload
//! u64  key
//! ...  payload
//! ```
//!
//! so it costs 16 bytes beside its payload. A writer appends through a buffer; [`LogWriter::sync`] makes
//! everything durable and returns the length to commit. Readers never read past the committed length, and a
//! record that does not match its checksum is an error with its offset, never a value.

mod random;
mod stream;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::{Error, Pulse, Result, Signature};

pub use random::LogAccess;
pub use stream::LogStream;

const RECORD_HEADER: usize = 16;
/// The maximum payload size: a larger length is damage.
const MAX_PAYLOAD: usize = 1 << 30;
const BUFFER: usize = 1 << 18;
/// The number of header bytes before the key.
const BEFORE_KEY: usize = 8;

/// One record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its offset in the file.
    pub offset: u64,
    /// Its key.
    pub key: Signature,
    /// Its content.
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// The offset of the next record.
    pub fn end(&self) -> u64 {
        self.offset + (RECORD_HEADER + self.payload.len()) as u64
    }
}

/// Encodes a record with `key`, whose payload is the concatenation of `parts`, and appends it to `bytes`.
pub fn seal(key: Signature, parts: &[&[u8]], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&key.0.to_le_bytes());
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    let checksum = crc32fast::hash(&bytes[start + BEFORE_KEY..]);
    bytes[start + 4..start + BEFORE_KEY].copy_from_slice(&checksum.to_le_bytes());
}

/// A complete record as stored, its checksum not yet verified: it can be copied from log to log, and opening
/// it detects the damage of any step.
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    /// Its offset in the file.
    pub offset: u64,
    /// Header and payload.
    pub bytes: &'a [u8],
}

impl<'a> Sealed<'a> {
    /// The length of the record with this header.
    fn length(header: &[u8; RECORD_HEADER]) -> usize {
        RECORD_HEADER + word(header, 0) as usize
    }

    /// The key, unverified.
    pub fn key(&self) -> Signature {
        Signature(u64::from(word(self.bytes, 12)) << 32 | u64::from(word(self.bytes, 8)))
    }

    /// The record, if it matches its checksum; `path` is for the error message.
    pub fn open(&self, path: &Path) -> Result<Record<'a>> {
        if crc32fast::hash(&self.bytes[BEFORE_KEY..]) != word(self.bytes, 4) {
            return Err(Error::corrupt(path, self.offset, "a record does not match its checksum"));
        }
        Ok(Record { offset: self.offset, key: self.key(), payload: &self.bytes[RECORD_HEADER..] })
    }
}

/// The records in `bytes`, which begin with one; their offsets are those in `bytes`. After damage there are no more.
pub fn sealed_in(bytes: &[u8]) -> impl Iterator<Item = Result<Sealed<'_>>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(next..).filter(|rest| !rest.is_empty())?;
        let (offset, length) = (next as u64, rest.first_chunk().map_or(usize::MAX, Sealed::length));
        next = next.saturating_add(length);
        let cut_off = || Error::corrupt("records", offset, "a record is cut off");
        Some(rest.get(..length).map(|bytes| Sealed { offset, bytes }).ok_or_else(cut_off))
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The writer of a log.
pub struct LogWriter {
    path: PathBuf,
    file: BufWriter<DurableFile>,
    length: u64,
    sealed: Vec<u8>,
}

impl LogWriter {
    /// Opens a log with `committed` bytes and truncates it to them; 0 creates a new one.
    pub fn open(path: &Path, format: Format, committed: u64) -> Result<LogWriter> {
        let mut file = DurableFile::open(path)?;
        let mut length = committed;
        if committed != 0 {
            LogReader::open(path, format, committed)?;
        }
        file.cut(committed)?;
        if committed == 0 {
            file.write_all(&format.header()).map_err(Error::io(path))?;
            length = Format::HEADER as u64;
        }
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(LogWriter { path: path.to_path_buf(), file, length, sealed: Vec::new() })
    }

    /// Appends a record and returns its offset.
    pub fn append(&mut self, key: Signature, payload: &[u8]) -> Result<u64> {
        if payload.len() > MAX_PAYLOAD {
            return Err(Error::Invalid(format!("a record of {} bytes is too large", payload.len())));
        }
        let offset = self.length;
        self.sealed.clear();
        seal(key, &[payload], &mut self.sealed);
        self.file.write_all(&self.sealed).map_err(Error::io(&self.path))?;
        self.length += self.sealed.len() as u64;
        Ok(offset)
    }

    /// Appends complete records, made by [`seal`] or read by a [`LogStream`]; returns the offset of the
    /// first.
    pub fn append_sealed(&mut self, records: &[u8]) -> Result<u64> {
        let offset = self.length;
        self.file.write_all(records).map_err(Error::io(&self.path))?;
        self.length += records.len() as u64;
        Ok(offset)
    }

    /// Truncates the log to `length`.
    pub fn cut_back(&mut self, length: u64) -> Result<()> {
        self.flush()?;
        self.file.get_mut().cut(length)?;
        self.length = length;
        Ok(())
    }

    /// Another handle of the file, to sync what was flushed while the log is written to elsewhere.
    pub fn handle(&self) -> Result<DurableFile> {
        self.file.get_ref().handle()
    }

    /// Flushes to the operating system, so that readers in this process see what was appended.
    pub fn flush(&mut self) -> Result<u64> {
        self.file.flush().map_err(Error::io(&self.path))?;
        Ok(self.length)
    }

    /// Makes everything durable; returns the length to commit.
    pub fn sync(&mut self) -> Result<u64> {
        self.flush()?;
        self.file.get_ref().sync()?;
        Ok(self.length)
    }

    /// The length including everything appended so far.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether no record was ever appended.
    pub fn is_empty(&self) -> bool {
        self.length == Format::HEADER as u64
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The reader of a log: its first `committed` bytes, memory-mapped.
pub struct LogReader {
    path: PathBuf,
    map: memmap2::Mmap,
}

impl LogReader {
    /// Maps the committed part of a log.
    pub fn open(path: &Path, format: Format, committed: u64) -> Result<LogReader> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual < committed {
            return Err(Error::corrupt(
                path,
                actual,
                format!("it ends here, and {committed} bytes were committed"),
            ));
        }
        // SAFETY: a log is append-only, and is only ever cut back to a committed length, by the one
        // writer that holds the collection's lock; the mapped bytes are within that length.
        let map = unsafe { memmap2::MmapOptions::new().len(committed as usize).map(&file) };
        let map = map.map_err(Error::io(path))?;
        format.check(path, &map)?;
        Ok(LogReader { path: path.to_path_buf(), map })
    }

    /// The record at `offset`.
    pub fn get(&self, offset: u64) -> Result<Record<'_>> {
        let damaged = |reason: &str| Error::corrupt(&self.path, offset, reason);
        let rest = self.map.get(offset as usize..).unwrap_or_default();
        let header = rest.first_chunk().ok_or_else(|| damaged("a record's header is cut off"))?;
        let bytes = rest.get(..Sealed::length(header)).ok_or_else(|| damaged("a record is cut off"))?;
        Sealed { offset, bytes }.open(&self.path)
    }

    /// The records from `offset` on (0: all).
    pub fn records(&self, offset: u64) -> impl Iterator<Item = Result<Record<'_>>> {
        let mut next = offset.max(Format::HEADER as u64);
        std::iter::from_fn(move || {
            if next >= self.map.len() as u64 {
                return None;
            }
            let record = self.get(next);
            next = match &record {
                Ok(record) => record.end(),
                Err(_) => u64::MAX,
            };
            Some(record)
        })
    }

    /// Calls `visit` with every record from `offset` on.
    pub fn scan(
        &self,
        offset: u64,
        pulse: &Pulse,
        mut visit: impl FnMut(Record<'_>) -> Result<()>,
    ) -> Result<()> {
        for (count, record) in self.records(offset).enumerate() {
            if count.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
            visit(record?)?;
        }
        Ok(())
    }

    /// The number of bytes mapped.
    pub fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.map.len() == Format::HEADER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: Format = Format { kind: *b"TEST", version: 1 };

    fn all(path: &Path, committed: u64) -> Result<Vec<(u64, Vec<u8>)>> {
        let reader = LogReader::open(path, FORMAT, committed)?;
        reader.records(0).map(|r| r.map(|r| (r.key.0, r.payload.to_vec()))).collect()
    }

    proptest! {
        #[test]
        fn gives_back_what_was_appended(records in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..50)), 0..60), cut in 0usize..60) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log");
            let cut = cut.min(records.len());
            let mut writer = LogWriter::open(&path, FORMAT, 0).unwrap();
            for (key, payload) in &records[..cut] {
                writer.append(Signature(*key), payload).unwrap();
            }
            let committed = writer.sync().unwrap();
            for (key, payload) in &records[cut..] {
                writer.append(Signature(*key), payload).unwrap();
            }
            let whole = writer.sync().unwrap();
            prop_assert_eq!(all(&path, whole).unwrap(), records.clone());
            drop(writer);
            // Opening truncates to what was committed, and appending continues from there.
            let mut writer = LogWriter::open(&path, FORMAT, committed).unwrap();
            prop_assert_eq!(all(&path, committed).unwrap(), records[..cut].to_vec());
            for (key, payload) in &records[cut..] {
                writer.append(Signature(*key), payload).unwrap();
            }
            prop_assert_eq!(writer.sync().unwrap(), whole);
            prop_assert_eq!(all(&path, whole).unwrap(), records);
        }

        #[test]
        fn a_flipped_bit_is_never_served(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 1..20), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log");
            let mut writer = LogWriter::open(&path, FORMAT, 0).unwrap();
            for payload in &payloads {
                writer.append(Signature::of(payload), payload).unwrap();
            }
            let whole = writer.sync().unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, bytes).unwrap();
            prop_assert!(all(&path, whole).is_err());
        }
    }

    #[test]
    fn a_file_shorter_than_committed_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let committed = LogWriter::open(&path, FORMAT, 0).unwrap().sync().unwrap();
        assert!(matches!(all(&path, committed + 1), Err(Error::Corrupt { .. })));
    }
}
