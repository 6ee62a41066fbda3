//! Searching an index, whole or in shards: queries and answers are the same ([`Answering`]).

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crivello_core::graph::anchor_bytes;
use crivello_core::search::rank::Ranked;
use crivello_core::search::{self, Request};
use crivello_core::{Pulse, Result, Signature};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::enter::enter;
use crate::graph::Ranks;
use crate::index::{NameAndLength, segment_files};

/// The section `[search]` of the settings, deserialized once.
#[pyclass(module = "crivello._core", frozen)]
struct SearchOptions(search::Options);

#[pymethods]
impl SearchOptions {
    #[new]
    fn new(py: Python<'_>, section: &[u8]) -> PyResult<Self> {
        enter(py, |_| search::Options::from_json(section)).map(SearchOptions)
    }
}

/// The top-k documents for a query, of one snapshot.
#[pyclass(module = "crivello._core", frozen)]
struct Ranking(search::Ranking);

#[pymethods]
impl Ranking {
    fn __len__(&self) -> usize {
        self.0.hits.len()
    }

    /// The segment, document and score of each hit.
    fn places(&self) -> Vec<(usize, u32, f64)> {
        let place =
            |hit: &search::answer::Arrangement| (hit.ranked.segment, hit.ranked.document.0, hit.ranked.score);
        self.0.hits.iter().map(place).collect()
    }

    /// The signature of each hit's URL, and its score.
    fn signatures(&self) -> Vec<(u64, f64)> {
        let signature = |hit: &search::answer::Arrangement| (hit.ranked.signature.0, hit.ranked.score);
        self.0.hits.iter().map(signature).collect()
    }

    /// The shards that did not answer.
    #[getter]
    fn missing(&self) -> Vec<usize> {
        self.0.missing.clone()
    }

    #[getter]
    fn matches(&self) -> u64 {
        self.0.matches
    }

    #[getter]
    fn exact(&self) -> bool {
        self.0.exact
    }

    #[getter]
    fn partial(&self) -> bool {
        self.0.partial
    }

    #[getter]
    fn microseconds(&self) -> u64 {
        self.0.microseconds
    }

    /// The most frequent values of each facet, with their numbers of matches.
    #[getter]
    fn facets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(facets) = &self.0.facets else { return Ok(None) };
        let found = PyDict::new(py);
        found.set_item("site", facets.sites.clone())?;
        found.set_item("language", facets.languages.clone())?;
        found.set_item("type", facets.kinds.clone())?;
        found.set_item("year", facets.years.clone())?;
        Ok(Some(found))
    }
}

/// A hit as Python sees it: score, URL, id, title, the fragments of its snippet, site, language, type, day,
/// and the numbers of near-duplicates and of further hits of its site.
type Hit = (f64, String, String, String, Vec<(String, bool)>, String, String, String, u32, u32, u32);

fn hit(hit: search::Hit) -> Hit {
    let fragments = hit.snippet.into_iter().map(|fragment| (fragment.text, fragment.matches));
    (
        hit.score,
        hit.url,
        hit.id,
        hit.title,
        fragments.collect(),
        hit.site,
        hit.language,
        hit.kind,
        hit.day,
        hit.similar,
        hit.more_from_site,
    )
}

/// A part of a score as Python sees it: label, value, detail, parts.
#[derive(IntoPyObject)]
struct Explanation(String, f64, String, Vec<Explanation>);

impl From<search::Explanation> for Explanation {
    fn from(from: search::Explanation) -> Explanation {
        let parts = from.parts.into_iter().map(Explanation::from).collect();
        Explanation(from.label, from.value, from.detail, parts)
    }
}

/// What answers queries: an index, or the shards of one.
pub trait Answers: Send + Sync {
    fn rank(&self, request: &Request<'_>, pulse: &Pulse) -> Result<search::Ranking>;
    fn count(&self, request: &Request<'_>, pulse: &Pulse) -> Result<(u64, bool)>;
    /// Hits of a ranking by their places; `None` for one whose shard does not answer.
    fn show(
        &self,
        ranking: &search::Ranking,
        places: Range<usize>,
        passages: bool,
        pulse: &Pulse,
    ) -> Result<Vec<Option<search::Hit>>>;
    fn explain(&self, request: &Request<'_>, hit: &Ranked, pulse: &Pulse) -> Result<search::Explanation>;
    fn suggest(&self, query: &str, language: &str) -> Result<Option<String>>;
}

/// Implements [`Answers`] by the methods of the same names, but for `show`, whose results differ.
macro_rules! answers {
    ($type:ty, |$this:ident, $ranking:ident, $places:ident, $passages:ident, $pulse:ident| $show:expr) => {
        impl Answers for $type {
            fn rank(&self, request: &Request<'_>, pulse: &Pulse) -> Result<search::Ranking> {
                self.rank(request, pulse)
            }

            fn count(&self, request: &Request<'_>, pulse: &Pulse) -> Result<(u64, bool)> {
                self.count(request, pulse)
            }

            fn show(
                &self,
                $ranking: &search::Ranking,
                $places: Range<usize>,
                $passages: bool,
                $pulse: &Pulse,
            ) -> Result<Vec<Option<search::Hit>>> {
                let $this = self;
                $show
            }

            fn explain(
                &self,
                request: &Request<'_>,
                hit: &Ranked,
                pulse: &Pulse,
            ) -> Result<search::Explanation> {
                self.explain(request, hit, pulse)
            }

            fn suggest(&self, query: &str, language: &str) -> Result<Option<String>> {
                self.suggest(query, language)
            }
        }
    };
}
pub(crate) use answers;

/// What all that answer queries have in common.
#[pyclass(module = "crivello._core", frozen, subclass)]
pub struct Answering(Arc<dyn Answers>);

impl Answering {
    /// What answers, with what it has beside.
    pub fn extended<T>(answers: Arc<dyn Answers>, beside: T) -> PyClassInitializer<T>
    where
        T: pyo3::PyClass<BaseType = Answering>,
    {
        PyClassInitializer::from(Answering(answers)).add_subclass(beside)
    }
}

#[pymethods]
impl Answering {
    /// The top `depth` documents for a query; up to `count` matches are counted.
    #[pyo3(signature = (query, options, depth = 10, count = 0, facets = 0))]
    fn rank(
        &self,
        py: Python<'_>,
        query: &str,
        options: &SearchOptions,
        depth: usize,
        count: u64,
        facets: usize,
    ) -> PyResult<Ranking> {
        let request = Request { count, facets, ..Request::new(query, options.0.clone(), depth) };
        enter(py, |pulse| self.0.rank(&request, pulse)).map(Ranking)
    }

    /// The number of matches, counted up to `limit`, and whether it is exact.
    fn count(
        &self,
        py: Python<'_>,
        query: &str,
        options: &SearchOptions,
        limit: u64,
    ) -> PyResult<(u64, bool)> {
        let request = Request { count: limit, ..Request::new(query, options.0.clone(), 0) };
        enter(py, |pulse| self.0.count(&request, pulse))
    }

    /// Hits of a ranking by their places, with or without snippets; `None` for one whose shard does not answer.
    #[pyo3(signature = (ranking, start, end, passages = true))]
    fn show(
        &self,
        py: Python<'_>,
        ranking: &Ranking,
        start: usize,
        end: usize,
        passages: bool,
    ) -> PyResult<Vec<Option<Hit>>> {
        let hits = enter(py, |pulse| self.0.show(&ranking.0, start..end, passages, pulse))?;
        Ok(hits.into_iter().map(|shown| shown.map(hit)).collect())
    }

    /// Explains the score of a hit of a ranking; the query and options must be those of the ranking.
    fn explain(
        &self,
        py: Python<'_>,
        query: &str,
        options: &SearchOptions,
        ranking: &Ranking,
        place: usize,
    ) -> PyResult<Explanation> {
        let Some(hit) = ranking.0.hits.get(place) else {
            return Err(PyIndexError::new_err("there is no such hit"));
        };
        let request = Request::new(query, options.0.clone(), 10);
        enter(py, |pulse| self.0.explain(&request, &hit.ranked, pulse)).map(Explanation::from)
    }

    /// The query with its misspelt words corrected, if there are any.
    fn suggest(&self, py: Python<'_>, query: &str, options: &SearchOptions) -> PyResult<Option<String>> {
        enter(py, |_| self.0.suggest(query, options.0.language()))
    }
}

/// A snapshot of an index, open for searching.
#[pyclass(module = "crivello._core", frozen, extends = Answering)]
struct Searcher(Arc<search::Searcher>);

answers!(search::Searcher, |searcher, ranking, places, passages, _pulse| {
    Ok(searcher.show(ranking, places, passages)?.into_iter().map(Some).collect())
});

#[pymethods]
impl Searcher {
    #[new]
    #[pyo3(signature = (folder, segments, ranks = None))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        segments: Vec<NameAndLength>,
        ranks: Option<PyRef<'_, Ranks>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let files = segment_files(segments);
        let rank_of = strengths(ranks.as_deref());
        let searcher = enter(py, |pulse| search::Searcher::open(&folder, &files, rank_of, pulse))?;
        let searcher = Arc::new(searcher);
        Ok(Answering::extended(Arc::clone(&searcher) as Arc<dyn Answers>, Searcher(searcher)))
    }

    /// The document frequency of each of these terms, including replaced documents.
    fn frequencies(&self, py: Python<'_>, terms: Vec<String>) -> PyResult<Vec<u64>> {
        enter(py, |_| self.0.frequencies(&terms))
    }

    /// What a text may be completed to, at most `top` queries, the best first.
    fn complete(&self, py: Python<'_>, text: &str, top: usize) -> PyResult<Vec<String>> {
        enter(py, |_| self.0.complete(text, top))
    }

    /// The signatures of pages for which the anchor log has twice as much text as they were indexed with.
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

    /// The answer of this index, as a shard, to a message of a broker.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = enter(py, |pulse| search::shards::answer(&self.0, message, pulse))?;
        Ok(PyBytes::new(py, &answer))
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

/// The strength of a page by its signature, 0 without ranks.
pub fn strengths(ranks: Option<&Ranks>) -> impl Fn(Signature) -> Result<f32> {
    let ranks = ranks.map(|ranks| &ranks.0);
    move |signature| match ranks {
        Some(ranks) => Ok(ranks.get(signature)?.map_or(0.0, |rank| rank.strength)),
        None => Ok(0.0),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SearchOptions>()?;
    module.add_class::<Ranking>()?;
    module.add_class::<Answering>()?;
    module.add_class::<Searcher>()
}
