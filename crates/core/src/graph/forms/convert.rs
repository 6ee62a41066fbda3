//! From a text to another form, list by list: the arcs are never all in memory, except for METIS, which needs the
//! reverse of each. Names go to a file beside a compressed graph (see [`names_beside`]).

use std::path::{Path, PathBuf};

use super::common_crawl::{EdgesWriter, files, write_vertices};
use super::edge_list::EdgeListWriter;
use super::{Form, Reading, Stream, metis, read};
use crate::graph::names::{Names, TEMPORARY, temporary_folder};
use crate::graph::{BvGraphWriter, GraphWriter, Options};
use crate::{Pulse, Result};

/// A conversion.
pub struct Conversion<'a> {
    /// The file that is read, and its form.
    pub source: (&'a Path, Form),
    /// The file that is written, and its form.
    pub target: (&'a Path, Form),
    /// The memory for sorting, in bytes.
    pub memory: usize,
    /// Whether the number of parallel arcs becomes their weight.
    pub count: bool,
    /// Where scratch files go; `None`: where the system has temporary files.
    pub scratch: Option<&'a Path>,
}

/// What a conversion wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converted {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of arcs.
    pub arcs: u64,
    /// The size of what was written, without names that are beside it.
    pub bytes: u64,
    /// Bits per link, of the lists alone in a compressed graph.
    pub bits_per_link: f64,
}

/// Converts a graph from a text form.
pub fn convert(conversion: &Conversion<'_>, pulse: &Pulse) -> Result<Converted> {
    let Conversion { source, target, memory, count, scratch } = *conversion;
    let folder = temporary_folder(scratch)?;
    let names = folder.path().join(TEMPORARY);
    let reading = Reading { folder: folder.path(), memory, count, names: &names };
    let stream = read(source.0, source.1, &reading, pulse)?;
    let names = if stream.named { Some(Names::open(&names, None)?) } else { None };
    write_stream(stream, names.as_ref(), target.0, target.1, pulse)
}

fn write_stream(
    stream: Stream,
    names: Option<&Names>,
    path: &Path,
    form: Form,
    pulse: &Pulse,
) -> Result<Converted> {
    let nodes = stream.nodes;
    let (arcs, bytes) = match form {
        Form::EdgeList => {
            let mut writer = EdgeListWriter::create(path, nodes, names)?;
            (stream.drain(&mut writer, pulse)?, writer.finish()?)
        }
        Form::CommonCrawl => {
            let (vertices, edges) = files(path);
            let mut writer = EdgesWriter::create(&edges)?;
            let arcs = stream.drain(&mut writer, pulse)?;
            (arcs, write_vertices(nodes, names, &vertices, pulse)? + writer.finish()?)
        }
        Form::Metis => {
            let graph = stream.collect(pulse)?;
            let reversed = graph.transpose(pulse)?;
            let arcs = graph.view().targets.len() as u64;
            (arcs, metis::write(graph.view(), reversed.view(), path, pulse)?)
        }
        Form::Crivello => {
            let mut writer = GraphWriter::create(path, nodes, stream.weighted, Options::default())?;
            stream.drain(&mut writer, pulse)?;
            let written = writer.finish(pulse)?;
            names.map(|names| names.copy(&names_beside(path, form))).transpose()?;
            let (arcs, bytes, bits_per_link) = (written.arcs, written.length, written.bits_per_link());
            return Ok(Converted { nodes, arcs, bytes, bits_per_link });
        }
        Form::BvGraph => {
            let mut writer = BvGraphWriter::create(&bare(path), nodes, Options::default())?;
            let arcs = stream.drain(&mut writer, pulse)?;
            let (_, bits_per_link) = writer.finish(pulse)?;
            names.map(|names| names.copy(&names_beside(path, form))).transpose()?;
            let bytes = (arcs as f64 * bits_per_link / 8.0).ceil() as u64;
            return Ok(Converted { nodes, arcs, bytes, bits_per_link });
        }
    };
    let bits_per_link = 8.0 * bytes as f64 / arcs.max(1) as f64;
    Ok(Converted { nodes, arcs, bytes, bits_per_link })
}

/// The path of a BVGraph without the extension of one of its files.
pub fn bare(path: &Path) -> PathBuf {
    let is_one = |end: &&std::ffi::OsStr| ["graph", "properties", "offsets"].iter().any(|one| *end == *one);
    match path.extension().filter(is_one) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

/// Where the names of a compressed graph are: `x.names` for `x.graph`, and for a BVGraph `x`.
pub fn names_beside(path: &Path, form: Form) -> PathBuf {
    let mut base = if form == Form::BvGraph { bare(path) } else { path.with_extension("") }.into_os_string();
    base.push(".names");
    PathBuf::from(base)
}
