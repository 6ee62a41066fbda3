//! Building, merging and inspecting the segments of an index.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crivello_core::index::{self, NewDocument, SegmentFile};
use crivello_core::{Error, Pulse, Signature};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::enter::enter;

/// A segment as Python sees it: the name and the length of its file.
pub type NameAndLength = (String, u64);

/// A document as Python passes it: URL, title, body, language, headings, anchors, id, media type, day.
type Document = (
    PyBackedStr,
    PyBackedStr,
    PyBackedStr,
    Option<PyBackedStr>,
    PyBackedStr,
    PyBackedStr,
    PyBackedStr,
    PyBackedStr,
    u32,
);

/// The segments that Python names.
pub fn segment_files(segments: Vec<NameAndLength>) -> Vec<SegmentFile> {
    segments.into_iter().map(|(name, length)| SegmentFile { name, length }).collect()
}

fn new_document(
    (url, title, body, language, headings, anchors, id, kind, day): &Document,
) -> NewDocument<'_> {
    let language = language.as_deref().unwrap_or_default();
    NewDocument { url, id, title, headings, body, anchors, language, kind, day: *day, simhash: None }
}

fn name_and_length(file: SegmentFile) -> NameAndLength {
    (file.name, file.length)
}

/// The section `[index]` of the settings, deserialized once.
#[pyclass(module = "crivello._core", frozen)]
#[derive(Clone, Copy)]
pub struct IndexOptions(pub index::Options);

#[pymethods]
impl IndexOptions {
    #[new]
    fn new(py: Python<'_>, section: &[u8]) -> PyResult<Self> {
        enter(py, |_| index::Options::from_json(section)).map(IndexOptions)
    }
}

/// Builds a generation of segments from documents.
#[pyclass(module = "crivello._core")]
pub struct IndexBuilder(pub index::ShardedBuilder);

#[pymethods]
impl IndexBuilder {
    #[new]
    #[pyo3(signature = (folder, number, options, older = Vec::new()))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        number: u64,
        options: &IndexOptions,
        older: Vec<NameAndLength>,
    ) -> PyResult<Self> {
        let (options, older) = (options.0, segment_files(older));
        enter(py, |pulse| index::ShardedBuilder::new(&folder, number, options, &older, pulse))
            .map(IndexBuilder)
    }

    fn add(&mut self, py: Python<'_>, documents: Vec<Document>) -> PyResult<()> {
        enter(py, |pulse| {
            let documents: Vec<NewDocument<'_>> = documents.iter().map(new_document).collect();
            self.0.add(&documents, pulse)
        })
    }

    fn delete(&mut self, urls: Vec<PyBackedStr>) {
        self.0.delete(urls.iter().map(|url| Signature::of(url.as_bytes())));
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<NameAndLength>> {
        Ok(enter(py, |pulse| self.0.finish(pulse))?.into_iter().map(name_and_length).collect())
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }
}

/// A flag that stops a long call in another thread.
#[pyclass(module = "crivello._core", frozen)]
#[derive(Default)]
struct Cancel(AtomicBool);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Cancel::default()
    }

    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Merges segments, from the oldest to the newest, into new ones; none if no document is left.
#[pyfunction]
#[pyo3(signature = (folder, segments, number, oldest, options, cancel = None))]
fn join_segments(
    py: Python<'_>,
    folder: PathBuf,
    segments: Vec<NameAndLength>,
    number: u64,
    oldest: bool,
    options: &IndexOptions,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<NameAndLength>> {
    let files = segment_files(segments);
    let options = options.0;
    let joined = enter(py, |pulse| {
        let go_on = || !cancel.is_some_and(|cancel| cancel.0.load(Ordering::Relaxed)) && pulse.beat().is_ok();
        index::join(&folder, &files, number, oldest, &options, &Pulse::new(&go_on))
    })?;
    Ok(joined.into_iter().map(name_and_length).collect())
}

/// The content of an index and its size, as JSON.
#[pyfunction]
fn index_stats(py: Python<'_>, folder: PathBuf, segments: Vec<NameAndLength>) -> PyResult<String> {
    let files = segment_files(segments);
    enter(py, |pulse| {
        let stats = index::stats(&folder, &files, pulse)?;
        serde_json::to_string(&stats).map_err(|error| Error::Invalid(error.to_string()))
    })
}

/// Writes segments to a file in the Common Index File Format: the number of documents and of posting lists.
#[pyfunction]
fn write_ciff(
    py: Python<'_>,
    folder: PathBuf,
    segments: Vec<NameAndLength>,
    path: PathBuf,
    description: &str,
) -> PyResult<(u64, u64)> {
    let files = segment_files(segments);
    let written = enter(py, |pulse| {
        let segments = SegmentFile::open_all(&folder, &files)?;
        crivello_core::index::write_ciff(&segments, &path, description, pulse)
    })?;
    Ok((written.documents, written.lists))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IndexOptions>()?;
    module.add_class::<IndexBuilder>()?;
    module.add_class::<Cancel>()?;
    module.add_function(wrap_pyfunction!(index_stats, module)?)?;
    module.add_function(wrap_pyfunction!(write_ciff, module)?)?;
    module.add_function(wrap_pyfunction!(join_segments, module)?)
}
