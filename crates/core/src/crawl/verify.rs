//! Checks the maps that only a crawl reads: the first row with each text and of each host, the fingerprints of the
//! texts, and the newest record of each host.
//!
//! Every run is read, with its checksums, the order of its keys and its filter; every entry must name a record of
//! the journal or of the log of hosts that has its key; and every record up to the position where a map's runs end
//! must be found in the map. Time is a pass over the runs and logs and a look-up for each record; memory is constant.

use std::path::Path;

use super::fetching::hosts::{self, HostMemory};
use super::parsing::origin;
use super::writing::firsts::Firsts;
use super::writing::near;
use crate::collection::layout::{self, ROWS, hosts_base};
use crate::collection::{Manifest, Row, Since, TableState};
use crate::disk::log::{LogAccess, LogStream};
use crate::sorted::{Options, SortedReader, State};
use crate::{Error, Pulse, Result, Signature};

/// The memory of a map's block cache, in bytes.
const MEMORY: usize = 16 << 20;
const ENTRIES_PER_BEAT: u64 = 1 << 8;

/// Checks the maps of the collection in a folder; the first damage is the error.
pub fn verify(folder: &Path, pulse: &Pulse) -> Result<()> {
    let manifest = Manifest::read(folder)?;
    let state = manifest.table_state()?;
    let committed = |name: &str| manifest.files.get(name).copied().unwrap_or(0);
    verify_firsts(folder, committed(ROWS), &state, pulse)?;
    verify_near(folder, committed(ROWS), &state, pulse)?;
    let logs = manifest.files.iter().filter_map(|(name, length)| Some((hosts_base(name)?, *length)));
    verify_hosts(folder, logs.max().unwrap_or_default(), &state.host_records, pulse)
}

fn verify_firsts(folder: &Path, committed: u64, state: &TableState, pulse: &Pulse) -> Result<()> {
    let map = Map::open(folder, Firsts::options(MEMORY), &state.firsts, pulse)?;
    let mut journal = Journal::open(folder, committed)?;
    map.each(pulse, |key, value| {
        let row = journal.row(map.offset(value)?)?;
        let is_meant = match key.len() {
            8 => key == host_of(&row) && row.status.is_some(),
            _ => row.text_digest().is_some_and(|digest| key == digest.to_be_bytes()),
        };
        if is_meant { Ok(()) } else { Err(map.damaged("an entry is not of the row that it names")) }
    })?;
    journal.each(state.firsts.applied, pulse, |row, offset| {
        let find = |key: &[u8]| map.reader.get(key)?.map(|value| map.offset(&value)).transpose();
        let is_known = row.status.is_none() || find(&host_of(row))?.is_some_and(|first| first <= offset);
        // A text may have passed to a later page.
        let text = row.text_digest().filter(|_| row.has_own_text());
        let is_known = is_known && text.map_or(Ok(true), |text| Ok(find(&text.to_be_bytes())?.is_some()))?;
        if is_known {
            Ok(())
        } else {
            Err(map.damaged(format!("the text or the host of {} is not found", row.url)))
        }
    })
}

fn verify_near(folder: &Path, committed: u64, state: &TableState, pulse: &Pulse) -> Result<()> {
    // In a former format they are made again by the next crawl.
    let Some(runs) = near::open_runs(folder, &state.near)? else { return Ok(()) };
    let mut journal = Journal::open(folder, committed)?;
    for run in runs {
        run.verify(pulse)?;
        run.each(pulse, |simhash, offset| {
            if journal.row(offset)?.simhash == Some(simhash) {
                return Ok(());
            }
            Err(Error::corrupt(run.path(), 0, "a fingerprint is not that of the row that it names"))
        })?;
    }
    Ok(())
}

/// The log has its first record at position `base`.
fn verify_hosts(folder: &Path, (base, committed): (u64, u64), state: &State, pulse: &Pulse) -> Result<()> {
    let map = Map::open(folder, HostMemory::options(MEMORY), state, pulse)?;
    let path = folder.join(layout::hosts(base));
    if state.applied > base + committed {
        return Err(map.damaged("it has more than was committed"));
    }
    if committed == 0 {
        return Ok(());
    }
    let mut log = LogAccess::open(&path)?;
    map.each(pulse, |key, value| {
        let offset = map.offset(value)?.checked_sub(base);
        let record = log.get(offset.ok_or_else(|| map.damaged("an entry is of a log that is gone"))?)?;
        if key == record.key.0.to_be_bytes() {
            Ok(())
        } else {
            Err(map.damaged("an entry is not of the record that it names"))
        }
    })?;
    let mut stream = LogStream::open(&path, hosts::FORMAT, 0, state.applied.saturating_sub(base))?;
    while let Some(sealed) = stream.advance()? {
        pulse.beat()?;
        let record = sealed.open(&path)?;
        let newest = map.reader.get(&record.key.0.to_be_bytes())?;
        let newest = newest.map(|value| map.offset(&value)).transpose()?;
        if newest.is_none_or(|newest| newest < base + record.offset) {
            return Err(map.damaged("the newest record of a host is not found"));
        }
    }
    Ok(())
}

/// The committed runs of a map.
struct Map {
    reader: SortedReader,
    /// The newest run, which is named if the map as a whole is wrong.
    newest: String,
}

impl Map {
    fn open(folder: &Path, options: Options, state: &State, pulse: &Pulse) -> Result<Map> {
        let newest =
            state.runs.last().map_or_else(|| layout::TABLE.to_owned(), |run| (options.name)(run.number));
        let reader = SortedReader::open(folder, options, state)?;
        reader.verify(pulse)?;
        Ok(Map { reader, newest })
    }

    fn each(&self, pulse: &Pulse, mut check: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let mut entries = self.reader.scan(&[], None)?;
        let mut count = 0;
        while let Some((key, value)) = entries.advance()? {
            count += 1;
            if count % ENTRIES_PER_BEAT == 0 {
                pulse.beat()?;
            }
            check(key, value)?;
        }
        Ok(())
    }

    fn offset(&self, value: &[u8]) -> Result<u64> {
        let bytes = value.try_into().map_err(|_| self.damaged("an entry has no place"))?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.newest, 0, reason)
    }
}

/// The rows of the journal.
struct Journal<'a> {
    folder: &'a Path,
    committed: u64,
    access: Option<LogAccess>,
}

impl Journal<'_> {
    fn open(folder: &Path, committed: u64) -> Result<Journal<'_>> {
        let access = (committed > 0).then(|| LogAccess::open(&folder.join(ROWS))).transpose()?;
        Ok(Journal { folder, committed, access })
    }

    fn row(&mut self, offset: u64) -> Result<Row> {
        let damaged = || Error::corrupt(ROWS, offset, "an entry of a map names it, and there is no row");
        let access = self.access.as_mut().filter(|_| offset < self.committed).ok_or_else(damaged)?;
        Row::decode(access.get(offset)?.payload).ok_or_else(damaged)
    }

    /// Calls with each row up to a position, and its offset.
    fn each(&self, end: u64, pulse: &Pulse, mut check: impl FnMut(&Row, u64) -> Result<()>) -> Result<()> {
        if end > self.committed {
            return Err(Error::corrupt(ROWS, self.committed, "a map has more than was committed"));
        }
        let mut rows = Since::open(&self.folder.join(ROWS), end, 0)?;
        while let Some((row, place)) = rows.advance()? {
            pulse.beat()?;
            check(&row, place.start)?;
        }
        Ok(())
    }
}

fn host_of(row: &Row) -> [u8; 8] {
    Signature::of(origin(&row.url).as_bytes()).0.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::TableWriter;
    use crate::collection::cells::Versions;
    use crate::crawl::writing::duplicates::{Originals, Rules, Treatment};

    const RULES: Rules =
        Rules { exact_duplicates: Treatment::Mark, near_duplicates: Treatment::Mark, near_distance: 3 };

    /// The state of a collection with pages of two hosts, two of them with the same text.
    fn stored(folder: &Path) -> (TableState, u64) {
        std::fs::create_dir(folder.join(layout::TABLE)).unwrap();
        let (state, versions) = (TableState::default(), Versions { number: 0, before: 0 });
        let mut table = TableWriter::open(folder, 0, &state, 1 << 20, versions, &Pulse::STEADY).unwrap();
        let mut originals = Originals::open(folder, 0, &state, 1 << 20, RULES, &Pulse::STEADY).unwrap();
        for number in 0..40u64 {
            let row = Row {
                url: format!("http://{}.example/{number}", number % 2),
                status: Some(200),
                digest: Some(format!("{:032x}", number.min(38))),
                simhash: Some(number.min(38).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                ..Row::default()
            };
            let place = table.add(&row, true).unwrap();
            originals.add(&row, &place).unwrap();
        }
        let mut state = table.checkpoint(true).unwrap().state;
        originals.checkpoint(true, &mut state).unwrap();
        (state, table.position())
    }

    #[test]
    fn maps_that_are_not_those_of_the_journal_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (state, committed) = stored(folder.path());
        let firsts = |state: &TableState, committed| {
            verify_firsts(folder.path(), committed, state, &Pulse::STEADY).map_err(|error| error.to_string())
        };
        let near = |state: &TableState, committed| {
            verify_near(folder.path(), committed, state, &Pulse::STEADY).map_err(|error| error.to_string())
        };
        firsts(&state, committed).unwrap();
        near(&state, committed).unwrap();
        assert!(firsts(&state, 100).unwrap_err().contains("there is no row"));
        assert!(near(&state, 100).unwrap_err().contains("there is no row"));
        let without = State { runs: Vec::new(), ..state.firsts.clone() };
        let without = TableState { firsts: without, ..state.clone() };
        assert!(firsts(&without, committed).unwrap_err().contains("is not found"));
        // The runs of one map in the place of another's.
        let exchanged = folder.path().join(layout::firsts(0));
        std::fs::rename(&exchanged, folder.path().join("kept")).unwrap();
        std::fs::copy(folder.path().join(layout::pages(0)), &exchanged).unwrap();
        let state = TableState { firsts: state.pages.clone(), ..state };
        assert!(firsts(&state, committed).unwrap_err().contains("not of the row"));
    }
}
