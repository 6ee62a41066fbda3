//! The first row of the journal with each payload, for the revisits that name what they found again by its digest.
//!
//! A sorted map over the journal, from a digest in base 32 to the offset of a row, in constant memory. It is kept
//! for the time of an import, is brought up to the journal's end by each search, and costs nothing before the first
//! one: few archives have revisits that their URL and date do not resolve. Its runs take about 30 bytes a row, are
//! never committed, and are removed in the end.

use std::path::{Path, PathBuf};

use crate::collection::{Since, layout};
use crate::disk::file::remove;
use crate::sorted::{Options, SortedMap, State};
use crate::{Error, Pulse, Result};

const MEMORY: usize = 16 << 20;
const ROWS_PER_BEAT: u64 = 1 << 10;

/// The first rows with each payload.
pub struct Payloads {
    folder: PathBuf,
    map: SortedMap,
    /// The end of the rows that were read.
    read: u64,
    /// The number of entries, which orders them.
    entries: u64,
}

impl Payloads {
    /// The payloads of the collection in a folder.
    pub fn open(folder: &Path) -> Result<Payloads> {
        let options = Options { memory: MEMORY, name: layout::payloads, filtered: |key| key, keep: None };
        let map = SortedMap::open(folder, options, &State::default())?;
        Ok(Payloads { folder: folder.to_path_buf(), map, read: 0, entries: 0 })
    }

    /// Adds a digest by which others know the payload of the row at an offset.
    pub fn add(&mut self, digest: &str, offset: u64) -> Result<()> {
        if self.get(digest)?.is_none() {
            self.entries += 1;
            self.map.put(digest.as_bytes(), Some(&offset.to_le_bytes()), self.entries)?;
        }
        Ok(())
    }

    /// The offset of the first row with a payload, in a journal of which `written` bytes can be read.
    pub fn find(&mut self, digest: &str, written: u64, pulse: &Pulse) -> Result<Option<u64>> {
        let mut rows = Since::open(&self.folder.join(layout::ROWS), written, self.read)?;
        while let Some((row, place)) = rows.advance()? {
            if self.entries.is_multiple_of(ROWS_PER_BEAT) {
                pulse.beat()?;
            }
            if let Some(payload) = row.payload.as_deref().filter(|_| row.length > 0) {
                self.add(payload, place.start)?;
            }
            self.read = place.end;
        }
        self.get(digest)
    }

    fn get(&self, digest: &str) -> Result<Option<u64>> {
        let damaged = |_| Error::corrupt(layout::TABLE, 0, "a payload has no place in the journal");
        let found = self.map.get(digest.as_bytes())?;
        found.map(|value| value.try_into().map(u64::from_le_bytes).map_err(damaged)).transpose()
    }
}

impl Drop for Payloads {
    fn drop(&mut self) {
        // What remains is removed when the collection is opened for writing.
        if self.map.settle().is_ok()
            && let Ok(left) = self.map.checkpoint()
        {
            left.state
                .runs
                .iter()
                .for_each(|run| drop(remove(&self.folder.join(layout::payloads(run.number)))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::cells::Versions;
    use crate::collection::{Row, TableState, TableWriter};

    #[test]
    fn the_first_row_with_a_payload_is_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
        let versions = Versions { number: 0, before: 0 };
        let state = TableState::default();
        let mut table =
            TableWriter::open(folder.path(), 0, &state, 1 << 20, versions, &Pulse::STEADY).unwrap();
        let mut payloads = Payloads::open(folder.path()).unwrap();
        let mut places = Vec::new();
        for (number, payload) in ["A", "B", "A", "C"].iter().enumerate() {
            let url = format!("http://a.example/{number}");
            let payload = Some((*payload).to_owned());
            let row = Row { url, payload, length: u64::from(number != 3), ..Row::default() };
            places.push(table.add(&row, true).unwrap().start);
            let written = table.written().unwrap();
            assert_eq!(payloads.find("A", written, &Pulse::STEADY).unwrap(), Some(places[0]));
        }
        payloads.add("A", 7).unwrap();
        payloads.add("D", places[1]).unwrap();
        let written = table.written().unwrap();
        let mut find = |digest| payloads.find(digest, written, &Pulse::STEADY).unwrap();
        assert_eq!(find("B"), Some(places[1]));
        assert_eq!((find("A"), find("D")), (Some(places[0]), Some(places[1])));
        assert_eq!((find("C"), find("E")), (None, None), "a row without a record has no payload");
        assert_eq!(
            table.row_at(places[1]).unwrap().map(|row| row.url),
            Some("http://a.example/1".to_owned())
        );
    }
}
