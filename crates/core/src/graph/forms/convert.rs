//! From one form to another, list by list: the arcs are never all in memory, except for METIS, which needs the
//! reverse of each.

use std::path::Path;

use super::common_crawl::{EdgesWriter, files, write_vertices};
use super::edge_list::EdgeListWriter;
use super::{Form, Reading, Stream, metis, read};
use crate::graph::names::{Names, TEMPORARY, temporary_folder};
use crate::{Error, Pulse, Result};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of arcs.
    pub arcs: u64,
    /// The size of what was written, without names that are beside it.
    pub bytes: u64,
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
        Form::BvGraph | Form::Crivello => {
            return Err(Error::Invalid(format!("{} is not a text", path.display())));
        }
    };
    Ok(Converted { nodes, arcs, bytes })
}
