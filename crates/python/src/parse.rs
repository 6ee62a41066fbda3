//! Pages and near-duplicates.

use crivello_core::{Error, duplicates, parse};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::enter::enter;

#[pyfunction]
#[pyo3(signature = (body, url, content_type = None))]
fn parse_html(
    py: Python<'_>,
    body: PyBackedBytes,
    url: &str,
    content_type: Option<&str>,
) -> PyResult<ParsedPage> {
    enter(py, |_| Ok(ParsedPage(parse::parse(&body, url, content_type))))
}

#[pyfunction]
#[pyo3(signature = (body, content_type = None))]
fn parse_text(py: Python<'_>, body: PyBackedBytes, content_type: Option<&str>) -> PyResult<ParsedPage> {
    enter(py, |_| Ok(ParsedPage(parse::parse_text(&body, content_type))))
}

/// A parsed page.
#[pyclass(module = "crivello._core", frozen)]
pub struct ParsedPage(pub parse::Page);

#[pymethods]
impl ParsedPage {
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn headings(&self) -> &[String] {
        &self.0.headings
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    #[getter]
    fn links(&self) -> &[String] {
        &self.0.links
    }

    #[getter]
    fn anchors(&self) -> &[String] {
        &self.0.anchors
    }

    #[getter]
    fn same_shape(&self) -> &[bool] {
        &self.0.same_shape
    }

    #[getter]
    fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }

    #[getter]
    fn charset(&self) -> &str {
        self.0.charset
    }

    #[getter]
    fn canonical(&self) -> Option<&str> {
        self.0.canonical.as_deref()
    }

    #[getter]
    fn noindex(&self) -> bool {
        self.0.noindex
    }

    #[getter]
    fn nofollow(&self) -> bool {
        self.0.nofollow
    }

    #[getter]
    fn digest(&self) -> String {
        format!("{:032x}", self.0.digest)
    }

    #[getter]
    fn simhash(&self) -> u64 {
        self.0.simhash
    }
}

/// Fingerprints with their ids, searchable by Hamming distance.
#[pyclass(module = "crivello._core")]
struct NearTable(duplicates::NearTable);

#[pymethods]
impl NearTable {
    #[new]
    fn new() -> Self {
        NearTable(duplicates::NearTable::default())
    }

    fn add(&mut self, py: Python<'_>, simhashes: Vec<u64>, ids: Vec<u64>) -> PyResult<()> {
        enter(py, |_| {
            if simhashes.len() != ids.len() {
                return Err(Error::Invalid(format!(
                    "{} fingerprints with {} ids",
                    simhashes.len(),
                    ids.len()
                )));
            }
            simhashes.into_iter().zip(ids).try_for_each(|(simhash, id)| self.0.add(simhash, id))
        })
    }

    #[pyo3(signature = (simhashes, distance = 3))]
    fn nearest(
        &self,
        py: Python<'_>,
        simhashes: Vec<u64>,
        distance: u32,
    ) -> PyResult<Vec<Option<(u64, u32)>>> {
        enter(py, |pulse| {
            let nearest = |simhash| {
                pulse.beat()?;
                self.0.nearest(simhash, distance)
            };
            simhashes.into_iter().map(nearest).collect()
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_html, module)?)?;
    module.add_function(wrap_pyfunction!(parse_text, module)?)?;
    module.add_class::<ParsedPage>()?;
    module.add_class::<NearTable>()
}
