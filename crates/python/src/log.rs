//! Logs of records by signature: the table's rows and the graph's links.

use std::path::PathBuf;

use crivello_core::disk::format::Format;
use crivello_core::disk::log::KeyedLog;
use crivello_core::{Result, Signature};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::enter::enter;

/// The formats that are written from Python.
fn format(kind: &str) -> PyResult<Format> {
    match kind {
        "rows" => Ok(crivello_core::collection::ROW_FORMAT),
        "links" => Ok(crivello_core::graph::LINKS),
        _ => Err(PyValueError::new_err(format!("no such log: {kind}"))),
    }
}

/// A log with an index of its keys.
#[pyclass(module = "crivello._core")]
struct Log(KeyedLog);

#[pymethods]
impl Log {
    #[new]
    #[pyo3(signature = (path, kind, committed = 0, *, write = false))]
    fn new(py: Python<'_>, path: PathBuf, kind: &str, committed: u64, write: bool) -> PyResult<Self> {
        let format = format(kind)?;
        enter(py, |pulse| match write {
            true => KeyedLog::write(&path, format, committed, pulse),
            false => KeyedLog::read(&path, format, committed),
        })
        .map(Log)
    }

    fn append(&mut self, py: Python<'_>, records: Vec<(u64, PyBackedBytes)>) -> PyResult<()> {
        enter(py, |_| records.iter().try_for_each(|(key, payload)| self.0.append(Signature(*key), payload)))
    }

    fn get<'py>(&mut self, py: Python<'py>, key: u64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let record = enter(py, |pulse| self.0.get(Signature(key), pulse))?;
        Ok(record.map(|record| PyBytes::new(py, record.payload)))
    }

    fn contains(&mut self, py: Python<'_>, keys: Vec<u64>) -> PyResult<Vec<bool>> {
        let keys: Vec<Signature> = keys.into_iter().map(Signature).collect();
        enter(py, |pulse| self.0.contains(&keys, pulse))
    }

    /// The payloads of at most `n` records from `offset` on, and where the next record starts.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        offset: u64,
        n: usize,
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, u64)> {
        let records = enter(py, |_| self.0.records(offset)?.take(n).collect::<Result<Vec<_>>>())?;
        let next = records.last().map_or(offset, |record| record.end());
        Ok((records.iter().map(|record| PyBytes::new(py, record.payload)).collect(), next))
    }

    fn sync(&mut self, py: Python<'_>) -> PyResult<u64> {
        enter(py, |_| self.0.sync())
    }

    fn __len__(&mut self, py: Python<'_>) -> PyResult<usize> {
        enter(py, |pulse| self.0.keys(pulse))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Log>()
}
