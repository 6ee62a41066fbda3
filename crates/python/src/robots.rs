//! The rules of a robots.txt.

use crivello_core::robots;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::enter::enter;

/// The rules of a host for one crawler.
#[pyclass(module = "crivello._core", frozen)]
struct Robots(robots::Robots);

#[pymethods]
impl Robots {
    #[new]
    fn new(py: Python<'_>, body: PyBackedBytes, agent: &str) -> PyResult<Self> {
        enter(py, |_| Ok(Robots(robots::Robots::parse(&body, agent))))
    }

    /// For each canonical URL, whether it may be fetched, and the line and the rule that decided.
    #[allow(clippy::type_complexity)]
    fn allows(
        &self,
        py: Python<'_>,
        urls: Vec<PyBackedStr>,
    ) -> PyResult<Vec<(bool, Option<u32>, Option<String>)>> {
        enter(py, |pulse| {
            let verdict = |url: &PyBackedStr| {
                pulse.beat()?;
                let verdict = self.0.allows(url);
                Ok((verdict.allowed, verdict.line, verdict.rule))
            };
            urls.iter().map(verdict).collect()
        })
    }

    /// The crawl delay that the host asks for, in seconds.
    #[getter]
    fn crawl_delay(&self) -> Option<f64> {
        self.0.crawl_delay().map(|delay| delay.as_secs_f64())
    }

    /// The sitemap URLs, as written.
    #[getter]
    fn sitemaps(&self) -> Vec<&str> {
        self.0.sitemaps().collect()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Robots>()
}
