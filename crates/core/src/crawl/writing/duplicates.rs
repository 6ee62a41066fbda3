//! Duplicate detection during the crawl: exact by digest of the text, near by SimHash.
//!
//! Both are maps over the journal of rows, in constant memory ([`Firsts`], [`NearMap`]); after a crash they are
//! brought up to the committed length by replaying the rows that they have not in their runs.

use std::ops::Range;
use std::path::Path;

use super::firsts::Firsts;
use super::near::NearMap;
use crate::collection::{Change, Row, Since, TableState, layout};
use crate::{Pulse, Result};

const ROWS_PER_BEAT: u64 = 1 << 10;
/// The share of the fingerprints in the memory; the rest is for the first rows.
const NEAR_SHARE: f64 = 2.0 / 3.0;

/// The pages whose text is original.
pub struct Originals {
    firsts: Firsts,
    near: NearMap,
    distance: u32,
}

/// Whether a page duplicates another: the one whose row is at this offset of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// It is an original.
    None,
    /// It has the same text as this page.
    Exact(u64),
    /// It is a near-duplicate of this page.
    Near(u64),
}

impl Originals {
    /// Opens the originals of a journal of `committed` bytes; pages whose fingerprints differ in at most
    /// `distance` bits are near-duplicates; with 0 only exact duplicates are found.
    pub fn open(
        folder: &Path,
        committed: u64,
        state: &TableState,
        memory: usize,
        distance: u32,
        pulse: &Pulse,
    ) -> Result<Originals> {
        let share = (memory as f64 * NEAR_SHARE) as usize;
        let firsts = Firsts::open(folder, memory - share, &state.firsts)?;
        let near = NearMap::open(folder, share, &state.near)?;
        let mut originals = Originals { firsts, near, distance };
        let near_applied = if distance > 0 { originals.near.applied() } else { u64::MAX };
        let start = originals.firsts.applied().min(near_applied);
        let mut rows = Since::open(&folder.join(layout::ROWS), committed, start)?;
        let mut count = 0;
        while let Some((row, place)) = rows.advance()? {
            count += 1;
            if count % ROWS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            originals.add(&row, &place)?;
        }
        // A table without a count was made before there was one.
        if state.hosts > 0 {
            originals.firsts.hosts = state.hosts;
        }
        Ok(originals)
    }

    /// Whether a text is a duplicate.
    pub fn find(&self, digest: u128, simhash: u64) -> Result<Copy> {
        if let Some(original) = self.firsts.with_text(digest)? {
            return Ok(Copy::Exact(original));
        }
        if self.distance == 0 {
            return Ok(Copy::None);
        }
        let near = self.near.nearest(simhash, self.distance)?;
        Ok(near.map_or(Copy::None, |(original, _)| Copy::Near(original)))
    }

    /// Adds a row of the journal: an original, a near-duplicate, or one without a text of its own.
    pub fn add(&mut self, row: &Row, place: &Range<u64>) -> Result<()> {
        let is_first = self.firsts.add(row, place)?;
        if self.distance == 0 || place.end <= self.near.applied() {
            return Ok(());
        }
        if let (true, Some(simhash)) = (is_first, row.simhash) {
            self.near.add(simhash, place.start)?;
        }
        self.near.pass(place.end);
        Ok(())
    }

    /// The number of hosts that answered.
    pub fn hosts(&self) -> u64 {
        self.firsts.hosts
    }

    /// Puts what is to be committed into the state; returns the files. `is_last`: see
    /// [`crate::collection::TableWriter::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool, state: &mut TableState) -> Result<Vec<Change>> {
        let (firsts, near) = (self.firsts.checkpoint(is_last)?, self.near.checkpoint(is_last)?);
        (state.firsts, state.near, state.hosts) = (firsts.state, near.state, self.firsts.hosts);
        Ok(firsts.files.into_iter().chain(near.files).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::collection::TableWriter;
    use crate::collection::cells::Versions;

    /// So little memory that a dozen fingerprints fill it.
    const MEMORY: usize = 1 << 12;

    /// A journal and the originals over it, and what is committed of both.
    struct Store {
        folder: PathBuf,
        table: TableWriter,
        originals: Originals,
        state: TableState,
        committed: u64,
    }

    impl Store {
        fn open(folder: &Path, state: TableState, committed: u64) -> Store {
            let versions = Versions { number: 0, before: 0 };
            let table = TableWriter::open(folder, committed, &state, 1 << 20, versions, &Pulse::STEADY);
            let originals = Originals::open(folder, committed, &state, MEMORY, 3, &Pulse::STEADY);
            let (table, originals) = (table.unwrap(), originals.unwrap());
            Store { folder: folder.to_path_buf(), table, originals, state, committed }
        }

        fn add(&mut self, row: &Row) -> u64 {
            let place = self.table.add(row, true).unwrap();
            self.originals.add(row, &place).unwrap();
            place.start
        }

        fn commit(&mut self, is_last: bool) {
            let commit = self.table.checkpoint(is_last).unwrap();
            let length = commit.files.iter().find(|(name, _)| name == layout::ROWS).unwrap().1;
            (self.state, self.committed) = (commit.state, length.unwrap());
            self.originals.checkpoint(is_last, &mut self.state).unwrap();
        }

        fn reopen(self) -> Store {
            let Store { folder, table, originals, state, committed } = self;
            drop((table, originals));
            Store::open(&folder, state, committed)
        }
    }

    #[derive(Clone, Debug)]
    struct Page {
        host: u8,
        answered: bool,
        digest: u128,
        simhash: u64,
    }

    impl Page {
        fn row(&self) -> Row {
            Row {
                url: format!("http://{}.example/", self.host),
                status: self.answered.then_some(200),
                digest: self.answered.then(|| format!("{:032x}", self.digest)),
                simhash: self.answered.then_some(self.simhash),
                ..Row::default()
            }
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(Page),
        Commit { is_last: bool },
        Reopen,
    }

    fn page() -> impl Strategy<Value = Page> {
        let base = prop::sample::select(vec![0u64, u64::MAX, 0x0123_4567_89ab_cdef]);
        let simhash = (base, prop::collection::vec(0u32..64, 0..5))
            .prop_map(|(base, flips)| flips.into_iter().fold(base, |value, bit| value ^ 1 << bit));
        (0u8..5, prop::bool::weighted(0.9), 0u128..60, simhash)
            .prop_map(|(host, answered, digest, simhash)| Page { host, answered, digest, simhash })
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => page().prop_map(Step::Add),
            1 => any::<bool>().prop_map(|is_last| Step::Commit { is_last }),
            1 => Just(Step::Reopen),
        ]
    }

    /// What the definition says, from all rows.
    fn judge(rows: &[(Page, u64)], page: &Page) -> Copy {
        let mut texts = HashSet::new();
        let mut answered = rows.iter().filter(|(other, _)| other.answered);
        if let Some((_, offset)) = answered.clone().find(|(other, _)| other.digest == page.digest) {
            return Copy::Exact(*offset);
        }
        answered
            .by_ref()
            .filter(|(other, _)| texts.insert(other.digest))
            .map(|(other, offset)| ((other.simhash ^ page.simhash).count_ones(), *offset))
            .filter(|(distance, _)| *distance <= 3)
            .min()
            .map_or(Copy::None, |(_, offset)| Copy::Near(offset))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn the_answers_are_those_of_the_definition(steps in prop::collection::vec(step(), 1..150)) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
            let mut store = Store::open(folder.path(), TableState::default(), 0);
            let (mut rows, mut committed): (Vec<(Page, u64)>, usize) = (Vec::new(), 0);
            for step in steps {
                match step {
                    Step::Add(page) => {
                        let found = store.originals.find(page.digest, page.simhash).unwrap();
                        prop_assert_eq!(found, judge(&rows, &page));
                        let offset = store.add(&page.row());
                        rows.push((page, offset));
                    }
                    Step::Commit { is_last } => {
                        store.commit(is_last);
                        committed = rows.len();
                    }
                    Step::Reopen => {
                        store = store.reopen();
                        rows.truncate(committed);
                    }
                }
                let answered = rows.iter().filter(|(page, _)| page.answered);
                let hosts: HashSet<u8> = answered.map(|(page, _)| page.host).collect();
                prop_assert_eq!(store.originals.hosts(), hosts.len() as u64);
            }
        }
    }

    #[test]
    fn a_row_that_adds_nothing_is_not_replayed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
        let mut store = Store::open(folder.path(), TableState::default(), 0);
        let page = Page { host: 0, answered: true, digest: 1, simhash: 1 };
        for _ in 0..3 {
            store.add(&page.row());
            store.commit(true);
            assert_eq!(
                (store.state.firsts.applied, store.state.near.applied),
                (store.committed, store.committed)
            );
        }
    }

    #[test]
    fn with_distance_zero_only_exact_duplicates_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let state = TableState::default();
        let mut originals = Originals::open(folder.path(), 0, &state, MEMORY, 0, &Pulse::STEADY).unwrap();
        originals.add(&Page { host: 0, answered: true, digest: 10, simhash: 7 }.row(), &(8..9)).unwrap();
        assert_eq!(originals.find(10, 0).unwrap(), Copy::Exact(8));
        assert_eq!(originals.find(11, 7).unwrap(), Copy::None);
    }
}
