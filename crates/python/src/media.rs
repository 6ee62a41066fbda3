//! Media types.

use crivello_core::media::{Format, Kind, converted_types, essence};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use crate::enter::enter;

/// How the text of a content type is found: html, text, conversion or unread.
#[pyfunction]
fn reading(py: Python<'_>, content_type: Option<&str>) -> PyResult<&'static str> {
    enter(py, |_| Ok(Format::of(content_type.and_then(essence).as_deref()).reading.name()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let labels = Kind::all().map(|kind| (kind.name(), kind.label()));
    module.add("CONVERTED_TYPES", converted_types().into_py_dict(module.py())?)?;
    module.add("KIND_LABELS", labels.into_py_dict(module.py())?)?;
    module.add_function(wrap_pyfunction!(reading, module)?)
}
