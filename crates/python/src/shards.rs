//! Searching an index in shards, by documents or by terms.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crivello_core::search::rank::Ranked;
use crivello_core::search::{self, Request};
use crivello_core::{Error, Pulse, Result};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::enter::enter;
use crate::graph::Ranks;
use crate::index::{NameAndLength, segment_files};
use crate::search::{Answering, Answers, answers, strengths};

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
#[pyclass(module = "crivello._core", frozen, extends = Answering)]
struct Broker(Arc<search::shards::Broker<Through>>);

answers!(search::shards::Broker<Through>, |broker, ranking, places, passages, pulse| {
    broker.show(ranking, places, passages, pulse)
});

#[pymethods]
impl Broker {
    #[new]
    fn new(exchange: Py<PyAny>, shards: usize) -> PyClassInitializer<Self> {
        let broker = Arc::new(search::shards::Broker::new(Through { exchange, shards }));
        Answering::extended(Arc::clone(&broker) as Arc<dyn Answers>, Broker(broker))
    }

    /// Live documents, documents, terms, postings and bytes of each shard; `None` for one that does not answer.
    #[allow(clippy::type_complexity)]
    fn describe(&self, py: Python<'_>) -> PyResult<Vec<Option<(u64, u64, u64, u64, u64)>>> {
        described(enter(py, |pulse| self.0.describe(pulse))?)
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
#[pyclass(module = "crivello._core", frozen, extends = Answering)]
struct TermBroker(Arc<search::shards::TermBroker<Through>>);

answers!(search::shards::TermBroker<Through>, |broker, ranking, places, passages, _pulse| {
    Ok(broker.show(ranking, places, passages)?.into_iter().map(Some).collect())
});

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
    ) -> PyResult<PyClassInitializer<Self>> {
        let files = segment_files(segments);
        let rank_of = strengths(ranks.as_deref());
        let options = search::shards::TermOptions { bits, hot, pipelined };
        let through = Through { exchange, shards };
        let open = |pulse: &Pulse<'_>| {
            search::shards::TermBroker::open(&folder, &files, rank_of, through, options, pulse)
        };
        let broker = Arc::new(enter(py, open)?);
        Ok(Answering::extended(Arc::clone(&broker) as Arc<dyn Answers>, TermBroker(broker)))
    }

    /// Live documents, documents, terms, postings and bytes of each shard; `None` for one that does not answer.
    #[allow(clippy::type_complexity)]
    fn describe(&self, py: Python<'_>) -> PyResult<Vec<Option<(u64, u64, u64, u64, u64)>>> {
        described(enter(py, |pulse| self.0.describe(pulse))?)
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
    module.add_class::<Broker>()?;
    module.add_class::<TermBroker>()?;
    module.add_class::<TermShard>()
}
