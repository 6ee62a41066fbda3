//! What is written comes back, in any shape of graph; damage never does.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::graph::coding::Options;
use crate::graph::{Adjacency, Lists as _};
use crate::{Error, Pulse, Result};

/// Lists of a web: some are copied from one of the lists before, with changes; some have runs; some are random.
pub fn webs(most: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    let list = (
        prop::collection::vec(any::<u32>(), 0..20),
        prop::option::weighted(0.7, (1usize..9, any::<u64>())),
        prop::option::weighted(0.4, (any::<u32>(), 0u32..40)),
        prop::bool::weighted(0.2),
    );
    prop::collection::vec(list, 1..most).prop_map(|specs| {
        let nodes = specs.len() as u32;
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for (random, copied, run, none) in specs {
            let mut list: Vec<u32> = random.iter().map(|number| number % nodes).collect();
            if let Some((distance, mask)) = copied
                && let Some(before) = lists.len().checked_sub(distance)
            {
                let kept =
                    lists[before].iter().enumerate().filter(|(index, _)| mask >> (index % 64) & 1 == 1);
                list.truncate(2);
                list.extend(kept.map(|(_, node)| *node));
            }
            if let Some((start, length)) = run {
                list.extend((start % nodes..nodes).take(length as usize));
            }
            list.sort_unstable();
            list.dedup();
            lists.push(if none { Vec::new() } else { list });
        }
        lists
    })
}

fn options() -> impl Strategy<Value = Options> {
    (0u8..12, 0u8..5, 0u8..6).prop_map(|(window, chain, interval)| Options { window, chain, interval })
}

fn weights_of(list: &[u32]) -> Vec<u32> {
    list.iter().map(|node| 1 + node * 7919 % 5 * node).collect()
}

fn write(path: &Path, lists: &[Vec<u32>], weighted: bool, options: Options) -> Written {
    let mut writer = GraphWriter::create(path, lists.len(), weighted, options).unwrap();
    for list in lists {
        let weights = weighted.then(|| weights_of(list));
        writer.push(list, weights.as_deref()).unwrap();
    }
    writer.finish(&Pulse::STEADY).unwrap()
}

fn lists_of(graph: &Adjacency) -> Vec<Vec<u32>> {
    let view = graph.view();
    (0..view.nodes()).map(|node| view.successors(node).to_vec()).collect()
}

fn read(path: &Path) -> Result<Vec<Vec<u32>>> {
    GraphFile::open(path, None)?.adjacency(&Pulse::STEADY).map(|graph| lists_of(&graph))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn gives_back_what_was_written(lists in webs(150), weighted in any::<bool>(), options in options()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        let written = write(&path, &lists, weighted, options);
        let arcs: usize = lists.iter().map(Vec::len).sum();
        prop_assert_eq!((written.nodes, written.arcs), (lists.len() as u64, arcs as u64));
        prop_assert_eq!(written.parts[..PARTS - 1].iter().sum::<u64>(), written.bits);
        let file = GraphFile::open(&path, Some(written.length)).unwrap();
        prop_assert_eq!((file.nodes(), file.arcs(), file.weighted()), (lists.len(), arcs as u64, weighted));
        let graph = file.adjacency(&Pulse::STEADY).unwrap();
        prop_assert_eq!(&lists_of(&graph), &lists);
        prop_assert_eq!(graph.view().weights.is_some(), weighted);
        if let Some(found) = graph.view().weights {
            prop_assert_eq!(found, lists.iter().flat_map(|list| weights_of(list)).collect::<Vec<_>>());
        }
        let mut list = Vec::new();
        for (node, expected) in lists.iter().enumerate() {
            file.successors(node, &mut list).unwrap();
            prop_assert_eq!(&list, expected);
        }
        prop_assert!(file.successors(lists.len(), &mut list).is_err());
        let mut seen = Vec::new();
        let half = lists.len() / 2;
        file.scan(half..lists.len(), &Pulse::STEADY, &mut |node, list| seen.push((node.index(), list.to_vec()))).unwrap();
        prop_assert_eq!(seen, (half..lists.len()).zip(lists[half..].to_vec()).collect::<Vec<_>>());
        let mut all = Vec::new();
        file.visit(&Pulse::STEADY, &mut |list, weights| {
            all.push((list.to_vec(), weights.map(<[u32]>::to_vec)));
            Ok(())
        }).unwrap();
        prop_assert_eq!(all, lists.iter().map(|list| (list.clone(), weighted.then(|| weights_of(list)))).collect::<Vec<_>>());
        let backwards: Vec<u64> = (0..lists.len() as u64).rev().collect();
        let mut many = Vec::new();
        file.successors_of(&backwards, &mut |list| many.push(list.to_vec())).unwrap();
        many.reverse();
        prop_assert_eq!(&many, &lists);
        file.verify(&Pulse::STEADY).unwrap();
        let counted = bits_of(graph.view(), options, &Pulse::STEADY).unwrap();
        prop_assert_eq!((counted.arcs, counted.bits), (written.arcs, written.bits));
    }
}

/// The offsets of the bytes that tests change: all of a small file, in a file of two chunks every 97th.
fn damaged(path: &Path, lists: &[Vec<u32>], step: usize) {
    let whole = std::fs::read(path).unwrap();
    for bit in (0..whole.len() * 8).step_by(step) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(path, &flipped).unwrap();
        assert!(read(path).is_err(), "bit {bit}");
        // The other chunks are still readable, and correct.
        if let Ok(file) = GraphFile::open(path, None) {
            let mut list = Vec::new();
            for node in (0..lists.len()).step_by(step) {
                if file.successors(node, &mut list).is_ok() {
                    assert_eq!(list, lists[node]);
                }
            }
        }
        std::fs::write(path, &whole[..bit / 8]).unwrap();
        assert!(matches!(read(path), Err(Error::Corrupt { .. })), "{} bytes", bit / 8);
    }
    std::fs::write(path, &whole).unwrap();
    assert_eq!(read(path).unwrap(), lists);
    assert!(matches!(GraphFile::open(path, Some(whole.len() as u64 + 1)), Err(Error::Corrupt { .. })));
}

#[test]
fn every_changed_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let small: Vec<Vec<u32>> =
        (0..30u32).map(|node| (0..30).filter(|other| other * node % 5 < 2).collect()).collect();
    write(&path, &small, true, Options::default());
    damaged(&path, &small, 1);
    let large: Vec<Vec<u32>> = (0..5000u32).map(|node| (node / 9..node / 9 + node % 7).collect()).collect();
    write(&path, &large, false, Options::default());
    damaged(&path, &large, 977);
}

/// Puts the right checksums on changed bytes.
fn forge(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER;
    let end = bytes.len() - 4;
    let directory = footer - ENTRY;
    if let Some(chunk) = bytes.get(16..directory) {
        let checksum = crc32fast::hash(chunk);
        bytes[footer - 4..footer].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes[directory..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_hostile_file_with_right_checksums_is_survived(
        lists in webs(60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        options in options(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        write(&path, &lists, false, options);
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, byte) in changes {
            // The numbers of nodes and arcs stay: they say how much memory is needed.
            let end = bytes.len() - FOOTER;
            bytes[16 + at.index(end - 16)] = byte;
        }
        forge(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(file) = GraphFile::open(&path, None) {
            let mut list = Vec::new();
            for node in 0..file.nodes() {
                if file.successors(node, &mut list).is_ok() {
                    prop_assert!(list.is_sorted_by(|one, other| one < other));
                    prop_assert!(list.iter().all(|other| (*other as usize) < file.nodes()));
                }
            }
            let _ = file.adjacency(&Pulse::STEADY);
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads_and_wrong_lists_are_refused() {
    let lists: Vec<Vec<u32>> =
        (0..20_000u32).map(|node| (node / 3..node / 3 + node % 11).collect()).collect();
    let folder = tempfile::tempdir().unwrap();
    let bytes = |threads: usize| {
        let path = folder.path().join("a.graph");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| write(&path, &lists, false, Options::default()));
        std::fs::read(&path).unwrap()
    };
    assert_eq!(bytes(1), bytes(3));
    let path = folder.path().join("b.graph");
    let new = |weighted| GraphWriter::create(&path, 3, weighted, Options::default()).unwrap();
    assert!(new(false).push(&[1, 1], None).is_err());
    assert!(new(false).push(&[2, 1], None).is_err());
    assert!(new(false).push(&[3], None).is_err());
    assert!(new(false).push(&[1], Some(&[1])).is_err());
    assert!(new(true).push(&[1], None).is_err());
    assert!(new(true).push(&[1], Some(&[0])).is_err());
    assert!(new(false).finish(&Pulse::STEADY).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    write(&path, &[], false, Options::default());
    assert_eq!(read(&path).unwrap(), Vec::<Vec<u32>>::new());
}
