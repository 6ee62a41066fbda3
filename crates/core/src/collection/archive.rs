//! The archive: pages as they were received, in WARC files of a gigabyte, each record a separate gzip member.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::layout;
use crate::calendar::timestamp;
use crate::disk::rolling::{Flushed, RollingFile};
use crate::warc::{Record, read_record, warc_record};
use crate::{Error, Result};

const FILE_SIZE: u64 = 1_000_000_000;

/// The location of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of the file.
    pub file: u32,
    /// The first byte of the record.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// Reads records by location. Thread-safe.
#[derive(Clone, Debug)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The archive of the collection in a folder.
    pub fn new(folder: &Path) -> Archive {
        Archive { folder: folder.to_path_buf() }
    }

    /// The record at a location.
    pub fn read(&self, place: Place) -> Result<Record> {
        let path = self.folder.join(layout::archive(place.file));
        let damaged = |reason: &str| Error::corrupt(&path, place.offset, reason);
        let file = File::open(&path).map_err(Error::io(&path))?;
        let length = file.metadata().map_err(Error::io(&path))?.len();
        if place.offset.checked_add(place.length).is_none_or(|end| end > length) {
            return Err(damaged("a record is cut off"));
        }
        let mut member = vec![0; place.length as usize];
        file.read_exact_at(&mut member, place.offset).map_err(Error::io(&path))?;
        read_record(&member).map_err(|reason| damaged(&reason))
    }
}

/// Appends records to the newest file of an archive.
pub struct ArchiveWriter {
    software: String,
    files: RollingFile,
}

impl ArchiveWriter {
    /// Opens the archive at its committed lengths; `software` goes into each file's first record.
    pub fn open(folder: &Path, files: &HashMap<String, u64>, software: &str) -> Result<ArchiveWriter> {
        let files = RollingFile::open(folder, layout::archive, FILE_SIZE, files)?;
        Ok(ArchiveWriter { software: software.to_owned(), files })
    }

    /// Appends a compressed record.
    pub fn append(&mut self, record: &[u8]) -> Result<Place> {
        if self.files.make_room()? {
            let introduction = self.introduction()?;
            self.files.append(&introduction)?;
        }
        let (file, offset) = self.files.append(record)?;
        Ok(Place { file, offset, length: record.len() as u64 })
    }

    /// Appends a record to the file of the last one, directly behind it.
    pub fn append_beside(&mut self, record: &[u8]) -> Result<()> {
        self.files.append(record).map(drop)
    }

    /// See [`RollingFile::flush`].
    pub fn flush(&mut self) -> Result<Flushed> {
        self.files.flush()
    }

    /// See [`RollingFile::show`].
    pub fn show(&mut self) -> Result<()> {
        self.files.show()
    }

    fn introduction(&self) -> Result<Vec<u8>> {
        let name = self.files.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fields = [
            ("WARC-Date".to_owned(), timestamp(SystemTime::now())),
            ("WARC-Filename".to_owned(), name),
            ("Content-Type".to_owned(), "application/warc-fields".to_owned()),
        ];
        let described = format!("software: {}\r\nformat: WARC File Format 1.1\r\n", self.software);
        warc_record("warcinfo", &fields, b"", described.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;
    use std::io::Read;

    #[test]
    fn goes_on_where_it_was_committed() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = ArchiveWriter::open(folder.path(), &HashMap::new(), "test").unwrap();
        let record = warc_record("conversion", &[], b"", b"one").unwrap();
        let first = archive.append(&record).unwrap();
        let (files, _) = archive.flush().unwrap();
        let committed: HashMap<String, u64> = files.into_iter().collect();
        let mut archive = ArchiveWriter::open(folder.path(), &committed, "test").unwrap();
        let second = archive.append(&record).unwrap();
        archive.flush().unwrap();
        assert_eq!(second.offset, first.offset + first.length);
        let bytes = std::fs::read(folder.path().join(layout::archive(1))).unwrap();
        let mut text = String::new();
        MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text.matches("WARC-Type: warcinfo").count(), 1);
        assert_eq!(text.matches("WARC-Type: conversion").count(), 2);
        let archive = Archive::new(folder.path());
        assert_eq!(archive.read(first).unwrap().body, b"one");
        assert_eq!(archive.read(second).unwrap().body, b"one");
        for place in [Place { offset: second.offset + 1, ..second }, Place { length: 7, ..first }] {
            let damage = archive.read(place);
            assert!(matches!(damage, Err(Error::Corrupt { offset, .. }) if offset == place.offset));
        }
        assert!(matches!(archive.read(Place { file: 2, ..first }), Err(Error::Io { .. })));
    }
}
