//! Duplicate detection during the crawl: exact by digest of the text, near by SimHash, and what becomes of duplicates.
//!
//! Both are maps over the journal of rows, in constant memory ([`Firsts`], [`NearMap`]); after a crash they are
//! brought up to the committed length by replaying the rows that they have not in their runs. A row says itself whether
//! its page is an original, so the maps follow from the journal alone.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use super::firsts::Firsts;
use super::near::NearMap;
use crate::collection::{Change, Outcome, Row, Since, TableState, layout};
use crate::settings::choices;
use crate::{Pulse, Result};

const ROWS_PER_BEAT: u64 = 1 << 10;
/// The share of the fingerprints in the memory; the rest is for the texts.
const NEAR_SHARE: f64 = 2.0 / 3.0;

choices! {
    /// What becomes of duplicates; each does what the ones before it do.
    #[derive(PartialOrd, Ord)]
    pub enum Treatment, "treatment of duplicates" {
        /// They are not looked for.
        Keep = "keep",
        /// Their rows name the original.
        Mark = "mark",
        /// Their links are not followed.
        SkipLinks = "skip-links",
        /// Nothing but their rows is stored.
        Drop = "drop",
    }
}

/// The settings of duplicates while crawling.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Rules {
    /// What becomes of pages with the text of another.
    pub exact_duplicates: Treatment,
    /// What becomes of near-duplicates.
    pub near_duplicates: Treatment,
    /// The number of bits in which the SimHashes of near-duplicates differ at most.
    pub near_distance: u32,
}

impl Rules {
    /// What becomes of the page of a row, which is marked if it is a duplicate.
    pub fn treatment(&self, row: &Row) -> Treatment {
        match (&row.duplicate_of, &row.near_duplicate_of) {
            (Some(_), _) => self.exact_duplicates,
            (None, Some(_)) => self.near_duplicates,
            (None, None) => Treatment::Keep,
        }
    }
}

/// The pages whose text is original.
pub struct Originals {
    firsts: Firsts,
    near: NearMap,
    rules: Rules,
}

impl Originals {
    /// Opens the originals of a journal of `committed` bytes. Fingerprints are kept only if near-duplicates are looked
    /// for; when they are again, the rows since then are replayed.
    pub fn open(
        folder: &Path,
        committed: u64,
        state: &TableState,
        memory: usize,
        rules: Rules,
        pulse: &Pulse,
    ) -> Result<Originals> {
        let share = (memory as f64 * NEAR_SHARE) as usize;
        let firsts = Firsts::open(folder, memory - share, &state.firsts)?;
        let near = NearMap::open(folder, share, &state.near, rules.near_distance)?;
        let mut originals = Originals { firsts, near, rules };
        let near_applied = if originals.has_near() { originals.near.applied() } else { u64::MAX };
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

    fn has_near(&self) -> bool {
        self.rules.near_duplicates > Treatment::Keep
    }

    /// The settings.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The offset of the row whose page has a text.
    pub fn with_text(&self, digest: u128) -> Result<Option<u64>> {
        self.firsts.with_text(digest)
    }

    /// The offset of the row with the nearest fingerprint of an original within the distance; ties go to the earliest.
    pub fn nearest(&self, simhash: u64) -> Result<Option<u64>> {
        if !self.has_near() {
            return Ok(None);
        }
        let nearest = self.near.nearest(simhash)?;
        Ok(nearest.map(|(offset, _)| offset))
    }

    /// The offsets of the rows with all fingerprints within the distance, from the nearest and earliest on, but for the first,
    /// which is what [`Originals::nearest`] gives.
    pub fn further(&self, simhash: u64) -> Result<Vec<u64>> {
        Ok(self.near.within(simhash)?.into_iter().skip(1).map(|(_, offset)| offset).collect())
    }

    /// Adds a row of the journal.
    pub fn add(&mut self, row: &Row, place: &Range<u64>) -> Result<()> {
        self.firsts.add(row, place)?;
        if !self.has_near() || place.end <= self.near.applied() {
            return Ok(());
        }
        let is_new = row.is_original() && row.outcome != Outcome::NotModified;
        if let Some(simhash) = row.simhash.filter(|_| is_new) {
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
    use std::collections::{HashMap, HashSet};
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::collection::TableWriter;
    use crate::collection::cells::Versions;

    /// So little memory that a dozen fingerprints fill it.
    const MEMORY: usize = 1 << 12;
    const RULES: Rules =
        Rules { exact_duplicates: Treatment::Mark, near_duplicates: Treatment::Mark, near_distance: 3 };

    /// A journal and the originals over it, and what is committed of both.
    struct Store {
        folder: PathBuf,
        table: TableWriter,
        originals: Originals,
        state: TableState,
        committed: u64,
    }

    impl Store {
        fn open(folder: &Path, state: TableState, committed: u64, rules: Rules) -> Store {
            let versions = Versions { number: 0, before: 0 };
            let table = TableWriter::open(folder, committed, &state, 1 << 20, versions, &Pulse::STEADY);
            let originals = Originals::open(folder, committed, &state, MEMORY, rules, &Pulse::STEADY);
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

        fn reopen(self, rules: Rules) -> Store {
            let Store { folder, table, originals, state, committed } = self;
            drop((table, originals));
            Store::open(&folder, state, committed, rules)
        }
    }

    #[derive(Clone, Debug)]
    struct Page {
        host: u8,
        answered: bool,
        outcome: Outcome,
        digest: u128,
        simhash: Option<u64>,
        is_copy: bool,
        is_near: bool,
        length: u64,
    }

    impl Page {
        fn row(&self) -> Row {
            let original = |is: bool| is.then(|| "http://original.example/".to_owned());
            Row {
                url: format!("http://{}.example/", self.host),
                outcome: self.outcome,
                status: self.answered.then_some(200),
                digest: self.answered.then(|| format!("{:032x}", self.digest)),
                simhash: self.simhash.filter(|_| self.answered),
                duplicate_of: original(self.is_copy),
                near_duplicate_of: original(self.is_near),
                length: self.length,
                ..Row::default()
            }
        }

        fn has_text(&self) -> bool {
            let is_there = matches!(self.outcome, Outcome::Fetched | Outcome::NotModified);
            self.answered && is_there && !self.is_copy && (self.length > 0 || !self.is_near)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(Page),
        Commit { is_last: bool },
        Reopen { distance: Option<u32> },
    }

    fn page() -> impl Strategy<Value = Page> {
        let base = prop::sample::select(vec![0u64, u64::MAX, 0x0123_4567_89ab_cdef]);
        let simhash = (base, prop::collection::vec(0u32..64, 0..10))
            .prop_map(|(base, flips)| flips.into_iter().fold(base, |value, bit| value ^ 1 << bit));
        let outcome = prop::sample::select(vec![
            Outcome::Fetched,
            Outcome::Fetched,
            Outcome::Fetched,
            Outcome::NotModified,
            Outcome::Gone,
        ]);
        let kinds = (prop::bool::weighted(0.9), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
        // More hosts than the smallest cache of them has.
        (0u8..40, kinds, outcome, 0u128..60, prop::option::weighted(0.9, simhash), 0u64..3).prop_map(
            |(host, (answered, is_copy, is_near), outcome, digest, simhash, length)| Page {
                host,
                answered,
                outcome,
                digest,
                simhash,
                is_copy,
                is_near,
                length,
            },
        )
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => page().prop_map(Step::Add),
            1 => any::<bool>().prop_map(|is_last| Step::Commit { is_last }),
            1 => prop::option::weighted(0.3, 0u32..=8).prop_map(|distance| Step::Reopen { distance }),
        ]
    }

    /// The row whose page has each text, by the definition, from all rows.
    fn holders(rows: &[(Page, u64)]) -> HashMap<u128, u64> {
        let mut holders = HashMap::new();
        for (page, offset) in rows.iter().filter(|(page, _)| page.has_text()) {
            match page.outcome {
                Outcome::NotModified => *holders.entry(page.digest).or_insert(*offset),
                _ => *holders.entry(page.digest).insert_entry(*offset).get(),
            };
        }
        holders
    }

    /// The nearest original, by the definition.
    fn nearest(rows: &[(Page, u64)], simhash: u64, most: u32) -> Option<u64> {
        let originals = rows
            .iter()
            .filter(|(page, _)| page.has_text() && !page.is_near && page.outcome == Outcome::Fetched);
        let distances = originals
            .filter_map(|(page, offset)| page.simhash.map(|other| ((other ^ simhash).count_ones(), *offset)));
        distances.filter(|(distance, _)| *distance <= most).min().map(|(_, offset)| offset)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn the_answers_are_those_of_the_definition(
            steps in prop::collection::vec(step(), 1..200),
            distance in 0u32..=8,
        ) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
            let mut rules = Rules { near_distance: distance, ..RULES };
            let mut store = Store::open(folder.path(), TableState::default(), 0, rules);
            let (mut rows, mut committed): (Vec<(Page, u64)>, usize) = (Vec::new(), 0);
            for step in steps {
                match step {
                    Step::Add(page) => {
                        let with_text = store.originals.with_text(page.digest).unwrap();
                        prop_assert_eq!(with_text, holders(&rows).get(&page.digest).copied());
                        if let Some(simhash) = page.simhash {
                            let wanted = nearest(&rows, simhash, rules.near_distance);
                            prop_assert_eq!(store.originals.nearest(simhash).unwrap(), wanted);
                        }
                        let offset = store.add(&page.row());
                        rows.push((page, offset));
                    }
                    Step::Commit { is_last } => {
                        store.commit(is_last);
                        committed = rows.len();
                    }
                    Step::Reopen { distance } => {
                        rules.near_distance = distance.unwrap_or(rules.near_distance);
                        store = store.reopen(rules);
                        rows.truncate(committed);
                    }
                }
                let answered = rows.iter().filter(|(page, _)| page.answered);
                let hosts: HashSet<u8> = answered.map(|(page, _)| page.host).collect();
                prop_assert_eq!(store.originals.hosts(), hosts.len() as u64);
            }
        }
    }

    fn some_page() -> Page {
        Page {
            host: 0,
            answered: true,
            outcome: Outcome::Fetched,
            digest: 1,
            simhash: Some(1),
            is_copy: false,
            is_near: false,
            length: 1,
        }
    }

    #[test]
    fn a_row_that_adds_nothing_is_not_replayed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
        let mut store = Store::open(folder.path(), TableState::default(), 0, RULES);
        for is_copy in [false, true, true] {
            store.add(&Page { is_copy, ..some_page() }.row());
            store.commit(true);
            assert_eq!(
                (store.state.firsts.applied, store.state.near.applied),
                (store.committed, store.committed)
            );
        }
    }

    /// The former formats are runs of a sorted map, and runs of version 1.
    #[test]
    fn a_map_in_another_format_or_for_a_smaller_distance_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
        let mut store = Store::open(folder.path(), TableState::default(), 0, RULES);
        let offset = store.add(&Page { simhash: Some(0xff00), ..some_page() }.row());
        store.commit(true);
        let near = store.state.near.clone();
        store = store.reopen(Rules { near_distance: 8, ..RULES });
        assert_eq!(store.originals.nearest(0xff).unwrap(), None);
        assert_eq!(store.originals.nearest(0).unwrap(), Some(offset));
        store.commit(true);
        assert!(store.state.near.runs.iter().all(|run| !near.runs.contains(run)));
        let run = store.state.near.runs[0].number;
        std::fs::copy(
            folder.path().join(layout::firsts(store.state.firsts.runs[0].number)),
            folder.path().join(layout::near(run)),
        )
        .unwrap();
        store = store.reopen(RULES);
        assert_eq!(store.originals.nearest(0xff01).unwrap(), Some(offset));
        store.commit(true);
        let path = folder.path().join(layout::near(store.state.near.runs[0].number));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8] = 1;
        std::fs::write(&path, bytes).unwrap();
        store = store.reopen(RULES);
        assert_eq!(store.originals.nearest(0xff01).unwrap(), Some(offset));
    }

    #[test]
    fn near_duplicates_that_were_not_looked_for_are_found_later() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(layout::TABLE)).unwrap();
        let keep = Rules { near_duplicates: Treatment::Keep, ..RULES };
        let mut store = Store::open(folder.path(), TableState::default(), 0, keep);
        let offset = store.add(&some_page().row());
        assert_eq!(store.originals.with_text(1).unwrap(), Some(offset));
        assert_eq!(store.originals.nearest(1).unwrap(), None);
        store.commit(true);
        let store = store.reopen(RULES);
        assert_eq!(store.originals.nearest(3).unwrap(), Some(offset));
    }
}
