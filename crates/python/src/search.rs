//! Searching an index.

use std::path::PathBuf;

use crivello_core::graph::anchor_bytes;
use crivello_core::query::{self, Parameters, Request};
use pyo3::prelude::*;

use crate::enter::enter;
use crate::graph::Ranks;
use crate::index::{NameAndLength, segment_files};

/// A hit as Python sees it: score, URL, title, and the fragments of its snippet.
type Hit = (f32, String, String, Vec<(String, bool)>);

/// A snapshot of an index, open for searching.
#[pyclass(module = "crivello._core", frozen)]
struct Searcher(query::Searcher);

#[pymethods]
impl Searcher {
    #[new]
    #[pyo3(signature = (folder, segments, ranks = None))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        segments: Vec<NameAndLength>,
        ranks: Option<PyRef<'_, Ranks>>,
    ) -> PyResult<Self> {
        let files = segment_files(segments);
        let ranks = ranks.as_deref().map(|ranks| &ranks.0);
        let rank_of = |signature| match ranks {
            Some(ranks) => ranks.get(signature).map(Option::unwrap_or_default),
            None => Ok(0.0),
        };
        enter(py, |pulse| query::Searcher::open(&folder, &files, rank_of, pulse)).map(Searcher)
    }

    #[pyo3(signature = (query, top = 10, offset = 0, k1 = 1.2, b = 0.75, rank_weight = 0.0, language = "en"))]
    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        py: Python<'_>,
        query: &str,
        top: usize,
        offset: usize,
        k1: f32,
        b: f32,
        rank_weight: f32,
        language: &str,
    ) -> PyResult<(u64, u64, Vec<Hit>)> {
        let request = Request { query, language, top, offset, bm25: Parameters { k1, b }, rank_weight };
        let answer = enter(py, |pulse| self.0.search(&request, pulse))?;
        let hit = |hit: query::Hit| {
            let fragments = hit.snippet.into_iter().map(|fragment| (fragment.text, fragment.matches));
            (hit.score, hit.url, hit.title, fragments.collect())
        };
        Ok((answer.matches, answer.microseconds, answer.hits.into_iter().map(hit).collect()))
    }

    /// The signatures of pages for which the log of anchors has twice as much text as they are indexed with.
    fn stale_anchors(&self, py: Python<'_>, path: PathBuf, committed: u64) -> PyResult<Vec<u64>> {
        let stale = enter(py, |pulse| {
            let known = self.0.signatures()?;
            let bytes = anchor_bytes(&path, committed, |target| known.contains(target), pulse)?;
            self.0.stale_anchors(|signature| bytes.get(&signature).copied().unwrap_or(0))
        })?;
        Ok(stale.into_iter().map(|signature| signature.0).collect())
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        enter(py, |pulse| self.0.verify(pulse))
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }

    #[getter]
    fn terms(&self) -> u64 {
        self.0.totals().terms
    }

    #[getter]
    fn postings(&self) -> u64 {
        self.0.totals().postings
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Searcher>()
}
