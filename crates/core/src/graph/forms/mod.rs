//! The forms of graphs as text: edge lists, METIS, and the files of Common Crawl's web graphs.
//!
//! A reader yields a [`Stream`]: the arcs, sorted externally, so that a graph of any size takes the memory that
//! [`Reading`] allows, and a file of names. A stream goes to a [`Sink`], list by list: memory, a compressed file,
//! or text again. [`detect`] finds the form of a file by its content.

mod common_crawl;
mod convert;
mod detect;
mod edge_list;
mod ids;
mod metis;
mod names;
mod output;
mod ranks;
mod text;
mod write;

use std::path::{Path, PathBuf};

use super::adjacency::Adjacency;
use super::names::{Names, TEMPORARY, temporary_folder};
use super::sort::{ArcSorter, List, SortedArcs};
use super::{BvGraphWriter, GraphWriter};
use crate::settings::choices;
use crate::{Error, Pulse, Result};
use ids::Ids;

pub use convert::{Conversion, Converted, bare, convert, names_beside};
pub use detect::detect;
pub use edge_list::EdgeListWriter;
pub use ranks::{HostRanks, read_ranks, write_ranks};
pub use write::write;

choices! {
    /// The form of the file or files of a graph.
    pub enum Form, "form of graphs" {
        /// A line for each arc: source, target and perhaps a weight.
        EdgeList = "edge-list",
        /// METIS, for undirected graphs: a line with the neighbours of each node.
        Metis = "metis",
        /// Common Crawl's web graphs: a file of vertices and one of edges.
        CommonCrawl = "common-crawl",
        /// The compressed files of the WebGraph framework.
        BvGraph = "bvgraph",
        /// Crivello's own compressed file.
        Crivello = "crivello",
    }
}

/// Reads a graph in a text form.
pub fn read(path: &Path, form: Form, reading: &Reading<'_>, pulse: &Pulse) -> Result<Stream> {
    match form {
        Form::EdgeList => edge_list::read(path, reading, pulse),
        Form::Metis => metis::read(path, reading, pulse),
        Form::CommonCrawl => common_crawl::read(path, reading, pulse),
        Form::BvGraph | Form::Crivello => {
            Err(Error::Invalid(format!("{} is not a text: it is opened, not read", path.display())))
        }
    }
}

/// Reads a graph in a text form into memory, with its names; scratch files go to `folder`.
pub fn load(
    path: &Path,
    form: Form,
    memory: usize,
    count: bool,
    folder: Option<&Path>,
    pulse: &Pulse,
) -> Result<(Adjacency, Option<Names>)> {
    let folder = temporary_folder(folder)?;
    let names = folder.path().join(TEMPORARY);
    let stream = read(path, form, &Reading { folder: folder.path(), memory, count, names: &names }, pulse)?;
    let named = stream.named;
    let graph = stream.collect(pulse)?;
    Ok((graph, if named { Some(Names::within(folder)?) } else { None }))
}

/// How a text is read.
pub struct Reading<'a> {
    /// Where scratch files go.
    pub folder: &'a Path,
    /// The memory for sorting, in bytes.
    pub memory: usize,
    /// Whether the number of parallel arcs becomes their weight.
    pub count: bool,
    /// The file that the names go to, if there are any.
    pub names: &'a Path,
}

/// Where the lists of a graph go, in node order.
pub trait Sink {
    /// Takes the successors of the next node, increasing and distinct, and their weights.
    fn push(&mut self, successors: &[u32], weights: Option<&[u32]>) -> Result<()>;
}

impl Sink for GraphWriter {
    fn push(&mut self, successors: &[u32], weights: Option<&[u32]>) -> Result<()> {
        GraphWriter::push(self, successors, weights)
    }
}

impl Sink for BvGraphWriter {
    fn push(&mut self, successors: &[u32], _weights: Option<&[u32]>) -> Result<()> {
        BvGraphWriter::push(self, successors)
    }
}

/// How the nodes of sorted arcs are numbered.
enum Numbering {
    /// By their numbers.
    Same,
    /// By the ranks of their numbers.
    Ranks(Ids),
}

/// A graph that was read: its arcs in order, each once.
pub struct Stream {
    /// The number of nodes.
    pub nodes: usize,
    /// Whether the arcs have weights.
    pub weighted: bool,
    /// Whether the nodes have names.
    pub named: bool,
    arcs: SortedArcs,
    /// The same arcs reversed, which must be the same, and the file that says so.
    mirror: Option<(SortedArcs, PathBuf)>,
    numbering: Numbering,
}

impl Stream {
    /// Hands every node's list to `sink`; returns the number of arcs.
    pub fn drain(mut self, sink: &mut dyn Sink, pulse: &Pulse) -> Result<u64> {
        let (mut next, mut arcs) = (0usize, 0);
        let (nodes, weighted) = (self.nodes, self.weighted);
        let nothing = weighted.then_some(&[][..]);
        let mut mapped = Vec::new();
        self.arcs.scan(pulse, |list| {
            if let Some((mirror, path)) = &mut self.mirror {
                check_mirror(list, mirror.next_list()?, path)?;
            }
            let (source, targets) = match &self.numbering {
                Numbering::Same => (list.source, list.targets),
                Numbering::Ranks(ids) => {
                    mapped.clear();
                    mapped.extend(list.targets.iter().map(|target| ids.rank(*target)));
                    (ids.rank(list.source), &mapped[..])
                }
            };
            while next < source as usize {
                sink.push(&[], nothing)?;
                next += 1;
            }
            sink.push(targets, weighted.then_some(list.counts))?;
            next += 1;
            arcs += targets.len() as u64;
            Ok(())
        })?;
        for number in next..nodes {
            if number.is_multiple_of(1 << 16) {
                pulse.beat()?;
            }
            sink.push(&[], nothing)?;
        }
        if let Some((mirror, path)) = &mut self.mirror
            && let Some(list) = mirror.next_list()?
        {
            let (one, other) = (u64::from(list.targets[0]) + 1, u64::from(list.source) + 1);
            return Err(one_sided(path, one, other));
        }
        Ok(arcs)
    }

    /// The graph in memory.
    pub fn collect(self, pulse: &Pulse) -> Result<Adjacency> {
        let mut lists = Collected::new(self.nodes, self.weighted);
        self.drain(&mut lists, pulse)?;
        Ok(lists.finish())
    }
}

/// A graph that is collected in memory.
pub struct Collected {
    offsets: Vec<u64>,
    targets: Vec<u32>,
    weights: Option<Vec<u32>>,
}

impl Collected {
    /// An empty graph, with room for the lists of `nodes` nodes.
    pub fn new(nodes: usize, weighted: bool) -> Collected {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        Collected { offsets, targets: Vec::new(), weights: weighted.then(Vec::new) }
    }

    /// The graph.
    pub fn finish(self) -> Adjacency {
        Adjacency::trusted(self.offsets, self.targets, self.weights)
    }
}

impl Sink for Collected {
    fn push(&mut self, successors: &[u32], weights: Option<&[u32]>) -> Result<()> {
        self.targets.extend_from_slice(successors);
        if let (Some(kept), Some(weights)) = (&mut self.weights, weights) {
            kept.extend_from_slice(weights);
        }
        self.offsets.push(self.targets.len() as u64);
        Ok(())
    }
}

/// Checks that an undirected graph has the reverse of every arc: that a node's successors are its predecessors.
fn check_mirror(list: List<'_>, predecessors: Option<List<'_>>, path: &Path) -> Result<()> {
    let source = u64::from(list.source) + 1;
    let one_sided = |one: u64, other: u64| Err(one_sided(path, one, other));
    let Some(predecessors) = predecessors.filter(|other| other.source <= list.source) else {
        return one_sided(source, u64::from(list.targets[0]) + 1);
    };
    if predecessors.source < list.source {
        return one_sided(u64::from(predecessors.targets[0]) + 1, u64::from(predecessors.source) + 1);
    }
    if list.targets != predecessors.targets {
        let only =
            |one: &[u32], other: &[u32]| one.iter().copied().find(|node| other.binary_search(node).is_err());
        return match only(list.targets, predecessors.targets) {
            Some(target) => one_sided(source, u64::from(target) + 1),
            None => {
                let other = only(predecessors.targets, list.targets).unwrap_or(list.source);
                one_sided(u64::from(other) + 1, source)
            }
        };
    }
    match list.counts.iter().zip(predecessors.counts).position(|(one, other)| one != other) {
        Some(at) => {
            let other = u64::from(list.targets[at]) + 1;
            let reason = format!("the edge between {source} and {other} has two different weights");
            Err(Error::Invalid(format!("{}: {reason}", path.display())))
        }
        None => Ok(()),
    }
}

fn one_sided(path: &Path, one: u64, other: u64) -> Error {
    let reason = format!("node {one} lists node {other}, and node {other} does not list node {one}");
    Error::Invalid(format!("{}: {reason}", path.display()))
}

/// A sorter of arcs with or without weights.
enum Sorter {
    Plain(ArcSorter),
    Weighted(ArcSorter<u128>),
}

impl Sorter {
    fn new(weighted: bool, folder: &Path, memory: usize) -> Sorter {
        match weighted {
            false => Sorter::Plain(ArcSorter::new(folder, memory)),
            true => Sorter::Weighted(ArcSorter::new(folder, memory)),
        }
    }

    #[inline]
    fn push(&mut self, source: u32, target: u32, weight: u32) -> Result<()> {
        match self {
            Sorter::Plain(sorter) => sorter.push(source, target),
            Sorter::Weighted(sorter) => sorter.push_weighted(source, target, weight),
        }
    }

    fn finish(self, pulse: &Pulse) -> Result<SortedArcs> {
        match self {
            Sorter::Plain(sorter) => sorter.finish(pulse),
            Sorter::Weighted(sorter) => sorter.finish(pulse),
        }
    }
}
