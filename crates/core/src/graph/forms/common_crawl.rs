//! The text files of Common Crawl's web graphs.
//!
//! ```text
//! NAME-vertices.txt.gz  number, reversed host or domain [, number of hosts]    0 \t org.example.www
//! NAME-edges.txt.gz     number of the source, number of the target             0 \t 17
//! ```
//!
//! Fields are separated by tabs; nodes are numbered from 0, in order. Here the names are hosts as they are usually
//! written (`www.example.org`); they are reversed in the files. The number of hosts of a domain is dropped.
//!
//! Source: Common Crawl, "Web graphs", <https://commoncrawl.org/web-graphs>.

use std::path::{Path, PathBuf};

use super::output::Output;
use super::text::{Text, not_a_number, number};
use super::{Numbering, Reading, Sink, Sorter, Stream};
use crate::graph::{Names, NamesWriter};
use crate::{Error, Pulse, Result};

/// The two files of a graph, by the path of one of them or by what their names have in common.
pub fn files(path: &Path) -> (PathBuf, PathBuf) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let with = |name: String| path.with_file_name(name);
    match ["vertices", "edges"].iter().find_map(|part| name.rfind(part).map(|at| (at, part.len()))) {
        Some((at, length)) => {
            let other = |part: &str| with(format!("{}{part}{}", &name[..at], &name[at + length..]));
            (other("vertices"), other("edges"))
        }
        None => (with(format!("{name}-vertices.txt.gz")), with(format!("{name}-edges.txt.gz"))),
    }
}

/// A host with its labels in reverse order.
pub fn reversed(host: &str) -> String {
    host.rsplit('.').collect::<Vec<_>>().join(".")
}

/// Reads the graph that one of its files belongs to.
pub fn read(path: &Path, reading: &Reading<'_>, pulse: &Pulse) -> Result<Stream> {
    let (vertices, edges) = files(path);
    let nodes = read_vertices(&vertices, reading, pulse)?;
    let mut sorter = Sorter::new(false, reading.folder, reading.memory);
    let mut text = Text::open(&edges, pulse)?;
    while let Some(line) = text.line()? {
        match edge(line, nodes) {
            Ok(Some((source, target))) => sorter.push(source, target, 1)?,
            Ok(None) => {}
            Err(reason) => return Err(text.malformed(reason)),
        }
    }
    Ok(Stream {
        nodes: nodes as usize,
        weighted: reading.count,
        named: true,
        arcs: sorter.finish(pulse)?,
        mirror: None,
        numbering: Numbering::Same,
    })
}

fn edge(line: &[u8], nodes: u64) -> std::result::Result<Option<(u32, u32)>, String> {
    if line.is_empty() {
        return Ok(None);
    }
    let mut fields = line.split(|byte| *byte == b'\t');
    let (Some(source), Some(target), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err("expected two numbers, separated by a tab".to_owned());
    };
    let node = |field: &[u8]| match number(field) {
        Some(node) if node < nodes => Ok(node as u32),
        Some(node) => Err(format!("there is no node {node}: there are {nodes} vertices")),
        None => Err(not_a_number(&String::from_utf8_lossy(&field[..field.len().min(40)]))),
    };
    Ok(Some((node(source)?, node(target)?)))
}

fn read_vertices(path: &Path, reading: &Reading<'_>, pulse: &Pulse) -> Result<u64> {
    let mut names = NamesWriter::create(reading.names)?;
    let mut text = Text::open(path, pulse)?;
    let mut nodes = 0;
    while let Some(line) = text.line()? {
        if line.is_empty() {
            continue;
        }
        match vertex(line, nodes) {
            Ok(host) => names.push(&reversed(host))?,
            Err(reason) => return Err(text.malformed(reason)),
        }
        nodes += 1;
    }
    names.finish(pulse)?;
    Ok(nodes)
}

/// The host on a line of vertices, which must have this number.
pub fn vertex(line: &[u8], expected: u64) -> std::result::Result<&str, String> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    let mut fields = line.split('\t');
    let (Some(found), Some(host)) = (fields.next(), fields.next().filter(|host| !host.is_empty())) else {
        return Err("expected a number and a name, separated by a tab".to_owned());
    };
    match number(found.as_bytes()) {
        Some(found) if found == expected => Ok(host),
        Some(found) => Err(format!("expected vertex {expected}, not {found}: they are numbered in order")),
        None => Err(not_a_number(found)),
    }
}

/// Writes the vertices of a graph of hosts.
pub fn write_vertices(nodes: usize, names: Option<&Names>, path: &Path, pulse: &Pulse) -> Result<u64> {
    let mut output = Output::create(path)?;
    let mut line = |node: u32, name: &str| -> Result<()> {
        if name.contains(|letter: char| letter == '/' || letter.is_whitespace()) || name.is_empty() {
            let reason =
                format!("{name:?} is not a host, which is what this form has: collapse the graph first");
            return Err(Error::Invalid(reason));
        }
        output.number(u64::from(node))?;
        output.text("\t")?;
        output.text(&reversed(name))?;
        output.text("\n")
    };
    match names {
        Some(names) => names.scan(pulse, line)?,
        None => (0..nodes as u32).try_for_each(|node| line(node, &node.to_string()))?,
    }
    output.finish()
}

/// Writes the edges of a graph.
pub struct EdgesWriter {
    output: Output,
    node: u64,
}

impl EdgesWriter {
    /// Starts a file that will be at `path` once finished.
    pub fn create(path: &Path) -> Result<EdgesWriter> {
        Ok(EdgesWriter { output: Output::create(path)?, node: 0 })
    }

    /// Renames the file into place; returns its length.
    pub fn finish(self) -> Result<u64> {
        self.output.finish()
    }
}

impl Sink for EdgesWriter {
    fn push(&mut self, successors: &[u32], _weights: Option<&[u32]>) -> Result<()> {
        for successor in successors {
            self.output.number(self.node)?;
            self.output.text("\t")?;
            self.output.number(u64::from(*successor))?;
            self.output.text("\n")?;
        }
        self.node += 1;
        Ok(())
    }
}
