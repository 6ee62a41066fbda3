//! Assignment of hosts to agents.

use std::collections::HashMap;

use crivello_core::assignment::simulate::{self, Machine, Outcome};
use crivello_core::assignment::{self, Agent, By, hash_of};
use crivello_core::graph::Numbers;
use crivello_core::{Error, Pulse, Result};
use pyo3::buffer::Element;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::array::{Array, Number, borrowed};
use crate::enter::{enter, enter_showing};
use crate::filters::keys_of;

/// Hosts as they come from Python.
enum Hosts {
    /// A list of str or bytes, hashed while the GIL is held, or the hashes themselves.
    Hashes(Vec<u64>),
    /// A column: the bytes of all, and where each begins and the last ends.
    Column { bytes: Numbers<u8>, offsets: Numbers<i64> },
}

impl Hosts {
    fn of(hosts: &Bound<'_, PyAny>, offsets: Option<&Bound<'_, PyAny>>) -> PyResult<Hosts> {
        let Some(offsets) = offsets else {
            return keys_of(hosts, hash_of, |hash| hash).map(Hosts::Hashes);
        };
        match (borrowed(hosts), borrowed(offsets)) {
            (Some(bytes), Some(offsets)) => Ok(Hosts::Column { bytes, offsets }),
            _ => enter(hosts.py(), |_| {
                let what = "a column of hosts is an array of uint8 and an array of int64, both contiguous";
                Err(Error::Invalid(what.into()))
            }),
        }
    }

    /// The hosts of a column.
    fn column<'a>(bytes: &'a [u8], offsets: &'a [i64]) -> Result<impl Iterator<Item = &'a [u8]>> {
        let ordered = offsets.is_sorted() && offsets.first().is_none_or(|&first| first >= 0);
        if !ordered || offsets.last().is_some_and(|&last| last as u64 > bytes.len() as u64) {
            return Err(Error::Invalid(
                "the offsets of a column of hosts must ascend within its bytes".into(),
            ));
        }
        // Offsets that Python changes meanwhile give an empty host, and no panic.
        let host = move |pair: &[i64]| bytes.get(pair[0] as usize..pair[1] as usize).unwrap_or_default();
        Ok(offsets.windows(2).map(host))
    }

    fn hashes(self) -> Result<Vec<u64>> {
        match self {
            Hosts::Hashes(hashes) => Ok(hashes),
            Hosts::Column { bytes, offsets } => {
                Ok(Hosts::column((*bytes).as_ref(), (*offsets).as_ref())?.map(hash_of).collect())
            }
        }
    }
}

/// An assignment of hosts to a set of agents.
#[pyclass(module = "crivello._core", frozen)]
struct Assignment(assignment::Assignment);

#[pymethods]
impl Assignment {
    #[new]
    fn new(
        py: Python<'_>,
        method: &str,
        ids: Vec<u32>,
        weights: Vec<f64>,
        replicas: u32,
        universe: Option<u32>,
    ) -> PyResult<Self> {
        enter(py, |_| {
            let method = method.parse()?;
            let agents: Vec<Agent> =
                ids.into_iter().zip(weights).map(|(id, weight)| Agent { id, weight }).collect();
            match universe {
                None => assignment::Assignment::new(method, &agents, replicas),
                Some(universe) => assignment::Assignment::in_universe(method, &agents, replicas, universe),
            }
        })
        .map(Assignment)
    }

    /// The agent of each host.
    #[pyo3(signature = (hosts, offsets=None))]
    fn agent(&self, hosts: &Bound<'_, PyAny>, offsets: Option<&Bound<'_, PyAny>>) -> PyResult<Array> {
        let py = hosts.py();
        let hosts = Hosts::of(hosts, offsets)?;
        enter(py, |pulse| self.find(hosts, pulse)).map(Array::of)
    }

    /// The agent of each host without some agents; `None` if no other is left.
    #[pyo3(signature = (hosts, without, offsets=None))]
    fn next_agent(
        &self,
        hosts: &Bound<'_, PyAny>,
        without: Vec<u32>,
        offsets: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Array>> {
        let py = hosts.py();
        let hosts = Hosts::of(hosts, offsets)?;
        let found = enter(py, |pulse| self.0.next_agents_of_hashes(&hosts.hashes()?, &without, pulse))?;
        Ok(found.map(Array::of))
    }

    /// The ids of the agents in order, and their weights.
    #[getter]
    fn members(&self) -> (Vec<u32>, Vec<f64>) {
        self.0.members().iter().map(|agent| (agent.id, agent.weight)).unzip()
    }

    /// The memory in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.0.memory()
    }
}

impl Assignment {
    fn find(&self, hosts: Hosts, pulse: &Pulse) -> Result<Vec<u32>> {
        match hosts {
            Hosts::Hashes(hashes) => self.0.agents_of_hashes(&hashes, pulse),
            Hosts::Column { bytes, offsets } => {
                self.0.agents_with(Hosts::column((*bytes).as_ref(), (*offsets).as_ref())?, pulse)
            }
        }
    }
}

/// The hash of each host.
#[pyfunction]
#[pyo3(signature = (hosts, offsets=None))]
fn host_hashes(hosts: &Bound<'_, PyAny>, offsets: Option<&Bound<'_, PyAny>>) -> PyResult<Array> {
    let py = hosts.py();
    let hosts = Hosts::of(hosts, offsets)?;
    enter(py, |_| hosts.hashes()).map(Array::of)
}

/// The key of each URL: its host or its registrable domain.
#[pyfunction]
fn assignment_keys(py: Python<'_>, urls: Vec<PyBackedStr>, by: &str) -> PyResult<Vec<String>> {
    enter(py, |_| {
        let by: By = by.parse()?;
        let key = |url: &PyBackedStr| String::from_utf8_lossy(assignment::key_of(url, by)).into_owned();
        Ok(urls.iter().map(key).collect())
    })
}

/// Simulates agents that crawl; arrays by name, of agents (`pages`, `end`, `busy`, `sent`, `messages`, `kept`),
/// of hosts (`fetched`, `finished`, `reached`) and of bins of time (`bins`, of all agents together).
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn simulate_agents(
    py: Python<'_>,
    machine: &[u8],
    offsets: &Bound<'_, PyAny>,
    pages: &Bound<'_, PyAny>,
    addresses: &Bound<'_, PyAny>,
    starts: &Bound<'_, PyAny>,
    marks: &Bound<'_, PyAny>,
    rests: &Bound<'_, PyAny>,
    ranks: &Bound<'_, PyAny>,
    shares: &Bound<'_, PyAny>,
    seed: u64,
) -> PyResult<HashMap<&'static str, Array>> {
    let offsets: Numbers<u64> = numbers(offsets)?;
    let [pages, addresses, marks, ranks]: [Numbers<u32>; 4] =
        [numbers(pages)?, numbers(addresses)?, numbers(marks)?, numbers(ranks)?];
    let [starts, rests, shares]: [Numbers<f64>; 3] = [numbers(starts)?, numbers(rests)?, numbers(shares)?];
    let found = enter_showing(py, None, |pulse| {
        let hosts = simulate::Hosts {
            offsets: (*offsets).as_ref(),
            pages: (*pages).as_ref(),
            addresses: (*addresses).as_ref(),
            starts: (*starts).as_ref(),
            marks: (*marks).as_ref(),
            rests: (*rests).as_ref(),
            ranks: (*ranks).as_ref(),
            shares: (*shares).as_ref(),
        };
        simulate::simulate(&Machine::from_json(machine)?, &hosts, seed, pulse)
    })?;
    Ok(HashMap::from([
        ("pages", each(&found, |outcome| outcome.pages)),
        ("end", each(&found, |outcome| outcome.end)),
        ("busy", each(&found, |outcome| outcome.busy)),
        ("sent", each(&found, |outcome| outcome.sent)),
        ("messages", each(&found, |outcome| outcome.messages)),
        ("kept", each(&found, |outcome| outcome.kept)),
        ("fetched", all(&found, |outcome| &outcome.fetched)),
        ("finished", all(&found, |outcome| &outcome.finished)),
        ("reached", all(&found, |outcome| &outcome.reached)),
        ("bins", Array::of(simulate::bins(&found))),
    ]))
}

fn numbers<T: Element + Send + Sync + 'static>(array: &Bound<'_, PyAny>) -> PyResult<Numbers<T>> {
    borrowed(array).map_or_else(
        || {
            let what = "the model takes contiguous arrays of uint64 (offsets), uint32 and float64";
            enter(array.py(), |_| Err(Error::Invalid(what.into())))
        },
        Ok,
    )
}

/// A number of each agent.
fn each<T: Number>(found: &[Outcome], of: impl Fn(&Outcome) -> T) -> Array {
    Array::of(found.iter().map(of).collect())
}

/// The numbers of the hosts of all agents.
fn all<T: Number + Copy>(found: &[Outcome], of: impl Fn(&Outcome) -> &Vec<T>) -> Array {
    Array::of(found.iter().flat_map(|outcome| of(outcome).iter().copied()).collect())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Assignment>()?;
    module.add_function(wrap_pyfunction!(host_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(assignment_keys, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_agents, module)?)
}
