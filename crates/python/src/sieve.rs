//! The sieves.

use std::collections::HashMap;
use std::path::PathBuf;

use crivello_core::Signature;
use crivello_core::sieve::{self, Checkpoint, Entries, Front, Opening, Options, ScreenedQueue};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::enter::enter;

/// The files and the state of a checkpoint.
type Commit = (HashMap<String, Option<u64>>, HashMap<String, u64>);

fn commit(checkpoint: Checkpoint) -> Commit {
    (checkpoint.files.into_iter().collect(), checkpoint.state)
}

/// Calls `offer` for each URL with its tag (0 where there are none), reading the strings where they are.
fn offer_all(
    urls: &Bound<'_, PyList>,
    tags: Option<Vec<u32>>,
    mut offer: impl FnMut(&str, u32),
) -> PyResult<()> {
    if let Some(tags) = &tags
        && tags.len() != urls.len()
    {
        let text = format!("there are {} URLs and {} tags", urls.len(), tags.len());
        return enter(urls.py(), |_| Err(crivello_core::Error::Invalid(text)));
    }
    for (index, url) in urls.iter().enumerate() {
        let tag = tags.as_ref().map_or(0, |tags| tags[index]);
        offer(url.cast::<PyString>()?.to_str()?, tag);
    }
    Ok(())
}

fn entries_to_list<'py>(py: Python<'py>, entries: &Entries) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, entries.iter().map(|entry| (entry.offset, entry.tag, entry.url)))
}

/// A sieve of any kind but `lsm`, with its cache.
#[pyclass(module = "crivello._core")]
struct Sieve(Front);

#[pymethods]
impl Sieve {
    #[new]
    #[pyo3(signature = (kind, folder, files, state, settings, start = None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        folder: PathBuf,
        files: HashMap<String, u64>,
        state: HashMap<String, u64>,
        settings: &[u8],
        start: Option<u64>,
    ) -> PyResult<Self> {
        let opening = Opening { folder: &folder, files: &files, state: &state, start };
        enter(py, |pulse| sieve::open(kind, opening, Options::from_json(settings)?, pulse)).map(Sieve)
    }

    #[pyo3(signature = (urls, tags = None))]
    fn add(&mut self, urls: &Bound<'_, PyList>, tags: Option<Vec<u32>>) -> PyResult<()> {
        offer_all(urls, tags, |url, tag| self.0.offer(url, tag)).inspect_err(|_| self.0.give_up())?;
        enter(urls.py(), |pulse| self.0.settle(pulse))
    }

    fn add_signatures(&mut self, py: Python<'_>, signatures: PyBuffer<u64>) -> PyResult<()> {
        let signatures = signatures.to_vec(py)?;
        enter(py, |pulse| {
            signatures.into_iter().for_each(|signature| self.0.offer_signature(Signature(signature)));
            self.0.settle(pulse)
        })
    }

    fn take<'py>(&mut self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        let entries = enter(py, |pulse| self.0.take(n, pulse))?;
        entries_to_list(py, &entries)
    }

    fn take_ready<'py>(&mut self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        let entries = enter(py, |_| self.0.take_ready(n))?;
        entries_to_list(py, &entries)
    }

    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        enter(py, |pulse| self.0.flush(pulse))
    }

    fn checkpoint(&mut self, py: Python<'_>) -> PyResult<Commit> {
        enter(py, |_| self.0.checkpoint()).map(commit)
    }

    #[getter]
    fn next(&self) -> u64 {
        self.0.next()
    }

    /// How it stands, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        enter(py, |_| Ok(self.0.describe().to_string()))
    }

    #[getter]
    fn waiting(&self) -> u64 {
        let stats = self.0.stats();
        stats.waiting + stats.pending
    }

    fn __len__(&self) -> usize {
        self.0.stats().seen as usize
    }
}

/// The queue and the cache of the kind `lsm`.
#[pyclass(module = "crivello._core")]
struct SieveQueue(ScreenedQueue);

#[pymethods]
impl SieveQueue {
    #[new]
    #[pyo3(signature = (folder, files, state, start = None, *, cache))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        files: HashMap<String, u64>,
        state: HashMap<String, u64>,
        start: Option<u64>,
        cache: usize,
    ) -> PyResult<Self> {
        let opening = Opening { folder: &folder, files: &files, state: &state, start };
        enter(py, |_| ScreenedQueue::open(opening, cache)).map(SieveQueue)
    }

    /// The keys to look up, and the checks of their URLs.
    #[pyo3(signature = (urls, tags = None))]
    fn screen<'py>(
        &mut self,
        urls: &Bound<'py, PyList>,
        tags: Option<Vec<u32>>,
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, Vec<u16>)> {
        offer_all(urls, tags, |url, tag| self.0.offer(url, tag)).inspect_err(|_| self.0.give_up())?;
        let screened = enter(urls.py(), |_| Ok(self.0.screen()))?;
        let key = |signature: Signature| PyBytes::new(urls.py(), &signature.0.to_be_bytes());
        Ok(screened.into_iter().map(|(signature, check)| (key(signature), check)).unzip())
    }

    fn accept(&mut self, py: Python<'_>, is_new: Vec<bool>) -> PyResult<Vec<u64>> {
        enter(py, |_| self.0.accept(&is_new))
    }

    fn give_up(&mut self, py: Python<'_>) -> PyResult<()> {
        enter(py, |_| {
            self.0.give_up();
            Ok(())
        })
    }

    fn take<'py>(&mut self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        let entries = enter(py, |_| self.0.take(n))?;
        entries_to_list(py, &entries)
    }

    fn checkpoint(&mut self, py: Python<'_>) -> PyResult<Commit> {
        enter(py, |_| self.0.checkpoint()).map(commit)
    }

    #[getter]
    fn next(&self) -> u64 {
        self.0.next()
    }

    /// How the queue and the cache of a sieve of this kind stand, as JSON.
    fn stats(&self, py: Python<'_>, kind: &str) -> PyResult<String> {
        enter(py, |_| Ok(self.0.describe(kind).to_string()))
    }

    #[getter]
    fn waiting(&self) -> u64 {
        self.0.stats().waiting
    }

    fn __len__(&self) -> usize {
        self.0.stats().seen as usize
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sieve>()?;
    module.add_class::<SieveQueue>()
}
