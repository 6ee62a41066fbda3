//! Signatures of URLs.

use crivello_core::Signature;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

/// The signature of a URL.
#[pyfunction]
fn signature(url: &str) -> u64 {
    Signature::of(url.as_bytes()).0
}

/// The signatures of many URLs.
#[pyfunction]
fn signatures(urls: Vec<PyBackedStr>) -> Vec<u64> {
    urls.iter().map(|url| Signature::of(url.as_bytes()).0).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(signature, module)?)?;
    module.add_function(wrap_pyfunction!(signatures, module)?)
}
