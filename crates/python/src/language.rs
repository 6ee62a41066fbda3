//! The text of a query, edited by its syntax tree.

use std::ops::Range;

use crivello_core::analysis::{Analyzer, Language};
use crivello_core::search::language;
use pyo3::prelude::*;

use crate::enter::enter;

/// A filter in a query, with character offsets that Python can slice by.
#[pyclass(module = "crivello._core", frozen)]
struct QueryFilter {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    value: String,
    #[pyo3(get)]
    negated: bool,
    #[pyo3(get)]
    start: usize,
    #[pyo3(get)]
    end: usize,
    #[pyo3(get)]
    removable: bool,
    bytes: Range<usize>,
}

/// A text parsed as a query; it may have syntax errors.
#[pyclass(module = "crivello._core", frozen)]
struct QueryText {
    text: String,
    analyzer: Analyzer,
}

impl QueryText {
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(language::QueryText<'_>) -> T + Send,
    ) -> PyResult<T> {
        enter(py, |_| Ok(make(language::QueryText::new(&self.text, &self.analyzer))))
    }
}

#[pymethods]
impl QueryText {
    #[new]
    fn new(text: String) -> QueryText {
        QueryText { text, analyzer: Analyzer::new(Language::of(None)) }
    }

    /// The filters in order; none if the text does not parse.
    #[getter]
    fn filters(&self, py: Python<'_>) -> PyResult<Vec<QueryFilter>> {
        let filter = |filter: language::PlacedFilter| {
            let characters = |byte: usize| self.text[..byte].chars().count();
            QueryFilter {
                name: filter.name.to_owned(),
                value: filter.value,
                negated: filter.negated,
                start: characters(filter.span.start),
                end: characters(filter.span.end),
                removable: filter.removable,
                bytes: filter.span,
            }
        };
        self.read(py, |text| text.filters().into_iter().map(filter).collect())
    }

    /// The query without these of its filters.
    fn without(&self, py: Python<'_>, filters: Vec<PyRef<'_, QueryFilter>>) -> PyResult<String> {
        let spans: Vec<Range<usize>> = filters.iter().map(|filter| filter.bytes.clone()).collect();
        self.read(py, |text| text.without(&spans))
    }

    /// The query with one or more clauses added that apply to all of it.
    fn narrowed(&self, py: Python<'_>, clause: &str) -> PyResult<String> {
        self.read(py, |text| text.narrowed(clause))
    }

    /// The wanted words as a query of words only; empty if there are none.
    fn plain_words(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |text| text.plain_words())
    }

    /// The query with its phrases as separate words.
    fn unquoted(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |text| text.unquoted())
    }
}

/// The operators, and the names before a colon, each with the canonical name of its field and whether that is
/// a filter.
#[pyfunction]
fn query_language() -> (Vec<&'static str>, Vec<(&'static str, &'static str, bool)>) {
    (language::operators().collect(), language::fields().collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<QueryFilter>()?;
    module.add_class::<QueryText>()?;
    module.add_function(wrap_pyfunction!(query_language, module)?)
}
