//! Web archives: reading files of others, importing them, and the records of a collection as they lie there.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crivello_core::collection::Capture;
use crivello_core::crawl::Plan;
use crivello_core::crawl::importing::{self, Chosen, Content, Damage, Given};
use crivello_core::warc::{self, Compression, Entry, Http, Item, Position, ReaderOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::crawl::counters;
use crate::enter::{enter, enter_showing};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An archive file, read record by record.
#[pyclass(module = "crivello._core", frozen)]
struct ArchiveReader {
    reader: Mutex<warc::Reader>,
    compression: Compression,
}

#[pymethods]
impl ArchiveReader {
    /// Opens a file, or a part of one, at a position.
    #[new]
    #[pyo3(signature = (path, *, start = 0, end = None, limit = 1 << 26, verify = true, position = (0, 0)))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        end: Option<u64>,
        limit: usize,
        verify: bool,
        position: (u64, u32),
    ) -> PyResult<Self> {
        let options = ReaderOptions { start, end, limit, verify };
        let at = Position { offset: position.0, ordinal: position.1 };
        let reader = enter(py, |pulse| warc::Reader::resume(&path, options, at, pulse))?;
        Ok(ArchiveReader { compression: reader.compression(), reader: Mutex::new(reader) })
    }

    /// Reads records of about `bytes` in all, none only at the end, and the damage between them.
    fn read(&self, py: Python<'_>, bytes: usize) -> PyResult<(Vec<ArchiveRecord>, Vec<Damage>)> {
        enter(py, |pulse| {
            let mut reader = locked(&self.reader);
            let (mut records, mut damage, mut read) = (Vec::new(), Vec::new(), 0);
            while read < bytes || records.is_empty() {
                pulse.beat()?;
                match reader.next()? {
                    None => break,
                    Some(Item::Record(entry)) => {
                        read += entry.block.len() + 1;
                        records.push(ArchiveRecord(entry));
                    }
                    Some(Item::Damage { offset, reason }) => damage.push((offset, reason)),
                }
            }
            Ok((records, damage))
        })
    }

    /// The place of the next record: the offset of its member, and its number there.
    #[getter]
    fn position(&self) -> (u64, u32) {
        let Position { offset, ordinal } = locked(&self.reader).position();
        (offset, ordinal)
    }

    /// The offset of a compressed member that was found to have several records.
    #[getter]
    fn shared_member(&self) -> Option<u64> {
        locked(&self.reader).shared_member()
    }

    /// The number of bytes read, and of all.
    #[getter]
    fn progress(&self) -> (u64, u64) {
        locked(&self.reader).progress()
    }

    #[getter]
    fn compression(&self) -> &'static str {
        match self.compression {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstandard => "zstd",
        }
    }
}

/// A record of an archive file.
#[pyclass(module = "crivello._core", frozen)]
struct ArchiveRecord(Entry);

#[pymethods]
impl ArchiveRecord {
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    #[getter]
    fn kind(&self) -> &str {
        self.0.kind()
    }

    #[getter]
    fn url(&self) -> &str {
        self.0.url()
    }

    #[getter]
    fn date(&self) -> Option<&str> {
        self.0.field("warc-date")
    }

    #[getter]
    fn fields(&self) -> Vec<(&str, &str)> {
        self.0.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[getter]
    fn block<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.block)
    }

    /// The status, the header fields and the body of the response in the block; `None` if there is none.
    #[allow(clippy::type_complexity)]
    fn response<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(u16, Vec<(String, Bound<'py, PyBytes>)>, Bound<'py, PyBytes>)> {
        let http = Http::read(&self.0.block)?;
        let headers = http.headers.into_iter().map(|(name, value)| (name, PyBytes::new(py, &value)));
        Some((http.status, headers.collect(), PyBytes::new(py, &http.body)))
    }
}

/// The text of each record, on all threads; `None` if it is no page with a text.
#[pyfunction]
fn archive_texts(
    py: Python<'_>,
    records: Vec<Bound<'_, ArchiveRecord>>,
    limit: usize,
) -> PyResult<Vec<Option<String>>> {
    let entries: Vec<&Entry> = records.iter().map(|record| &record.get().0).collect();
    enter_showing(py, None, |_| Ok(importing::texts(&entries, limit)))
}

/// A page from elsewhere: its URL, when it was fetched, its status and header fields if it is a response, its
/// media type if it is known, and its bytes.
type GivenPage = (String, f64, Option<u16>, Vec<(String, String)>, Option<String>, Vec<u8>);

/// An import into a collection.
#[pyclass(module = "crivello._core", frozen)]
struct Import(Mutex<importing::Import>);

#[pymethods]
impl Import {
    /// Opens the store by a plan of a crawl in JSON.
    #[new]
    fn new(py: Python<'_>, plan: &[u8]) -> PyResult<Self> {
        let import = enter(py, |pulse| importing::Import::open(Plan::from_json(plan)?, pulse))?;
        Ok(Import(Mutex::new(import)))
    }

    /// Imports from a file for about `seconds`: the damage, and whether the file ended.
    fn read(&self, py: Python<'_>, reader: &ArchiveReader, seconds: f64) -> PyResult<(Vec<Damage>, bool)> {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        enter_showing(py, None, |pulse| locked(&self.0).read(&mut *locked(&reader.reader), time, pulse))
    }

    /// Imports the records at some offsets of a file; returns the damage.
    fn pick(&self, py: Python<'_>, path: PathBuf, offsets: Vec<u64>, limit: usize) -> PyResult<Vec<Damage>> {
        enter_showing(py, None, |pulse| {
            let options = ReaderOptions { limit, ..ReaderOptions::default() };
            let mut chosen = Chosen { path: &path, offsets: offsets.iter(), options };
            locked(&self.0).read(&mut chosen, Duration::MAX, pulse).map(|(damage, _)| damage)
        })
    }

    /// Imports pages.
    fn add(&self, py: Python<'_>, pages: Vec<GivenPage>, as_text: bool) -> PyResult<()> {
        let given = |(url, when, status, headers, media_type, body): GivenPage| {
            let content = match status {
                Some(status) => Content::Response(Http {
                    version: "HTTP/1.1".to_owned(),
                    status,
                    headers: headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect(),
                    body,
                    ..Http::default()
                }),
                None if as_text => Content::Text(body),
                None => Content::Resource { media_type, body },
            };
            Given { url, when, address: None::<IpAddr>, payload: None, content }
        };
        let pages = pages.into_iter().map(given).collect();
        enter_showing(py, None, |pulse| locked(&self.0).add(pages, pulse))
    }

    /// How many records became what.
    #[getter]
    fn tally(&self) -> BTreeMap<&'static str, u64> {
        locked(&self.0).tally().clone()
    }

    /// The revisits that were not resolved: the URL of each, and the URL that it refers to.
    #[getter]
    fn unresolved(&self) -> Vec<(String, String)> {
        locked(&self.0).unresolved().to_vec()
    }

    /// Makes everything durable: the files to commit, and the state to save as JSON; `is_last` leaves nothing in
    /// memory for readers to catch up with.
    fn checkpoint(&self, py: Python<'_>, is_last: bool) -> PyResult<(HashMap<String, Option<u64>>, String)> {
        let (commit, counts, hosts) = enter(py, |_| locked(&self.0).checkpoint(is_last))?;
        let state = serde_json::json!({ "report": counters(&counts), "hosts": hosts, "table": commit.table });
        Ok((commit.files.into_iter().collect(), state.to_string()))
    }
}

/// A record of a collection, compressed, and what an index of captures says of it.
#[pyclass(module = "crivello._core", frozen)]
pub struct ArchivedRecord(pub Capture);

#[pymethods]
impl ArchivedRecord {
    #[getter]
    fn file(&self) -> String {
        self.0.file_name()
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn kind(&self) -> &str {
        &self.0.kind
    }

    #[getter]
    fn key(&self) -> &str {
        &self.0.key
    }

    #[getter]
    fn timestamp(&self) -> &str {
        &self.0.timestamp
    }

    #[getter]
    fn url(&self) -> &str {
        &self.0.url
    }

    #[getter]
    fn mime(&self) -> &str {
        &self.0.mime
    }

    #[getter]
    fn status(&self) -> Option<u16> {
        self.0.status
    }

    #[getter]
    fn digest(&self) -> Option<&str> {
        self.0.digest.as_deref()
    }

    /// The gzip member.
    #[getter]
    fn member<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.member)
    }
}

/// A record as a gzip member: its type, further header fields, and its block in two parts.
#[pyfunction]
#[pyo3(signature = (kind, fields, head, body))]
fn warc_record<'py>(
    py: Python<'py>,
    kind: &str,
    fields: Vec<(String, String)>,
    head: &[u8],
    body: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let record = enter(py, |_| warc::warc_record(kind, &fields, head, body))?;
    Ok(PyBytes::new(py, &record))
}

/// The sort keys of URLs in an index of captures.
#[pyfunction]
fn surt_keys(urls: Vec<String>) -> Vec<String> {
    urls.iter().map(|url| crivello_core::url::surt(url)).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArchiveReader>()?;
    module.add_class::<ArchiveRecord>()?;
    module.add_class::<ArchivedRecord>()?;
    module.add_class::<Import>()?;
    module.add_function(wrap_pyfunction!(archive_texts, module)?)?;
    module.add_function(wrap_pyfunction!(warc_record, module)?)?;
    module.add_function(wrap_pyfunction!(surt_keys, module)?)
}
