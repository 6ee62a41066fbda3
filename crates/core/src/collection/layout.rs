//! The layout of a collection: the name of each file and folder in it, declared here and nowhere else.
//!
//! Names are relative to the collection's folder, with `/` between folders, as the manifest has them; one that ends
//! in `/` is a folder whose owner looks after it.

use crate::index::format::file_name;

/// The settings.
pub const SETTINGS: &str = "crivello.toml";
/// The manifest.
pub const MANIFEST: &str = "manifest.json";
/// The file that the writer holds a lock on.
pub const LOCK: &str = "lock";

/// The folder of the sieve and the host queues.
pub const FRONTIER: &str = "frontier";
/// The folder of the index's segments.
pub const INDEX: &str = "index";
/// The folders of a collection.
pub const PARTS: [&str; 6] = [FRONTIER, "archive", "table", INDEX, "graph", "log"];

/// Every URL that was found new, in first-seen order.
pub const URLS: &str = "frontier/urls.log";
/// What is known of each host.
pub const HOSTS: &str = "frontier/hosts.log";
/// The scratch file of the host queues, for the instant in which it has a name.
pub const HOST_QUEUES: &str = "frontier/hosts.scratch";
/// What the names of a sieve's numbered files begin with.
pub const SIEVE: &str = "frontier/sieve-";
/// The database of the `lsm` sieve.
pub const LSM: &str = "frontier/lsm/";
/// What a sieve that is written in Python keeps beside the URLs.
pub const OWN_SIEVE: &str = "frontier/own/";
/// A row for each URL that was decided about.
pub const ROWS: &str = "table/rows.log";
/// Which page links to which.
pub const LINKS: &str = "graph/links.log";
/// What links say about the pages they lead to.
pub const ANCHORS: &str = "graph/anchors.log";
/// What the names of the decision log's files begin with.
pub const DECISIONS: &str = "log/decisions-";
/// How the crawl stood at each checkpoint.
pub const PROGRESS: &str = "log/progress.jsonl";

/// A file of the archive.
pub fn archive(number: u32) -> String {
    format!("archive/crivello-{number:05}.warc.gz")
}

/// A file of the decision log.
pub fn decisions(number: u32) -> String {
    format!("{DECISIONS}{number:05}.jsonl")
}

/// A numbered file of a sieve.
pub fn sieve(what: &str, number: u64) -> String {
    format!("{SIEVE}{what}-{number:06}")
}

/// The compressed graph of a build.
pub fn graph(number: u64) -> String {
    format!("graph/links-{number}.graph")
}

/// The ranks of that graph.
pub fn ranks(number: u64) -> String {
    format!("graph/pagerank-{number}.ranks")
}

/// Ranks that were given in place of those.
pub fn given_ranks(number: u64) -> String {
    format!("graph/given-{number}.ranks")
}

/// A segment of the index, by the name that the index gave it.
pub fn segment(name: &str) -> String {
    format!("{INDEX}/{name}")
}

/// The number in the name that the index gave a segment; `None` if it is no such name.
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
