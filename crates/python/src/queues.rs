//! Queues between threads, to compare them.

use crivello_core::queues::{self, Kind};
use pyo3::prelude::*;

use crate::enter::enter;

/// The seconds that `threads` threads take for `pairs` pairs of a push and a pop each, on one queue.
#[pyfunction]
fn queue_seconds(py: Python<'_>, kind: &str, threads: u32, pairs: u64) -> PyResult<f64> {
    enter(py, |pulse| {
        let kind: Kind = kind.parse()?;
        queues::measure(kind, threads, pairs, pulse)
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(queue_seconds, module)?)
}
