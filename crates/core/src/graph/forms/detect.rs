//! The form of a graph's file, by its content.
//!
//! Our own file begins with its magic number; BVGraph files have `.properties` beside them; Common Crawl's files are
//! a pair whose names differ in `vertices` and `edges`. A METIS file begins like an edge list, with two or three
//! numbers, n of them the number of lines that follow. What tells them apart, in a sample of 256 KiB: the lines of
//! an edge list all have as many fields as the first, while in a METIS file they have any number, of numbers up to n;
//! if all have as many, node u must list node v if v lists u.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Form;
use super::common_crawl::{files, vertex};
use super::convert::bare;
use super::metis::Header;
use super::text::{Text, number};
use crate::{Error, Pulse, Result};

/// How much text is looked at.
const SAMPLE: usize = 1 << 18;

/// What the files of a BVGraph have in common, by that or by the path of one of them; `None` if there are none.
fn basename(path: &Path) -> Option<PathBuf> {
    let base = bare(path);
    let exists = |end: &str| {
        let mut path = base.clone().into_os_string();
        path.push(end);
        Path::new(&path).is_file()
    };
    (exists(".properties") && exists(".graph")).then_some(base)
}

/// The form of the graph at a path.
pub fn detect(path: &Path, pulse: &Pulse) -> Result<Form> {
    if basename(path).is_some() {
        return Ok(Form::BvGraph);
    }
    let pair = files(path);
    if (path == pair.0 || path == pair.1 || !path.exists()) && pair.0.exists() && pair.1.exists() {
        let mut vertices = Text::open(&pair.0, pulse)?;
        if vertices.line()?.is_none_or(|line| vertex(line, 0).is_ok()) {
            return Ok(Form::CommonCrawl);
        }
    }
    let mut text = Text::open(path, pulse)?;
    let sample = text.sample(SAMPLE)?;
    if let Some(rest) = sample.strip_prefix(b"CRVL") {
        return match rest.starts_with(b"GRPH") {
            true => Ok(Form::Crivello),
            false => unknown(path, "it is another file of Crivello's"),
        };
    }
    if sample.starts_with(b"#harmonicc_pos") {
        return unknown(path, "it has ranks, not arcs");
    }
    if sample.contains(&0) {
        return unknown(path, "it is neither text nor a compressed graph");
    }
    let is_whole = sample.len() < SAMPLE;
    let says_metis = path.components().next_back().is_some_and(|name| {
        let name = name.as_os_str().to_string_lossy();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        name.ends_with(".metis") || name.ends_with(".graph")
    });
    Ok(if is_metis(sample, is_whole, says_metis) { Form::Metis } else { Form::EdgeList })
}

fn unknown(path: &Path, reason: &str) -> Result<Form> {
    Err(Error::Invalid(format!("{} is not the file of a graph: {reason}", path.display())))
}

/// Whether a text is that of a METIS file.
fn is_metis(sample: &[u8], is_whole: bool, says_metis: bool) -> bool {
    let mut lines: Vec<&[u8]> = sample.split(|byte| *byte == b'\n').collect();
    // The last line is cut off, or it is what follows the last line's end.
    if !is_whole || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut lines = lines.into_iter().filter(|line| !line.starts_with(b"%"));
    let Some(first) = lines.next() else { return false };
    let numbers = |line: &[u8]| -> Option<Vec<u64>> {
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(number).collect()
    };
    let Some(header) = numbers(first).and_then(|numbers| Header::of(&numbers).ok()) else { return false };
    let columns = numbers(first).map_or(0, |numbers| numbers.len());
    let Some(lists) = lines.map(numbers).collect::<Option<Vec<_>>>() else { return says_metis };
    if says_metis || lists.iter().all(Vec::is_empty) {
        return says_metis;
    }
    let has_all = !is_whole || lists.len() as u64 >= header.nodes;
    if !has_all || lists.iter().skip(header.nodes as usize).any(|list| !list.is_empty()) {
        return false;
    }
    let uneven = lists.iter().any(|list| list.len() != columns);
    match header.is_plain() {
        true => is_symmetric(&lists, header.nodes, uneven),
        false => uneven,
    }
}

/// Whether these are the neighbours of the first nodes of an undirected graph, perhaps with a mistake.
fn is_symmetric(lists: &[Vec<u64>], nodes: u64, mistaken: bool) -> bool {
    let arcs = (1..).zip(lists).flat_map(|(node, list)| list.iter().map(move |other| (node, *other)));
    let arcs: HashSet<(u64, u64)> = arcs.collect();
    let known = 1..=lists.len() as u64;
    arcs.iter().all(|(one, other)| {
        let has_reverse = mistaken || !known.contains(other) || arcs.contains(&(*other, *one));
        (1..=nodes).contains(other) && has_reverse
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_lists_and_metis_differ() {
        let metis: [&str; 5] = [
            "% a comment\n5 4\n2\n1 3\n2 4\n3\n\n",
            "3 2 001\n2 7\n1 7 3 9\n2 9\n",
            "4 4\n2 4\n1 3\n2 4\n1 3\n",
            "3 3 0\n2 3\n1 3\n\n",
            "3 0\n\n\n1 2 3\n",
        ];
        for text in metis {
            assert!(is_metis(text.as_bytes(), true, false), "{text:?}");
        }
        let edges: [&str; 9] = [
            "1 2\n3\n",
            "1 2\n1 2 3\n",
            "",
            "1 2\n",
            "0 0\n",
            "1 2\n2 1\n",
            "# from to\n30\t1412\n30\t3352\n",
            "5 4\n2 1\n1 3\n2 4\n3 5\n1 5\n",
            "alice bob\n",
        ];
        for text in edges {
            assert!(!is_metis(text.as_bytes(), true, false), "{text:?}");
        }
        assert!(is_metis(b"1 0\n\n", true, true) && is_metis(b"0 0\n", true, true));
    }
}
