//! The link graph and its ranks.

mod arcs;
mod betweenness;
mod collapse;
mod compare;
mod components;
mod spectral;

use std::path::PathBuf;

use crivello_core::disk::log::LogWriter;
use crivello_core::graph::{self, EdgeList, Settings, Successors};
use crivello_core::{Result, Signature};
use pyo3::prelude::*;

use crate::enter::enter;

/// The compressed link graph.
#[pyclass(module = "crivello._core", frozen)]
struct Graph(graph::Graph);

#[pymethods]
impl Graph {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, committed: u64) -> PyResult<Self> {
        enter(py, |_| graph::Graph::open(&path, committed)).map(Graph)
    }

    /// Builds a graph from a link log; returns the numbers of nodes and arcs and the length of the file.
    #[staticmethod]
    fn build(py: Python<'_>, links: PathBuf, committed: u64, target: PathBuf) -> PyResult<(usize, u64, u64)> {
        let built = enter(py, |pulse| graph::build(&links, committed, &target, pulse))?;
        Ok((built.nodes, built.arcs, built.length))
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    #[getter]
    fn arcs(&self) -> u64 {
        self.0.arcs()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    #[getter]
    fn bits_per_link(&self) -> f64 {
        self.0.bits_per_link()
    }

    fn successors(&self, py: Python<'_>, signature: u64) -> PyResult<Option<Vec<u64>>> {
        enter(py, |_| {
            let Some(node) = self.0.find(Signature(signature))? else { return Ok(None) };
            let successors = self.0.successors(node)?;
            let signatures = successors.into_iter().map(|successor| Ok(self.0.signature(successor)?.0));
            signatures.collect::<Result<_>>().map(Some)
        })
    }

    /// Writes the ranks; returns the length of their file, the number of iterations and the last one's
    /// change.
    #[pyo3(signature = (target, damping = 0.85, threshold = 1e-9, iterations = 200))]
    fn pagerank(
        &self,
        py: Python<'_>,
        target: PathBuf,
        damping: f64,
        threshold: f64,
        iterations: u32,
    ) -> PyResult<(u64, u32, f64)> {
        let settings = Settings { damping, threshold, iterations };
        enter(py, |pulse| {
            let outcome = graph::pagerank(&self.0, &settings, pulse)?;
            let length = graph::write_ranks(&self.0, &outcome.ranks, &target, pulse)?;
            Ok((length, outcome.iterations, outcome.residual))
        })
    }
}

/// The ranks of the pages.
#[pyclass(module = "crivello._core", frozen)]
pub struct Ranks(pub graph::Ranks);

#[pymethods]
impl Ranks {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, committed: u64) -> PyResult<Self> {
        enter(py, |_| graph::Ranks::open(&path, committed)).map(Ranks)
    }

    fn get(&self, py: Python<'_>, signatures: Vec<u64>) -> PyResult<Vec<Option<f32>>> {
        enter(py, |_| signatures.into_iter().map(|signature| self.0.get(Signature(signature))).collect())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Writes the ranks of pages, given by signature, scaled to a mean of 1; returns the length of the file.
#[pyfunction]
fn write_ranks(py: Python<'_>, pages: Vec<(u64, f64)>, target: PathBuf) -> PyResult<u64> {
    enter(py, |pulse| {
        let pages = pages.into_iter().map(|(page, rank)| (Signature(page), rank)).collect();
        graph::write_page_ranks(pages, &target, pulse)
    })
}

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

/// Writes a link log: pages with the pages they link to, all by their signatures; returns its length.
#[pyfunction]
fn write_links(py: Python<'_>, path: PathBuf, links: Vec<(u64, Vec<u64>)>) -> PyResult<u64> {
    enter(py, |_| {
        let mut log = LogWriter::open(&path, graph::LINKS, 0)?;
        for (page, targets) in &links {
            let followed = targets.iter().copied().map(Signature).collect();
            log.append(Signature(*page), &graph::PageLinks { followed, nofollow: Vec::new() }.encode())?;
        }
        log.sync()
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    arcs::register(module)?;
    spectral::register(module)?;
    compare::register(module)?;
    betweenness::register(module)?;
    collapse::register(module)?;
    components::register(module)?;
    module.add_class::<Graph>()?;
    module.add_class::<Ranks>()?;
    module.add_function(wrap_pyfunction!(write_links, module)?)?;
    module.add_function(wrap_pyfunction!(write_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(rank_edges, module)?)
}
