//! METIS: undirected graphs as adjacency lists.
//!
//! ```text
//! % a comment
//! NODES EDGES [FORMAT [WEIGHTS PER NODE]]
//! the neighbours of node 1, numbered from 1, each followed by the weight of the edge if FORMAT ends in 1
//! the neighbours of node 2 …
//! ```
//!
//! An edge is in the lists of both its nodes, and is two arcs here; a self-loop is one. The sizes and weights of
//! nodes, which FORMAT may announce, are read and dropped. The counts of the header must be right, and so must the
//! reverse of every arc, which an external sort of the reversed arcs checks.
//!
//! Source: George Karypis, *METIS manual*, version 5, section 4.1.

use std::path::Path;

use super::output::Output;
use super::text::{Text, Token};
use super::{Numbering, Reading, Sorter, Stream};
use crate::graph::View;
use crate::{Error, Pulse, Result};

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of nodes.
    pub nodes: u64,
    edges: u64,
    weighted: bool,
    /// How many numbers precede the neighbours on a line.
    before: u64,
}

impl Header {
    /// The header with these numbers; the reason, if they are none.
    pub fn of(numbers: &[u64]) -> std::result::Result<Header, String> {
        let (nodes, edges, format, per_node) = match *numbers {
            [nodes, edges] => (nodes, edges, 0, None),
            [nodes, edges, format] => (nodes, edges, format, None),
            [nodes, edges, format, per_node] => (nodes, edges, format, Some(per_node)),
            _ => return Err("expected a header, `nodes edges [format [weights per node]]`".to_owned()),
        };
        if nodes > 1 << 32 {
            return Err(format!("a graph has at most 2^32 nodes, not {nodes}"));
        }
        let [sizes, weights, weighted] = [format / 100, format / 10 % 10, format % 10];
        if [sizes, weights, weighted].iter().any(|digit| *digit > 1) {
            return Err(format!("there is no format {format}: it has three digits, each 0 or 1"));
        }
        let before = sizes + if weights == 1 { per_node.unwrap_or(1) } else { 0 };
        Ok(Header { nodes, edges, weighted: weighted == 1, before })
    }

    /// Whether the lines have nothing but neighbours.
    pub fn is_plain(&self) -> bool {
        !self.weighted && self.before == 0
    }
}

/// Reads a METIS file.
pub fn read(path: &Path, reading: &Reading<'_>, pulse: &Pulse) -> Result<Stream> {
    let mut text = Text::open(path, pulse)?;
    text.begin();
    let header = read_header(&mut text)?;
    let sorter = || Sorter::new(header.weighted, reading.folder, reading.memory / 2);
    let (mut arcs, mut reversed) = (sorter(), sorter());
    let (mut ends, mut loops) = (0u64, 0u64);
    for node in 0..header.nodes {
        skip_comments(&mut text)?;
        if text.peek()?.is_none() {
            let reason = format!("the header says {} nodes, and there are lines for {node}", header.nodes);
            return Err(text.malformed(reason));
        }
        for _ in 0..header.before {
            let line = text.line_number();
            if !matches!(text.token()?, Token::Number(_)) {
                return Err(text.malformed_at(line, "a weight of the node is missing"));
            }
        }
        let line = text.line_number();
        while let Token::Number(neighbour) = text.token()? {
            if !(1..=header.nodes).contains(&neighbour) {
                let reason = format!("there is no node {neighbour}: they go from 1 to {}", header.nodes);
                return Err(text.malformed_at(line, reason));
            }
            let weight = if header.weighted { edge_weight(&mut text, line)? } else { 1 };
            let (source, target) = (node as u32, (neighbour - 1) as u32);
            arcs.push(source, target, weight)?;
            reversed.push(target, source, weight)?;
            *if source == target { &mut loops } else { &mut ends } += 1;
        }
    }
    loop {
        match text.token()? {
            Token::End => break,
            Token::EndOfLine => {}
            Token::Number(_) => {
                let reason = format!("the header says {} nodes, and there are more lines", header.nodes);
                return Err(text.malformed(reason));
            }
        }
    }
    if ends / 2 + loops != header.edges && ends + loops != 2 * header.edges {
        let (edges, found) = (header.edges, ends / 2 + loops);
        return Err(text.malformed_at(1, format!("the header says {edges} edges, and there are {found}")));
    }
    Ok(Stream {
        nodes: header.nodes as usize,
        weighted: header.weighted || reading.count,
        named: false,
        arcs: arcs.finish(pulse)?,
        mirror: Some((reversed.finish(pulse)?, path.to_owned())),
        numbering: Numbering::Same,
    })
}

fn read_header(text: &mut Text<'_>) -> Result<Header> {
    skip_comments(text)?;
    let line = text.line_number();
    let mut numbers = Vec::new();
    while let Token::Number(number) = text.token()? {
        numbers.push(number);
        if numbers.len() > 4 {
            break;
        }
    }
    Header::of(&numbers).map_err(|reason| text.malformed_at(line, reason))
}

fn skip_comments(text: &mut Text<'_>) -> Result<()> {
    while text.peek()? == Some(b'%') {
        text.skip_line()?;
    }
    Ok(())
}

fn edge_weight(text: &mut Text<'_>, line: u64) -> Result<u32> {
    match text.token()? {
        Token::Number(weight @ 1..=0xffff_ffff) => Ok(weight as u32),
        Token::Number(weight) => {
            Err(text.malformed_at(line, format!("the weight {weight} is not from 1 to {}", u32::MAX)))
        }
        _ => Err(text.malformed_at(line, "the last edge has no weight")),
    }
}

/// Writes a graph, which must have the reverse of every arc; returns the length of the file.
pub fn write(graph: View<'_>, reversed: View<'_>, path: &Path, pulse: &Pulse) -> Result<u64> {
    if graph.targets != reversed.targets || graph.offsets != reversed.offsets {
        let reason = "METIS is for undirected graphs, and this one has arcs without their reverse";
        return Err(Error::Invalid(reason.to_owned()));
    }
    if graph.weights != reversed.weights {
        let reason = "METIS is for undirected graphs, and this one has arcs whose reverse has another weight";
        return Err(Error::Invalid(reason.to_owned()));
    }
    let loops = (0..graph.nodes()).filter(|node| graph.successors(*node).contains(&(*node as u32))).count();
    let edges = (graph.targets.len() - loops) / 2 + loops;
    let mut output = Output::create(path)?;
    let format = if graph.weights.is_some() { " 001" } else { "" };
    output.text(&format!("{} {edges}{format}\n", graph.nodes()))?;
    for node in 0..graph.nodes() {
        if node.is_multiple_of(1 << 12) {
            pulse.beat()?;
            pulse.set(node as u64, graph.nodes() as u64);
        }
        for (number, at) in graph.range(node).enumerate() {
            if number > 0 {
                output.text(" ")?;
            }
            output.number(u64::from(graph.targets[at]) + 1)?;
            if let Some(weights) = graph.weights {
                output.text(" ")?;
                output.number(u64::from(weights[at]))?;
            }
        }
        output.text("\n")?;
    }
    output.finish()
}
