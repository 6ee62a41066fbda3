//! Every structure against a comparison with all fingerprints.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use rayon::prelude::*;

use super::*;
use crate::signature::hash::random;
use crate::{Error, Pulse};

/// Few base values with a few bits flipped, so that near pairs are common.
fn word() -> impl Strategy<Value = u64> {
    let base = prop::sample::select(vec![0u64, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_0000_1111]);
    (base, prop::collection::vec(0u32..64, 0..10))
        .prop_map(|(base, flips)| flips.into_iter().fold(base, |value, bit| value ^ 1 << bit))
}

fn words(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(word(), 0..most)
}

/// (number, distance) of all within a distance, from the nearest on.
fn within(known: &[u64], asked: u64, distance: u32) -> Vec<(u32, u32)> {
    let distances = known.iter().map(|other| (other ^ asked).count_ones()).enumerate();
    let near = distances.filter(|(_, found)| *found <= distance);
    let mut found: Vec<(u32, u32)> = near.map(|(number, found)| (number as u32, found)).collect();
    found.sort_by_key(|(number, distance)| (*distance, *number));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_table_finds_what_brute_force_finds(
        known in words(300), asked in words(40), distance in 0u32..=10, less in 0u32..3, family in 0u32..4,
    ) {
        let layout = match family {
            0 => Layout::choose(64, known.len() as u64, distance, &Costs::MEMORY),
            1 => Layout::near(64, distance, 1 + distance / 2),
            2 => Layout::nested(64, distance.min(7)),
            _ => Layout::chosen(64, distance.min(4), distance.min(4) + 2).unwrap(),
        };
        let distance = layout.distance.saturating_sub(less);
        let table = Table::with_layout(&known, layout).unwrap();
        prop_assert_eq!(&table.words(), &known);
        let expected: Vec<_> = asked.iter().map(|asked| within(&known, *asked, distance)).collect();
        prop_assert_eq!(table.within(&asked, distance, &Pulse::STEADY).unwrap(), expected.clone());
        let nearest: Vec<_> = expected.iter().map(|found| found.first().copied()).collect();
        prop_assert_eq!(table.nearest(&asked, distance, &Pulse::STEADY).unwrap(), nearest);
    }

    #[test]
    fn a_growing_one_finds_what_brute_force_finds(
        known in words(200), distance in 0u32..=8, less in 0u32..3, tail in 1usize..20,
    ) {
        let mut growing = Growing::with_tail(distance, tail).unwrap();
        let distance = distance.saturating_sub(less);
        for (count, word) in known.iter().enumerate() {
            let expected = within(&known[..count], *word, distance).first().copied();
            let found = growing.nearest(*word, distance).unwrap();
            prop_assert_eq!(found.map(|(number, distance)| (number as u32, distance)), expected);
            growing.add(*word).unwrap();
        }
        prop_assert_eq!(growing.words(), known);
    }

    #[test]
    fn a_join_finds_each_pair_once(known in words(150), distance in 0u32..=8, parts in 1u64..5) {
        let join = Join::<u64>::new(64, known.len() as u64, distance);
        let all = (0..known.len()).flat_map(|one| (one + 1..known.len()).map(move |other| (one, other)));
        let distances =
            all.map(|(one, other)| (one as u32, other as u32, (known[one] ^ known[other]).count_ones()));
        let expected: Vec<_> = distances.filter(|(_, _, found)| *found <= distance).collect();
        prop_assert_eq!(&join.all(&known, &Pulse::STEADY).unwrap(), &expected);
        let mut pairs = Vec::new();
        for (table, part) in (0..join.tables()).flat_map(|table| (0..parts).map(move |part| (table, part))) {
            let numbered = known.par_iter().enumerate().map(|(number, word)| (*word, number as u32));
            let sorted = join.part(table, part, parts, numbered);
            for rows in sorted.rows() {
                join.pairs(&sorted, rows, |one, other, distance| pairs.push((one, other, distance)));
            }
        }
        pairs.sort_unstable();
        prop_assert_eq!(pairs, expected);
    }

    #[test]
    fn runs_and_what_they_are_merged_to_find_what_brute_force_finds(
        known in words(300), asked in words(20), distance in 0u32..=8, less in 0u32..3, parts in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::choose(64, 1 << 20, distance, &Costs::DISK);
        let distance = distance.saturating_sub(less);
        let numbered: Vec<(u64, u64)> = known.iter().enumerate().map(|(number, word)| (*word, number as u64 * 10)).collect();
        let mut runs = Vec::new();
        for (part, numbered) in numbered.chunks(known.len().div_ceil(parts).max(1)).enumerate() {
            let path = folder.path().join(part.to_string());
            let bytes = RunWriter::write(&path, &layout, numbered).unwrap();
            prop_assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
            runs.push(Arc::new(Run::open(&path).unwrap()));
        }
        let mut merged = Vec::new();
        if !runs.is_empty() {
            let path = folder.path().join("merged");
            merge(&runs, &path, &AtomicBool::new(false)).unwrap();
            merged.push(Arc::new(Run::open(&path).unwrap()));
            merged[0].verify(&Pulse::STEADY).unwrap();
        }
        let mut all = Vec::new();
        for asked in &asked {
            let expected = within(&known, *asked, distance).first().map(|(number, found)| (*found, u64::from(*number) * 10));
            for runs in [&runs, &merged] {
                let found = runs.iter().try_fold(None, |found, run| run.nearest(*asked, distance, found));
                prop_assert_eq!(found.unwrap(), expected);
            }
            all.push(expected);
        }
        for run in &merged {
            prop_assert_eq!(run.nearest_of(&asked, distance, &Pulse::STEADY).unwrap(), all.clone());
        }
    }
}

/// Enough for directories, scatters and several blocks.
#[test]
fn many_are_found_as_by_brute_force() {
    let mut known: Vec<u64> = (0..40_000).map(|number| random(number, 0)).collect();
    for number in 0..10_000usize {
        let flips = (0..number % 9)
            .fold(0u64, |flips, flip| flips | 1 << (random(number as u64, 1 + flip as u64) % 64));
        known.push(known[number] ^ flips);
    }
    let asked: Vec<u64> = (0..300)
        .map(|number| {
            known[number * 160] ^ random(number as u64, 9) & random(number as u64, 10) & 0x1001_0010_0101_0011
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<(u64, u64)> =
        known.iter().enumerate().map(|(number, word)| (*word, number as u64)).collect();
    for distance in [0, 3, 5, 8] {
        let table = Table::new(&known, distance).unwrap();
        assert!(
            table.bytes()
                <= known.len() * (table.layout().bytes() as usize + 2 * table.layout().leads.len())
                    + (1 << 12)
        );
        let path = folder.path().join(distance.to_string());
        RunWriter::write(&path, &Layout::choose(64, 1 << 16, distance, &Costs::DISK), &numbered).unwrap();
        let run = Run::open(&path).unwrap();
        run.verify(&Pulse::STEADY).unwrap();
        let found = table.nearest(&asked, distance, &Pulse::STEADY).unwrap();
        let all = table.within(&asked, distance, &Pulse::STEADY).unwrap();
        let at_once = run.nearest_of(&asked, distance, &Pulse::STEADY).unwrap();
        for (((asked, found), all), at_once) in asked.iter().zip(found).zip(all).zip(at_once) {
            let expected = within(&known, *asked, distance);
            assert_eq!(found, expected.first().copied());
            let of_run = run.nearest(*asked, distance, None).unwrap();
            assert_eq!(of_run, found.map(|(number, distance)| (distance, u64::from(number))));
            assert_eq!(at_once, of_run);
            assert_eq!(all, expected);
        }
    }
}

#[test]
fn damage_of_a_run_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let numbered: Vec<(u64, u64)> = (0..2_000).map(|number| (random(number, 0), number)).collect();
    RunWriter::write(&path, &Layout::choose(64, 1 << 20, 3, &Costs::DISK), &numbered).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for place in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        let verified = Run::open(&path).and_then(|run| run.verify(&Pulse::STEADY));
        assert!(verified.is_err(), "byte {place}");
    }
    for length in [0, 10, 40, 4_000, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(Run::open(&path).is_err());
    }
}

/// The bytes before the last 16 are the footer, before it the directories and the index.
#[test]
fn a_damaged_index_is_found_when_the_run_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let numbered: Vec<(u64, u64)> = (0..5_000).map(|number| (random(number, 0), number)).collect();
    RunWriter::write(&path, &Layout::choose(64, 1 << 20, 3, &Costs::DISK), &numbered).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let tables = Run::open(&path).unwrap().layout().leads.len();
    for place in 16 + 8 * 5_000 * (tables + 1)..bytes.len() - 16 {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let Err(Error::Corrupt { path: named, offset, .. }) = Run::open(&path) else {
            panic!("byte {place}")
        };
        assert_eq!((named, offset), (path.clone(), bytes.len() as u64 - 16));
    }
}

#[test]
fn a_directory_of_other_keys_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let numbered: Vec<(u64, u64)> = (0..5_000).map(|number| (random(number, 0), number)).collect();
    RunWriter::write(&path, &Layout::choose(64, 1 << 20, 3, &Costs::DISK), &numbered).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let tail = 16 + 8 * 5_000 * (Run::open(&path).unwrap().layout().leads.len() + 1);
    let end = bytes.len() - 4;
    let directories = tail + 12 * 10 * (Run::open(&path).unwrap().layout().leads.len() + 1);
    bytes[directories + 4] ^= 1;
    let checksum = crc32fast::hash(&bytes[tail..end - 12]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
    std::fs::write(&path, bytes).unwrap();
    let error = Run::open(&path).unwrap().verify(&Pulse::STEADY).unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
}

#[test]
fn a_run_of_the_version_before_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    RunWriter::write(&path, &Layout::choose(64, 1 << 20, 3, &Costs::DISK), &[(1, 1)]).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8] = 1;
    std::fs::write(&path, bytes).unwrap();
    let Err(error @ Error::Older { found: 1, supported: 2, .. }) = Run::open(&path) else {
        panic!("version 1 is not read")
    };
    assert!(error.to_string().ends_with("has format version 1, and this version of Crivello reads 2 only"));
}

#[test]
fn a_distance_without_a_layout_is_refused() {
    assert!(Table::new(&[1], MAX_DISTANCE + 1).is_err());
    assert!(Growing::new(MAX_DISTANCE + 1).is_err());
    assert!(Table::new(&[1], 2).unwrap().nearest_one(1, 3).is_err());
}
