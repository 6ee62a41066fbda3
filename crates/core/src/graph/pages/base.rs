//! The base: the graph of a prefix of the logs, not folded, in five files.
//!
//! | file | what it has |
//! | --- | --- |
//! | urls | the keys of the URLs, front-coded (see [`crate::dictionaries`]) |
//! | nodes | the nodes by signature (see [`super::nodes`]) |
//! | links | the links that pages vouch for |
//! | nofollow | the others, which are few |
//! | pending | the links to URLs that are no nodes (see [`super::pending`]) |

use std::path::PathBuf;

use super::nodes::{BaseNode, Nodes};
use super::pending::{Pending, PendingLinks, PendingWriter};
use crate::dictionaries::{FrontCoded, Kept};
use crate::graph::{GraphFile, GraphWriter, Lists, Options};
use crate::{Error, Pulse, Result, Signature};

const URLS_AT_ONCE: u64 = 1 << 12;

/// Where the files of a base are.
#[derive(Clone, Debug)]
pub struct BaseFiles {
    /// The keys of the URLs.
    pub urls: PathBuf,
    /// The nodes.
    pub nodes: PathBuf,
    /// The links.
    pub links: PathBuf,
    /// The links that are not vouched for.
    pub nofollow: PathBuf,
    /// The links to URLs that are no nodes.
    pub pending: PathBuf,
}

/// A base, memory-mapped.
pub struct Base {
    urls: Kept<FrontCoded>,
    nodes: Nodes,
    links: GraphFile,
    nofollow: GraphFile,
    pending: PendingLinks,
    /// How much of the log of links it covers.
    logged: u64,
}

impl Base {
    /// Opens a base, whose files have these committed lengths (nodes, links, nofollow, pending), and which covers the
    /// first `logged` bytes of the log of links.
    pub fn open(files: &BaseFiles, committed: [u64; 4], logged: u64) -> Result<Base> {
        let nodes = Nodes::open(&files.nodes, committed[0])?;
        let base = Base {
            urls: Kept::load(&files.urls)?,
            links: GraphFile::open(&files.links, Some(committed[1]))?,
            nofollow: GraphFile::open(&files.nofollow, Some(committed[2]))?,
            pending: PendingLinks::open(&files.pending, committed[3], nodes.count())?,
            nodes,
            logged,
        };
        let nodes = base.nodes();
        if base.urls.len() != nodes as u64 || base.links.nodes() != nodes || base.nofollow.nodes() != nodes {
            return Err(Error::corrupt(&files.nodes, 0, "the files of the graph differ in their nodes"));
        }
        Ok(base)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.count()
    }

    /// How much of the log of links it covers.
    pub fn logged(&self) -> u64 {
        self.logged
    }

    /// The node of a key, or, as an error, the number of nodes before it.
    pub fn rank(&self, key: &[u8]) -> Result<std::result::Result<u32, u32>> {
        let rank = self.urls.rank(self.urls.bytes(), key).ok_or_else(|| self.urls.damage())?;
        Ok(rank.map(|rank| rank as u32).map_err(|rank| rank as u32))
    }

    /// The key of a node.
    pub fn key(&self, node: u32) -> Result<Vec<u8>> {
        self.urls.get(self.urls.bytes(), u64::from(node)).ok_or_else(|| self.urls.damage())
    }

    /// The keys of all nodes, in node order; an error ends them.
    pub fn keys(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        let count = self.urls.len();
        (0..count).step_by(URLS_AT_ONCE as usize).flat_map(move |start| {
            let keys = self.urls.keys(self.urls.bytes(), start..count.min(start + URLS_AT_ONCE));
            match keys {
                Some(keys) => keys.into_iter().map(Ok).collect(),
                None => vec![Err(self.urls.damage())],
            }
        })
    }

    /// The node with a signature.
    pub fn find(&self, signature: Signature) -> Result<Option<u32>> {
        Ok(self.nodes.find(signature)?.map(|found| found.node))
    }

    /// Every node, by increasing signature.
    pub fn each(&self, pulse: &Pulse, visit: impl FnMut(BaseNode)) -> Result<()> {
        self.nodes.each(pulse, visit)
    }

    /// Calls `visit` with the source of each link to a URL that is no node, and whether it does not vouch for it.
    pub fn links_to(&self, target: Signature, mut visit: impl FnMut(u32, bool)) -> Result<()> {
        self.pending.to(target, &mut |link| visit(link.source, link.nofollow))
    }

    /// The links to URLs that are no nodes.
    pub fn pending(&self) -> &PendingLinks {
        &self.pending
    }

    /// Calls `visit` with every node and its successors: by links that are vouched for, and by the others.
    pub fn scan(&self, pulse: &Pulse, mut visit: impl FnMut(u32, &[u32], &[u32])) -> Result<()> {
        let mut others: Vec<(u32, Vec<u32>)> = Vec::new();
        self.nofollow.scan(0..self.nodes(), pulse, &mut |node, list| {
            if !list.is_empty() {
                others.push((node.0, list.to_vec()));
            }
        })?;
        let mut others = others.into_iter().peekable();
        self.links.scan(0..self.nodes(), pulse, &mut |node, list| match others
            .next_if(|(other, _)| *other == node.0)
        {
            Some((_, other)) => visit(node.0, list, &other),
            None => visit(node.0, list, &[]),
        })
    }
}

/// Writes the links of a base.
pub struct LinkWriter {
    links: GraphWriter,
    nofollow: GraphWriter,
    pending: PendingWriter,
}

impl LinkWriter {
    pub fn create(files: &BaseFiles, nodes: usize) -> Result<LinkWriter> {
        Ok(LinkWriter {
            links: GraphWriter::create(&files.links, nodes, false, Options::default())?,
            nofollow: GraphWriter::create(&files.nofollow, nodes, false, Options::default())?,
            pending: PendingWriter::new(&files.pending),
        })
    }

    /// Appends the successors of the next node.
    pub fn push(&mut self, links: &[u32], nofollow: &[u32]) -> Result<()> {
        self.links.push(links, None)?;
        self.nofollow.push(nofollow, None)
    }

    /// Adds a link to a URL that is no node; they come in any order.
    pub fn push_pending(&mut self, link: Pending) -> Result<()> {
        self.pending.push(link)
    }

    /// Writes the files; returns their lengths: links, nofollow and pending.
    pub fn finish(self, pulse: &Pulse) -> Result<[u64; 3]> {
        let links = self.links.finish(pulse)?.length;
        let nofollow = self.nofollow.finish(pulse)?.length;
        Ok([links, nofollow, self.pending.finish(pulse)?])
    }
}
