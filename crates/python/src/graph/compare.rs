//! How far measures agree.

use crivello_core::graph::measures;
use pyo3::prelude::*;

use super::arcs::numbers;
use crate::enter::enter_showing;

/// Kendall's τ of two arrays of float64, without or with hyperbolic weights.
#[pyfunction]
fn kendall(
    py: Python<'_>,
    one: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
    weighted: bool,
) -> PyResult<f64> {
    let (one, other) = (numbers::<f64>(one, "values")?, numbers::<f64>(other, "values")?);
    enter_showing(py, None, |pulse| {
        let (one, other) = ((*one).as_ref(), (*other).as_ref());
        match weighted {
            true => measures::weighted_kendall(one, other, pulse),
            false => measures::kendall(one, other, pulse),
        }
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(kendall, module)?)
}
