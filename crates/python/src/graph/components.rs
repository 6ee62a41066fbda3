//! Components of a graph, paths between its nodes, and its bow-tie.

use crivello_core::Error;
use crivello_core::graph::measures::{self, Components};
use pyo3::prelude::*;

use super::arcs::Arcs;
use crate::array::Array;
use crate::enter::{Progress, enter_showing};

/// The component of each node, strong or weak, and the sizes of the components.
#[pyfunction]
#[pyo3(signature = (arcs, strong, progress = None))]
fn graph_components(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    strong: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Array, Array)> {
    let arcs = arcs.get();
    let Components { labels, sizes } = enter_showing(py, progress, |pulse| {
        let lists = arcs.forward(pulse)?;
        if strong {
            measures::strong_components(lists, pulse)
        } else {
            measures::weak_components(lists, pulse)
        }
    })?;
    Ok((Array::of(labels), Array::of(sizes)))
}

/// The place of each node in the bow-tie: core, in, out, tube, tendril or disconnected.
#[pyfunction]
#[pyo3(signature = (arcs, progress = None))]
fn graph_bow_tie(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| measures::bow_tie(arcs.forward(pulse)?, arcs.backward(pulse)?, pulse))
        .map(Array::of)
}

/// A shortest path between two nodes; None if there is none.
#[pyfunction]
#[pyo3(signature = (arcs, source, target, progress = None))]
fn graph_path(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    source: u32,
    target: u32,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Option<Array>> {
    let arcs = arcs.get();
    let path = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        if source.max(target) as usize >= forward.nodes() {
            let reason = format!("there is no node {} in a graph of {}", source.max(target), forward.nodes());
            return Err(Error::Invalid(reason));
        }
        measures::shortest_path(forward, backward, source, target, pulse)
    })?;
    Ok(path.map(Array::of))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(graph_components, module)?)?;
    module.add_function(wrap_pyfunction!(graph_bow_tie, module)?)?;
    module.add_function(wrap_pyfunction!(graph_path, module)?)
}
