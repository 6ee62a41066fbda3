//! The link graph: which page links to which, compressed, and link analysis on it.
//!
//! The crawl appends the links of each page to a log ([`LINKS`]), and their anchor texts to another
//! ([`AnchorLog`]). The graph of its [`pages`] is made from the log; the [`measures`] read it, and [`Ranks`] store
//! their values by signature, for the search to read. Any other graph can be read as text ([`forms`]).

mod adjacency;
mod anchors;
mod blocks;
mod bvgraph;
mod coding;
mod collapse;
mod file;
pub mod forms;
mod generate;
mod hashed;
mod links;
pub mod measures;
mod names;
pub mod order;
pub mod pages;
mod ranks;
mod referrers;
mod scratch;
mod sort;

pub use adjacency::{Adjacency, Lists, Numbers, View};
pub use anchors::{AnchorLog, anchor_bytes, anchors_of};
pub use bvgraph::{BvGraph, BvGraphWriter};
pub use coding::{Options, Part};
pub use collapse::{collapse, subgraph};
pub use file::{GraphFile, GraphWriter, Written, bits_of};
pub use generate::{Recipe, generate};
pub use links::{LINKS, PageLinks, targets_of};
pub(crate) use names::temporary_folder;
pub use names::{Names, NamesWriter};
pub use ranks::{Rank, Ranks, Standing, write_ranks};
pub use referrers::pages_linking_to;
pub use sort::{ArcSorter, List, Row, SortedArcs};

/// A node of a graph: its number, from 0. A graph has at most 2^32 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(pub u32);

impl Node {
    /// The node as an index into an array with one entry per node.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
