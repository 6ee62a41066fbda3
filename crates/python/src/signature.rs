//! Signatures of URLs.

use crivello_core::Signature;
use pyo3::prelude::*;

/// The signature of a URL.
#[pyfunction]
fn signature(url: &str) -> u64 {
    Signature::of(url.as_bytes()).0
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(signature, module)?)
}
