//! Collections: commits, rows, archive records, and the documents to be indexed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use crivello_core::collection::Rows;
use crivello_core::collection::refresh::Due;
use crivello_core::collection::{self, Document, DocumentOptions, Extractor, Lock, Selection, layout};
use crivello_core::crawl::{Pushed, Revisit, RevisitWriter};
use crivello_core::graph::Ranks;
use crivello_core::schedule::{Options, Plan, Planner};
use crivello_core::{Error, Result, Signature};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

use crate::archive::ArchivedRecord;
use crate::enter::enter;
use crate::index::{IndexBuilder, IndexOptions};
use crate::parse::ParsedPage;
use crate::table::Table;

/// The names of a collection's files.
#[pyclass(module = "crivello._core", frozen)]
struct Layout;

#[pymethods]
impl Layout {
    #[classattr]
    const SETTINGS: &str = layout::SETTINGS;
    #[classattr]
    const MANIFEST: &str = layout::MANIFEST;
    #[classattr]
    const FRONTIER: &str = layout::FRONTIER;
    #[classattr]
    const INDEX: &str = layout::INDEX;
    #[classattr]
    const URLS: &str = layout::URLS;
    #[classattr]
    const LSM: &str = layout::LSM;
    #[classattr]
    const OWN: &str = layout::OWN_SIEVE;
    #[classattr]
    const ROWS: &str = layout::ROWS;
    #[classattr]
    const LINKS: &str = layout::LINKS;
    #[classattr]
    const ANCHORS: &str = layout::ANCHORS;
    #[classattr]
    const DECISIONS: &str = layout::DECISIONS;
    #[classattr]
    const IMPORTS: &str = layout::IMPORTS;
    #[classattr]
    const PROGRESS: &str = layout::PROGRESS;
    #[classattr]
    const HOSTS: &str = layout::HOSTS;
    #[classattr]
    const RUN: &str = layout::RUN;
    #[classattr]
    const PARTS: [&str; 6] = layout::PARTS;

    #[staticmethod]
    fn archive(number: u32) -> String {
        layout::archive(number)
    }

    #[staticmethod]
    fn graph_files(number: u64) -> [String; 5] {
        layout::graph_files(number)
    }

    #[staticmethod]
    fn ranks(measure: &str, number: u64) -> String {
        layout::ranks(measure, number)
    }

    #[staticmethod]
    fn given_ranks(number: u64) -> String {
        layout::given_ranks(number)
    }

    #[staticmethod]
    fn segment(name: &str) -> String {
        layout::segment(name)
    }

    #[staticmethod]
    fn segment_number(name: &str) -> Option<u64> {
        layout::segment_number(name)
    }

    #[staticmethod]
    fn segment_shard(name: &str) -> Option<u16> {
        layout::segment_shard(name)
    }

    #[staticmethod]
    fn is_of_terms(name: &str) -> bool {
        layout::is_of_terms(name)
    }
}

/// The enumeration of outcomes, built with Python's `enum` from the core's.
fn outcomes<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static OUTCOMES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let members: Vec<(String, &str)> = collection::Outcome::ALL
            .iter()
            .map(|outcome| (constant(&format!("{outcome:?}")), outcome.words()))
            .collect();
        let options = [("module", "crivello._core")].into_py_dict(py)?;
        let made = py.import("enum")?.getattr("StrEnum")?.call(("Outcome", members), Some(&options))?;
        made.setattr("__doc__", "What became of a URL.")?;
        PyResult::Ok(made.unbind())
    };
    Ok(OUTCOMES.get_or_try_init(py, make)?.bind(py))
}

/// The name of a constant: `TooLarge` becomes `TOO_LARGE`.
fn constant(name: &str) -> String {
    let mut made = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !made.is_empty() {
            made.push('_');
        }
        made.extend(letter.to_uppercase());
    }
    made
}

/// A class for a row's fields: texts, optional texts, and numbers.
macro_rules! row {
    (texts: $($text:ident)*; maybe: $($maybe:ident)*; numbers: $($number:ident: $type:ty,)*; $($methods:tt)*) => {
        #[pymethods]
        impl Row {
            $(#[getter] fn $text(&self) -> &str { &self.0.$text })*
            $(#[getter] fn $maybe(&self) -> Option<&str> { self.0.$maybe.as_deref() })*
            $(#[getter] fn $number(&self) -> $type { self.0.$number })*
            $($methods)*
        }
    };
}

/// The row of a URL, with the place of its record in the archive.
#[pyclass(module = "crivello._core", frozen, eq)]
#[derive(PartialEq)]
pub struct Row(pub collection::Row);

row! {
    texts: url title detail;
    maybe: content_type digest language redirect duplicate_of near_duplicate_of canonical etag last_modified address payload;
    numbers: depth: u32, fetched_at: f64, content_at: f64, status: Option<u16>, simhash: Option<u64>, noindex: bool, file: u32, offset: u64,
    length: u64, text_file: u32, text_offset: u64, text_length: u64, visit_file: u32, visit_offset: u64, visit_length: u64, attempts: u32, seconds: f32, near_bits: Option<u32>,;

    /// The header of the journal; and a row with nothing in it as a MessagePack map, which has the names of the fields
    /// in their order.
    #[staticmethod]
    fn format(py: Python<'_>) -> PyResult<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)> {
        let blank = enter(py, |_| collection::Row::blank())?;
        Ok((PyBytes::new(py, &collection::ROW_FORMAT.header()), PyBytes::new(py, &blank)))
    }

    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        outcomes(py)?.call1((self.0.outcome.words(),))
    }

    #[getter]
    fn indexable(&self) -> bool {
        self.0.indexable()
    }

    #[getter]
    fn is_dropped(&self) -> bool {
        self.0.is_dropped()
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = &self.0;
        let about = PyDict::new(py);
        about.set_item("url", &row.url)?;
        about.set_item("status", row.status)?;
        about.set_item("depth", row.depth)?;
        about.set_item("content_type", &row.content_type)?;
        about.set_item("digest", &row.digest)?;
        about.set_item("fetched_at", row.fetched())?;
        about.set_item("outcome", row.outcome.words())?;
        about.set_item("title", &row.title)?;
        about.set_item("language", &row.language)?;
        about.set_item("redirect", &row.redirect)?;
        about.set_item("duplicate_of", &row.duplicate_of)?;
        about.set_item("near_duplicate_of", &row.near_duplicate_of)?;
        about.set_item("near_bits", row.near_bits)?;
        about.set_item("canonical", &row.canonical)?;
        about.set_item("address", &row.address)?;
        about.set_item("attempts", row.attempts)?;
        about.set_item("detail", &row.detail)?;
        about.set_item("etag", &row.etag)?;
        about.set_item("last_modified", &row.last_modified)?;
        about.set_item("payload", &row.payload)?;
        Ok(about)
    }

    fn __hash__(&self) -> u64 {
        Signature::of(self.0.url.as_bytes()).0
    }

    fn __repr__(&self) -> String {
        let status = self.0.status.map_or(String::new(), |status| format!(" {status}"));
        format!("<Row {}: {}{status}>", self.0.url, self.0.outcome.words())
    }
}

/// A record of the archive.
#[pyclass(module = "crivello._core", frozen)]
struct Record(crivello_core::warc::Record);

#[pymethods]
impl Record {
    #[getter]
    fn url(&self) -> &str {
        &self.0.url
    }

    /// Of fields with the same name the first counts.
    #[getter]
    fn headers(&self) -> HashMap<&str, &str> {
        self.0.headers.iter().rev().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.body)
    }

    fn decoded<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyBytes>> {
        let decoded = enter(py, |_| self.0.decoded(limit))?;
        Ok(PyBytes::new(py, &decoded))
    }

    fn parse(&self, py: Python<'_>, limit: usize) -> PyResult<Option<ParsedPage>> {
        Ok(enter(py, |_| self.0.parse(limit))?.map(ParsedPage))
    }
}

/// An open collection.
#[pyclass(module = "crivello._core", frozen)]
struct Collection(collection::Collection);

#[pymethods]
impl Collection {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        enter(py, |_| collection::Collection::read(&folder)).map(Collection)
    }

    #[staticmethod]
    fn write(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        enter(py, |_| collection::Collection::write(&folder)).map(Collection)
    }

    #[staticmethod]
    fn create(py: Python<'_>, folder: PathBuf, settings: &str) -> PyResult<()> {
        enter(py, |_| collection::Collection::create(&folder, settings))
    }

    /// The process that is writing to the collection in a folder, and since when, in seconds since 1970.
    #[staticmethod]
    fn holder(folder: PathBuf) -> Option<(Option<u32>, f64)> {
        let holder = Lock::holder(&folder)?;
        let since = holder.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some((holder.process, since.as_secs_f64()))
    }

    fn close(&self) {
        self.0.close();
    }

    #[getter]
    fn is_writer(&self) -> bool {
        self.0.is_writer()
    }

    #[getter]
    fn files(&self) -> BTreeMap<String, u64> {
        self.0.snapshot().manifest.files.clone()
    }

    fn length(&self, name: &str) -> u64 {
        self.0.snapshot().length(name)
    }

    /// The state of a part, as JSON.
    fn state(&self, part: &str) -> Option<String> {
        self.0.snapshot().manifest.state.get(part).map(ToString::to_string)
    }

    /// The time of the last commit, in seconds since 1970.
    #[getter]
    fn committed_at(&self) -> f64 {
        self.0.snapshot().committed_at()
    }

    /// The records of rows as they lie in the archive: of the pages or of the visits, of the requests, and of converted
    /// texts.
    fn captures(
        &self,
        py: Python<'_>,
        rows: Vec<PyRef<'_, Row>>,
        of_visits: bool,
    ) -> PyResult<Vec<ArchivedRecord>> {
        let rows: Vec<collection::Row> = rows.iter().map(|row| row.0.clone()).collect();
        let captures = enter(py, |pulse| {
            let snapshot = self.0.snapshot();
            let mut captures = Vec::with_capacity(rows.len());
            for row in &rows {
                pulse.beat()?;
                captures.append(&mut snapshot.captures(row, of_visits)?);
            }
            Ok(captures)
        })?;
        Ok(captures.into_iter().map(ArchivedRecord).collect())
    }

    /// Commits files with their lengths, and the states of parts as JSON.
    fn commit(&self, py: Python<'_>, files: HashMap<String, Option<u64>>, state: &str) -> PyResult<()> {
        enter(py, |_| {
            let state = serde_json::from_str(state).map_err(|error| Error::Invalid(error.to_string()))?;
            self.0.commit(&files.into_iter().collect::<Vec<_>>(), state)
        })
    }

    /// Puts the states of feeds (`None`: removes one), and commits them with the states of parts as JSON.
    fn put_feeds(&self, py: Python<'_>, feeds: Vec<(String, Option<Vec<u8>>)>, state: &str) -> PyResult<()> {
        enter(py, |pulse| {
            let state = serde_json::from_str(state).map_err(|error| Error::Invalid(error.to_string()))?;
            let cells: Vec<_> =
                feeds.into_iter().map(|(url, value)| (url, value.unwrap_or_default())).collect();
            self.0.put_feeds(&cells, state, pulse)
        })
    }

    /// Writes the queue of the pages that are due: those that `options` (the section `[refresh]` as JSON) says,
    /// or `all`, at most `limit` (0: no limit), of a `site`, or these `urls` and those whose content was `pushed`
    /// (URL, media type, body); `ranks` is a file of ranks with its length, `before` the last plan. Returns the length
    /// of the queue, the number of pages, and the plan as JSON.
    #[pyo3(signature = (options, now, *, all = false, limit = 0, site = None, urls = None, pushed = Vec::new(), ranks = None, before = None))]
    #[allow(clippy::too_many_arguments)]
    fn plan_revisits(
        &self,
        py: Python<'_>,
        options: &[u8],
        now: f64,
        all: bool,
        limit: usize,
        site: Option<&str>,
        urls: Option<Vec<String>>,
        pushed: Vec<(String, String, Vec<u8>)>,
        ranks: Option<(PathBuf, u64)>,
        before: Option<&[u8]>,
    ) -> PyResult<(u64, u64, String)> {
        enter(py, |pulse| {
            let options = Options::from_json(options)?;
            let snapshot = self.0.snapshot();
            let mut queue = RevisitWriter::create(&snapshot.folder)?;
            let mut count = 0;
            let table = snapshot.table(pulse)?;
            let mut push = |row: collection::Row, pushed: Option<Pushed>| {
                count += 1;
                queue.push(&Revisit { pushed, ..Revisit::of_page(&row, |url| table.get(url))? })
            };
            let mut plan = serde_json::Value::Null;
            if let Some(urls) = urls {
                let pushed = pushed
                    .into_iter()
                    .map(|(url, content_type, body)| (url, Some(Pushed { content_type, body })));
                for (url, pushed) in urls.into_iter().map(|url| (url, None)).chain(pushed) {
                    let row = table.get(&url)?;
                    push(
                        row.unwrap_or_else(|| collection::Row { url, ..collection::Row::default() }),
                        pushed,
                    )?;
                }
            } else {
                let rows = site.map_or_else(Rows::all, Rows::of_site);
                let before = before.and_then(|plan| serde_json::from_slice(plan).ok());
                let due = Due { now, all, limit, rows, before };
                let ranks = ranks.map(|(path, length)| Ranks::open(&path, length)).transpose()?;
                let found = snapshot.due(&due, &options, ranks.as_ref(), pulse, |row| push(row, None))?;
                plan = serde_json::json!(found);
            }
            Ok((queue.finish()?, count, plan.to_string()))
        })
    }

    /// When a page is visited next, in seconds since 1970, and why then, by the plan of the last refresh (JSON);
    /// with what its schedule says, as JSON. `None` if it is not visited again.
    fn next_visit(
        &self,
        py: Python<'_>,
        url: &str,
        options: &[u8],
        plan: Option<&[u8]>,
    ) -> PyResult<Option<(f64, &'static str, String)>> {
        enter(py, |pulse| {
            let options = Options::from_json(options)?;
            let snapshot = self.0.snapshot();
            let Some(schedule) = snapshot.schedule(url, &options, pulse)? else { return Ok(None) };
            let given: Option<Plan> = plan.and_then(|plan| serde_json::from_slice(plan).ok());
            let plan = given.unwrap_or_else(|| {
                let mut planner = Planner::new(&options, None);
                planner.add(&schedule);
                planner.plan()
            });
            let (when, reason) = plan.next(&schedule);
            let about = serde_json::json!({
                "visits": schedule.visits,
                "changes": schedule.changes,
                "failures": schedule.failures,
                "rate": schedule.rate(&plan.prior),
                "signal": schedule.signal.map(|signal| signal.source.name()),
            });
            Ok(Some((when, reason.words(), about.to_string())))
        })
    }

    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        enter(py, |_| self.0.refresh())
    }

    #[getter]
    fn table(&self) -> Table {
        Table(self.0.snapshot())
    }

    fn record(&self, py: Python<'_>, row: &Row) -> PyResult<Record> {
        enter(py, |_| self.0.snapshot().archive.read(row.0.place())).map(Record)
    }

    /// A page as parsed, or what it was converted to; its body may decode to at most `limit` bytes.
    fn parse(&self, py: Python<'_>, row: &Row, limit: usize) -> PyResult<Option<ParsedPage>> {
        Ok(enter(py, |_| self.0.snapshot().parse(&row.0, limit))?.map(ParsedPage))
    }

    /// The text of a page whose body may decode to at most `limit` bytes.
    fn text(&self, py: Python<'_>, row: &Row, limit: usize) -> PyResult<String> {
        enter(py, |_| Ok(self.0.snapshot().zones(&row.0, limit)?.text))
    }

    /// The documents of the rows from `start` on or, if `pages` are given, of the URLs with these signatures.
    #[pyo3(signature = (options, max_bytes, start = 0, pages = None, language = None, extractor = None))]
    #[allow(clippy::too_many_arguments)]
    fn documents(
        &self,
        py: Python<'_>,
        options: &IndexOptions,
        max_bytes: usize,
        start: u64,
        pages: Option<Vec<u64>>,
        language: Option<String>,
        extractor: Option<Py<PyAny>>,
    ) -> PyResult<Documents> {
        let selection = match pages {
            Some(pages) => Selection::Of(pages.into_iter().map(Signature).collect()),
            None => Selection::Since(start),
        };
        let (memory, threads) = options.0.memory_and_threads();
        let extractor = extractor.map(|extractor| Box::new(PythonExtractor(extractor)) as Box<dyn Extractor>);
        let options = DocumentOptions { threads, memory, max_bytes, language, extractor };
        enter(py, |_| collection::Documents::start(self.0.snapshot(), selection, options)).map(Documents)
    }
}

/// An extractor written in Python: a function from a list of documents to another, all as tuples.
struct PythonExtractor(Py<PyAny>);

impl Extractor for PythonExtractor {
    fn extract(&mut self, documents: &mut [Document]) -> Result<()> {
        let extracted = Python::attach(|py| {
            let given: Vec<_> = documents.iter().map(fields).collect();
            self.0.call1(py, (given,))?.extract::<Vec<Fields>>(py)
        });
        let failed = |error: PyErr| Error::Invalid(Python::attach(|py| error.value(py).to_string()));
        for (document, extracted) in documents.iter_mut().zip(extracted.map_err(failed)?) {
            let (_, title, body, language, headings, anchors, id, kind, day) = extracted;
            let language = language.unwrap_or_default();
            let url = std::mem::take(&mut document.url);
            let simhash = document.simhash;
            *document = Document { url, id, title, headings, body, anchors, language, kind, day, simhash };
        }
        Ok(())
    }
}

/// A document as in `crivello.index.Document`.
type Fields = (String, String, String, Option<String>, String, String, String, String, u32);

#[allow(clippy::type_complexity)]
fn fields(document: &Document) -> (&str, &str, &str, Option<&str>, &str, &str, &str, &str, u32) {
    let Document { url, id, title, headings, body, anchors, language, kind, day, .. } = document;
    let language = (!language.is_empty()).then_some(language.as_str());
    (url, title, body, language, headings, anchors, id, kind, *day)
}

/// A stream of documents from the archive to an index.
#[pyclass(module = "crivello._core")]
struct Documents(collection::Documents);

#[pymethods]
impl Documents {
    /// Adds the documents that are ready within `seconds`; returns whether there may be more.
    #[pyo3(signature = (builder, seconds = 0.1))]
    fn feed(
        &mut self,
        py: Python<'_>,
        mut builder: PyRefMut<'_, IndexBuilder>,
        seconds: f64,
    ) -> PyResult<bool> {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let builder = &mut builder.0;
        enter(py, |pulse| self.0.feed(builder, time, pulse))
    }

    /// The share of the rows that has been read.
    #[getter]
    fn fraction(&self) -> f64 {
        self.0.fraction()
    }

    /// The offset of the next row.
    #[getter]
    fn end(&self) -> u64 {
        self.0.end()
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Layout>()?;
    module.add("Outcome", outcomes(module.py())?)?;
    module.add_class::<Row>()?;
    module.add_class::<Record>()?;
    module.add_class::<Collection>()?;
    module.add_class::<Documents>()
}
