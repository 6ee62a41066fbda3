//! The map against a `BTreeMap`, through any reopening, merge, crash and damage.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::disk::file::remove;
use crate::disk::new_file::NewFile;
use crate::disk::tests::is_full;
use crate::disk::tests::watch::{Loss, Watch, restore};
use crate::{Error, Pulse};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// A put of the journal; its position is its index + 1.
type Put = (Vec<u8>, Option<Vec<u8>>);

fn name(number: u64) -> String {
    format!("run-{number}")
}

/// Up to the first zero: the row of a cell.
fn row(key: &[u8]) -> &[u8] {
    &key[..key.iter().position(|byte| *byte == 0).unwrap_or(key.len())]
}

fn options(memory: usize) -> Options {
    Options { memory, name, filtered: row, keep: None }
}

fn key(row: u16, cell: u8) -> Vec<u8> {
    format!("com.example/pages/{}/{row:04x}\0{}", row % 7, cell as char).into_bytes()
}

fn entries(mut scan: Scan<'_>) -> Result<Model> {
    let mut found = Model::new();
    while let Some((key, value)) = scan.advance()? {
        assert!(found.last_key_value().is_none_or(|(last, _)| last.as_slice() < key));
        found.insert(key.to_vec(), value.to_vec());
    }
    Ok(found)
}

fn apply(journal: &[Put]) -> Model {
    let mut model = Model::new();
    for (key, value) in journal {
        match value {
            Some(value) => drop(model.insert(key.clone(), value.clone())),
            None => drop(model.remove(key)),
        }
    }
    model
}

fn replay(map: &mut SortedMap, journal: &[Put]) -> Result<()> {
    for (index, (key, value)) in journal.iter().enumerate().skip(map.applied() as usize) {
        map.put(key, value.as_deref(), index as u64 + 1)?;
    }
    Ok(())
}

fn read(folder: &Path, state: &State, journal: &[Put]) -> Result<SortedReader> {
    let mut reader = SortedReader::open(folder, options(1 << 16), state)?;
    for (key, value) in &journal[reader.applied() as usize..] {
        reader.put(key, value.as_deref())?;
    }
    Ok(reader)
}

/// Checks every kind of look-up against the model.
fn compare(
    model: &Model,
    get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>>,
    first: impl Fn(&[u8], Option<&[u8]>) -> Result<Option<(Vec<u8>, Vec<u8>)>>,
    scan: impl Fn(&[u8], Option<&[u8]>) -> Result<Model>,
    rows: impl Iterator<Item = u16>,
) -> Result<()> {
    assert_eq!(scan(&[], None)?, *model);
    for row in rows {
        for cell in [b'a', b'b', b'c'] {
            let key = key(row, cell);
            assert_eq!(get(&key)?.as_ref(), model.get(&key));
            let to = [self::row(&key), &[1]].concat();
            let wanted = model.range(key.clone()..to.clone()).next();
            assert_eq!(first(&key, Some(&to))?, wanted.map(|(key, value)| (key.clone(), value.clone())));
        }
        let (from, to) = (key(row, b'b'), key(row.wrapping_mul(3), b'a'));
        let wanted = if from < to { model.range(from.clone()..to.clone()).collect() } else { Vec::new() };
        let found = scan(&from, Some(&to))?;
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted);
    }
    Ok(())
}

fn compare_map(map: &SortedMap, model: &Model, rows: impl Iterator<Item = u16>) -> Result<()> {
    let scan = |from: &[u8], to: Option<&[u8]>| entries(map.scan(from, to)?);
    compare(model, |key| map.get(key), |from, to| map.first(from, to), scan, rows)
}

fn compare_reader(reader: &SortedReader, model: &Model, rows: impl Iterator<Item = u16>) -> Result<()> {
    let scan = |from: &[u8], to: Option<&[u8]>| entries(reader.scan(from, to)?);
    compare(model, |key| reader.get(key), |from, to| reader.first(from, to), scan, rows)
}

#[derive(Clone, Debug)]
enum Step {
    /// Puts this number of cells of random rows, with values of about this length.
    Put(u16, usize),
    Remove(u16),
    Flush,
    Settle,
    Checkpoint,
    /// Goes back to the last checkpoint, as after a crash.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u16..400, 0usize..120).prop_map(|(count, length)| Step::Put(count, length)),
        1 => (0u16..200).prop_map(Step::Remove),
        1 => Just(Step::Flush),
        1 => Just(Step::Settle),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With a memory table of some hundred entries, so that there are many runs and merges.
    #[test]
    fn is_a_sorted_map(steps in prop::collection::vec(step(), 1..60), rows in 1u16..2000, seed: u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut journal: Vec<Put> = Vec::new();
        let mut committed = State::default();
        let mut map = SortedMap::open(folder.path(), options(48 << 10), &committed).unwrap();
        let mut random = seed | 1;
        let mut next = || {
            random = crate::signature::hash::random(random, 1);
            random
        };
        for step in steps {
            match step {
                Step::Put(count, length) => for _ in 0..count {
                    let number = next();
                    let value = vec![number as u8; (number >> 8) as usize % (length + 1)];
                    let key = key((number >> 16) as u16 % rows, b'a' + (number >> 40) as u8 % 3);
                    journal.push((key, Some(value)));
                    replay_last(&mut map, &journal);
                },
                Step::Remove(count) => for _ in 0..count {
                    let number = next();
                    journal.push((key(number as u16 % rows, b'a' + (number >> 40) as u8 % 3), None));
                    replay_last(&mut map, &journal);
                },
                Step::Flush => map.flush().unwrap(),
                Step::Settle => {
                    map.settle().unwrap();
                    prop_assert!(map.runs() < FAN_IN * 5);
                }
                Step::Checkpoint => {
                    let Checkpoint { files, state } = map.checkpoint().unwrap();
                    for (name, length) in files {
                        match length {
                            Some(length) => {
                                prop_assert_eq!(fs::metadata(folder.path().join(name)).unwrap().len(), length);
                            }
                            None => remove(&folder.path().join(name)).unwrap(),
                        }
                    }
                    committed = state;
                    let reader = read(folder.path(), &committed, &journal).unwrap();
                    compare_reader(&reader, &apply(&journal), (0..rows).step_by(97)).unwrap();
                    reader.verify(&Pulse::STEADY).unwrap();
                }
                Step::Reopen => {
                    drop(map);
                    map = SortedMap::open(folder.path(), options(48 << 10), &committed).unwrap();
                    prop_assert_eq!(map.applied(), committed.applied);
                    replay(&mut map, &journal).unwrap();
                }
            }
        }
        compare_map(&map, &apply(&journal), (0..rows).step_by(41)).unwrap();
        map.flush().unwrap();
        map.settle().unwrap();
        compare_map(&map, &apply(&journal), (0..rows).step_by(41)).unwrap();
        map.checkpoint().unwrap();
        let count = fs::read_dir(folder.path()).unwrap().count();
        prop_assert!(count >= map.runs(), "unneeded files wait for the next commit only");
    }
}

fn replay_last(map: &mut SortedMap, journal: &[Put]) {
    if let Some((key, value)) = journal.last() {
        map.put(key, value.as_deref(), journal.len() as u64).unwrap();
    }
}

/// A journal long enough for merges of two levels with this many bytes of memory.
const TINY: usize = 12 << 10;

fn long_journal(length: u64) -> Vec<Put> {
    let value = |index: u64| (!index.is_multiple_of(5)).then(|| index.to_le_bytes().repeat(4));
    (0..length)
        .map(|index| {
            let number = crate::signature::hash::random(index, 0);
            (key(number as u16 % 1500, b'a' + (number >> 16) as u8 % 3), value(index))
        })
        .collect()
}

fn commit(folder: &Path, map: &mut SortedMap) -> Result<()> {
    let Checkpoint { files, state } = map.checkpoint()?;
    let mut manifest = NewFile::create(&folder.join("manifest"))?;
    manifest.append(&serde_json::to_vec(&state).unwrap())?;
    manifest.finish()?;
    let mut gone = files.iter().filter(|(_, length)| length.is_none());
    gone.try_for_each(|(name, _)| remove(&folder.join(name)))
}

fn committed(folder: &Path) -> State {
    fs::read(folder.join("manifest"))
        .map_or_else(|_| State::default(), |bytes| serde_json::from_slice(&bytes).unwrap())
}

#[test]
fn a_crash_at_any_operation_leaves_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let watch = Watch::record(folder.path());
    let journal = long_journal(1500);
    let mut map = SortedMap::open(folder.path(), options(TINY), &State::default()).unwrap();
    for (index, (key, value)) in journal.iter().enumerate() {
        map.put(key, value.as_deref(), index as u64 + 1).unwrap();
        if index % 100 == 0 {
            commit(folder.path(), &mut map).unwrap();
        }
    }
    map.flush().unwrap();
    map.settle().unwrap();
    commit(folder.path(), &mut map).unwrap();
    drop(map);
    let model = apply(&journal);
    let count = watch.len();
    let mut most = 0;
    for (number, loss) in (0..=count).flat_map(|number| Loss::all().map(move |loss| (number, loss))) {
        // All six losses at a few places, and one at each: the states of the disk differ little.
        if number % 6 != usize::from(loss.names) * 3 + loss.halves && number % 100 != 0 {
            continue;
        }
        let left = tempfile::tempdir().unwrap();
        restore(&watch.crash_after(number, loss), left.path());
        let state = committed(left.path());
        most = most.max(state.runs.iter().map(|run| run.level).max().unwrap_or_default());
        let reader = read(left.path(), &state, &journal).unwrap();
        reader.verify(&Pulse::STEADY).unwrap();
        assert_eq!(entries(reader.scan(&[], None).unwrap()).unwrap(), model, "{number} {loss:?}");
    }
    assert!(most >= 2, "no run was merged twice");
}

#[test]
fn a_full_disk_at_any_operation_loses_nothing() {
    let journal = long_journal(400);
    let model = apply(&journal);
    for number in (0..).step_by(11) {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::fail(folder.path(), number);
        let mut map = SortedMap::open(folder.path(), options(TINY), &State::default()).unwrap();
        let mut failures = 0;
        for (index, (key, value)) in journal.iter().enumerate() {
            // A put that fails had no effect, and may be tried again.
            while let Err(error) = map.put(key, value.as_deref(), index as u64 + 1) {
                assert!(is_full::<()>(&Err(error)));
                failures += 1;
            }
        }
        while let Err(error) = map.flush().and_then(|()| map.settle()) {
            assert!(is_full::<()>(&Err(error)));
            failures += 1;
        }
        assert_eq!(entries(map.scan(&[], None).unwrap()).unwrap(), model);
        assert!(failures <= 1);
        if watch.len() <= number {
            return;
        }
    }
}

#[test]
fn a_flipped_bit_is_never_served() {
    let folder = tempfile::tempdir().unwrap();
    let journal = &long_journal(1500);
    let model = apply(journal);
    let mut map = SortedMap::open(folder.path(), options(1 << 20), &State::default()).unwrap();
    replay(&mut map, journal).unwrap();
    map.flush().unwrap();
    let state = map.checkpoint().unwrap().state;
    let path = folder.path().join(name(state.runs[0].number));
    let bytes = fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(211) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        let checked = SortedReader::open(folder.path(), options(1 << 16), &state).and_then(|reader| {
            for key in model.keys() {
                if let Ok(value) = reader.get(key) {
                    assert_eq!(value.as_ref(), model.get(key), "byte {at}");
                }
            }
            reader.verify(&Pulse::STEADY)
        });
        let is_spare = (12..16).contains(&at);
        assert!(
            is_spare || matches!(checked, Err(Error::Corrupt { .. } | Error::Newer { .. })),
            "byte {at}: {checked:?}"
        );
    }
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(SortedReader::open(folder.path(), options(0), &state), Err(Error::Corrupt { .. })));
}

#[test]
fn an_empty_map_and_long_entries() {
    let folder = tempfile::tempdir().unwrap();
    let mut map = SortedMap::open(folder.path(), options(1 << 10), &State::default()).unwrap();
    assert_eq!(map.get(b"a").unwrap(), None);
    assert!(entries(map.scan(&[], None).unwrap()).unwrap().is_empty());
    assert!(matches!(map.put(&[7; MAX_KEY + 1], None, 1), Err(Error::Invalid(_))));
    let mut model = Model::new();
    for number in 0..40u8 {
        let key = [vec![number; MAX_KEY - 1], vec![number]].concat();
        map.put(&key, Some(&vec![number; 100_000]), u64::from(number) + 1).unwrap();
        model.insert(key, vec![number; 100_000]);
    }
    map.put(b"", Some(b""), 100).unwrap();
    model.insert(Vec::new(), Vec::new());
    map.flush().unwrap();
    map.settle().unwrap();
    assert_eq!(entries(map.scan(&[], None).unwrap()).unwrap(), model);
    for (key, value) in &model {
        assert_eq!(map.get(key).unwrap().as_ref(), Some(value));
    }
    assert_eq!(map.get(&[41; 3]).unwrap(), None);
}

/// Keeps the first entry of each row.
struct Newest;

impl Keep for Newest {
    fn judge(&self) -> Judge<'_> {
        let mut last = Vec::new();
        Box::new(move |key, _| {
            let is_new = last != row(key);
            last.clear();
            last.extend_from_slice(row(key));
            is_new
        })
    }
}

#[test]
fn what_a_merge_drops_is_gone_and_uncovers_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { keep: Some(Arc::new(Newest)), ..options(24 << 10) };
    let mut map = SortedMap::open(folder.path(), options, &State::default()).unwrap();
    let mut position = 0;
    for round in 0..200u8 {
        for number in 0..50 {
            for cell in [b'b', b'a'] {
                position += 1;
                map.put(&key(number, cell), Some(&[round, cell]), position).unwrap();
            }
        }
    }
    map.flush().unwrap();
    map.settle().unwrap();
    let found = entries(map.scan(&[], None).unwrap()).unwrap();
    for number in 0..50 {
        assert_eq!(found.get(&key(number, b'a')), Some(&vec![199, b'a']));
        // It was dropped, or is the newest one in a run that was not merged yet: never an older one.
        assert!(found.get(&key(number, b'b')).is_none_or(|value| *value == [199, b'b']));
    }
}

#[test]
fn tablets_cover_the_map_evenly() {
    let folder = tempfile::tempdir().unwrap();
    let mut map = SortedMap::open(folder.path(), options(1 << 20), &State::default()).unwrap();
    let count = 30_000u32;
    for number in 0..count {
        let value = crate::signature::hash::random(u64::from(number), 0).to_le_bytes().repeat(12);
        map.put(&number.to_be_bytes(), Some(&value), u64::from(number) + 1).unwrap();
    }
    map.flush().unwrap();
    let state = map.checkpoint().unwrap().state;
    let mut reader = SortedReader::open(folder.path(), options(1 << 20), &state).unwrap();
    reader.put(&count.to_be_bytes(), Some(b"tail")).unwrap();
    let all = reader.size(&[], None).unwrap();
    assert_eq!(all.entries, u64::from(count) + 1);
    for number in 0..=count {
        assert!(reader.get(&number.to_be_bytes()).unwrap().is_some(), "{number}");
        assert!(reader.get(&[&number.to_be_bytes()[..], &[1]].concat()).unwrap().is_none());
    }
    reader.verify(&Pulse::STEADY).unwrap();
    for parts in [1, 2, 7, 50] {
        let tablets = reader.tablets(parts).unwrap();
        assert_eq!(tablets.len(), parts);
        assert!(tablets.windows(2).all(|pair| pair[0].to.as_ref() == Some(&pair[1].from)));
        assert_eq!((&tablets[0].from, &tablets[parts - 1].to), (&Vec::new(), &None));
        assert_eq!(tablets.iter().map(|tablet| tablet.entries).sum::<u64>(), all.entries);
        let mut counted = 0;
        for tablet in &tablets {
            let found = entries(reader.scan(&tablet.from, tablet.to.as_deref()).unwrap()).unwrap();
            assert_eq!(found.len() as u64, tablet.entries);
            counted += tablet.entries;
            let even = all.bytes / parts as u64;
            assert!((even / 2..even * 2).contains(&tablet.bytes), "{} of {even}", tablet.bytes);
        }
        assert_eq!(counted, all.entries);
    }
    let cut = reader.split(&[10u32.to_be_bytes(), 20_000u32.to_be_bytes()]).unwrap();
    assert_eq!(cut.iter().map(|tablet| tablet.entries).collect::<Vec<_>>(), [10, 19_990, 10_001]);
    assert!(matches!(reader.split(&[b"b", b"a"]), Err(Error::Invalid(_))));
}
