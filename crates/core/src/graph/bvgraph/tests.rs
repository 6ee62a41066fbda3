//! Streams are those of dsi-bitstream; what is written comes back; what is changed is noticed.

use std::fs;
use std::path::Path;

use dsi_bitstream::prelude::{
    BE, BitWrite, BufBitWriter, DeltaWrite, GammaWrite, MemWordWriterVec, ZetaWrite,
};
use proptest::prelude::*;

use super::bits::{BigEndianReader, BigEndianWriter};
use super::*;
use crate::codes::words::{Delta, Gamma, Unary, Words, Zeta};
use crate::graph::coding::Options;
use crate::graph::file::webs;
use crate::{Pulse, Result};

fn write(basename: &Path, lists: &[Vec<u32>], options: Options) {
    let mut writer = BvGraphWriter::create(basename, lists.len(), options).unwrap();
    lists.iter().for_each(|list| writer.push(list).unwrap());
    let (arcs, _) = writer.finish(&Pulse::STEADY).unwrap();
    assert_eq!(arcs as usize, lists.iter().map(Vec::len).sum::<usize>());
}

fn read(basename: &Path) -> Result<Vec<Vec<u32>>> {
    let mut lists = Vec::new();
    BvGraph::open(basename)?.scan(&Pulse::STEADY, |_, list| lists.push(list.to_vec()))?;
    Ok(lists)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn streams_are_those_of_dsi_bitstream(numbers in prop::collection::vec((any::<u64>(), 1u32..64, 0u8..4), 0..60)) {
        let mut ours = BigEndianWriter::default();
        let mut peer = BufBitWriter::<BE, _>::new(MemWordWriterVec::new(Vec::<u64>::new()));
        for (number, shift, code) in &numbers {
            let number = number >> shift;
            match code {
                0 => { Unary.write(number % 200, &mut ours); peer.write_unary(number % 200).unwrap(); }
                1 => { Gamma.write(number, &mut ours); peer.write_gamma(number).unwrap(); }
                2 => { Delta.write(number, &mut ours); peer.write_delta(number).unwrap(); }
                _ => { Zeta(3).write(number, &mut ours); peer.write_zeta(number, 3).unwrap(); }
            }
        }
        peer.flush().unwrap();
        let bytes = ours.finish();
        let expected: Vec<u8> = peer.into_inner().unwrap().into_inner().into_iter().flat_map(u64::to_ne_bytes).collect();
        prop_assert_eq!(&bytes, &expected);
        let mut bits = BigEndianReader::new(&bytes);
        for (number, shift, code) in &numbers {
            let number = number >> shift;
            match code {
                0 => prop_assert_eq!(Unary.read(&mut bits), Some(number % 200)),
                1 => prop_assert_eq!(Gamma.read(&mut bits), Some(number)),
                2 => prop_assert_eq!(Delta.read(&mut bits), Some(number)),
                _ => prop_assert_eq!(Zeta(3).read(&mut bits), Some(number)),
            }
        }
    }

    #[test]
    fn gives_back_what_was_written(lists in webs(100), window in 0u8..9, interval in 0u8..6) {
        let folder = tempfile::tempdir().unwrap();
        let basename = folder.path().join("a.b");
        write(&basename, &lists, Options { window, chain: 3, interval });
        prop_assert_eq!(&read(&basename).unwrap(), &lists);
        let graph = BvGraph::open(&basename).unwrap().adjacency(&Pulse::STEADY).unwrap();
        prop_assert_eq!(graph.view().nodes(), lists.len());
        fs::remove_file(file(&basename, "offsets")).unwrap();
        prop_assert_eq!(&read(&basename).unwrap(), &lists);
    }
}

#[test]
fn every_changed_bit_is_noticed() {
    let lists: Vec<Vec<u32>> =
        (0..12u32).map(|node| (0..12).filter(|other| other * node % 5 < 2).collect()).collect();
    let folder = tempfile::tempdir().unwrap();
    let basename = folder.path().join("g");
    write(&basename, &lists, Options::default());
    for extension in ["graph", "offsets", "properties"] {
        let path = file(&basename, extension);
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &flipped).unwrap();
            // A flip in a comment or a name of a property that is not needed may leave the graph as it is.
            if let Ok(found) = read(&basename) {
                assert_eq!(found, lists, "bit {bit} of {extension}");
            }
            fs::write(&path, &whole[..bit / 8]).unwrap();
            if let Ok(found) = read(&basename) {
                assert_eq!(found, lists, "{} bytes of {extension}", bit / 8);
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(read(&basename).unwrap(), lists);
}

#[test]
fn the_graph_of_others_is_checked_without_checksums() {
    let lists: Vec<Vec<u32>> =
        (0..40u32).map(|node| (0..40).filter(|other| (other + node) % 7 < 3).collect()).collect();
    let folder = tempfile::tempdir().unwrap();
    let basename = folder.path().join("g");
    write(&basename, &lists, Options::default());
    let properties = fs::read_to_string(file(&basename, "properties")).unwrap();
    let plain: String = properties
        .lines()
        .filter(|line| !line.starts_with("crc32"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(file(&basename, "properties"), &plain).unwrap();
    assert_eq!(read(&basename).unwrap(), lists);
    let whole = fs::read(file(&basename, "graph")).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(file(&basename, "graph"), &flipped).unwrap();
        // Without a checksum a flip may give another graph, but never a crash or one that is not a graph.
        if let Ok(found) = read(&basename) {
            assert!(found.iter().all(|list| list.is_sorted_by(|one, other| one < other)));
            assert!(found.iter().flatten().all(|node| *node < 40));
        }
    }
    fs::write(file(&basename, "graph"), &whole).unwrap();
    for (from, to) in
        [("nodes=40", "nodes=41"), ("nodes=40", "nodes=-1"), ("arcs=", "arcs=9"), ("version=0", "version=7")]
    {
        fs::write(file(&basename, "properties"), plain.replace(from, to)).unwrap();
        assert!(read(&basename).is_err(), "{to}");
    }
}
