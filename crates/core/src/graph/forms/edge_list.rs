//! Edge lists: an arc per line, `source target` or `source target weight`.
//!
//! Fields are separated by tabs, commas or white space, whichever separates the fields of the first line; with
//! tabs a name may contain spaces and commas. Lines that begin with `#` or `%` are comments, and so is a first
//! line that names the columns (`source,target`). A weight is a number from 1 to 2^32 − 1; if the first line has
//! one, all have. Without weights, the number of times an arc occurs may be its weight.
//!
//! A name is anything. Nodes are numbered in the order of their names (see [`order`](super::super::order)): if
//! all are numbers, by value, and a node keeps its number as its name. An edge list has no place for nodes
//! without arcs; the files written here have them in comments, which other readers skip:
//!
//! ```text
//! # crivello nodes: 12         the nodes are the numbers from 0 to 11
//! # crivello node: alice       a node without arcs
//! ```
//!
//! Numbers below 2^32 take one pass: numbering by value does not change the order of arcs, so they are sorted as
//! they are, and numbered on the way out (see [`Ids`]). Other names take two: the first sorts the names
//! externally and makes their minimal perfect hash, the second maps each name to its node. Memory: a sort of the
//! given size, a bit per node or the 25 bytes per name of [`NamesWriter`](super::super::NamesWriter).

use std::path::Path;

use super::ids::Ids;
use super::names::NameSorter;
use super::output::Output;
use super::text::{Text, not_a_number, number};
use super::{Numbering, Reading, Sink, Sorter, Stream};
use crate::dictionaries::{KeyHash, Ranks};
use crate::graph::{Names, NamesWriter, order};
use crate::{Error, Pulse, Result};

/// The number of arcs whose names are looked up together.
const BATCH: usize = 1 << 13;

const NODES: &[u8] = b"# crivello nodes: ";
const NODE: &[u8] = b"# crivello node: ";

/// How the fields of a line are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Tab,
    Comma,
    White,
}

impl Separator {
    fn of(line: &[u8]) -> Separator {
        let parts = |byte: u8| line.split(move |other| *other == byte);
        if line.trim_ascii().contains(&b'\t') && (2..=3).contains(&parts(b'\t').count()) {
            return Separator::Tab;
        }
        let whole = |part: &[u8]| !part.trim_ascii().iter().any(u8::is_ascii_whitespace);
        match (2..=3).contains(&parts(b',').count()) && parts(b',').all(whole) {
            true => Separator::Comma,
            false => Separator::White,
        }
    }

    /// The fields of a line, which must be two or three.
    #[inline]
    fn fields<'l>(self, line: &'l [u8]) -> std::result::Result<[&'l [u8]; 3], &'static str> {
        let mut found = [&b""[..]; 3];
        let mut count = 0;
        let mut push = |field: &'l [u8]| {
            if let Some(place) = found.get_mut(count) {
                *place = field;
            }
            count += 1;
        };
        match self {
            Separator::White => {
                line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(4).for_each(push);
            }
            Separator::Tab | Separator::Comma => {
                let byte = if self == Separator::Tab { b'\t' } else { b',' };
                line.split(|other| *other == byte).take(4).for_each(|field| push(field.trim_ascii()));
            }
        }
        match count {
            2 | 3 if !found[..count].iter().any(|field| field.is_empty()) => Ok(found),
            4.. => {
                Err("there are more than three fields; expected `source target` or `source target weight`")
            }
            _ => Err("expected two names, `source target`, and perhaps a weight"),
        }
    }
}

/// A line of an edge list.
enum Line<'l> {
    Arc {
        source: &'l [u8],
        target: &'l [u8],
        weight: u32,
    },
    /// A node without arcs.
    Node(&'l [u8]),
    /// The number of nodes.
    Nodes(u64),
}

/// What the first arc says of all.
#[derive(Default)]
struct Columns {
    separator: Option<Separator>,
    weighted: Option<bool>,
}

impl Columns {
    /// What a line says; `None` for a comment.
    fn parse<'l>(&mut self, line: &'l [u8]) -> std::result::Result<Option<Line<'l>>, String> {
        if line.first().is_none_or(|byte| matches!(byte, b'#' | b'%')) {
            let nodes = line.strip_prefix(NODES).and_then(number).map(Line::Nodes);
            return Ok(nodes.or_else(|| line.strip_prefix(NODE).map(Line::Node)));
        }
        let separator = *self.separator.get_or_insert_with(|| Separator::of(line));
        let [source, target, third] = separator.fields(line)?;
        if self.weighted.is_none() && names_columns(source, target) {
            return Ok(None);
        }
        let weighted = *self.weighted.get_or_insert(!third.is_empty());
        let weight = match (weighted, third.is_empty()) {
            (false, true) => 1,
            (true, false) => weight(third)?,
            (false, false) => return Err("the arc has a weight, and those before have none".to_owned()),
            (true, true) => return Err("the arc has no weight, and those before have one".to_owned()),
        };
        Ok(Some(Line::Arc { source, target, weight }))
    }
}

fn weight(field: &[u8]) -> std::result::Result<u32, String> {
    let weight = number(field).and_then(|weight| u32::try_from(weight).ok()).filter(|weight| *weight > 0);
    weight.ok_or_else(|| {
        let shown = String::from_utf8_lossy(&field[..field.len().min(40)]);
        format!("the weight {shown:?} is not a number from 1 to {}", u32::MAX)
    })
}

/// Whether the fields of a first line are the names of the columns.
fn names_columns(source: &[u8], target: &[u8]) -> bool {
    let is_one_of = |field: &[u8], names: &[&str]| {
        let field = field.trim_ascii().to_ascii_lowercase();
        names.iter().any(|name| field == name.as_bytes() || field == format!("\"{name}\"").as_bytes())
    };
    is_one_of(source, &["source", "src", "from"])
        && is_one_of(target, &["target", "dst", "to", "destination"])
}

/// Calls `visit` with what each line says and its number, until it returns false; returns the columns.
fn scan(path: &Path, pulse: &Pulse, mut visit: impl FnMut(Line<'_>, u64) -> Result<bool>) -> Result<Columns> {
    let mut text = Text::open(path, pulse)?;
    let mut columns = Columns::default();
    for at in 1.. {
        let Some(line) = text.line()? else { break };
        match columns.parse(line.trim_ascii_end()) {
            Ok(None) => {}
            Ok(Some(said)) => {
                if !visit(said, at)? {
                    break;
                }
            }
            Err(reason) => return Err(text.malformed(reason)),
        }
    }
    Ok(columns)
}

/// Whether the arcs of a file have weights: what its first arc says.
fn is_weighted(path: &Path, pulse: &Pulse) -> Result<bool> {
    let columns = scan(path, pulse, |line, _| Ok(!matches!(line, Line::Arc { .. })))?;
    Ok(columns.weighted == Some(true))
}

/// Reads an edge list.
pub fn read(path: &Path, reading: &Reading<'_>, pulse: &Pulse) -> Result<Stream> {
    let weighted = is_weighted(path, pulse)?;
    let stream = match read_numbers(path, weighted, reading, pulse)? {
        Some(stream) => stream,
        None => read_names(path, weighted, reading, pulse)?,
    };
    Ok(Stream { weighted: weighted || reading.count, ..stream })
}

/// A number that an edge list is sorted by: below 2^32, and written without leading zeros.
#[inline]
fn small(name: &[u8]) -> Option<u32> {
    if name.len() > 10 || (name.len() > 1 && name[0] == b'0') {
        return None;
    }
    number(name).and_then(|number| u32::try_from(number).ok())
}

/// Reads an edge list whose names are numbers below 2^32; `None` if it has others.
fn read_numbers(path: &Path, weighted: bool, reading: &Reading<'_>, pulse: &Pulse) -> Result<Option<Stream>> {
    let mut sorter = Sorter::new(weighted, reading.folder, reading.memory);
    let mut ids = Ids::default();
    let (mut said, mut other) = (None, false);
    scan(path, pulse, |line, _| {
        match line {
            Line::Arc { source, target, weight } => match (small(source), small(target)) {
                (Some(source), Some(target)) => {
                    ids.insert(source);
                    ids.insert(target);
                    sorter.push(source, target, weight)?;
                }
                _ => other = true,
            },
            Line::Node(name) => match small(name) {
                Some(id) => ids.insert(id),
                None => other = true,
            },
            Line::Nodes(nodes) => said = Some(nodes),
        }
        Ok(!other)
    })?;
    if other {
        return Ok(None);
    }
    ids.rank_all();
    if let Some(nodes) = said {
        let outside = ids.iter().last().filter(|last| u64::from(*last) >= nodes);
        if nodes > 1 << 32 || outside.is_some() {
            let reason = match outside {
                Some(last) => format!("it says that there are {nodes} nodes, and has node {last}"),
                None => format!("a graph has at most 2^32 nodes, not {nodes}"),
            };
            return Err(Error::Invalid(format!("{}: {reason}", path.display())));
        }
    }
    let nodes = said.unwrap_or(ids.len()) as usize;
    let numbering = if said.is_some() || ids.are_dense() { Numbering::Same } else { Numbering::Ranks(ids) };
    if let Numbering::Ranks(ids) = &numbering {
        let mut names = NamesWriter::create(reading.names)?;
        ids.iter().try_for_each(|id| names.push(&id.to_string()))?;
        names.finish(pulse)?;
    }
    let named = matches!(numbering, Numbering::Ranks(_));
    Ok(Some(Stream { nodes, weighted, named, arcs: sorter.finish(pulse)?, mirror: None, numbering }))
}

/// Reads an edge list with names of any kind, in two passes.
fn read_names(path: &Path, weighted: bool, reading: &Reading<'_>, pulse: &Pulse) -> Result<Stream> {
    let names = sort_names(path, reading, pulse)?;
    let mut sorter = Sorter::new(weighted, reading.folder, reading.memory);
    let (mut hashes, mut weights) = (Vec::with_capacity(2 * BATCH), Vec::with_capacity(BATCH));
    let mut nodes = Vec::new();
    let mut look_up = |hashes: &mut Vec<KeyHash>, weights: &mut Vec<u32>| -> Result<()> {
        names.nodes_of(hashes, pulse, &mut nodes)?;
        for (arc, weight) in nodes.as_chunks::<2>().0.iter().zip(weights.iter()) {
            sorter.push(arc[0], arc[1], *weight)?;
        }
        hashes.clear();
        weights.clear();
        Ok(())
    };
    let mut key = Vec::new();
    scan(path, pulse, |line, at| {
        if let Line::Arc { source, target, weight } = line {
            hashes.push(hash_of(source, &mut key).map_err(|reason| malformed(path, at, reason))?);
            hashes.push(hash_of(target, &mut key).map_err(|reason| malformed(path, at, reason))?);
            weights.push(weight);
            if weights.len() == BATCH {
                look_up(&mut hashes, &mut weights)?;
            }
        }
        Ok(true)
    })?;
    look_up(&mut hashes, &mut weights)?;
    let nodes = names.len();
    let (arcs, numbering) = (sorter.finish(pulse)?, Numbering::Same);
    Ok(Stream { nodes, weighted, named: true, arcs, mirror: None, numbering })
}

/// Writes the names of an edge list, in their order.
fn sort_names(path: &Path, reading: &Reading<'_>, pulse: &Pulse) -> Result<Names> {
    let mut sorter = NameSorter::new(reading.folder, reading.memory);
    let mut key = Vec::new();
    let (mut has_text, mut negative) = (false, None);
    scan(path, pulse, |line, at| {
        let mut push = |name: &[u8]| -> Result<()> {
            let hash = hash_of(name, &mut key).map_err(|reason| malformed(path, at, reason))?;
            let is_negative = name.len() > 1 && name[0] == b'-' && order::is_number(&name[1..]);
            if is_negative {
                negative.get_or_insert_with(|| (at, String::from_utf8_lossy(name).into_owned()));
            }
            has_text |= !is_negative && !order::is_number(name);
            sorter.push(&key, hash)
        };
        match line {
            Line::Arc { source, target, .. } => {
                push(source)?;
                push(target)?;
            }
            Line::Node(name) => push(name)?,
            Line::Nodes(_) => {}
        }
        Ok(true)
    })?;
    if let Some((at, name)) = negative.filter(|_| !has_text) {
        return Err(malformed(path, at, &not_a_number(&name)));
    }
    let mut names = NamesWriter::create(reading.names)?;
    sorter.finish(pulse, |key| names.push_key(key))?;
    names.finish(pulse)?;
    Names::open(reading.names, None)
}

/// The hash of a name's key, which is left in `key`.
fn hash_of(name: &[u8], key: &mut Vec<u8>) -> std::result::Result<KeyHash, &'static str> {
    key.clear();
    let name = std::str::from_utf8(name).map_err(|_| "the line is not UTF-8")?;
    order::push_key(name, key);
    Ok(Ranks::hash(key))
}

fn malformed(path: &Path, line: u64, reason: &str) -> Error {
    Error::Invalid(format!("{}:{line}: {reason}", path.display()))
}

/// Writes an edge list.
pub struct EdgeListWriter<'a> {
    output: Output,
    separator: &'static str,
    names: Option<NameCache<'a>>,
    nodes: usize,
    next: u32,
    /// The nodes that have arcs.
    linked: Vec<u64>,
}

impl<'a> EdgeListWriter<'a> {
    /// Starts a file that will be at `path` once finished; with commas if its extension is `csv`.
    pub fn create(path: &Path, nodes: usize, names: Option<&'a Names>) -> Result<EdgeListWriter<'a>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let separator = if name.split('.').skip(1).any(|part| part == "csv") { "," } else { "\t" };
        let mut output = Output::create(path)?;
        if names.is_none() {
            output.text(std::str::from_utf8(NODES).unwrap_or_default())?;
            output.number(nodes as u64)?;
            output.text("\n")?;
        }
        let linked = if names.is_some() { vec![0; nodes.div_ceil(64)] } else { Vec::new() };
        Ok(EdgeListWriter { output, separator, names: names.map(NameCache::new), nodes, next: 0, linked })
    }

    fn node(&mut self, node: u32) -> Result<()> {
        let Some(names) = &mut self.names else { return self.output.number(u64::from(node)) };
        self.linked[node as usize / 64] |= 1 << (node % 64);
        let name = names.get(node)?;
        let wrong = |letter: char| matches!(letter, '\t' | '\n' | '\r') || self.separator.starts_with(letter);
        if name.is_empty() || name.starts_with(['#', '%']) || name.contains(wrong) || name.trim() != name {
            let reason = format!("an edge list cannot have a node with the name {name:?}");
            return Err(Error::Invalid(reason));
        }
        self.output.text(name)
    }

    /// Writes the nodes without arcs, and renames the file into place; returns its length.
    pub fn finish(mut self) -> Result<u64> {
        for node in 0..if self.names.is_some() { self.nodes as u32 } else { 0 } {
            if self.linked[node as usize / 64] >> (node % 64) & 1 == 0 {
                self.output.text(std::str::from_utf8(NODE).unwrap_or_default())?;
                self.node(node)?;
                self.output.text("\n")?;
            }
        }
        self.output.finish()
    }
}

impl Sink for EdgeListWriter<'_> {
    fn push(&mut self, successors: &[u32], weights: Option<&[u32]>) -> Result<()> {
        for (number, successor) in successors.iter().enumerate() {
            self.node(self.next)?;
            self.output.text(self.separator)?;
            self.node(*successor)?;
            if let Some(weights) = weights {
                self.output.text(self.separator)?;
                self.output.number(u64::from(weights[number]))?;
            }
            self.output.text("\n")?;
        }
        self.next += 1;
        Ok(())
    }
}

/// Names with a cache in front of them: links are mostly to pages nearby.
struct NameCache<'a> {
    names: &'a Names,
    cached: Vec<(u32, String)>,
}

impl NameCache<'_> {
    fn new(names: &Names) -> NameCache<'_> {
        NameCache { names, cached: vec![(u32::MAX, String::new()); 1 << 14] }
    }

    fn get(&mut self, node: u32) -> Result<&str> {
        let slot = &mut self.cached[node as usize % (1 << 14)];
        if slot.0 != node {
            *slot = (node, self.names.get(node)?);
        }
        Ok(&slot.1)
    }
}
