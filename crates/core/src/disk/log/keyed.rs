//! A log with an in-memory index: the newest record of a key in one lookup.
//!
//! The index is rebuilt from the keys when a log is opened for writing or at the first lookup, and costs 18
//! to 37 bytes a key; appended records can be read immediately, before they are durable.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use super::{LogReader, LogWriter, Record};
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::{Pulse, Result, Signature};

/// A signature is its own hash.
#[derive(Default)]
struct SignatureHasher(u64);

impl Hasher for SignatureHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = Signature::of(bytes).0;
    }

    fn write_u64(&mut self, signature: u64) {
        self.0 = signature;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Newest = HashMap<Signature, u64, BuildHasherDefault<SignatureHasher>>;

/// The offset of the newest record of each key.
fn newest(reader: &LogReader, pulse: &Pulse) -> Result<Newest> {
    let mut newest = Newest::default();
    reader.scan(0, pulse, |record| {
        newest.insert(record.key, record.offset);
        Ok(())
    })?;
    Ok(newest)
}

/// The committed part of a log, with the newest record of each key. Thread-safe.
pub struct KeyedReader {
    reader: LogReader,
    newest: OnceLock<Newest>,
    /// Held by the thread that builds the index, so that it is built only once.
    building: Mutex<()>,
}

impl KeyedReader {
    /// Opens the first `committed` bytes of a log.
    pub fn open(path: &Path, format: Format, committed: u64) -> Result<KeyedReader> {
        let reader = LogReader::open(path, format, committed)?;
        Ok(KeyedReader { reader, newest: OnceLock::new(), building: Mutex::default() })
    }

    /// The newest record of a key.
    pub fn get(&self, key: Signature, pulse: &Pulse) -> Result<Option<Record<'_>>> {
        self.newest(pulse)?.get(&key).map(|offset| self.reader.get(*offset)).transpose()
    }

    /// Whether a key has a record.
    pub fn contains(&self, key: Signature, pulse: &Pulse) -> Result<bool> {
        Ok(self.newest(pulse)?.contains_key(&key))
    }

    /// The number of distinct keys.
    pub fn keys(&self, pulse: &Pulse) -> Result<usize> {
        Ok(self.newest(pulse)?.len())
    }

    /// The records from `offset` (0: the first) on.
    pub fn records(&self, offset: u64) -> impl Iterator<Item = Result<Record<'_>>> {
        self.reader.records(offset)
    }

    fn newest(&self, pulse: &Pulse) -> Result<&Newest> {
        if let Some(newest) = self.newest.get() {
            return Ok(newest);
        }
        let _building = self.building.lock();
        if let Some(newest) = self.newest.get() {
            return Ok(newest);
        }
        let newest = newest(&self.reader, pulse)?;
        Ok(self.newest.get_or_init(|| newest))
    }
}

/// A writable log that finds the newest record of each key.
pub struct KeyedLog {
    format: Format,
    writer: LogWriter,
    reader: LogReader,
    newest: Newest,
}

impl KeyedLog {
    /// Opens a log and truncates it to `committed` bytes (0: a new log).
    pub fn write(path: &Path, format: Format, committed: u64, pulse: &Pulse) -> Result<KeyedLog> {
        let mut writer = LogWriter::open(path, format, committed)?;
        let reader = LogReader::open(path, format, writer.flush()?)?;
        let newest = newest(&reader, pulse)?;
        Ok(KeyedLog { format, writer, reader, newest })
    }

    /// Appends a record.
    pub fn append(&mut self, key: Signature, payload: &[u8]) -> Result<()> {
        let offset = self.writer.append(key, payload)?;
        self.newest.insert(key, offset);
        Ok(())
    }

    /// The newest record of a key.
    pub fn get(&mut self, key: Signature) -> Result<Option<Record<'_>>> {
        let Some(&offset) = self.newest.get(&key) else { return Ok(None) };
        if offset >= self.reader.len() {
            self.catch_up()?;
        }
        self.reader.get(offset).map(Some)
    }

    /// Whether a key has a record.
    pub fn contains(&self, key: Signature) -> bool {
        self.newest.contains_key(&key)
    }

    /// The records from `offset` on, including everything appended.
    pub fn records(&mut self, offset: u64) -> Result<impl Iterator<Item = Result<Record<'_>>>> {
        self.catch_up()?;
        Ok(self.reader.records(offset))
    }

    /// Flushes everything to the operating system; returns the length to commit, and a handle to sync the log
    /// with while it is written to.
    pub fn flush(&mut self) -> Result<(u64, DurableFile)> {
        Ok((self.writer.flush()?, self.writer.handle()?))
    }

    fn catch_up(&mut self) -> Result<()> {
        if self.writer.len() > self.reader.len() {
            let length = self.writer.flush()?;
            self.reader = LogReader::open(self.writer.path(), self.format, length)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: Format = Format { kind: *b"TEST", version: 1 };

    proptest! {
        #[test]
        fn finds_the_newest_record_of_each_key(records in prop::collection::vec((0u64..20, any::<u8>(), any::<bool>()), 0..100)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log");
            let mut log = KeyedLog::write(&path, FORMAT, 0, &Pulse::STEADY).unwrap();
            let mut model = HashMap::new();
            for (key, value, reopen) in records {
                log.append(Signature(key), &[value]).unwrap();
                model.insert(key, value);
                if reopen {
                    let (committed, _) = log.flush().unwrap();
                    let reader = KeyedReader::open(&path, FORMAT, committed).unwrap();
                    for key in 0..20 {
                        let found = reader.get(Signature(key), &Pulse::STEADY).unwrap().map(|record| record.payload[0]);
                        prop_assert_eq!(found, model.get(&key).copied());
                        prop_assert_eq!(reader.contains(Signature(key), &Pulse::STEADY).unwrap(), found.is_some());
                    }
                    prop_assert_eq!(reader.keys(&Pulse::STEADY).unwrap(), model.len());
                    log = KeyedLog::write(&path, FORMAT, committed, &Pulse::STEADY).unwrap();
                }
                for key in 0..20 {
                    let found = log.get(Signature(key)).unwrap().map(|record| record.payload[0]);
                    prop_assert_eq!(found, model.get(&key).copied());
                    prop_assert_eq!(log.contains(Signature(key)), found.is_some());
                }
            }
        }
    }
}
