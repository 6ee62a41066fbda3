//! The fault points of the core, for the tests that kill the process at each of them.

use crivello_core::disk::fault;
use pyo3::prelude::*;

use crate::enter::enter;

/// The names of all fault points.
#[pyfunction]
fn fault_points() -> Vec<&'static str> {
    fault::POINTS.to_vec()
}

/// Kills this process with SIGKILL the n-th time it reaches a fault point.
#[pyfunction]
#[pyo3(signature = (name, hits = 1))]
fn arm_fault(py: Python<'_>, name: &str, hits: u32) -> PyResult<()> {
    enter(py, |_| fault::arm(name, hits))
}

/// Reaches a fault point.
#[pyfunction]
fn fault_point(name: &str) {
    fault::point(name);
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fault_points, module)?)?;
    module.add_function(wrap_pyfunction!(arm_fault, module)?)?;
    module.add_function(wrap_pyfunction!(fault_point, module)?)
}
