//! The layout of a collection: the name of each file and folder in it, declared only here.
//!
//! Names are relative to the collection's folder, with `/` between folders, as in the manifest; a name that
//! ends in `/` is a folder managed by its owner.

use crate::index::format::Piece;

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
/// The folder of the graph.
pub const GRAPH: &str = "graph";
/// The folders of a collection.
pub const PARTS: [&str; 6] = [FRONTIER, "archive", TABLE, INDEX, GRAPH, "log"];

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
/// The folder of what a crawl divided among agents exchanges; it exists only there.
pub const EXCHANGE: &str = "frontier/exchange";
/// The URLs that other agents fetch.
pub const KNOWN: &str = "frontier/exchange/known.log";
/// The longest rest of a host, which is not committed: it counts from the moment at which it is written.
pub const RESTS: &str = "rests.json";
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

/// A run of the map of the URLs that other agents fetch.
pub fn known_runs(number: u64) -> String {
    format!("{EXCHANGE}/known-{number:06}{RUN}")
}

/// The part of the outbox for an agent that begins at a position.
pub fn outbox(peer: u32, base: u64) -> String {
    format!("{EXCHANGE}/out-{peer}-{base}.log")
}

/// The agent and the position of a part of an outbox; `None` if it is another file's name.
pub fn outbox_of(name: &str) -> Option<(u32, u64)> {
    let rest = name.strip_prefix(EXCHANGE)?.strip_prefix("/out-")?.strip_suffix(".log")?;
    let (peer, base) = rest.split_once('-')?;
    let (peer, base) = (peer.parse().ok()?, base.parse().ok()?);
    (outbox(peer, base) == name).then_some((peer, base))
}

/// The first URLs of the hosts of another agent, as of an epoch.
pub fn copies(sender: u32, epoch: u64) -> String {
    format!("{EXCHANGE}/copies-{sender}-{epoch}.log")
}

/// The agent and the epoch of such a file; `None` if it is another file's name.
pub fn copies_of(name: &str) -> Option<(u32, u64)> {
    let rest = name.strip_prefix(EXCHANGE)?.strip_prefix("/copies-")?.strip_suffix(".log")?;
    let (sender, epoch) = rest.split_once('-')?;
    let (sender, epoch) = (sender.parse().ok()?, epoch.parse().ok()?);
    (copies(sender, epoch) == name).then_some((sender, epoch))
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
    Piece::parse(name).map(|(number, _)| number)
}

/// The shard in a segment's file name, if the index is divided by documents or by terms.
pub fn segment_shard(name: &str) -> Option<u16> {
    match Piece::parse(name)?.1 {
        Piece::Whole => None,
        Piece::Shard(shard) | Piece::Terms(shard) => Some(shard),
    }
}

/// Whether a file of the index has terms of a segment whose documents are in another file.
pub fn is_of_terms(name: &str) -> bool {
    matches!(Piece::parse(name), Some((_, Piece::Terms(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_known_by_its_number() {
        for number in [0, 1, 999_999, 1_000_000, u64::MAX] {
            for piece in [Piece::Whole, Piece::Shard(3), Piece::Terms(3)] {
                assert_eq!(segment_number(&piece.name(number)), Some(number));
            }
        }
        for name in ["segment-1.seg", "segment-+00001.seg", "segment-000001.seg.new", "other"] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
