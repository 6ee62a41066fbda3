//! Any graph, from a text edge list: one arc per line, `source target`, separated by white space or a comma.
//!
//! A name is anything without white space and commas; numbers are names too. A line that starts with `#` is a
//! comment. Nodes are numbered in order of first appearance. Self-links and repeated arcs are dropped, as in
//! the graph of a crawl. In memory: 4 bytes per arc (up to 16 while reading, in a vector that doubles), and
//! for each node its name and about 60 bytes. Names are distinguished by their signature (see
//! [`crate::signature`]).

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Node, Successors};
use crate::{Error, Pulse, Result, Signature};

const LINES_PER_BEAT: usize = 1 << 14;
const NODES_PER_BEAT: usize = 1 << 14;

/// A graph with named nodes.
#[derive(Debug)]
pub struct EdgeList {
    names: Vec<String>,
    /// Where the successors of each node start in `targets`, and where the last ones end.
    starts: Vec<usize>,
    targets: Box<[Node]>,
}

impl EdgeList {
    /// Reads a file; a malformed line is an error with its line number.
    pub fn read(path: &Path, pulse: &Pulse) -> Result<EdgeList> {
        let mut file = BufReader::new(File::open(path).map_err(Error::io(path))?);
        let mut names = Names::default();
        let mut arcs = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            if usize::is_multiple_of(number, LINES_PER_BEAT) {
                pulse.beat()?;
            }
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(Error::io(path))? == 0 {
                break;
            }
            let malformed = |reason: &str| Error::Invalid(format!("{}:{number}: {reason}", path.display()));
            let text = std::str::from_utf8(&line).map_err(|_| malformed("the line is not UTF-8"))?;
            let Some((source, target)) = arc(text).map_err(malformed)? else { continue };
            let arc = (names.node(source).zip(names.node(target)))
                .ok_or_else(|| malformed("a graph has at most 2^32 nodes"))?;
            arcs.push(arc);
        }
        pulse.beat()?;
        Ok(Self::from_arcs(names.names, arcs))
    }

    fn from_arcs(names: Vec<String>, mut arcs: Vec<(Node, Node)>) -> EdgeList {
        arcs.retain(|(source, target)| source != target);
        arcs.sort_unstable();
        arcs.dedup();
        let mut starts = vec![0; names.len() + 1];
        for (source, _) in &arcs {
            starts[source.index() + 1] += 1;
        }
        for node in 0..names.len() {
            starts[node + 1] += starts[node];
        }
        let targets = arcs.into_iter().map(|(_, target)| target).collect();
        EdgeList { names, starts, targets }
    }

    /// The names of the nodes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of arcs.
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// The names with their ranks, best first; ties keep the order of the file.
    pub fn ranked(self, ranks: Vec<f64>) -> Vec<(String, f64)> {
        let mut ranked: Vec<(String, f64)> = self.names.into_iter().zip(ranks).collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked
    }
}

impl Successors for EdgeList {
    fn nodes(&self) -> usize {
        self.names.len()
    }

    fn scan(&self, pulse: &Pulse, mut visit: impl FnMut(Node, &[Node])) -> Result<()> {
        for (node, ends) in self.starts.windows(2).enumerate() {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            visit(Node(node as u32), &self.targets[ends[0]..ends[1]]);
        }
        Ok(())
    }
}

/// The names seen so far, each with its node.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    nodes: HashMap<Signature, Node>,
}

impl Names {
    /// The node of a name; `None` if a new one would exceed the range of node numbers.
    fn node(&mut self, name: &str) -> Option<Node> {
        let signature = Signature::of(name.as_bytes());
        if let Some(node) = self.nodes.get(&signature) {
            return Some(*node);
        }
        let node = Node(u32::try_from(self.names.len()).ok()?);
        self.names.push(name.to_owned());
        self.nodes.insert(signature, node);
        Some(node)
    }
}

/// The two names on a line; `None` for an empty line or a comment.
fn arc(line: &str) -> std::result::Result<Option<(&str, &str)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut names =
        line.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|name| !name.is_empty());
    match (names.next(), names.next(), names.next()) {
        (Some(source), Some(target), None) => Ok(Some((source, target))),
        _ => Err("expected two names, `source target`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<EdgeList> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edges.txt");
        std::fs::write(&path, text).unwrap();
        EdgeList::read(&path, &Pulse::STEADY)
    }

    fn lists(edges: &EdgeList) -> Vec<Vec<u32>> {
        let mut lists = Vec::new();
        edges.scan(&Pulse::STEADY, |_, list| lists.push(list.iter().map(|node| node.0).collect())).unwrap();
        lists
    }

    #[test]
    fn takes_any_names_white_space_and_commas() {
        let edges = read("# a comment\n\n  è b \nb,10\r\n10 , è\nb\t10\nb b\nè 10".as_bytes()).unwrap();
        assert_eq!(edges.names(), ["è", "b", "10"]);
        assert_eq!(lists(&edges), [vec![1, 2], vec![2], vec![0]]);
        assert_eq!(edges.arcs(), 4);
    }

    #[test]
    fn an_empty_file_is_an_empty_graph() {
        assert_eq!(read(b"").unwrap().nodes(), 0);
    }

    #[test]
    fn names_the_line_that_is_no_arc() {
        for wrong in [&b"# fine\n1 2\n3\n"[..], b"1 2\n2 3\n3 4 5\n", b"1 2\n2 3\n\xff 4\n"] {
            let message = read(wrong).unwrap_err().to_string();
            assert!(message.contains("edges.txt:3: "), "{message}");
        }
    }

    #[test]
    fn puts_the_best_first() {
        let ranked = read(b"a b\nc b").unwrap().ranked(vec![0.2, 0.6, 0.2]);
        assert_eq!(ranked, [("b".into(), 0.6), ("a".into(), 0.2), ("c".into(), 0.2)]);
    }
}
