//! Building and merging the segments of an index.

use std::path::PathBuf;

use crivello_core::index::{self, NewDocument, SegmentFile};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::enter::enter;

/// A segment as Python sees it: the name of its file and its length.
pub type NameAndLength = (String, u64);

/// A document as Python gives it: URL, title, body, language.
type Document = (PyBackedStr, PyBackedStr, PyBackedStr, Option<PyBackedStr>);

/// The segments that Python names.
pub fn segment_files(segments: Vec<NameAndLength>) -> Vec<SegmentFile> {
    segments.into_iter().map(|(name, length)| SegmentFile { name, length }).collect()
}

fn new_document((url, title, body, language): &Document) -> NewDocument<'_> {
    NewDocument { url, title, body, language: language.as_deref() }
}

fn name_and_length(file: SegmentFile) -> NameAndLength {
    (file.name, file.length)
}

/// Builds segments from documents.
#[pyclass(module = "crivello._core")]
struct IndexBuilder(index::IndexBuilder);

#[pymethods]
impl IndexBuilder {
    #[new]
    #[pyo3(signature = (folder, first_segment, memory = 268435456))]
    fn new(folder: PathBuf, first_segment: u64, memory: usize) -> Self {
        IndexBuilder(index::IndexBuilder::new(&folder, first_segment, memory))
    }

    fn add(&mut self, py: Python<'_>, documents: Vec<Document>) -> PyResult<()> {
        enter(py, |pulse| {
            let documents: Vec<NewDocument<'_>> = documents.iter().map(new_document).collect();
            self.0.add(&documents, pulse)
        })
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<NameAndLength>> {
        let files = enter(py, |pulse| self.0.finish(pulse))?;
        Ok(files.into_iter().map(name_and_length).collect())
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }
}

/// Merges segments, from the oldest to the newest, into a new one.
#[pyfunction]
fn merge_segments(
    py: Python<'_>,
    folder: PathBuf,
    segments: Vec<NameAndLength>,
    number: u64,
) -> PyResult<NameAndLength> {
    let files = segment_files(segments);
    enter(py, |pulse| index::merge(&folder, &files, number, pulse)).map(name_and_length)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IndexBuilder>()?;
    module.add_function(wrap_pyfunction!(merge_segments, module)?)
}
