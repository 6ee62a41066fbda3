//! Writing a graph as text.

use std::path::Path;

use super::common_crawl::{EdgesWriter, files, write_vertices};
use super::edge_list::EdgeListWriter;
use super::{Form, Sink, metis};
use crate::graph::{Names, View};
use crate::{Error, Pulse, Result};

/// Writes a graph in a text form (`backward` is its transpose, which METIS needs); returns the number of bytes.
pub fn write<'a>(
    graph: View<'a>,
    names: Option<&Names>,
    path: &Path,
    form: Form,
    backward: impl FnOnce() -> Result<View<'a>>,
    pulse: &Pulse,
) -> Result<u64> {
    match form {
        Form::EdgeList => {
            let mut writer = EdgeListWriter::create(path, graph.nodes(), names)?;
            push_all(graph, &mut writer, pulse)?;
            writer.finish()
        }
        Form::Metis => metis::write(graph, backward()?, path, pulse),
        Form::CommonCrawl => {
            let (vertices, edges) = files(path);
            let bytes = write_vertices(graph.nodes(), names, &vertices, pulse)?;
            let mut writer = EdgesWriter::create(&edges)?;
            push_all(graph, &mut writer, pulse)?;
            Ok(bytes + writer.finish()?)
        }
        Form::BvGraph | Form::Crivello => Err(Error::Invalid(format!("{} is not a text", path.display()))),
    }
}

/// Hands every list of a graph in memory to a sink.
pub fn push_all(graph: View<'_>, sink: &mut dyn Sink, pulse: &Pulse) -> Result<()> {
    for node in 0..graph.nodes() {
        if node.is_multiple_of(1 << 12) {
            pulse.beat()?;
            pulse.set(node as u64, graph.nodes() as u64);
        }
        sink.push(graph.successors(node), graph.weights.map(|weights| &weights[graph.range(node)]))?;
    }
    Ok(())
}
