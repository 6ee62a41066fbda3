//! The spectral measures: PageRank and its relatives.

use crivello_core::graph::measures::{
    self, Dangling, Iterated, Method, PageRankSettings, Stop, walk_matrix, walks_from,
};
use crivello_core::graph::{Numbers, View};
use crivello_core::{Error, Result};
use pyo3::prelude::*;

use super::arcs::{Arcs, numbers};
use crate::array::Array;
use crate::enter::{Progress, enter_showing};

/// The values, the number of iterations, the change of the last one, and whether it converged.
type Outcome = (Array, u32, f64, bool);

fn outcome(iterated: Iterated) -> Outcome {
    (Array::of(iterated.values), iterated.iterations, iterated.residual, iterated.converged)
}

/// The lists, with their weights or without.
fn lists(view: View<'_>, weighted: bool) -> View<'_> {
    View { weights: view.weights.filter(|_| weighted), ..view }
}

fn method(name: &str) -> Result<Method> {
    match name {
        "gauss-seidel" => Ok(Method::GaussSeidel),
        "power" => Ok(Method::Power),
        _ => Err(Error::Invalid(format!("there is no method {name:?}: it is gauss-seidel or power"))),
    }
}

/// PageRank for each preference; `dangling`: None for the preference, False to stay, or weights.
#[pyfunction]
#[pyo3(signature = (arcs, preferences, dangling, damping, tolerance, iterations, method, weighted, progress = None))]
#[allow(clippy::too_many_arguments)]
fn pagerank(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    preferences: Vec<Bound<'_, PyAny>>,
    dangling: Option<&Bound<'_, PyAny>>,
    damping: f64,
    tolerance: f64,
    iterations: u32,
    method: &str,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Vec<Outcome>> {
    let preferences: Vec<Numbers<f64>> =
        preferences.iter().map(|preference| numbers(preference, "preference")).collect::<PyResult<_>>()?;
    let dangling = match dangling {
        None => Dangling::Preference,
        Some(stay) if stay.extract::<bool>().is_ok() => Dangling::Stay,
        Some(weights) => {
            Dangling::Weights((*numbers::<f64>(weights, "distribution of dangling nodes")?).as_ref().to_vec())
        }
    };
    let arcs = arcs.get();
    let ranks = enter_showing(py, progress, |pulse| {
        let method = self::method(method)?;
        let settings = PageRankSettings { damping, stop: Stop { tolerance, iterations }, method, dangling };
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        let preferences: Vec<&[f64]> = preferences.iter().map(|preference| (**preference).as_ref()).collect();
        let lists = (lists(forward, weighted), lists(backward, weighted));
        measures::pagerank(lists.0, lists.1, &preferences, &settings, pulse)
    })?;
    Ok(ranks.into_iter().map(outcome).collect())
}

/// The dominant eigenvector, and its eigenvalue.
#[pyfunction]
#[pyo3(signature = (arcs, tolerance, iterations, weighted, progress = None))]
fn eigenvector(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    tolerance: f64,
    iterations: u32,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Outcome, f64)> {
    let arcs = arcs.get();
    let (values, eigenvalue) = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        let stop = Stop { tolerance, iterations };
        measures::eigenvector(lists(forward, weighted), lists(backward, weighted), &stop, pulse)
    })?;
    Ok((outcome(values), eigenvalue))
}

/// Seeley's index.
#[pyfunction]
#[pyo3(signature = (arcs, tolerance, iterations, weighted, progress = None))]
fn seeley(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    tolerance: f64,
    iterations: u32,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Outcome> {
    let arcs = arcs.get();
    let values = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        let stop = Stop { tolerance, iterations };
        measures::seeley(lists(forward, weighted), lists(backward, weighted), &stop, pulse)
    })?;
    Ok(outcome(values))
}

/// Katz's index.
#[pyfunction]
#[pyo3(signature = (arcs, attenuation, preference, tolerance, iterations, weighted, progress = None))]
#[allow(clippy::too_many_arguments)]
fn katz(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    attenuation: Option<f64>,
    preference: &Bound<'_, PyAny>,
    tolerance: f64,
    iterations: u32,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Outcome> {
    let preference = numbers::<f64>(preference, "preference")?;
    let arcs = arcs.get();
    let values = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        let lists = (lists(forward, weighted), lists(backward, weighted));
        let stop = Stop { tolerance, iterations };
        measures::katz(lists.0, lists.1, attenuation, (*preference).as_ref(), &stop, pulse)
    })?;
    Ok(outcome(values))
}

/// The hubs and the authorities of HITS.
#[pyfunction]
#[pyo3(signature = (arcs, tolerance, iterations, weighted, progress = None))]
fn hits(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    tolerance: f64,
    iterations: u32,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<(Outcome, Outcome)> {
    let arcs = arcs.get();
    let (hubs, authorities) = enter_showing(py, progress, |pulse| {
        let (forward, backward) = (arcs.forward(pulse)?, arcs.backward(pulse)?);
        let stop = Stop { tolerance, iterations };
        measures::hits(lists(forward, weighted), lists(backward, weighted), &stop, pulse)
    })?;
    Ok((outcome(hubs), outcome(authorities)))
}

/// The authorities of SALSA, or its hubs.
#[pyfunction]
#[pyo3(signature = (arcs, hubs, weighted, progress = None))]
fn salsa(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    hubs: bool,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| {
        measures::salsa(lists(arcs.lists(!hubs, pulse)?, weighted), pulse).map(Array::of)
    })
}

/// A vector of weights, times a power of the matrix.
#[pyfunction]
#[pyo3(signature = (arcs, length, start, weighted, progress = None))]
fn walks(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    length: u32,
    start: &Bound<'_, PyAny>,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Array> {
    let start = numbers::<f64>(start, "start")?;
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| {
        let backward = lists(arcs.backward(pulse)?, weighted);
        measures::walks(backward, length, (*start).as_ref(), pulse).map(Array::of)
    })
}

/// The number of walks between two nodes.
#[pyfunction]
#[pyo3(signature = (arcs, length, source, target, weighted, progress = None))]
fn walks_between(
    py: Python<'_>,
    arcs: &Bound<'_, Arcs>,
    length: u32,
    source: usize,
    target: usize,
    weighted: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<u128> {
    let arcs = arcs.get();
    enter_showing(py, progress, |pulse| {
        let counts = walks_from(lists(arcs.forward(pulse)?, weighted), length, source, pulse)?;
        let missing = || Error::Invalid(format!("there is no node {target}"));
        counts.get(target).copied().ok_or_else(missing)
    })
}

/// The numbers of walks between all nodes of a small graph, by rows.
#[pyfunction]
fn walks_matrix(py: Python<'_>, arcs: &Bound<'_, Arcs>, length: u32, weighted: bool) -> PyResult<Array> {
    let arcs = arcs.get();
    enter_showing(py, None, |pulse| {
        walk_matrix(lists(arcs.forward(pulse)?, weighted), length, pulse).map(Array::of)
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pagerank, module)?)?;
    module.add_function(wrap_pyfunction!(eigenvector, module)?)?;
    module.add_function(wrap_pyfunction!(seeley, module)?)?;
    module.add_function(wrap_pyfunction!(katz, module)?)?;
    module.add_function(wrap_pyfunction!(hits, module)?)?;
    module.add_function(wrap_pyfunction!(salsa, module)?)?;
    module.add_function(wrap_pyfunction!(walks, module)?)?;
    module.add_function(wrap_pyfunction!(walks_between, module)?)?;
    module.add_function(wrap_pyfunction!(walks_matrix, module)?)
}
