//! The link graph of a collection: what its rows say of the nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cells::Group;
use super::row::{Outcome, Row};
use super::table::{Rows, Since, Table};
use super::{Snapshot, layout};
use crate::graph::pages::{Base, BaseFiles, KeyRange, Merge, PageRow, Part, Text, Union, Version};
use crate::graph::{order, temporary_folder};
use crate::{Error, Pulse, Result, Signature};

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
        let [_, lengths @ ..] = layout::graph_files(base.number).map(|name| committed(&name));
        Base::open(&GraphBase::files(folder, base.number), lengths, base.links)
    };
    let links: PathBuf = folder.join(layout::LINKS);
    Union::open(base.map(open).transpose()?, since, &links, committed(layout::LINKS), pulse)
}

/// Writes the graph of several collections as one base; returns the lengths of its files. With `folds_copies`, a page with
/// the text of another collection's stands for that one. `memory`: see [`Merge`].
pub fn merge_page_links(
    snapshots: &[Arc<Snapshot>],
    folds_copies: bool,
    memory: usize,
    files: &BaseFiles,
    pulse: &Pulse,
) -> Result<[u64; 5]> {
    let parts =
        snapshots.iter().map(|snapshot| GraphPart::open(snapshot, pulse)).collect::<Result<Vec<_>>>()?;
    let parts: Vec<&dyn Part> = parts.iter().map(|part| part as &dyn Part).collect();
    Merge { parts: &parts, folds_copies, memory }.write(files, pulse)
}

/// The same in a temporary folder.
pub fn merged_page_links(
    snapshots: &[Arc<Snapshot>],
    folds_copies: bool,
    memory: usize,
    pulse: &Pulse,
) -> Result<Union> {
    let folder = temporary_folder(None)?;
    std::fs::create_dir(folder.path().join(layout::GRAPH)).map_err(Error::io(folder.path()))?;
    let files = GraphBase::files(folder.path(), 0);
    let [_, lengths @ ..] = merge_page_links(snapshots, folds_copies, memory, &files, pulse)?;
    Union::temporary(Base::open(&files, lengths, 0)?, folder, pulse)
}

/// A collection as a part of a merged graph.
struct GraphPart<'a> {
    table: &'a Table,
    links: PathBuf,
    committed: u64,
}

impl GraphPart<'_> {
    fn open<'a>(snapshot: &'a Snapshot, pulse: &Pulse) -> Result<GraphPart<'a>> {
        Ok(GraphPart {
            table: snapshot.table(pulse)?,
            links: snapshot.folder.join(layout::LINKS),
            committed: snapshot.length(layout::LINKS),
        })
    }
}

impl Part for GraphPart<'_> {
    fn pieces(&self, count: usize) -> Result<Vec<(Vec<u8>, u64)>> {
        let tablets = self.table.tablets(count)?.into_iter();
        // A tablet may begin between the versions of a URL, whose key ends before the first zero.
        let first = |from: Vec<u8>| from.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        Ok(tablets.map(|tablet| (first(tablet.from), tablet.entries)).collect())
    }

    fn versions(&self, keys: &KeyRange) -> Result<Box<dyn Iterator<Item = Result<Version>> + '_>> {
        let cells = self.table.scan(&Rows { from: keys.from.clone(), to: keys.to.clone() })?;
        let mut last = String::new();
        Ok(Box::new(cells.filter_map(move |cell| {
            let cell = match cell {
                Ok(cell) if cell.group != Group::Visit || cell.url == last => return None,
                Ok(cell) => cell,
                Err(error) => return Some(Err(error)),
            };
            last.clone_from(&cell.url);
            let time = cell.time;
            let version = |row: Row| Version { row: page_row(&row), time, text: text_of(&row) };
            Some(self.table.row_of(cell).map(version))
        })))
    }

    fn links(&self) -> (PathBuf, u64) {
        (self.links.clone(), self.committed)
    }
}

/// The text of the page of a row.
fn text_of(row: &Row) -> Option<Text> {
    let digest = row.text_digest().filter(|_| row.is_there())?;
    let canonical = row.canonical.as_deref().map(|url| Signature::of(url.as_bytes()));
    Some(Text { digest, is_own: row.has_own_text(), canonical })
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
