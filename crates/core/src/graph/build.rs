//! Building the compressed graph from the log of links.
//!
//! The nodes are the keys of the log, numbered by increasing signature; a later record about a page
//! replaces the earlier one. A link to a page that is not a key is dropped, and so are links of a page to
//! itself and all but one of several links to the same page.
//!
//! One pass over the log collects key and offset of every record, which are sorted: 16 bytes per record is
//! all the memory it takes. Then the record of each page is read again, in node order, and its list is
//! written directly to the file: a link costs no memory, only one search among the keys (see
//! [`super::search`]). A log larger than memory costs one random read per page.

use std::path::Path;

use super::blocks::MOST_NODES;
use super::compressed::GraphWriter;
use super::{LINKS, Node, targets_of};
use crate::disk::log::LogReader;
use crate::signature::interpolation::find;
use crate::{Error, Pulse, Result, Signature};

const NODES_PER_BEAT: usize = 1 << 12;

/// The result of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of arcs.
    pub arcs: u64,
    /// The length of the file, to commit.
    pub length: u64,
}

/// Builds the graph of the first `committed` bytes of a log of links into the file `target`.
pub fn build(links: &Path, committed: u64, target: &Path, pulse: &Pulse) -> Result<Built> {
    let log = LogReader::open(links, LINKS, committed)?;
    let pages = last_records(&log, pulse)?;
    if pages.len() as u64 > MOST_NODES {
        return Err(Error::Invalid(format!("a graph of {} nodes is too large", pages.len())));
    }
    let mut writer = GraphWriter::create(target, pages.len())?;
    let mut successors = Vec::new();
    for (index, (signature, offset)) in pages.iter().enumerate() {
        if index.is_multiple_of(NODES_PER_BEAT) {
            pulse.beat()?;
        }
        let (targets, _) = targets_of(links, &log.get(*offset)?)?;
        let nodes = targets.filter_map(|target| find(pages.len(), |page| pages[page].0, target));
        successors.clear();
        successors.extend(nodes.filter(|node| *node != index).map(|node| Node(node as u32)));
        successors.sort_unstable();
        successors.dedup();
        writer.push(*signature, &successors)?;
    }
    let (arcs, length) = writer.finish()?;
    Ok(Built { nodes: pages.len(), arcs, length })
}

/// Every key of the log, increasing, with the offset of its last record.
fn last_records(log: &LogReader, pulse: &Pulse) -> Result<Vec<(Signature, u64)>> {
    let mut records = Vec::new();
    log.scan(0, pulse, |record| {
        records.push((record.key, record.offset));
        Ok(())
    })?;
    records.sort_unstable();
    records.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = later.1;
        }
        same
    });
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::log::LogWriter;
    use crate::graph::{Graph, Successors};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn write_log(path: &Path, records: &[(u64, Vec<u64>)]) -> u64 {
        let mut log = LogWriter::open(path, LINKS, 0).unwrap();
        for (key, targets) in records {
            let payload: Vec<u8> = targets.iter().flat_map(|target| target.to_le_bytes()).collect();
            log.append(Signature(*key), &payload).unwrap();
        }
        log.sync().unwrap()
    }

    proptest! {
        #[test]
        fn is_the_graph_of_the_last_records(records in prop::collection::vec((0u64..150, prop::collection::vec(0u64..200, 0..20)), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let (links, target) = (dir.path().join("links.log"), dir.path().join("links.graph"));
            let spread = |small: u64| small.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let records: Vec<(u64, Vec<u64>)> =
                records.into_iter().map(|(key, targets)| (spread(key), targets.into_iter().map(spread).collect())).collect();
            let committed = write_log(&links, &records);
            let built = build(&links, committed, &target, &Pulse::STEADY).unwrap();

            let pages: BTreeMap<u64, Vec<u64>> = records.into_iter().collect();
            let model: BTreeMap<u64, BTreeSet<u64>> = pages.iter().map(|(key, targets)| {
                let kept = targets.iter().copied().filter(|target| target != key && pages.contains_key(target));
                (*key, kept.collect())
            }).collect();
            let graph = Graph::open(&target, built.length).unwrap();
            prop_assert_eq!(built.nodes, model.len());
            prop_assert_eq!(built.arcs as usize, model.values().map(BTreeSet::len).sum::<usize>());
            prop_assert_eq!((graph.nodes(), graph.arcs()), (built.nodes, built.arcs));
            for (number, (key, targets)) in model.iter().enumerate() {
                let node = Node(number as u32);
                prop_assert_eq!(graph.signature(node).unwrap(), Signature(*key));
                let successors = graph.successors(node).unwrap();
                let signatures: Result<BTreeSet<u64>> = successors.into_iter().map(|n| Ok(graph.signature(n)?.0)).collect();
                prop_assert_eq!(&signatures.unwrap(), targets);
            }
        }
    }

    #[test]
    fn a_record_that_ends_within_a_signature_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let (links, target) = (dir.path().join("links.log"), dir.path().join("links.graph"));
        let mut log = LogWriter::open(&links, LINKS, 0).unwrap();
        let offset = log.append(Signature(1), &[0; 13]).unwrap();
        let committed = log.sync().unwrap();
        let error = build(&links, committed, &target, &Pulse::STEADY).unwrap_err();
        assert!(matches!(error, Error::Corrupt { offset: at, .. } if at == offset));
    }

    #[test]
    fn stops_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let (links, target) = (dir.path().join("links.log"), dir.path().join("links.graph"));
        let committed = write_log(&links, &[(1, vec![2]), (2, vec![1])]);
        let stop = || false;
        assert!(matches!(build(&links, committed, &target, &Pulse::new(&stop)), Err(Error::Stopped)));
        assert!(!target.exists());
    }
}
