//! WARC records and content encodings.

use crivello_core::{Error, collection, encoding};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::enter::enter;

/// One WARC record as a gzip member.
#[pyfunction]
fn warc_record<'py>(
    py: Python<'py>,
    kind: &str,
    fields: Vec<(String, String)>,
    head: &[u8],
    body: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let member = enter(py, |_| collection::warc_record(kind, &fields, head, body))?;
    Ok(PyBytes::new(py, &member))
}

/// A body without its content encodings.
#[pyfunction]
fn decode_body<'py>(
    py: Python<'py>,
    body: &[u8],
    encodings: &str,
    limit: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let decoded = enter(py, |_| {
        encoding::decode(body, encodings, limit).map_err(|reason| Error::Invalid(reason.to_string()))
    })?;
    Ok(PyBytes::new(py, &decoded))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ACCEPTED_ENCODINGS", encoding::ACCEPTED)?;
    module.add_function(wrap_pyfunction!(warc_record, module)?)?;
    module.add_function(wrap_pyfunction!(decode_body, module)?)
}
