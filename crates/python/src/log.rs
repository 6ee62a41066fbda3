//! Logs of records by signature: the table's rows and the graph's links.

use std::path::PathBuf;

use crivello_core::Signature;
use crivello_core::format::Format;
use crivello_core::log::{LogReader, LogWriter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::enter::enter;

/// The formats that are written from Python.
fn format(kind: &str) -> PyResult<Format> {
    match kind {
        "rows" => Ok(Format { kind: *b"ROWS", version: 1 }),
        "links" => Ok(crivello_core::graph::LINKS),
        _ => Err(PyValueError::new_err(format!("no such log: {kind}"))),
    }
}

/// The writing end of a log.
#[pyclass(module = "crivello._core", name = "LogWriter")]
struct Writer(LogWriter);

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (path, kind, committed = 0))]
    fn new(py: Python<'_>, path: PathBuf, kind: &str, committed: u64) -> PyResult<Self> {
        let format = format(kind)?;
        enter(py, |_| LogWriter::open(&path, format, committed)).map(Writer)
    }

    fn append(&mut self, py: Python<'_>, records: Vec<(u64, PyBackedBytes)>) -> PyResult<Vec<u64>> {
        let append = |(key, payload): &(u64, PyBackedBytes)| self.0.append(Signature(*key), payload);
        enter(py, |_| records.iter().map(append).collect())
    }

    fn flush(&mut self, py: Python<'_>) -> PyResult<u64> {
        enter(py, |_| self.0.flush())
    }

    fn sync(&mut self, py: Python<'_>) -> PyResult<u64> {
        enter(py, |_| self.0.sync())
    }

    fn __len__(&self) -> usize {
        self.0.len() as usize
    }
}

/// The reading end of a log.
#[pyclass(module = "crivello._core", name = "LogReader", frozen)]
struct Reader(LogReader);

#[pymethods]
impl Reader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, kind: &str, committed: u64) -> PyResult<Self> {
        let format = format(kind)?;
        enter(py, |_| LogReader::open(&path, format, committed)).map(Reader)
    }

    fn get<'py>(&self, py: Python<'py>, offset: u64) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let record = enter(py, |_| self.0.get(offset))?;
        Ok((record.key.0, PyBytes::new(py, record.payload)))
    }

    /// At most `n` records from `offset` on, and where the next one starts.
    #[allow(clippy::type_complexity)]
    fn read<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        n: usize,
    ) -> PyResult<(Vec<(u64, u64, Bound<'py, PyBytes>)>, u64)> {
        let records: Vec<_> = enter(py, |_| self.0.records(offset).take(n).collect())?;
        let next = records.last().map_or(offset, |record| record.end());
        let rows = records.iter().map(|r| (r.offset, r.key.0, PyBytes::new(py, r.payload))).collect();
        Ok((rows, next))
    }

    /// The key and the offset of every record from `offset` on.
    fn keys(&self, py: Python<'_>, offset: u64) -> PyResult<Vec<(u64, u64)>> {
        enter(py, |pulse| {
            let mut keys = Vec::new();
            self.0.scan(offset, pulse, |record| {
                keys.push((record.key.0, record.offset));
                Ok(())
            })?;
            Ok(keys)
        })
    }

    fn __len__(&self) -> usize {
        self.0.len() as usize
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Writer>()?;
    module.add_class::<Reader>()
}
