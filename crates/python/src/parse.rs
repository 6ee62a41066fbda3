//! Pages.

use crivello_core::parse;
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
    fn icon(&self) -> Option<&str> {
        self.0.icon.as_deref()
    }

    #[getter]
    fn styles(&self) -> &[String] {
        &self.0.styles
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
    fn simhash(&self) -> Option<u64> {
        self.0.simhash
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_html, module)?)?;
    module.add_function(wrap_pyfunction!(parse_text, module)?)?;
    module.add_class::<ParsedPage>()
}
