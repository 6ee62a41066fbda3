//! The graph of several collections as one, merged by ranges of names.
//!
//! Each agent of a divided crawl has a table, sorted by key ([`super::super::order`]), and a log of links. Their graph is
//! that of one collection with all pages, and is made without copying any:
//!
//! 1. **Ranges.** The names of all parts are cut into ranges of about the same number of rows, so that the rows and the
//!    links of a range fit into a share of the memory. All cores take the next ranges; results are written in order.
//! 2. **Names.** In each range the tables are merged. Of a URL that several parts have, the newest version counts; of two
//!    equally new ones, that of the earlier part. What is left is numbered through all ranges.
//! 3. **Copies.** Each part has marked its own. Pages of different parts with the same text are found by sorting their
//!    digests. The original is the page that is no copy in the earliest part; pages that only later parts have stand for
//!    it.
//! 4. **Links.** A pass over each log finds the newest record of each page. In each range the targets of these records
//!    are sorted by signature, so that each distinct one is looked up once and in the order of the file of nodes, and
//!    then by source: these are the lists.
//!
//! The result is a base ([`super::Base`]) that covers all parts. Cost: 10 bytes of memory per page, 64 MiB for each
//! external sort, and the memory for ranges; a pass over the tables, and one over the logs of links, of which the newest
//! records are read twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::PageRow;
use super::base::{BaseFiles, LinkWriter};
use super::nodes::{BaseNode, NodeWriter, Nodes};
use super::pending::Pending;
use super::union::Links;
use crate::disk::log::LogReader;
use crate::graph::blocks::MOST_NODES;
use crate::graph::hashed::{HashSorter, Hashed};
use crate::graph::scratch::{RunReader, RunWriter};
use crate::graph::{LINKS, targets_of};
use crate::{Error, Pulse, Result, Signature};

/// The memory of a row while a range is merged, in bytes.
const ROW: u64 = 300;
/// The memory of a link while a range is translated, in times its 8 bytes in the log.
const LINK: u64 = 4;
/// The number of places at which the names of a part can be cut.
const PIECES: usize = 1 << 12;
const ROWS_PER_BEAT: usize = 1 << 10;

/// A collection whose pages are in the graph.
pub trait Part: Sync {
    /// At most `count` ranges of about the same size that are all its names: the first key and the number of rows of each.
    fn pieces(&self, count: usize) -> Result<Vec<(Vec<u8>, u64)>>;

    /// The newest version of each URL whose key is in a range, in key order.
    fn versions(&self, keys: &KeyRange) -> Result<Box<dyn Iterator<Item = Result<Version>> + '_>>;

    /// The log of links, and its committed length.
    fn links(&self) -> (PathBuf, u64);
}

/// A range of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first.
    pub from: Vec<u8>,
    /// The end, exclusive; `None`: there is none.
    pub to: Option<Vec<u8>>,
}

/// What a part knows of a URL.
#[derive(Clone, Debug)]
pub struct Version {
    /// What it says of the node.
    pub row: PageRow,
    /// When, in any unit.
    pub time: u64,
    /// The text of a page.
    pub text: Option<Text>,
}

/// The text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its digest.
    pub digest: u128,
    /// Whether it is no copy in its own part.
    pub is_own: bool,
    /// The URL that the page stands for if it is no copy: the canonical one that it declares.
    pub canonical: Option<Signature>,
}

/// A merge of several parts.
pub struct Merge<'a> {
    /// The parts, in order.
    pub parts: &'a [&'a dyn Part],
    /// Whether a page with the text of another part's page stands for that one.
    pub folds_copies: bool,
    /// The memory for ranges, in bytes.
    pub memory: usize,
}

/// The log of links of a part.
struct Log {
    path: PathBuf,
    reader: Option<LogReader>,
}

/// The nodes as they are merged.
struct Merged {
    /// The part that has the newest version of each node.
    owners: Vec<u16>,
    /// The nodes of each range.
    ranges: Vec<Range<usize>>,
    /// The lengths of the files: urls and nodes.
    lengths: [u64; 2],
}

/// The newest version of a URL, and where it is.
struct Newest {
    version: Version,
    part: u16,
    /// The first part whose newest version of the URL has the same text, and is no copy there.
    first: Option<u16>,
}

/// A node with a text that others may have. Of one text, the original is the least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Copied {
    digest: u128,
    /// [`Newest::first`]; the largest number if there is none.
    first: u16,
    node: BaseNode,
    part: u16,
    canonical: Option<Signature>,
}

impl Copied {
    /// The node, with the original of its text.
    fn of(&self, original: &Copied) -> BaseNode {
        let known_in = if self.first == NOWHERE { self.part } else { self.first };
        if self.node == original.node && original.first != NOWHERE {
            BaseNode { alias: self.canonical, is_copy: false, ..self.node }
        } else if original.first == NOWHERE || known_in == original.first {
            // One part has both, and has said what they are to each other.
            self.node
        } else {
            BaseNode { alias: Some(original.node.signature), is_copy: true, ..self.node }
        }
    }
}

/// In no part.
const NOWHERE: u16 = u16::MAX;

impl Hashed for Copied {
    fn hash(&self) -> u64 {
        (self.digest >> 64) as u64
    }

    fn write(&self, run: &mut RunWriter) -> Result<()> {
        run.bytes(&self.digest.to_le_bytes())?;
        run.number(u64::from(self.first))?;
        self.node.write(run)?;
        run.number(u64::from(self.part))?;
        run.bytes(&self.canonical.map_or(0, |canonical| canonical.0).to_le_bytes())
    }

    fn read(run: &mut RunReader) -> Result<Copied> {
        let digest = u128::from_le_bytes(run.array()?);
        let (first, node, part) = (run.number()? as u16, BaseNode::read(run)?, run.number()? as u16);
        let canonical = u64::from_le_bytes(run.array()?);
        let canonical = (canonical != 0).then_some(Signature(canonical));
        Ok(Copied { digest, first, node, part, canonical })
    }
}

/// The lists of a range, one after the other, and their ends.
#[derive(Default)]
struct Translated {
    followed: Vec<u32>,
    nofollow: Vec<u32>,
    ends: Vec<(usize, usize)>,
    pending: Vec<Pending>,
}

impl Merge<'_> {
    /// Writes the graph as a base; returns the lengths of its files, in the order of [`BaseFiles`].
    pub fn write(&self, files: &BaseFiles, pulse: &Pulse) -> Result<[u64; 5]> {
        if self.parts.len() > usize::from(NOWHERE) {
            return Err(Error::Invalid(format!("a graph of {} collections is too large", self.parts.len())));
        }
        let logs = self.parts.iter().map(|part| Log::open(*part)).collect::<Result<Vec<_>>>()?;
        let Merged { owners, ranges, lengths: [urls, nodes] } = self.write_nodes(&logs, files, pulse)?;
        let index = Nodes::open(&files.nodes, nodes)?;
        let records = newest_records(&logs, &index, &owners, pulse)?;
        let translate =
            |range: &Range<usize>| translate(range.clone(), &logs, &index, &owners, &records, pulse);
        let mut writer = LinkWriter::create(files, owners.len())?;
        for together in ranges.chunks(rayon::current_num_threads()) {
            let translated = together.par_iter().map(translate).collect::<Result<Vec<_>>>()?;
            for Translated { followed, nofollow, ends, pending } in translated {
                let mut start = (0, 0);
                for end in ends {
                    writer.push(&followed[start.0..end.0], &nofollow[start.1..end.1])?;
                    start = end;
                }
                pending.into_iter().try_for_each(|link| writer.push_pending(link))?;
            }
        }
        let [links, nofollow, pending] = writer.finish(pulse)?;
        Ok([urls, nodes, links, nofollow, pending])
    }

    /// Merges the names and writes them, numbered.
    fn write_nodes(&self, logs: &[Log], files: &BaseFiles, pulse: &Pulse) -> Result<Merged> {
        let mut writer = NodeWriter::create(files)?;
        let mut texts = HashSorter::<Copied>::new(files.nodes.parent().unwrap_or(Path::new(".")));
        let (mut owners, mut ranges) = (Vec::new(), Vec::new());
        for together in self.ranges(logs, pulse)?.chunks(rayon::current_num_threads()) {
            let merged =
                together.par_iter().map(|keys| self.merge(keys, pulse)).collect::<Result<Vec<_>>>()?;
            for versions in merged {
                let start = owners.len();
                for Newest { version: Version { row, text, .. }, part, first } in versions {
                    writer.push_key(&row.key)?;
                    let PageRow { signature, is_page, alias, .. } = row;
                    let (node, is_copy) = (owners.len() as u32, text.is_some_and(|text| !text.is_own));
                    let node = BaseNode { signature, node, is_page, alias, is_copy };
                    match text.filter(|_| self.folds_copies) {
                        Some(Text { digest, canonical, .. }) => {
                            let first = first.unwrap_or(NOWHERE);
                            texts.push(Copied { digest, first, node, part, canonical })?;
                        }
                        None => writer.push(node)?,
                    }
                    owners.push(part);
                }
                ranges.push(start..owners.len());
            }
            if owners.len() as u64 >= MOST_NODES {
                return Err(Error::Invalid(format!("a graph of {} nodes is too large", owners.len())));
            }
        }
        texts.finish(pulse, |texts| {
            for copies in texts.chunk_by(|one, other| one.digest == other.digest) {
                for copy in copies {
                    writer.push(copy.of(&copies[0]))?;
                }
            }
            Ok(())
        })?;
        Ok(Merged { owners, ranges, lengths: writer.finish(pulse)? })
    }

    /// The ranges of names, which together are all.
    fn ranges(&self, logs: &[Log], pulse: &Pulse) -> Result<Vec<KeyRange>> {
        let mut pieces = Vec::new();
        for part in self.parts {
            pulse.beat()?;
            pieces.extend(part.pieces(PIECES)?);
        }
        pieces.sort();
        let rows: u64 = pieces.iter().map(|(_, rows)| rows).sum();
        let links: u64 = logs.iter().filter_map(|log| log.reader.as_ref()).map(LogReader::len).sum();
        let share = (self.memory / rayon::current_num_threads()).max(1) as u64;
        let ranges = (rows * ROW + links * LINK).div_ceil(share).max(1);
        let (even, mut sum) = (rows.div_ceil(ranges), 0);
        let mut cuts = vec![KeyRange::default()];
        for (first, rows) in pieces {
            if let Some(last) = cuts.last_mut().filter(|last| sum >= even && last.from < first) {
                last.to = Some(first.clone());
                cuts.push(KeyRange { from: first, to: None });
                sum = 0;
            }
            sum += rows;
        }
        Ok(cuts)
    }

    /// The newest version of each node of a range, in key order.
    fn merge(&self, keys: &KeyRange, pulse: &Pulse) -> Result<Vec<Newest>> {
        let mut parts = self.parts.iter().map(|part| part.versions(keys)).collect::<Result<Vec<_>>>()?;
        // The next version of each part; the heap has their keys.
        let mut next: Vec<Option<Version>> = Vec::with_capacity(parts.len());
        let mut heads = BinaryHeap::new();
        for (part, versions) in parts.iter_mut().enumerate() {
            let mut version = versions.next().transpose()?;
            heads.extend(version.as_mut().map(|version| head(version, part)));
            next.push(version);
        }
        let mut merged: Vec<Newest> = Vec::new();
        for count in 0.. {
            if count % ROWS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let Some(Reverse((key, _, part))) = heads.pop() else { break };
            let found = next[part].take();
            next[part] = parts[part].next().transpose()?;
            heads.extend(next[part].as_mut().map(|version| head(version, part)));
            let Some(mut version) = found else { continue };
            match merged.last_mut().filter(|newest| newest.version.row.key == key) {
                Some(newest) => newest.meet(part as u16, &version),
                None => {
                    version.row.key = key;
                    let first = version.text.filter(|text| text.is_own).map(|_| part as u16);
                    merged.push(Newest { version, part: part as u16, first });
                }
            }
        }
        merged.retain(|newest| newest.version.row.is_node());
        Ok(merged)
    }
}

impl Newest {
    /// Meets the version that another part has.
    fn meet(&mut self, part: u16, other: &Version) {
        let is_same = |text: &Text| self.version.text.is_some_and(|own| own.digest == text.digest);
        if other.text.filter(|text| text.is_own).as_ref().is_some_and(is_same) {
            self.first = Some(self.first.map_or(part, |first| first.min(part)));
        }
    }
}

/// The place of a version in the order of the merge; takes its key.
fn head(version: &mut Version, part: usize) -> Reverse<(Vec<u8>, Reverse<u64>, usize)> {
    Reverse((std::mem::take(&mut version.row.key), Reverse(version.time), part))
}

impl Log {
    fn open(part: &dyn Part) -> Result<Log> {
        let (path, committed) = part.links();
        let reader = (committed > 0).then(|| LogReader::open(&path, LINKS, committed)).transpose()?;
        Ok(Log { path, reader })
    }
}

/// The offset of the newest record of each page in the log of its owner; 0 if it has none.
fn newest_records(logs: &[Log], index: &Nodes, owners: &[u16], pulse: &Pulse) -> Result<Vec<AtomicU64>> {
    let records: Vec<AtomicU64> = owners.iter().map(|_| AtomicU64::new(0)).collect();
    logs.par_iter().enumerate().try_for_each(|(part, log)| {
        let Some(log) = &log.reader else { return Ok(()) };
        log.scan(0, pulse, |record| {
            if let Some(BaseNode { node, is_page: true, .. }) = index.find(record.key)?
                && usize::from(owners[node as usize]) == part
            {
                // A page has one owner, whose records come in order.
                records[node as usize].store(record.offset, Ordering::Relaxed);
            }
            Ok(())
        })
    })?;
    Ok(records)
}

/// The lists of a range of nodes.
fn translate(
    range: Range<usize>,
    logs: &[Log],
    index: &Nodes,
    owners: &[u16],
    records: &[AtomicU64],
    pulse: &Pulse,
) -> Result<Translated> {
    let place = |node: usize| (owners[node], records[node].load(Ordering::Relaxed), node as u32);
    let mut places: Vec<(u16, u64, u32)> = range.clone().map(place).filter(|place| place.1 > 0).collect();
    places.sort_unstable();
    let mut links: Vec<Pending> = Vec::new();
    for (count, (part, offset, source)) in places.into_iter().enumerate() {
        if count.is_multiple_of(ROWS_PER_BEAT) {
            pulse.beat()?;
        }
        let Log { path, reader: Some(log) } = &logs[usize::from(part)] else { continue };
        let (followed, nofollow) = targets_of(path, &log.get(offset)?)?;
        links.extend(followed.map(|target| Pending { target, source, nofollow: false }));
        links.extend(nofollow.map(|target| Pending { target, source, nofollow: true }));
    }
    links.sort_unstable();
    links.dedup();
    let (mut arcs, mut pending) = (Vec::with_capacity(links.len()), Vec::new());
    for (count, same) in links.chunk_by(|one, other| one.target == other.target).enumerate() {
        if count.is_multiple_of(ROWS_PER_BEAT) {
            pulse.beat()?;
        }
        match index.find(same[0].target)? {
            Some(found) => arcs.extend(same.iter().map(|link| (link.source, link.nofollow, found.node))),
            None => pending.extend_from_slice(same),
        }
    }
    drop(links);
    arcs.sort_unstable();
    let mut translated = Translated { pending, ..Translated::default() };
    let (mut arcs, mut links) = (arcs.into_iter().peekable(), Links::default());
    for node in range.start as u32..range.end as u32 {
        links.clear();
        while let Some((_, nofollow, target)) = arcs.next_if(|(source, ..)| *source == node) {
            if nofollow { &mut links.nofollow } else { &mut links.followed }.push(target);
        }
        links.order(node);
        translated.followed.extend_from_slice(&links.followed);
        translated.nofollow.extend_from_slice(&links.nofollow);
        translated.ends.push((translated.followed.len(), translated.nofollow.len()));
    }
    Ok(translated)
}
