//! Searching an index.

use std::path::PathBuf;

use crivello_core::graph::anchor_bytes;
use crivello_core::search::{self, Request};
use crivello_core::{Error, Pulse, Result};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
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

/// A snapshot of an index, open for searching.
#[pyclass(module = "crivello._core", frozen)]
struct Searcher(search::Searcher);

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
            Some(ranks) => Ok(ranks.get(signature)?.map_or(0.0, |rank| rank.strength)),
            None => Ok(0.0),
        };
        enter(py, |pulse| search::Searcher::open(&folder, &files, rank_of, pulse)).map(Searcher)
    }

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

    /// Hits of a ranking by their places, with or without snippets.
    #[pyo3(signature = (ranking, start, end, passages = true))]
    fn show(
        &self,
        py: Python<'_>,
        ranking: &Ranking,
        start: usize,
        end: usize,
        passages: bool,
    ) -> PyResult<Vec<Hit>> {
        let hits = enter(py, |_| self.0.show(&ranking.0, start..end, passages))?;
        Ok(hits.into_iter().map(hit).collect())
    }

    /// The document frequency of each of these terms, including replaced documents.
    fn frequencies(&self, py: Python<'_>, terms: Vec<String>) -> PyResult<Vec<u64>> {
        enter(py, |_| self.0.frequencies(&terms))
    }

    /// What a text may be completed to, at most `top` queries, the best first.
    fn complete(&self, py: Python<'_>, text: &str, top: usize) -> PyResult<Vec<String>> {
        enter(py, |_| self.0.complete(text, top))
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
            return Err(pyo3::exceptions::PyIndexError::new_err("there is no such hit"));
        };
        let request = Request::new(query, options.0.clone(), 10);
        enter(py, |pulse| self.0.explain(&request, &hit.ranked, pulse)).map(Explanation::from)
    }

    /// The query with its misspelt words corrected, if there are any.
    fn suggest(&self, py: Python<'_>, query: &str, options: &SearchOptions) -> PyResult<Option<String>> {
        enter(py, |_| self.0.suggest(query, options.0.language()))
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

/// Messages to shards go through a function of Python.
struct Through {
    exchange: Py<PyAny>,
    shards: usize,
}

impl search::shards::Transport for Through {
    fn shards(&self) -> usize {
        self.shards
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, _: &Pulse) -> Result<Vec<Option<Vec<u8>>>> {
        let answers = Python::attach(|py| {
            let messages: Vec<(usize, Bound<'_, PyBytes>)> =
                messages.iter().map(|(shard, message)| (*shard, PyBytes::new(py, message))).collect();
            let answers = self.exchange.call1(py, (messages,))?;
            let answers: Vec<Option<PyBackedBytes>> = answers.extract(py)?;
            Ok(answers.into_iter().map(|answer| answer.map(|bytes| bytes.to_vec())).collect())
        });
        answers.map_err(|error: PyErr| {
            Python::attach(|py| match error.is_instance_of::<PyKeyboardInterrupt>(py) {
                true => Error::Stopped,
                false => Error::Invalid(error.value(py).to_string()),
            })
        })
    }
}

/// Searches shards as one index: `exchange` takes pairs of shard and message, and returns the answers in the same
/// order, `None` for a shard that does not answer in time.
#[pyclass(module = "crivello._core", frozen)]
struct Broker(search::shards::Broker<Through>);

#[pymethods]
impl Broker {
    #[new]
    fn new(exchange: Py<PyAny>, shards: usize) -> Self {
        Broker(search::shards::Broker::new(Through { exchange, shards }))
    }

    /// Live documents, documents, terms, postings and bytes of each shard; `None` for one that does not answer.
    #[allow(clippy::type_complexity)]
    fn describe(&self, py: Python<'_>) -> PyResult<Vec<Option<(u64, u64, u64, u64, u64)>>> {
        described(enter(py, |pulse| self.0.describe(pulse))?)
    }

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
            return Err(pyo3::exceptions::PyIndexError::new_err("there is no such hit"));
        };
        let request = Request::new(query, options.0.clone(), 10);
        enter(py, |pulse| self.0.explain(&request, &hit.ranked, pulse)).map(Explanation::from)
    }

    /// The query with its misspelt words corrected, if there are any.
    fn suggest(&self, py: Python<'_>, query: &str, options: &SearchOptions) -> PyResult<Option<String>> {
        enter(py, |_| self.0.suggest(query, options.0.language()))
    }
}

/// A shard of an index that is divided by terms.
#[pyclass(module = "crivello._core", frozen)]
struct TermShard(search::shards::TermShard);

#[pymethods]
impl TermShard {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, segments: Vec<NameAndLength>) -> PyResult<Self> {
        let files = segment_files(segments);
        enter(py, |_| search::shards::TermShard::open(&folder, &files)).map(TermShard)
    }

    /// The answer to a message of a broker.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = enter(py, |pulse| self.0.answer(message, pulse))?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// Searches shards of terms as one index. It has the documents, and asks for posting lists; `exchange` is as for
/// `Broker`.
#[pyclass(module = "crivello._core", frozen)]
struct TermBroker(search::shards::TermBroker<Through>);

#[pymethods]
impl TermBroker {
    #[new]
    #[pyo3(signature = (folder, segments, ranks, exchange, shards, bits = 8, hot = 268_435_456, pipelined = false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        segments: Vec<NameAndLength>,
        ranks: Option<PyRef<'_, Ranks>>,
        exchange: Py<PyAny>,
        shards: usize,
        bits: u32,
        hot: usize,
        pipelined: bool,
    ) -> PyResult<Self> {
        let files = segment_files(segments);
        let ranks = ranks.as_deref().map(|ranks| &ranks.0);
        let rank_of = |signature| match ranks {
            Some(ranks) => Ok(ranks.get(signature)?.map_or(0.0, |rank| rank.strength)),
            None => Ok(0.0),
        };
        let options = search::shards::TermOptions { bits, hot, pipelined };
        let through = Through { exchange, shards };
        let open = |pulse: &Pulse<'_>| {
            search::shards::TermBroker::open(&folder, &files, rank_of, through, options, pulse)
        };
        enter(py, open).map(TermBroker)
    }

    /// Live documents, documents, terms, postings and bytes of each shard; `None` for one that does not answer.
    #[allow(clippy::type_complexity)]
    fn describe(&self, py: Python<'_>) -> PyResult<Vec<Option<(u64, u64, u64, u64, u64)>>> {
        described(enter(py, |pulse| self.0.describe(pulse))?)
    }

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

    /// Hits of a ranking by their places, with or without snippets.
    #[pyo3(signature = (ranking, start, end, passages = true))]
    fn show(
        &self,
        py: Python<'_>,
        ranking: &Ranking,
        start: usize,
        end: usize,
        passages: bool,
    ) -> PyResult<Vec<Hit>> {
        let hits = enter(py, |_| self.0.show(&ranking.0, start..end, passages))?;
        Ok(hits.into_iter().map(hit).collect())
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
            return Err(pyo3::exceptions::PyIndexError::new_err("there is no such hit"));
        };
        let request = Request::new(query, options.0.clone(), 10);
        enter(py, |pulse| self.0.explain(&request, &hit.ranked, pulse)).map(Explanation::from)
    }

    /// The query with its misspelt words corrected, if there are any.
    fn suggest(&self, py: Python<'_>, query: &str, options: &SearchOptions) -> PyResult<Option<String>> {
        enter(py, |_| self.0.suggest(query, options.0.language()))
    }

    /// What was asked so far: messages, bytes, terms asked, those asked in vain, and those saved by dictionaries.
    fn traffic(&self) -> (u64, u64, u64, u64, u64) {
        let traffic = self.0.traffic();
        (traffic.messages, traffic.bytes, traffic.asked, traffic.vain, traffic.saved)
    }

    /// The memory that the posting lists of hot terms take, in bytes.
    #[getter]
    fn hot_bytes(&self) -> usize {
        self.0.hot_bytes()
    }

    /// The number of live documents.
    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents().documents()
    }

    /// The size of the files of the documents.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.documents().bytes()
    }
}

#[allow(clippy::type_complexity)]
fn described(described: search::shards::Described) -> PyResult<Vec<Option<(u64, u64, u64, u64, u64)>>> {
    let figures = |shard: search::shards::message::Description| {
        (shard.live, shard.documents, shard.terms, shard.postings, shard.bytes)
    };
    Ok(described.into_iter().map(|shard| shard.map(figures)).collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SearchOptions>()?;
    module.add_class::<Broker>()?;
    module.add_class::<TermBroker>()?;
    module.add_class::<TermShard>()?;
    module.add_class::<Ranking>()?;
    module.add_class::<Searcher>()
}
