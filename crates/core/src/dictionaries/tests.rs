//! The contract of every dictionary, against a map that stores the keys.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::{Error, Pulse};

fn constructions() -> impl Strategy<Value = Construction> {
    prop_oneof![Just(Construction::Peeling), Just(Construction::Fuse), Just(Construction::Pairs)]
}

fn key_sets() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
    let key = prop::collection::vec(any::<u8>(), 0..6);
    prop_oneof![
        prop::collection::btree_set(key.clone(), 0..8),
        prop::collection::btree_set(key, 0..700),
        // Consecutive numbers, which XXH3 must randomise.
        (0u32..7000).prop_map(|n| (0..n).map(|number| number.to_be_bytes().to_vec()).collect()),
    ]
}

fn hashes_of(keys: &BTreeSet<Vec<u8>>) -> Vec<KeyHash> {
    keys.iter().map(|key| Ranks::hash(key)).collect()
}

fn numbers(range: std::ops::Range<u64>) -> Vec<KeyHash> {
    range.map(|number| KeyHash::of(&number.to_le_bytes())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(32)))]

    #[test]
    fn every_key_has_its_rank(keys in key_sets(), construction in constructions(), bits in 0u32..=32, compact in any::<bool>()) {
        let hashes = hashes_of(&keys);
        let bytes = Ranks::build(&hashes, construction, bits, compact, &Pulse::STEADY).unwrap();
        let ranks = Ranks::open(&bytes).unwrap();
        prop_assert_eq!(ranks.len(), keys.len() as u64);
        prop_assert_eq!(ranks.bits().function + ranks.bits().signatures, 8 * bytes.len() as u64);
        for (rank, hash) in hashes.iter().enumerate() {
            prop_assert_eq!(ranks.get(&bytes, *hash), Some(rank as u64));
        }
    }

    #[test]
    fn every_key_has_its_value(
        map in prop::collection::btree_map(any::<u16>(), any::<u64>(), 0..1500),
        construction in constructions(), bits in 0u32..=64, compact in any::<bool>()
    ) {
        let map: BTreeMap<u16, u64> =
            map.into_iter().map(|(key, value)| (key, value.checked_shr(64 - bits).unwrap_or(0))).collect();
        let hashes: Vec<KeyHash> = map.keys().map(|key| KeyHash::of(&key.to_le_bytes())).collect();
        let values: Vec<u64> = map.values().copied().collect();
        let plan = Plan { construction, bits, compact };
        // A duplicate key with the same value counts once.
        let twice = hashes.iter().chain(&hashes[..hashes.len() / 2]).copied().collect::<Vec<_>>();
        for hashes in [&hashes, &twice] {
            let value = |index: usize| values[index % values.len()];
            let bytes = StaticFunction::build(hashes, value, plan, &Pulse::STEADY).unwrap();
            let function = StaticFunction::open(&bytes).unwrap();
            for (index, hash) in hashes.iter().enumerate() {
                prop_assert_eq!(function.get(&bytes, *hash), Some(value(index)));
            }
            prop_assert!(function.len() as usize == map.len() || bits == 0);
        }
    }

    #[test]
    fn every_key_is_in_its_set(keys in key_sets(), construction in constructions(), bits in 1u32..=32, compact in any::<bool>()) {
        let hashes = hashes_of(&keys);
        let bytes = Approximate::build(&hashes, construction, bits, compact, &Pulse::STEADY).unwrap();
        let set = Approximate::open(&bytes).unwrap();
        prop_assert!(hashes.iter().all(|hash| set.contains(&bytes, *hash)));
        prop_assert!(!keys.is_empty() || !set.contains(&bytes, KeyHash::of(b"x")));
    }

    #[test]
    fn a_batch_is_its_keys_one_by_one(n in 0u64..3000, construction in constructions(), compact in any::<bool>()) {
        let (hashes, asked) = (numbers(0..n), numbers(n / 2..n + 200));
        let bytes = Ranks::build(&hashes, construction, 4, compact, &Pulse::STEADY).unwrap();
        let ranks = Ranks::open(&bytes).unwrap();
        let mut next = 0;
        ranks.get_many(&bytes, &asked, &Pulse::STEADY, |index, rank| {
            assert_eq!((index, rank), (next, ranks.get(&bytes, asked[index])));
            next += 1;
        }).unwrap();
        prop_assert_eq!(next, asked.len());
        let bytes = Approximate::build(&hashes, construction, 4, compact, &Pulse::STEADY).unwrap();
        let set = Approximate::open(&bytes).unwrap();
        set.contains_many(&bytes, &asked, &Pulse::STEADY, |index, there| {
            assert_eq!(there, set.contains(&bytes, asked[index]));
        }).unwrap();
    }

    #[test]
    fn damaged_bytes_answer_or_are_refused(
        n in 0u64..600, construction in constructions(), bits in 0u32..=9, compact in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9), in_header in any::<bool>(), cut in any::<prop::sample::Index>()
    ) {
        let hashes = numbers(0..n);
        let whole = Ranks::build(&hashes, construction, bits, compact, &Pulse::STEADY).unwrap();
        prop_assert!(Ranks::open(&whole[..cut.index(whole.len())]).is_none());
        prop_assert!(Ranks::open(&[&whole[..], &[0]].concat()).is_none());
        let mut damaged = whole.clone();
        for (at, byte) in damage {
            damaged[at.index(if in_header { 56.min(whole.len()) } else { whole.len() })] = byte;
        }
        let opened = Ranks::open(&whole).unwrap();
        for (ranks, bytes) in [(Ranks::open(&damaged), &damaged[..]), (Some(opened), &damaged), (Some(opened), &whole[..whole.len() / 2])] {
            let Some(ranks) = ranks else { continue };
            for hash in &hashes {
                let found = ranks.get(bytes, *hash);
                prop_assert!(found.is_none_or(|rank| rank < ranks.len()));
            }
            ranks.get_many(bytes, &hashes, &Pulse::STEADY, |_, _| ()).unwrap();
        }
    }

    #[test]
    fn any_bytes_answer_or_are_refused(bytes in prop::collection::vec(prop_oneof![Just(0u8), 0u8..4, any::<u8>()], 0..200)) {
        let hash = KeyHash::of(b"key");
        if let Some(ranks) = Ranks::open(&bytes) {
            ranks.get(&bytes, hash);
        }
        if let Some(function) = StaticFunction::open(&bytes) {
            function.get(&bytes, hash);
        }
    }
}

#[test]
fn shards_are_one_dictionary() {
    let keys = crate::size("CRIVELLO_TEST_KEYS", 50_000);
    let (hashes, shard) = (numbers(0..keys as u64), build::SHARD.min(keys / 3));
    for compact in [false, true] {
        let plan = Plan { construction: Construction::Fuse, bits: 32, compact };
        let bytes = build::build(&hashes, &|index| index as u64, plan, shard, &Pulse::STEADY).unwrap();
        assert_eq!(u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize, keys.div_ceil(shard));
        let function = StaticFunction::open(&bytes).unwrap();
        let answer = |index, value| assert_eq!(value, Some(index as u64));
        function.get_many(&bytes, &hashes, &Pulse::STEADY, answer).unwrap();
    }
}

#[test]
fn strangers_are_found_as_often_as_signatures_say() {
    let (hashes, strangers) = (numbers(0..50_000), numbers(1 << 32..(1 << 32) + 400_000));
    for bits in [4, 8] {
        let bytes = Ranks::build(&hashes, Construction::Fuse, bits, false, &Pulse::STEADY).unwrap();
        let ranks = Ranks::open(&bytes).unwrap();
        let function = &bytes[16..16 + ranks.function().length()];
        let within =
            strangers.iter().filter(|hash| ranks.function().get(function, **hash) < Some(50_000)).count();
        let found = strangers.iter().filter(|hash| ranks.get(&bytes, **hash).is_some()).count();
        assert_near(found, within as f64 / f64::from(1 << bits));
        assert_near(within, strangers.len() as f64 * 50_000.0 / 65_536.0);
        let bytes = Approximate::build(&hashes, Construction::Fuse, bits, false, &Pulse::STEADY).unwrap();
        let set = Approximate::open(&bytes).unwrap();
        let found = strangers.iter().filter(|hash| set.contains(&bytes, **hash)).count();
        assert_near(found, strangers.len() as f64 / f64::from(1 << bits));
    }
}

/// Asserts that a count is within six standard deviations of its mean.
fn assert_near(count: usize, mean: f64) {
    assert!((count as f64 - mean).abs() < 6.0 * mean.sqrt(), "{count} where {mean} were expected");
}

#[test]
fn it_takes_what_it_says() {
    let hashes = numbers(0..200_000);
    let bits = |construction, compact| {
        let bytes = Ranks::build(&hashes, construction, 0, compact, &Pulse::STEADY).unwrap();
        Ranks::open(&bytes).unwrap().bits().function as f64 / hashes.len() as f64
    };
    assert!((bits(Construction::Peeling, false) / 18.0 - 1.23).abs() < 0.005);
    assert!((bits(Construction::Fuse, false) / 18.0 - 1.12).abs() < 0.005);
    assert!((bits(Construction::Peeling, true) - (18.0 + 1.125 * 1.23)).abs() < 0.02);
    assert!((bits(Construction::Fuse, true) - (18.0 + 1.125 * 1.12)).abs() < 0.02);
}

#[test]
fn what_cannot_be_is_refused() {
    let hashes = numbers(0..3);
    let refused = |outcome: crate::Result<Vec<u8>>| match outcome {
        Err(Error::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let fuse = Construction::Fuse;
    refused(Ranks::build(&hashes, fuse, 33, false, &Pulse::STEADY));
    refused(Approximate::build(&hashes, fuse, 0, false, &Pulse::STEADY));
    let plan = |bits| Plan { construction: fuse, bits, compact: false };
    refused(StaticFunction::build(&hashes, |_| 0, plan(65), &Pulse::STEADY));
    let reason = refused(StaticFunction::build(&hashes, |index| index as u64, plan(1), &Pulse::STEADY));
    assert_eq!(reason, "value 2 does not fit into 1 bits: 2");
    let twice = [hashes[0], hashes[1], hashes[0]];
    let reason = refused(Ranks::build(&twice, fuse, 8, false, &Pulse::STEADY));
    assert!(reason.starts_with("keys 0 and 2 have different values and the same hash"), "{reason}");
    let stop = || false;
    assert!(matches!(Ranks::build(&hashes, fuse, 8, false, &Pulse::new(&stop)), Err(Error::Stopped)));
}
