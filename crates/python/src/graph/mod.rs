//! The link graph and its ranks.

mod arcs;
mod betweenness;
mod collapse;
mod compare;
mod components;
mod distances;
mod pages;
mod spectral;
mod forms;

use std::path::PathBuf;

use crivello_core::graph::{self, EdgeList, Settings};
use pyo3::prelude::*;

use crate::enter::enter;

pub use pages::Ranks;

/// The names in an edge list with their PageRank, highest first.
#[pyfunction]
#[pyo3(signature = (path, damping = 0.85, threshold = 1e-9, iterations = 200))]
fn rank_edges(
    py: Python<'_>,
    path: PathBuf,
    damping: f64,
    threshold: f64,
    iterations: u32,
) -> PyResult<Vec<(String, f64)>> {
    let settings = Settings { damping, threshold, iterations };
    enter(py, |pulse| {
        let edges = EdgeList::read(&path, pulse)?;
        let outcome = graph::pagerank(&edges, &settings, pulse)?;
        Ok(edges.ranked(outcome.ranks))
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    arcs::register(module)?;
    spectral::register(module)?;
    compare::register(module)?;
    betweenness::register(module)?;
    collapse::register(module)?;
    components::register(module)?;
    distances::register(module)?;
    pages::register(module)?;
    forms::register(module)?;
    module.add_function(wrap_pyfunction!(rank_edges, module)?)
}
