//! A log with an index in memory: the newest record of a key in one step.
//!
//! The index is rebuilt from the keys, when a log is opened for writing or a key is first asked for, and
//! costs 18 to 37 bytes a key; what was appended can be read at once, before it is durable.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;

use super::{LogReader, LogWriter, Record};
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

/// A log that finds the newest record of each key; one that was opened for reading takes no records.
pub struct KeyedLog {
    format: Format,
    writer: Option<LogWriter>,
    reader: LogReader,
    newest: Option<Newest>,
}

impl KeyedLog {
    /// Opens the first `committed` bytes for reading.
    pub fn read(path: &Path, format: Format, committed: u64) -> Result<KeyedLog> {
        let reader = LogReader::open(path, format, committed)?;
        Ok(KeyedLog { format, writer: None, reader, newest: None })
    }

    /// Opens for writing too, and cuts back to `committed` bytes (0: a new log).
    pub fn write(path: &Path, format: Format, committed: u64, pulse: &Pulse) -> Result<KeyedLog> {
        let mut writer = LogWriter::open(path, format, committed)?;
        let length = writer.flush()?;
        let mut log = KeyedLog { writer: Some(writer), ..KeyedLog::read(path, format, length)? };
        log.newest(pulse)?;
        Ok(log)
    }

    fn newest(&mut self, pulse: &Pulse) -> Result<&mut Newest> {
        if self.newest.is_none() {
            let mut newest = Newest::default();
            self.reader.scan(0, pulse, |record| {
                newest.insert(record.key, record.offset);
                Ok(())
            })?;
            self.newest = Some(newest);
        }
        Ok(self.newest.get_or_insert_default())
    }

    /// Appends a record.
    pub fn append(&mut self, key: Signature, payload: &[u8]) -> Result<()> {
        let writer = self.writer.as_mut();
        let writer =
            writer.ok_or_else(|| crate::Error::Invalid("the log is open for reading only".to_owned()))?;
        let offset = writer.append(key, payload)?;
        self.newest.get_or_insert_default().insert(key, offset);
        Ok(())
    }

    /// The newest record of a key.
    pub fn get(&mut self, key: Signature, pulse: &Pulse) -> Result<Option<Record<'_>>> {
        let Some(&offset) = self.newest(pulse)?.get(&key) else { return Ok(None) };
        if offset >= self.reader.len() {
            self.catch_up()?;
        }
        self.reader.get(offset).map(Some)
    }

    /// Whether there is a record of each key.
    pub fn contains(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<Vec<bool>> {
        let newest = self.newest(pulse)?;
        Ok(keys.iter().map(|key| newest.contains_key(key)).collect())
    }

    /// The records from `offset` on, with all that was appended.
    pub fn records(&mut self, offset: u64) -> Result<impl Iterator<Item = Result<Record<'_>>>> {
        self.catch_up()?;
        Ok(self.reader.records(offset))
    }

    /// Makes everything durable; returns the length to commit.
    pub fn sync(&mut self) -> Result<u64> {
        self.writer.as_mut().map_or(Ok(self.reader.len()), LogWriter::sync)
    }

    /// Hands everything to the operating system; gives the length to commit, and a handle by which to make
    /// the log durable while it is written to.
    pub fn flush(&mut self) -> Result<(u64, Option<File>)> {
        let Some(writer) = &mut self.writer else { return Ok((self.reader.len(), None)) };
        Ok((writer.flush()?, Some(writer.handle()?)))
    }

    /// How many different keys there are.
    pub fn keys(&mut self, pulse: &Pulse) -> Result<usize> {
        Ok(self.newest(pulse)?.len())
    }

    fn catch_up(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer
            && writer.len() > self.reader.len()
        {
            let length = writer.flush()?;
            self.reader = LogReader::open(writer.path(), self.format, length)?;
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
                    let committed = log.sync().unwrap();
                    log = KeyedLog::write(&path, FORMAT, committed, &Pulse::STEADY).unwrap();
                }
                for key in 0..20 {
                    let found = log.get(Signature(key), &Pulse::STEADY).unwrap().map(|record| record.payload[0]);
                    prop_assert_eq!(found, model.get(&key).copied());
                }
                prop_assert_eq!(log.keys(&Pulse::STEADY).unwrap(), model.len());
            }
        }
    }
}
