//! The layout of a collection: the name of each file and folder in it, declared only here.
//!
//! Names are relative to the collection's folder, with `/` between folders, as in the manifest; a name that
//! ends in `/` is a folder managed by its owner.

use crate::index::format::file_name;

/// The settings.
pub const SETTINGS: &str = "crivello.toml";
/// The manifest.
pub const MANIFEST: &str = "manifest.json";
/// The lock file, held by the writer.
pub const LOCK: &str = "lock";

/// The folder of the sieve and the host queues.
pub const FRONTIER: &str = "frontier";
/// The folder of the index's segments.
pub const INDEX: &str = "index";
/// The folder of the table, and the name of its state in the manifest.
pub const TABLE: &str = "table";
/// The folders of a collection.
pub const PARTS: [&str; 6] = [FRONTIER, "archive", TABLE, INDEX, "graph", "log"];

/// The queue of pings, which is not committed: the server that receives them is no writer.
pub const PINGS: &str = "pings.log";
/// The lock of that queue.
pub const PINGS_LOCK: &str = "pings.lock";

/// Every new URL, in first-seen order.
pub const URLS: &str = "frontier/urls.log";
/// The queue of the revisits of a run, which is not committed.
pub const REVISITS: &str = "frontier/revisits.log";
/// The prefix of the logs of per-host state.
pub const HOSTS: &str = "frontier/hosts";
/// The scratch file of the host queues, which has this name only for an instant.
pub const HOST_QUEUES: &str = "frontier/hosts.scratch";
/// The prefix of a sieve's numbered files.
pub const SIEVE: &str = "frontier/sieve-";
/// The database of the `lsm` sieve.
pub const LSM: &str = "frontier/lsm/";
/// The folder of a sieve written in Python, beside the URLs.
pub const OWN_SIEVE: &str = "frontier/own/";
/// The journal of the table.
pub const ROWS: &str = "table/rows.log";
/// The links of each page.
pub const LINKS: &str = "graph/links.log";
/// The anchor texts of links.
pub const ANCHORS: &str = "graph/anchors.log";
/// The prefix of the decision log's files.
pub const DECISIONS: &str = "log/decisions-";
/// The files that were imported.
pub const IMPORTS: &str = "log/imports.jsonl";
/// The crawl's progress at each checkpoint.
pub const PROGRESS: &str = "log/progress.jsonl";

/// How the names of runs end: the sorted files of the maps over the journal and over the log of hosts.
pub const RUN: &str = ".run";

/// A file of the archive.
pub fn archive(number: u32) -> String {
    format!("archive/crivello-{number:05}.warc.gz")
}

/// A run of the table's cells.
pub fn cells(number: u64) -> String {
    format!("table/cells-{number:06}{RUN}")
}

/// A run of the cells of feeds.
pub fn feeds(number: u64) -> String {
    format!("table/feeds-{number:06}{RUN}")
}

/// A run of the map from the signatures of pages to their rows.
pub fn pages(number: u64) -> String {
    format!("table/pages-{number:06}{RUN}")
}

/// A run of the map from texts and hosts to the first row that has them.
pub fn firsts(number: u64) -> String {
    format!("table/firsts-{number:06}{RUN}")
}

/// A run of the map from hosts to their newest records.
pub fn host_records(number: u64) -> String {
    format!("frontier/hosts-{number:06}{RUN}")
}

/// The log of per-host state whose first record has a position.
pub fn hosts(base: u64) -> String {
    if base == 0 { format!("{HOSTS}.log") } else { format!("{HOSTS}-{base}.log") }
}

/// The position of the first record of a log of per-host state; `None` if it is another file's name.
pub fn hosts_base(name: &str) -> Option<u64> {
    let base = match name.strip_prefix(HOSTS)?.strip_suffix(".log")? {
        "" => 0,
        rest => rest.strip_prefix('-')?.parse().ok()?,
    };
    (hosts(base) == name).then_some(base)
}

/// A run of the map of fingerprints.
pub fn near(number: u64) -> String {
    format!("table/near-{number:06}{RUN}")
}

/// A run of the map of payloads, which an import makes and removes.
pub fn payloads(number: u64) -> String {
    format!("table/payloads-{number:06}{RUN}")
}

/// A file of the decision log.
pub fn decisions(number: u32) -> String {
    format!("{DECISIONS}{number:05}.jsonl")
}

/// A numbered file of a sieve.
pub fn sieve(what: &str, number: u64) -> String {
    format!("{SIEVE}{what}-{number:06}")
}

/// The links of the graph with a number.
pub fn graph(number: u64) -> String {
    format!("graph/links-{number}.graph")
}

/// The links of that graph that their pages do not vouch for.
pub fn graph_nofollow(number: u64) -> String {
    format!("graph/nofollow-{number}.graph")
}

/// The URLs of its nodes.
pub fn graph_urls(number: u64) -> String {
    format!("graph/urls-{number}.list")
}

/// Its nodes by signature.
pub fn graph_nodes(number: u64) -> String {
    format!("graph/pages-{number}.nodes")
}

/// The links of that graph to URLs that are no nodes.
pub fn graph_pending(number: u64) -> String {
    format!("graph/pending-{number}.nodes")
}

/// All files of the graph with a number.
pub fn graph_files(number: u64) -> [String; 5] {
    [graph_urls(number), graph_nodes(number), graph(number), graph_nofollow(number), graph_pending(number)]
}

/// The ranks of the pages by a measure.
pub fn ranks(measure: &str, number: u64) -> String {
    format!("graph/{measure}-{number}.ranks")
}

/// User-supplied ranks that replace those.
pub fn given_ranks(number: u64) -> String {
    format!("graph/given-{number}.ranks")
}

/// A segment of the index, by its file name in the index.
pub fn segment(name: &str) -> String {
    format!("{INDEX}/{name}")
}

/// The number in a segment's file name; `None` if it is not the name of a segment.
pub fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("segment-")?.strip_suffix(".seg")?;
    let number = digits.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_known_by_its_number() {
        for number in [0, 1, 999_999, 1_000_000, u64::MAX] {
            assert_eq!(segment_number(&file_name(number)), Some(number));
        }
        for name in ["segment-1.seg", "segment-+00001.seg", "segment-000001.seg.new", "other"] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
