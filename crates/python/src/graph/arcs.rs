//! The arcs of a graph, in memory or in a file.

use std::sync::OnceLock;

use crivello_core::graph::measures::degrees;
use crivello_core::graph::{Adjacency, View};
use crivello_core::{Error, Pulse, Result};
use pyo3::prelude::*;

use crate::array::{Array, borrowed};
use crate::enter::{Progress, enter, enter_showing};

/// The arcs of a graph: its adjacency lists, and those of its transpose once they are needed.
#[pyclass(module = "crivello._core", frozen)]
pub struct Arcs {
    forward: Adjacency,
    backward: OnceLock<Adjacency>,
}

impl Arcs {
    /// A graph with these lists.
    pub fn of(forward: Adjacency) -> Arcs {
        Arcs { forward, backward: OnceLock::new() }
    }

    /// The successors of each node.
    pub fn forward(&self, _pulse: &Pulse) -> Result<View<'_>> {
        Ok(self.forward.view())
    }

    /// The predecessors of each node.
    pub fn backward(&self, pulse: &Pulse) -> Result<View<'_>> {
        if let Some(backward) = self.backward.get() {
            return Ok(backward.view());
        }
        let backward = self.forward.transpose(pulse)?;
        Ok(self.backward.get_or_init(|| backward).view())
    }

    /// The lists along the arcs, or against them.
    pub fn lists(&self, backward: bool, pulse: &Pulse) -> Result<View<'_>> {
        if backward { self.backward(pulse) } else { self.forward(pulse) }
    }
}

/// A contiguous array of numbers, or a clear refusal.
pub fn numbers<T: pyo3::buffer::Element + Send + Sync + 'static>(
    array: &Bound<'_, PyAny>,
    what: &str,
) -> PyResult<crivello_core::graph::Numbers<T>> {
    match borrowed(array) {
        Some(numbers) => Ok(numbers),
        None => {
            let kind = std::any::type_name::<T>();
            let reason = format!("the {what} must be a contiguous array of {kind}");
            enter(array.py(), |_| Err(Error::Invalid(reason)))
        }
    }
}

#[pymethods]
impl Arcs {
    /// The graph with these adjacency lists (uint64 offsets, uint32 targets and weights), without copying.
    #[staticmethod]
    #[pyo3(signature = (offsets, targets, weights = None))]
    fn from_lists(
        py: Python<'_>,
        offsets: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Arcs> {
        let (offsets, targets) = (numbers(offsets, "offsets")?, numbers(targets, "targets")?);
        let weights = weights.map(|weights| numbers(weights, "weights")).transpose()?;
        enter(py, |pulse| Adjacency::new(offsets, targets, weights, pulse).map(Arcs::of))
    }

    /// The graph of `nodes` nodes with these arcs; with `count` the number of parallel arcs is their weight.
    #[staticmethod]
    fn from_arcs(
        py: Python<'_>,
        nodes: usize,
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        count: bool,
    ) -> PyResult<Arcs> {
        let (sources, targets) = (numbers::<u32>(sources, "sources")?, numbers::<u32>(targets, "targets")?);
        enter(py, |pulse| {
            let (sources, targets) = ((*sources).as_ref(), (*targets).as_ref());
            if sources.len() != targets.len() {
                let reason = format!("there are {} sources for {} targets", sources.len(), targets.len());
                return Err(Error::Invalid(reason));
            }
            let arcs = sources.iter().copied().zip(targets.iter().copied()).collect();
            Adjacency::from_arcs(nodes, arcs, count, pulse).map(Arcs::of)
        })
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.forward.view().nodes()
    }

    #[getter]
    fn arcs(&self) -> usize {
        self.forward.view().targets.len()
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.forward.view().weights.is_some()
    }

    /// The adjacency lists: offsets, targets and weights.
    fn csr(&self, py: Python<'_>) -> PyResult<(Array, Array, Option<Array>)> {
        let (offsets, targets, weights) = enter(py, |_| Ok(self.forward.arrays()))?;
        Ok((Array::shared(offsets), Array::shared(targets), weights.map(Array::shared)))
    }

    fn successors(&self, py: Python<'_>, node: usize) -> PyResult<Array> {
        enter(py, |pulse| {
            let lists = self.forward(pulse)?;
            if node >= lists.nodes() {
                let reason =
                    format!("there is no node {node}: they go from 0 to {}", lists.nodes() as i64 - 1);
                return Err(Error::Invalid(reason));
            }
            Ok(Array::of(lists.successors(node).to_vec()))
        })
    }

    #[pyo3(signature = (progress = None))]
    fn transpose(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Arcs> {
        enter_showing(py, progress, |pulse| {
            self.backward(pulse)?;
            let backward = self.backward.get().cloned().ok_or(Error::Stopped)?;
            let transpose = Arcs::of(backward);
            drop(transpose.backward.set(self.forward.clone()));
            Ok(transpose)
        })
    }

    #[pyo3(signature = (backward, progress = None))]
    fn degrees(
        &self,
        py: Python<'_>,
        backward: bool,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Array> {
        enter_showing(py, progress, |pulse| Ok(Array::of(degrees(self.lists(backward, pulse)?))))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Arcs>()
}
