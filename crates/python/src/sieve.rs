//! The sieves.

use std::path::PathBuf;

use crivello_core::sieve;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::enter::enter;

/// The sieve with its signatures in memory.
#[pyclass(module = "crivello._core")]
struct MemorySieve(sieve::MemorySieve);

#[pymethods]
impl MemorySieve {
    #[new]
    #[pyo3(signature = (path, committed = 0, next = 0))]
    fn new(py: Python<'_>, path: PathBuf, committed: u64, next: u64) -> PyResult<Self> {
        enter(py, |pulse| sieve::MemorySieve::open(&path, committed, next, pulse)).map(MemorySieve)
    }

    fn add(&mut self, py: Python<'_>, urls: Vec<PyBackedStr>, tags: Vec<u32>) -> PyResult<usize> {
        let entries = urls.iter().zip(tags);
        enter(py, |_| self.0.add(entries.map(|(url, tag)| (&**url, tag))))
    }

    fn take(&mut self, py: Python<'_>, n: usize) -> PyResult<Vec<(u64, u32, String)>> {
        let entries = enter(py, |_| self.0.take(n))?;
        Ok(entries.into_iter().map(|entry| (entry.offset, entry.tag, entry.url)).collect())
    }

    fn sync(&mut self, py: Python<'_>) -> PyResult<u64> {
        enter(py, |_| self.0.sync())
    }

    #[getter]
    fn next(&self) -> u64 {
        self.0.next()
    }

    #[getter]
    fn waiting(&self) -> u64 {
        self.0.waiting()
    }

    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn __len__(&self) -> usize {
        self.0.seen()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MemorySieve>()
}
