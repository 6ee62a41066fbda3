//! Betweenness of the nodes of a graph: by all shortest paths, by a sample of them, by random walks.

use crivello_core::graph::measures;
use pyo3::prelude::*;

use super::arcs::Arcs;
use crate::array::Array;
use crate::enter::{Progress, enter_showing};

/// The betweenness of each node.
#[pyfunction]
#[pyo3(signature = (arcs, multiplicity, progress = None))]
fn graph_betweenness(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    multiplicity: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| measures::betweenness(arcs.forward(pulse)?, multiplicity, pulse))
        .map(Array::of)
}

/// An estimate of the betweenness of each node, and the number of shortest paths drawn for it.
#[pyfunction]
#[pyo3(signature = (arcs, multiplicity, error, confidence, seed, progress = None))]
fn graph_sampled_betweenness(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    multiplicity: bool,
    error: f64,
    confidence: f64,
    seed: u64,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Array, u64)> {
    let arcs = arcs.get();
    let sampled = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        measures::sampled_betweenness(forward, backward, multiplicity, (error, confidence), seed, pulse)
    })?;
    Ok((Array::of(sampled.values), sampled.samples))
}

/// The random-walk betweenness of each node.
#[pyfunction]
#[pyo3(signature = (arcs, progress = None))]
fn graph_random_walk_betweenness(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| measures::random_walk_betweenness(arcs.forward(pulse)?, pulse))
        .map(Array::of)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(graph_betweenness, module)?)?;
    module.add_function(wrap_pyfunction!(graph_sampled_betweenness, module)?)?;
    module.add_function(wrap_pyfunction!(graph_random_walk_betweenness, module)?)
}
