//! The contract of every filter: one test each, over all kinds.

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

type Make = fn(Option<&Path>) -> Result<Box<dyn Filter>>;
type Open = fn(&Path, bool) -> Result<Box<dyn Filter>>;

const SIZE: Size = Size::Bits { bits: 3000, hashes: 5 };

fn boxed<F: Filter + 'static>(filter: F) -> Box<dyn Filter> {
    Box::new(filter)
}

fn stability() -> Result<Stability> {
    Stability::new(3001, 5, 3, 20)
}

fn bloom(path: Option<&Path>, hashing: Hashing) -> Result<Box<dyn Filter>> {
    path.map_or_else(|| Bloom::new(SIZE, hashing), |path| Bloom::create(path, SIZE, hashing)).map(boxed)
}

fn stable(path: Option<&Path>, draws: Draws) -> Result<Box<dyn Filter>> {
    let stability = stability()?;
    let make = || StableBloom::new(stability, draws);
    path.map_or_else(make, |path| StableBloom::create(path, stability, draws)).map(boxed)
}

/// Those that never forget come first.
const KINDS: [(Make, Open); 5] = [
    (|path| bloom(path, Hashing::Enhanced), |path, mapped| Bloom::open(path, mapped).map(boxed)),
    (|path| bloom(path, Hashing::Double), |path, mapped| Bloom::open(path, mapped).map(boxed)),
    (
        |path| {
            path.map_or_else(|| BlockedBloom::new(SIZE), |path| BlockedBloom::create(path, SIZE)).map(boxed)
        },
        |path, mapped| BlockedBloom::open(path, mapped).map(boxed),
    ),
    (|path| stable(path, Draws::of_seed(7)), |path, mapped| StableBloom::open(path, mapped).map(boxed)),
    (
        |path| {
            let draws = Draws { seed: 7, decay: Decay::Independent, hashing: Hashing::Double };
            stable(path, draws)
        },
        |path, mapped| StableBloom::open(path, mapped).map(boxed),
    ),
];

fn add(filter: &mut dyn Filter, keys: &[Signature]) -> Vec<bool> {
    let mut seen = vec![false; keys.len()];
    filter.add(keys, &mut seen, &Pulse::STEADY).unwrap();
    seen
}

fn contains(filter: &dyn Filter, keys: &[Signature]) -> Vec<bool> {
    let mut seen = vec![false; keys.len()];
    filter.contains(keys, &mut seen, &Pulse::STEADY).unwrap();
    seen
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn keys() -> impl Strategy<Value = Vec<Signature>> {
    prop::collection::vec((0..500u64).prop_map(Signature), 0..300)
}

/// Asserts that two filters are indistinguishable.
fn assert_same(one: &dyn Filter, other: &dyn Filter) {
    let all: Vec<Signature> = (0..1000).map(Signature).collect();
    assert_eq!(contains(one, &all), contains(other, &all));
    assert_eq!((one.count(), one.bits(), one.hashes()), (other.count(), other.bits(), other.hashes()));
    assert_eq!((one.fill(), one.stability()), (other.fill(), other.stability()));
    assert_eq!(one.storage().contents(), other.storage().contents());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(24)))]

    #[test]
    fn a_batch_is_its_keys_one_by_one(keys in keys()) {
        for (make, _) in KINDS {
            let (mut batch, mut single, mut silent) = (make(None).unwrap(), make(None).unwrap(), make(None).unwrap());
            let seen = add(batch.as_mut(), &keys);
            for (key, seen) in keys.iter().zip(seen) {
                prop_assert_eq!(contains(single.as_ref(), &[*key])[0], seen);
                add(single.as_mut(), &[*key]);
            }
            silent.update(&keys, &Pulse::STEADY).unwrap();
            assert_same(batch.as_ref(), single.as_ref());
            assert_same(batch.as_ref(), silent.as_ref());
        }
    }

    #[test]
    fn what_was_added_is_there(keys in keys()) {
        for (make, _) in &KINDS[..3] {
            let mut filter = make(None).unwrap();
            let new = add(filter.as_mut(), &keys).iter().filter(|seen| !**seen).count();
            prop_assert!(contains(filter.as_ref(), &keys).iter().all(|seen| *seen));
            prop_assert_eq!(filter.count(), new as u64);
        }
    }

    #[test]
    fn a_stable_filter_without_decrements_is_a_bloom_filter(keys in keys(), hashing in 0..2usize, hashes in 1u32..20) {
        let hashing = Hashing::ALL[hashing].1;
        let stability = Stability::new(3000, 1, hashes, 0).unwrap();
        let mut bloom = Bloom::new(Size::Bits { bits: 3000, hashes }, hashing).unwrap();
        let all: Vec<Signature> = (0..1000).map(Signature).collect();
        for decay in [Decay::Consecutive, Decay::Independent] {
            let mut stable = StableBloom::new(stability, Draws { seed: 3, decay, hashing }).unwrap();
            let mut model = bloom.copy().unwrap();
            prop_assert_eq!(add(&mut stable, &keys), add(model.as_mut(), &keys));
            prop_assert_eq!(contains(&stable, &all), contains(model.as_ref(), &all));
            prop_assert_eq!(stable.fill(), model.fill());
        }
        // Many hashes are tested up to the first zero, few all: the answers are those of a set of bits.
        add(&mut bloom, &keys);
        let places = |key: &Signature| {
            let mut probe = probe::Probe::new(*key, hashing);
            (0..hashes).map(|_| probe.next(3000)).collect::<Vec<usize>>()
        };
        let set: std::collections::HashSet<usize> = keys.iter().flat_map(places).collect();
        let expected: Vec<bool> = all.iter().map(|key| places(key).iter().all(|place| set.contains(place))).collect();
        prop_assert_eq!(contains(&bloom, &all), expected);
    }

    #[test]
    fn files_and_copies_are_the_filter(before in keys(), after in keys()) {
        let folder = folder();
        let (saved, mapped) = (folder.path().join("saved"), folder.path().join("mapped"));
        for (make, open) in KINDS {
            let mut memory = make(None).unwrap();
            let mut file = make(Some(&mapped)).unwrap();
            prop_assert_eq!(add(memory.as_mut(), &before), add(file.as_mut(), &before));
            drop(file);
            memory.save(&saved).unwrap();
            let mut others = [open(&saved, false).unwrap(), open(&saved, true).unwrap(), open(&mapped, true).unwrap(), memory.copy().unwrap()];
            let seen = add(memory.as_mut(), &after);
            for other in &mut others {
                prop_assert_eq!(&add(other.as_mut(), &after), &seen);
                assert_same(other.as_ref(), memory.as_ref());
            }
            drop(others);
            // Mapped filters have been updated in their files.
            assert_same(open(&saved, false).unwrap().as_ref(), memory.as_ref());
            assert_same(open(&mapped, false).unwrap().as_ref(), memory.as_ref());
            std::fs::remove_file(&mapped).unwrap();
        }
    }

    #[test]
    fn damage_is_never_served(keys in keys(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let folder = folder();
        let path = folder.path().join("filter");
        for (make, open) in KINDS {
            let mut filter = make(None).unwrap();
            add(filter.as_mut(), &keys);
            filter.save(&path).unwrap();
            let whole = std::fs::read(&path).unwrap();
            let at = at.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            for damaged in [&flipped[..], &whole[..at], &[&whole[..], &[0]].concat()] {
                std::fs::write(&path, damaged).unwrap();
                for mapped in [false, true] {
                    let refused = matches!(open(&path, mapped), Err(Error::Corrupt { .. } | Error::Newer { .. }));
                    prop_assert!(refused);
                }
                prop_assert_eq!(&std::fs::read(&path).unwrap()[..], damaged);
            }
        }
    }
}

#[test]
fn a_mapped_filter_that_was_not_closed_is_refused() {
    let folder = folder();
    for (kind, (make, open)) in KINDS.into_iter().enumerate() {
        let path = folder.path().join(kind.to_string());
        let mut filter = make(Some(&path)).unwrap();
        add(filter.as_mut(), &[Signature(1)]);
        let error = open(&path, true).err().unwrap().to_string();
        assert!(error.contains("at byte 51: it was not closed"), "{error}");
        filter.flush().unwrap();
        assert_same(open(&path, false).unwrap().as_ref(), filter.as_ref());
        add(filter.as_mut(), &[Signature(2)]);
        std::mem::forget(filter);
        assert!(open(&path, true).is_err());
    }
}

#[test]
fn a_file_that_is_there_is_not_made_anew() {
    let folder = folder();
    let path = folder.path().join("filter");
    std::fs::write(&path, "precious").unwrap();
    for (make, open) in KINDS {
        assert!(matches!(make(Some(&path)), Err(Error::Io { .. })));
        assert!(matches!(open(&path, false), Err(Error::Corrupt { offset: 0, .. })));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn one_kind_is_not_another() {
    let folder = folder();
    let path = folder.path().join("filter");
    Bloom::new(SIZE, Hashing::Enhanced).unwrap().save(&path).unwrap();
    assert!(matches!(BlockedBloom::open(&path, false), Err(Error::Corrupt { offset: 0, .. })));
}

#[test]
fn impossible_filters_are_refused() {
    let sizes = [
        Size::Bits { bits: 0, hashes: 1 },
        Size::Bits { bits: MOST_BITS + 1, hashes: 1 },
        Size::Bits { bits: 64, hashes: 0 },
        Size::Bits { bits: 64, hashes: MOST_HASHES + 1 },
        Size::Keys { capacity: 0, error: 0.1 },
        Size::Keys { capacity: 10, error: 0.0 },
        Size::Keys { capacity: 10, error: 1.0 },
        Size::Keys { capacity: 10, error: f64::NAN },
        Size::Keys { capacity: u64::MAX, error: 0.01 },
        Size::Load { bits: 0, capacity: 10 },
        Size::Load { bits: 10, capacity: 0 },
    ];
    for size in sizes {
        assert!(matches!(Bloom::new(size, Hashing::Enhanced), Err(Error::Invalid(_))), "{size:?}");
        assert!(matches!(BlockedBloom::new(size), Err(Error::Invalid(_))), "{size:?}");
    }
    assert!(Size::from_either(Some(1), None, None, Some(1)).is_err());
    assert!(Size::from_either(Some(1), Some(0.1), Some(1), None).is_err());
    for (bits, max, k, p) in [(0, 1, 1, 1), (64, 0, 1, 1), (64, 1, 0, 1), (64, 1, 64, 1), (64, 1, 2, 65)] {
        assert!(matches!(Stability::new(bits, max, k, p), Err(Error::Invalid(_))));
    }
    assert!(Stability::for_bound(64, 0.0, 1, None).is_err());
    assert!(Stability::for_bound(64, 1e-9, 1, Some(1)).is_err());
}

#[test]
fn an_interrupted_batch_counts_what_it_took() {
    let keys: Vec<Signature> = (0..3 * KEYS_PER_BEAT as u64).map(Signature).collect();
    let beats = std::sync::atomic::AtomicUsize::new(0);
    let twice = || beats.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2;
    let mut filter = StableBloom::new(stability().unwrap(), Draws::of_seed(0)).unwrap();
    assert!(matches!(filter.update(&keys, &Pulse::new(&twice)), Err(Error::Stopped)));
    assert_eq!(filter.count(), 2 * KEYS_PER_BEAT as u64);
}
