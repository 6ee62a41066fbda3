//! The crawl: its threads are native; what Python decides (a custom sieve, which links are followed and their
//! priorities) is requested in batches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crivello_core::crawl::{
    self, Commit, Counts, Failure, Found, Plan, Policy, SieveCommit, Start, Tag, UrlSieve, Verdict,
};
use crivello_core::parse::Page;
use crivello_core::sieve::{Entries, Stats};
use crivello_core::{Error, Pulse, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::enter::enter;

/// The files to commit, and the state to save as JSON.
type Committed = (HashMap<String, Option<u64>>, String);

/// A batch of records for another agent: the positions of its begin and end, and the batch.
type Outgoing<'py> = (u64, u64, Bound<'py, PyBytes>);

/// What is known of a host.
type HostState<'py> = (u64, f64, Option<(f64, u16, Bound<'py, PyBytes>)>, Option<f64>);

/// A crawl in native threads. It may be closed while other threads still exchange URLs with other agents.
#[pyclass(frozen, module = "crivello._core")]
struct Crawl(RwLock<Option<Arc<crawl::Crawl>>>);

#[pymethods]
impl Crawl {
    /// Starts a crawl by a plan in JSON; `sieve` is an optional one written in Python.
    #[new]
    #[pyo3(signature = (plan, files, sieve = None, policy = None))]
    fn new(
        py: Python<'_>,
        plan: &[u8],
        files: HashMap<String, u64>,
        sieve: Option<Py<PyAny>>,
        policy: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let sieve = sieve.map(|sieve| {
            Box::new(PythonSieve { sieve, urls: Vec::new(), tags: Vec::new() }) as Box<dyn UrlSieve>
        });
        let policy = policy.map(|policy| Box::new(PythonPolicy(policy)) as Box<dyn Policy>);
        enter(py, |pulse| {
            let plan = Plan::from_json(plan)?;
            crawl::Crawl::start(Start { plan, files, sieve, policy }, pulse)
        })
        .map(|crawl| Crawl(RwLock::new(Some(Arc::new(crawl)))))
    }

    /// Waits up to `seconds` for the end: returns whether it was reached, and by which limit. After `patience` seconds also
    /// until other agents wait for a checkpoint.
    fn wait(&self, py: Python<'_>, seconds: f64, patience: f64) -> PyResult<(bool, Option<&'static str>)> {
        let crawl = self.running(py)?;
        let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let ended = enter(py, |_| crawl.wait(duration(seconds), duration(patience)))?;
        Ok((ended.is_some(), ended.flatten()))
    }

    /// Whether other agents wait for a checkpoint, and whether one would give them anything.
    fn others_wait(&self, py: Python<'_>) -> PyResult<(bool, bool)> {
        Ok(self.running(py)?.others_wait())
    }

    fn stop(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let crawl = self.running(py)?;
        enter(py, |_| {
            crawl.stop(Duration::try_from_secs_f64(seconds).unwrap_or_default());
            Ok(())
        })
    }

    fn checkpoint(&self, py: Python<'_>) -> PyResult<Committed> {
        let crawl = self.running(py)?;
        let Commit {
            files, table, sieve, described, position, led_to, reread, exchange, hosts, counts, ..
        } = enter(py, |_| crawl.checkpoint())?;
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
        let state = serde_json::json!({
            "table": table,
            "sieve": parsed(&sieve),
            "described": parsed(&described),
            "position": position,
            "led_to": led_to,
            "reread": reread,
            "exchange": exchange.as_deref().map(parsed),
            "hosts": hosts,
            "report": report(&crawl, &counts),
        });
        Ok((files.into_iter().collect(), state.to_string()))
    }

    /// Counters and gauges, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let crawl = self.running(py)?;
        Ok(report(&crawl, &crawl.counts()).to_string())
    }

    /// Says that what the last checkpoint returned is committed.
    fn committed(&self, py: Python<'_>) -> PyResult<()> {
        let crawl = self.running(py)?;
        crawl.committed();
        Ok(())
    }

    /// The next batch for another agent; see `crawl::Crawl::outgoing`.
    fn outgoing<'py>(&self, py: Python<'py>, peer: u32, limit: usize) -> PyResult<Option<Outgoing<'py>>> {
        let crawl = self.running(py)?;
        let outgoing = enter(py, |_| crawl.outgoing(peer, limit))?;
        Ok(outgoing.map(|(start, end, batch)| (start, end, PyBytes::new(py, &batch))))
    }

    /// Sends another agent what begins at a position, and what follows.
    fn rewind(&self, py: Python<'_>, peer: u32, position: u64) -> PyResult<()> {
        let crawl = self.running(py)?;
        enter(py, |_| crawl.rewind(peer, position))
    }

    /// Drops what another agent has committed.
    fn acknowledge(&self, py: Python<'_>, peer: u32, position: u64) -> PyResult<()> {
        let crawl = self.running(py)?;
        enter(py, |_| crawl.acknowledge(peer, position))
    }

    /// Accepts a batch of another agent; see `crawl::Crawl::receive`.
    fn receive(
        &self,
        py: Python<'_>,
        sender: u32,
        epoch: u64,
        start: u64,
        batch: &[u8],
    ) -> PyResult<(u64, u64)> {
        let crawl = self.running(py)?;
        enter(py, |_| crawl.receive(sender, epoch, start, batch))
    }

    /// Begins no further request; see `crawl::Crawl::drain`.
    fn drain(&self, py: Python<'_>) -> PyResult<()> {
        let crawl = self.running(py)?;
        crawl.drain();
        Ok(())
    }

    /// Allows requests for some seconds from now.
    fn permit(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let crawl = self.running(py)?;
        crawl.permit(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        Ok(())
    }

    /// Stops the threads; what was not committed is lost.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let crawl = self.0.write().unwrap_or_else(PoisonError::into_inner).take();
        enter(py, |_| {
            drop(crawl);
            Ok(())
        })
    }
}

impl Crawl {
    fn running(&self, py: Python<'_>) -> PyResult<Arc<crawl::Crawl>> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Some(crawl) => Ok(Arc::clone(crawl)),
            None => {
                enter(py, |_| Err(Error::Invalid("the crawl is closed".to_owned()))).map(|()| unreachable!())
            }
        }
    }
}

/// A report on a crawl, with counters of this or an earlier moment.
fn report(crawl: &crawl::Crawl, counts: &Counts) -> serde_json::Value {
    let slowest: Vec<_> =
        crawl.slowest().into_iter().map(|host| (host.name, host.seconds, host.requests)).collect();
    let resting: Vec<_> = crawl.resting().into_iter().map(|host| (host.name, host.until, host.why)).collect();
    let mut report = counters(counts);
    report["resting"] = serde_json::json!(resting);
    report["gauges"] = serde_json::json!(crawl.gauges().into_iter().collect::<HashMap<_, _>>());
    report["slowest"] = serde_json::json!(slowest);
    report["exchange"] = serde_json::json!(crawl.exchange());
    report
}

/// The counters, as they are in a report.
pub fn counters(counts: &Counts) -> serde_json::Value {
    let outcomes: HashMap<_, _> =
        counts.outcomes.iter().map(|(outcome, count)| (outcome.words(), *count)).collect();
    serde_json::json!({
        "outcomes": outcomes,
        "statuses": counts.statuses,
        "duplicates": counts.duplicates,
        "near_duplicates": counts.near_duplicates,
        "saved": counts.saved,
        "seen": counts.seen,
        "waiting": counts.waiting,
        "links": counts.links,
        "unconverted": counts.unconverted,
        "failures": counts.failures,
        "revisits": counts.revisits,
    })
}

fn failed(error: PyErr) -> Error {
    Error::Invalid(Python::attach(|py| error.value(py).to_string()))
}

/// A sieve written in Python.
struct PythonSieve {
    sieve: Py<PyAny>,
    urls: Vec<String>,
    tags: Vec<u32>,
}

impl PythonSieve {
    fn entries(&self, method: &str, n: usize) -> Result<Entries> {
        let taken = Python::attach(|py| {
            self.sieve.call_method1(py, method, (n,))?.extract::<Vec<(u64, u32, String)>>(py)
        });
        let mut entries = Entries::default();
        for (offset, tag, url) in taken.map_err(failed)? {
            entries.push(offset, tag, &url);
        }
        Ok(entries)
    }
}

impl UrlSieve for PythonSieve {
    fn offer(&mut self, url: &str, tag: u32) {
        self.urls.push(url.to_owned());
        self.tags.push(tag);
    }

    fn settle(&mut self) -> Result<()> {
        let (urls, tags) = (std::mem::take(&mut self.urls), std::mem::take(&mut self.tags));
        if urls.is_empty() {
            return Ok(());
        }
        Python::attach(|py| self.sieve.call_method1(py, "add", (urls, tags))).map(drop).map_err(failed)
    }

    fn take_ready(&mut self, n: usize) -> Result<Entries> {
        self.entries("take_ready", n)
    }

    fn take(&mut self, n: usize, _pulse: &Pulse) -> Result<Entries> {
        self.entries("take", n)
    }

    fn checkpoint(&mut self) -> Result<SieveCommit> {
        let made = Python::attach(|py| {
            let checkpoint = self.sieve.call_method0(py, "checkpoint")?;
            let files: HashMap<String, Option<u64>> = checkpoint.getattr(py, "files")?.extract(py)?;
            Ok((files, json(py, checkpoint.getattr(py, "state")?)?))
        });
        let (files, state) = made.map_err(failed)?;
        Ok(SieveCommit { files: files.into_iter().collect(), state })
    }

    fn next(&self) -> u64 {
        Python::attach(|py| self.sieve.getattr(py, "next")?.extract(py)).unwrap_or(0)
    }

    fn stats(&self) -> Stats {
        let counted = Python::attach(|py| {
            let seen = self.sieve.bind(py).len()? as u64;
            let waiting = self.sieve.getattr(py, "waiting")?.extract(py)?;
            PyResult::Ok((seen, waiting))
        });
        let (seen, waiting) = counted.unwrap_or_default();
        Stats { seen, waiting, ..Stats::default() }
    }

    fn describe(&self) -> String {
        Python::attach(|py| json(py, self.sieve.call_method0(py, "stats")?)).unwrap_or_default()
    }
}

fn json(py: Python<'_>, value: Py<PyAny>) -> PyResult<String> {
    py.import("json")?.call_method1("dumps", (value,))?.extract()
}

/// A policy written in Python: called once for all links of a page.
struct PythonPolicy(Py<PyAny>);

/// The priority of each link, and the failures by name and message.
type PythonVerdict = (Vec<Option<u8>>, Vec<(String, String)>);

impl Policy for PythonPolicy {
    fn judge(&mut self, url: &str, tag: Tag, page: &Page, found: &[Found]) -> Result<Verdict> {
        let judged = Python::attach(|py| {
            let about = PyDict::new(py);
            about.set_item("url", url)?;
            about.set_item("depth", tag.depth)?;
            about.set_item("title", &page.title)?;
            about.set_item("text", &page.text)?;
            about.set_item("language", page.language.as_deref())?;
            let urls = PyList::new(py, found.iter().map(|found| &found.url))?;
            let anchors = PyList::new(py, found.iter().map(|found| &found.anchor))?;
            self.0.call1(py, (about, urls, anchors))?.extract::<PythonVerdict>(py)
        });
        let (levels, failures) = judged.map_err(failed)?;
        let failure = |(extension, message)| Failure { extension, message };
        Ok(Verdict { levels, failures: failures.into_iter().map(failure).collect() })
    }
}

/// Whether a crawl by a plan in JSON can start.
#[pyfunction]
fn check_crawl(py: Python<'_>, plan: &[u8]) -> PyResult<()> {
    enter(py, |_| crawl::check(&Plan::from_json(plan)?))
}

/// Whether the host of any of the first URLs is on a private network; `None` if no name resolves.
#[pyfunction]
fn any_is_private(py: Python<'_>, urls: Vec<String>, hosts_file: Option<PathBuf>) -> PyResult<Option<bool>> {
    enter(py, |_| crivello_core::fetch::any_is_private(&urls, hosts_file.as_deref()))
}

/// The depth at which a URL was found, in links from a seed and in links since its host was entered, by the
/// files of the sieve; `None` if it was not.
#[pyfunction]
fn depths_of(
    py: Python<'_>,
    folder: PathBuf,
    files: HashMap<String, u64>,
    url: &str,
) -> PyResult<Option<(u32, u32)>> {
    let tag = enter(py, |pulse| crawl::tag_of(&folder, &files, url, pulse))?;
    Ok(tag.map(|tag| (tag.depth, tag.site_depth)))
}

/// The number of pages, the end of the rest, the robots.txt (when, status, content) and the Crawl-delay of a host.
#[pyfunction]
fn host_state<'py>(
    py: Python<'py>,
    folder: PathBuf,
    name: &str,
    user_agent: &str,
) -> PyResult<HostState<'py>> {
    let state = enter(py, |pulse| crawl::host_state(&folder, name, user_agent, pulse))?;
    let robots = state.robots.map(|(when, status, body)| (when, status, PyBytes::new(py, &body)));
    Ok((state.fetched, state.ready_at, robots, state.crawl_delay.map(|delay| delay.as_secs_f64())))
}

/// The signatures of up to `limit` pages in a link log that link to a page.
#[pyfunction]
#[pyo3(signature = (path, committed, signature, limit))]
fn pages_linking_to(
    py: Python<'_>,
    path: PathBuf,
    committed: u64,
    signature: u64,
    limit: usize,
) -> PyResult<Vec<u64>> {
    enter(py, |pulse| crivello_core::graph::pages_linking_to(&path, committed, signature, limit, pulse))
}

/// Checks the maps that only a crawl reads: of texts, fingerprints and hosts.
#[pyfunction]
fn verify_crawl(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    enter(py, |pulse| crivello_core::crawl::verify(&folder, pulse))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(any_is_private, module)?)?;
    module.add_function(wrap_pyfunction!(check_crawl, module)?)?;
    module.add_function(wrap_pyfunction!(depths_of, module)?)?;
    module.add_function(wrap_pyfunction!(host_state, module)?)?;
    module.add_function(wrap_pyfunction!(verify_crawl, module)?)?;
    module.add_function(wrap_pyfunction!(pages_linking_to, module)?)?;
    module.add_class::<Crawl>()
}
