//! Distances between nodes.

use crivello_core::graph::measures::{self, BallSums, DistanceSums};
use pyo3::prelude::*;

use super::arcs::{Arcs, numbers};
use crate::array::Array;
use crate::enter::{Progress, enter_showing};

/// For each node: the number of others, the sums of distances and of their reciprocals, and the largest; and the
/// number of pairs at each distance.
type Sums = (Array, Array, Array, Array, Array);

fn arrays(sums: DistanceSums) -> Sums {
    let DistanceSums { reachable, distance, harmonic, eccentricity, pairs } = sums;
    (
        Array::of(reachable),
        Array::of(distance),
        Array::of(harmonic),
        Array::of(eccentricity),
        Array::of(pairs),
    )
}

/// The sums of the distances of every node from all others, or to them.
#[pyfunction]
#[pyo3(signature = (arcs, incoming, progress = None))]
fn distance_sums(
    arcs: &Bound<'_, Arcs>,
    incoming: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Sums> {
    let (py, arcs) = (arcs.py(), arcs.get());
    enter_showing(py, progress, |pulse| {
        let (along, against) = (arcs.lists(!incoming, pulse)?, arcs.lists(incoming, pulse)?);
        measures::distance_sums(along, against, pulse).map(arrays)
    })
}

/// The same for some nodes, the others counted by their weights.
#[pyfunction]
#[pyo3(signature = (arcs, incoming, nodes, weights = None, progress = None))]
fn distance_sums_of(
    arcs: &Bound<'_, Arcs>,
    incoming: bool,
    nodes: &Bound<'_, PyAny>,
    weights: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Sums> {
    let (py, arcs) = (arcs.py(), arcs.get());
    let nodes = numbers::<u32>(nodes, "nodes")?;
    let weights = weights.map(|weights| numbers::<f64>(weights, "weights")).transpose()?;
    enter_showing(py, progress, |pulse| {
        let (along, against) = (arcs.lists(incoming, pulse)?, arcs.lists(!incoming, pulse)?);
        let weights = weights.as_ref().map(|weights| (**weights).as_ref());
        measures::distance_sums_of(along, against, (*nodes).as_ref(), weights, pulse).map(arrays)
    })
}

/// The number of others, the sums of distances and of their reciprocals, estimated, for each node; the variances
/// of the three and the covariance of the first two; the number of pairs at each distance, and its variance.
type Estimates = ([Array; 3], [Array; 4], [Array; 2]);

/// The estimated sums of the distances of every node from all others, or to them.
#[pyfunction]
#[pyo3(signature = (arcs, incoming, log2m, seed, memory, progress = None))]
fn hyperball(
    arcs: &Bound<'_, Arcs>,
    incoming: bool,
    log2m: u32,
    seed: u64,
    memory: usize,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Estimates> {
    let (py, arcs) = (arcs.py(), arcs.get());
    enter_showing(py, progress, |pulse| {
        let sums = measures::hyperball(&arcs.lists(incoming, pulse)?, log2m, seed, memory, pulse)?;
        let BallSums { reachable, distance, harmonic, variances, pairs, pairs_variance } = sums;
        Ok((
            [reachable, distance, harmonic].map(Array::of),
            variances.map(Array::of),
            [pairs, pairs_variance].map(Array::of),
        ))
    })
}

/// The distance of every node to a node, or from it; 2^32 - 1 where there is no path.
#[pyfunction]
#[pyo3(signature = (arcs, incoming, node, progress = None))]
fn distances_from(
    arcs: &Bound<'_, Arcs>,
    incoming: bool,
    node: usize,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let (py, arcs) = (arcs.py(), arcs.get());
    enter_showing(py, progress, |pulse| {
        measures::distances_from(arcs.lists(incoming, pulse)?, node, pulse).map(Array::of)
    })
}

/// The largest finite distance.
#[pyfunction]
#[pyo3(signature = (arcs, progress = None))]
fn diameter(arcs: &Bound<'_, Arcs>, progress: Option<&Bound<'_, Progress>>) -> PyResult<u32> {
    let (py, arcs) = (arcs.py(), arcs.get());
    enter_showing(py, progress, |pulse| {
        measures::diameter(arcs.forward(pulse)?, arcs.backward(pulse)?, pulse)
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(distance_sums, module)?)?;
    module.add_function(wrap_pyfunction!(distance_sums_of, module)?)?;
    module.add_function(wrap_pyfunction!(hyperball, module)?)?;
    module.add_function(wrap_pyfunction!(diameter, module)?)?;
    module.add_function(wrap_pyfunction!(distances_from, module)?)
}
