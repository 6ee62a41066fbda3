//! The state of each followed feed: a cell of the group `feed` in the row of its URL.
//!
//! What a cell says is decided in Python (`crivello.feeds`); here it is bytes. A batch of cells is appended to the
//! journal, written to a run of its own and committed, in the memory of [`MEMORY`], whatever the number of feeds. A
//! feed costs its state once in the runs, and once in the journal for each poll.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cells::{Group, Versions};
use super::{Collection, TableCommit, TableWriter, layout};
use crate::{Pulse, Result};

/// The memory of the table while feeds are written, in bytes.
const MEMORY: usize = 32 << 20;

impl Collection {
    /// Puts the cells of feeds (an empty value removes one), and commits them with states of parts.
    pub fn put_feeds(
        &self,
        cells: &[(String, Vec<u8>)],
        mut state: BTreeMap<String, Value>,
        pulse: &Pulse,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        let before = snapshot.manifest.table_state()?;
        let committed = snapshot.length(layout::ROWS);
        let mut table = TableWriter::open(&self.folder, committed, &before, MEMORY, Versions::ALL, pulse)?;
        for (url, value) in cells {
            pulse.beat()?;
            table.put(url, Group::Feed, 0, value)?;
        }
        let TableCommit { files, journal, state: mut after } = table.checkpoint(true)?;
        journal.sync()?;
        // The maps of the crawl have nothing of feeds, so what they had read to its end they still have.
        for map in [&mut after.firsts, &mut after.near] {
            if map.applied == committed {
                map.applied = after.cells.applied;
            }
        }
        state.insert(layout::TABLE.to_owned(), json!(after));
        self.commit(&files, state)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::collection::table::TableState;
    use crate::collection::{Row, Table};

    fn url(number: u8) -> String {
        format!("http://{}.example/feed{number}", number % 3)
    }

    /// A page, written as a crawl does it.
    fn visit(collection: &Collection, number: u8, time: f64) {
        let snapshot = collection.snapshot();
        let (state, committed) = (snapshot.manifest.table_state().unwrap(), snapshot.length(layout::ROWS));
        let folder = &snapshot.folder;
        let mut table =
            TableWriter::open(folder, committed, &state, 1 << 20, Versions::ALL, &Pulse::STEADY).unwrap();
        let row = Row { url: url(number), fetched_at: time, ..Row::default() };
        let is_new = !table.contains(&row.url).unwrap();
        table.add(&row, is_new).unwrap();
        // Not the last checkpoint: readers find the row in the journal.
        let commit = table.checkpoint(false).unwrap();
        commit.journal.sync().unwrap();
        let state = BTreeMap::from([(layout::TABLE.to_owned(), json!(commit.state))]);
        collection.commit(&commit.files, state).unwrap();
    }

    fn listed(table: &Table) -> Vec<(String, Vec<u8>)> {
        table.feeds(None).unwrap().map(|cell| cell.map(|cell| (cell.url, cell.value)).unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn feeds_are_what_was_put_last(
            steps in prop::collection::vec((any::<bool>(), prop::collection::vec((0u8..9, 0u8..4), 0..5)), 1..8)
        ) {
            let folder = tempfile::tempdir().unwrap();
            Collection::create(folder.path(), "").unwrap();
            let mut collection = Collection::write(folder.path()).unwrap();
            let mut model = BTreeMap::new();
            for (time, (reopens, puts)) in steps.into_iter().enumerate() {
                visit(&collection, time as u8, time as f64 + 1.0);
                let cells: Vec<_> =
                    puts.into_iter().map(|(number, value)| (url(number), vec![7; usize::from(value)])).collect();
                collection.put_feeds(&cells, BTreeMap::new(), &Pulse::STEADY).unwrap();
                for (url, value) in cells {
                    if value.is_empty() { model.remove(&url) } else { model.insert(url, value) };
                }
                if reopens {
                    drop(collection);
                    collection = Collection::write(folder.path()).unwrap();
                }
            }
            let snapshot = collection.snapshot();
            let table = snapshot.table(&Pulse::STEADY).unwrap();
            let found = listed(table);
            let sorted: BTreeMap<_, _> = found.iter().cloned().collect();
            prop_assert_eq!(&sorted, &model);
            prop_assert_eq!(found.len(), model.len());
            for (place, (url, value)) in found.iter().enumerate() {
                prop_assert_eq!(table.cell(url, Group::Feed).unwrap(), Some((0, value.clone())));
                let rest: Vec<_> = table.feeds(Some(url)).unwrap().map(|cell| cell.unwrap().url).collect();
                prop_assert_eq!(rest.len(), found.len() - place - 1);
            }
            let visited = table.scan(&crate::collection::Rows::all()).unwrap();
            prop_assert!(visited.map(|cell| cell.unwrap().group).all(|group| group == Group::Visit));
            // A table that lost its runs is built again from the journal.
            let length = snapshot.length(layout::ROWS);
            let again = Table::open(folder.path(), length, &TableState::default(), &Pulse::STEADY).unwrap();
            prop_assert_eq!(listed(&again), found);
            prop_assert_eq!(again.len(), table.len());
        }
    }

    #[test]
    fn a_table_of_before_has_no_feeds_and_is_not_read_again() {
        let state = TableState { urls: 7, ..TableState::default() };
        assert_eq!(state.feeds_state(99).applied, 99);
        assert_eq!(TableState::default().feeds_state(99).applied, 0);
        assert_eq!(serde_json::from_value::<TableState>(json!({"urls": 7})).unwrap(), state);
    }
}
