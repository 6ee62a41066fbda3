//! Graphs made from a graph: groups of its nodes, some of its nodes.

use crivello_core::graph;
use crivello_core::url;
use pyo3::prelude::*;

use super::arcs::{Arcs, numbers};
use crate::enter::{Progress, enter, enter_showing};

/// The graph whose nodes are groups of nodes; weights are numbers of links.
#[pyfunction]
#[pyo3(signature = (arcs, groups, count, loops, progress = None))]
fn graph_collapse(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    groups: &Bound<'_, PyAny>,
    count: usize,
    loops: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Arcs> {
    let (arcs, groups) = (arcs.get(), numbers::<u32>(groups, "groups")?);
    enter_showing(py, progress, |pulse| {
        graph::collapse(arcs.forward(pulse)?, (*groups).as_ref(), count, loops, pulse).map(Arcs::of)
    })
}

/// The graph of these nodes, increasing, and of the arcs between them.
#[pyfunction]
#[pyo3(signature = (arcs, nodes, progress = None))]
fn graph_subgraph(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    nodes: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Arcs> {
    let (arcs, nodes) = (arcs.get(), numbers::<u32>(nodes, "nodes")?);
    enter_showing(py, progress, |pulse| {
        graph::subgraph(arcs.forward(pulse)?, (*nodes).as_ref(), pulse).map(Arcs::of)
    })
}

/// The host of each URL, or its registrable domain.
#[pyfunction]
fn url_hosts(py: Python<'_>, urls: Vec<String>, domain: bool) -> PyResult<Vec<String>> {
    enter(py, |_| {
        let host = |url: &String| {
            let host = url::host_of(url);
            (if domain { url::domain(host) } else { host }).to_owned()
        };
        Ok(urls.iter().map(host).collect())
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(graph_collapse, module)?)?;
    module.add_function(wrap_pyfunction!(graph_subgraph, module)?)?;
    module.add_function(wrap_pyfunction!(url_hosts, module)?)
}
