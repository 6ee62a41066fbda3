//! Streams of lines, and the exact set that may filter them.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crivello_core::stream::{self, Counts, Emit, Input, Judge as _, KeyOf};
use crivello_core::{Pulse, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::enter::enter;
use crate::filters::{Filter, answers, signatures_of};

/// The exact set. The lock lets threads share it, and is only taken without the GIL.
#[pyclass(module = "crivello._core", frozen)]
struct ExactSet(Mutex<stream::Exact>);

impl ExactSet {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut stream::Exact, &Pulse) -> Result<T> + Send,
    ) -> PyResult<T> {
        enter(py, |pulse| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), pulse))
    }
}

#[pymethods]
impl ExactSet {
    #[new]
    fn new(memory: usize) -> Self {
        ExactSet(Mutex::new(stream::Exact::new(memory)))
    }

    /// Adds keys; returns a byte for each: 1 if it was present before.
    fn add<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let py = keys.py();
        let keys = signatures_of(keys)?;
        let seen = self.with(py, |exact, pulse| {
            let mut seen = vec![false; keys.len()];
            exact.judge(&keys, &mut seen, pulse)?;
            Ok(seen)
        })?;
        answers(py, &seen)
    }

    #[getter]
    fn bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |exact, _| Ok(exact.bytes()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |exact, _| Ok(exact.len()))
    }
}

#[derive(FromPyObject)]
enum Judge<'py> {
    Filter(Bound<'py, Filter>),
    Exact(Bound<'py, ExactSet>),
}

/// Filters lines by a set to standard output; a file of `None` is standard input.
#[pyfunction]
fn sift(
    py: Python<'_>,
    inputs: Vec<(Option<PathBuf>, String)>,
    judge: Judge<'_>,
    emit: &str,
    record: Option<PathBuf>,
) -> PyResult<(u64, u64, u64, u64, u64, u64, u64)> {
    let inputs: Vec<Input> = inputs
        .into_iter()
        .map(|(path, key)| Ok(Input { path, key: key_of(&key)? }))
        .collect::<PyResult<_>>()?;
    let emit = match emit {
        "new" => Emit::New,
        "marked" => Emit::Marked,
        "duplicates" => Emit::Duplicates,
        "nothing" => Emit::Nothing,
        _ => return Err(PyValueError::new_err(format!("no such output: {emit}"))),
    };
    let record = record.as_deref();
    let Counts { lines, new, duplicates, by_url, malformed, long, bytes } = match judge {
        Judge::Filter(filter) => filter
            .get()
            .write(py, |mut filter, pulse| stream::sift(&inputs, &mut filter, emit, record, pulse))?,
        Judge::Exact(exact) => {
            exact.get().with(py, |exact, pulse| stream::sift(&inputs, exact, emit, record, pulse))?
        }
    };
    Ok((lines, new, duplicates, by_url, malformed, long, bytes))
}

fn key_of(name: &str) -> PyResult<Option<KeyOf>> {
    match name {
        "auto" => Ok(None),
        "lines" => Ok(Some(KeyOf::Line)),
        "cdxj" => Ok(Some(KeyOf::Cdxj)),
        _ => Err(PyValueError::new_err(format!("no such format: {name}"))),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ExactSet>()?;
    module.add_function(wrap_pyfunction!(sift, module)?)
}
