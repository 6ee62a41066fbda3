//! URLs: their standard components, their canonical form, and what can be derived from them.

use std::collections::BTreeMap;

use crivello_core::url::{self, CleanUp, TrapLimits, Url};
use crivello_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::enter::enter;

/// The number of URLs between two checks for Ctrl-C.
const BATCH: usize = 1024;

fn parsed_base(base: Option<&str>) -> Result<Option<Url>> {
    let invalid = |base| Error::Invalid(format!("the base is not an absolute URL: {base}"));
    base.map(|base| Url::parse(base).map_err(|_| invalid(base))).transpose()
}

/// The components of a URL by their names in the standard; `None` if it is not a URL.
#[pyfunction]
#[pyo3(signature = (input, base = None))]
fn parse_url(py: Python<'_>, input: &str, base: Option<&str>) -> PyResult<Option<BTreeMap<String, String>>> {
    enter(py, |_| {
        let base = parsed_base(base)?;
        Ok(Url::parse_with(input, base.as_ref()).ok().map(|url| components(&url)))
    })
}

fn components(url: &Url) -> BTreeMap<String, String> {
    let after = |mark: char, part: Option<&str>| {
        part.filter(|part| !part.is_empty()).map_or_else(String::new, |part| format!("{mark}{part}"))
    };
    let components = [
        ("href", url.as_str().to_owned()),
        ("origin", url.origin()),
        ("protocol", format!("{}:", url.scheme())),
        ("username", url.username().to_owned()),
        ("password", url.password().to_owned()),
        ("host", url.host_and_port().to_owned()),
        ("hostname", url.host_str().unwrap_or_default().to_owned()),
        ("port", url.port().map_or_else(String::new, |port| port.to_string())),
        ("pathname", url.path().to_owned()),
        ("search", after('?', url.query())),
        ("hash", after('#', url.fragment())),
    ];
    components.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[pyfunction]
#[pyo3(signature = (
    urls, base = None, *, session_ids = false, tracking = false, sort_query = false, index_pages = false
))]
fn canonical_urls(
    py: Python<'_>,
    urls: Vec<PyBackedStr>,
    base: Option<&str>,
    session_ids: bool,
    tracking: bool,
    sort_query: bool,
    index_pages: bool,
) -> PyResult<Vec<Option<String>>> {
    let clean_up = CleanUp { session_ids, tracking, sort_query, index_pages };
    enter(py, |pulse| {
        let base = parsed_base(base)?;
        let mut canonical = Vec::with_capacity(urls.len());
        for batch in urls.chunks(BATCH) {
            pulse.beat()?;
            let found = batch.iter().map(|input| url::canonical_with(input, base.as_ref(), &clean_up));
            canonical.extend(found);
        }
        Ok(canonical)
    })
}

/// The registrable domain of a canonical URL.
#[pyfunction]
fn url_domain(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.map_or_else(String::new, |host| url::domain(&host).to_owned())
}

/// Why a canonical URL looks like a spider trap; `None` if it does not.
#[pyfunction]
#[pyo3(signature = (url, *, repeats, segments, parameters))]
fn url_trap(url: &str, repeats: usize, segments: usize, parameters: usize) -> Option<String> {
    let limits = TrapLimits { repeats, depth: segments, parameters };
    url::trap(url, &limits).map(|trap| trap.to_string())
}

/// The scope of a crawl: which URLs belong to it.
#[pyclass(module = "crivello._core", frozen)]
struct Scope(url::Scope);

#[pymethods]
impl Scope {
    #[new]
    #[pyo3(signature = (kind, seeds, include, exclude))]
    fn new(
        py: Python<'_>,
        kind: &str,
        seeds: Vec<String>,
        include: Vec<String>,
        exclude: Vec<String>,
    ) -> PyResult<Self> {
        enter(py, |_| url::Scope::new(kind.parse()?, &seeds, &include, &exclude)).map(Scope)
    }

    /// Why a URL is out of scope, in words; `None` if it is in scope.
    fn refusal(&self, py: Python<'_>, url: &str) -> PyResult<Option<String>> {
        enter(py, |_| Ok(self.0.allows(url).err().map(|refusal| refusal.to_string())))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_url, module)?)?;
    module.add_function(wrap_pyfunction!(canonical_urls, module)?)?;
    module.add_function(wrap_pyfunction!(url_domain, module)?)?;
    module.add_function(wrap_pyfunction!(url_trap, module)?)?;
    module.add_class::<Scope>()
}
