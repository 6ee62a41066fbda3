//! The link graph of a collection: what its rows say of the nodes.

use std::path::{Path, PathBuf};

use super::layout;
use super::row::{Outcome, Row};
use super::table::Since;
use crate::graph::order;
use crate::graph::pages::{Base, BaseFiles, PageRow, Union};
use crate::{Pulse, Result, Signature};

/// How many rows are read between two beats of the pulse.
const ROWS_PER_BEAT: usize = 1 << 10;

/// The base of a collection's graph: its number, and how much of the table and of the log of links it covers.
#[derive(Clone, Copy, Debug)]
pub struct GraphBase {
    /// The number in the names of its files.
    pub number: u64,
    /// The covered bytes of the table.
    pub rows: u64,
    /// The covered bytes of the log of links.
    pub links: u64,
}

impl GraphBase {
    /// The files of the base with a number.
    pub fn files(folder: &Path, number: u64) -> BaseFiles {
        let file = |name: String| folder.join(name);
        BaseFiles {
            urls: file(layout::graph_urls(number)),
            nodes: file(layout::graph_nodes(number)),
            links: file(layout::graph(number)),
            nofollow: file(layout::graph_nofollow(number)),
            pending: file(layout::graph_pending(number)),
        }
    }
}

/// The nodes and the links of a collection as of a commit, whose lengths of files are given by `committed`.
pub fn page_links(
    folder: &Path,
    base: Option<GraphBase>,
    committed: impl Fn(&str) -> u64,
    pulse: &Pulse,
) -> Result<Union> {
    // A base without the file of pending links was made before there was one: the graph is built from the logs.
    let base = base.filter(|base| committed(&layout::graph_pending(base.number)) > 0);
    let start = base.map_or(0, |base| base.rows);
    let rows = Since::open(&folder.join(layout::ROWS), committed(layout::ROWS), start)?;
    let mut since = Vec::new();
    for (count, row) in rows.enumerate() {
        if count.is_multiple_of(ROWS_PER_BEAT) {
            pulse.beat()?;
        }
        since.push(page_row(&row?.0));
    }
    let open = |base: GraphBase| {
        let names = [
            layout::graph_nodes(base.number),
            layout::graph(base.number),
            layout::graph_nofollow(base.number),
            layout::graph_pending(base.number),
        ];
        Base::open(&GraphBase::files(folder, base.number), names.map(|name| committed(&name)), base.links)
    };
    let links: PathBuf = folder.join(layout::LINKS);
    Union::open(base.map(open).transpose()?, since, &links, committed(layout::LINKS), pulse)
}

/// What a row says of the node of its URL: a redirect stands for its target, a copy for the page with its words, a
/// near-duplicate of which nothing is stored for its original, and another page for the canonical one that it declares.
fn page_row(row: &Row) -> PageRow {
    let is_page = row.outcome != Outcome::Redirected && row.digest.is_some();
    let alias = match row.outcome {
        Outcome::Redirected => row.redirect.as_deref(),
        _ if row.is_dropped() => row.duplicate_of.as_deref().or(row.near_duplicate_of.as_deref()),
        _ if is_page => row.duplicate_of.as_deref().or(row.canonical.as_deref()),
        _ => None,
    };
    PageRow {
        signature: Signature::of(row.url.as_bytes()),
        key: order::key(&row.url),
        is_page,
        alias: alias.map(|url| Signature::of(url.as_bytes())),
    }
}
