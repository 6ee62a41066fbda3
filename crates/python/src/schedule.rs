//! Revisits: the simulation of policies, and the optimal allocation.

use crivello_core::schedule::simulate::{self, Outcome, Run};
use crivello_core::schedule::value::Dynamics;
use crivello_core::schedule::{ANY, Options, Policy, allocate};
use crivello_core::{Error, Result};
use pyo3::prelude::*;

use crate::array::Array;
use crate::enter::{Progress, enter, enter_showing};
use crate::graph::numbers;

/// The section `[refresh]` of the settings.
#[pyclass(module = "crivello._core", frozen)]
pub struct RefreshOptions(pub Options);

#[pymethods]
impl RefreshOptions {
    #[new]
    fn new(py: Python<'_>, section: &[u8]) -> PyResult<Self> {
        enter(py, |_| Options::from_json(section)).map(RefreshOptions)
    }
}

/// Importance, rate of change, precision and recall of pages, as arrays of the same length.
type Columns<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// How pages change, each with its importance.
fn pages(columns: &Columns<'_>) -> PyResult<Vec<(Dynamics, f64)>> {
    let (importance, rates) =
        (numbers::<f64>(&columns.0, "importance")?, numbers::<f64>(&columns.1, "rates")?);
    let (precision, recall) =
        (numbers::<f64>(&columns.2, "precision")?, numbers::<f64>(&columns.3, "recall")?);
    let (importance, rates) = ((*importance).as_ref(), (*rates).as_ref());
    let (precision, recall) = ((*precision).as_ref(), (*recall).as_ref());
    enter(columns.0.py(), |_| {
        if [rates.len(), precision.len(), recall.len()] != [importance.len(); 3] {
            return Err(Error::Invalid("the columns of a trace must have the same length".to_owned()));
        }
        let page = |place: usize| {
            let dynamics = match recall[place] {
                0.0 => Dynamics::silent(rates[place]),
                recall => Dynamics::new(rates[place], precision[place], recall),
            };
            (dynamics, importance[place])
        };
        Ok((0..importance.len()).map(page).collect())
    })
}

/// The changes and signals of pages over a time.
#[pyclass(module = "crivello._core", frozen)]
struct RefreshTrace(simulate::Trace);

#[pymethods]
impl RefreshTrace {
    /// Moments are in arrays, page after page; the offsets say where those of each page start, and where the last end.
    #[new]
    fn new(
        seconds: f64,
        columns: Columns<'_>,
        changes: (Bound<'_, PyAny>, Bound<'_, PyAny>),
        signals: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    ) -> PyResult<Self> {
        let py = columns.0.py();
        let pages = pages(&columns)?;
        let starts = (numbers::<u64>(&changes.0, "offsets")?, numbers::<u64>(&signals.0, "offsets")?);
        let moments = (numbers::<f64>(&changes.1, "changes")?, numbers::<f64>(&signals.1, "signals")?);
        let starts = ((*starts.0).as_ref(), (*starts.1).as_ref());
        let moments = ((*moments.0).as_ref(), (*moments.1).as_ref());
        let trace = enter(py, |_| {
            let mut trace = simulate::Trace::new(seconds)?;
            for (place, (dynamics, importance)) in pages.into_iter().enumerate() {
                let changes = of_page(starts.0, moments.0, place)?;
                let signals = of_page(starts.1, moments.1, place)?;
                trace.add(importance as f32, dynamics, changes, signals)?;
            }
            Ok(trace)
        })?;
        Ok(RefreshTrace(trace))
    }

    /// Simulates runs, each a policy (or `oracle`), requests per second, the length of a round and of the warm-up in
    /// seconds; returns the staleness after the warm-up and during it, visits, and visits that found a change of each.
    #[pyo3(signature = (options, runs, progress = None))]
    fn simulate(
        &self,
        py: Python<'_>,
        options: &RefreshOptions,
        runs: Vec<(String, f64, f64, f64)>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Vec<(f64, f64, u64, u64)>> {
        let outcomes = enter_showing(py, progress, |pulse| {
            let run = |(policy, budget, round, warm_up): (String, f64, f64, f64)| {
                let policy = if policy == "oracle" { None } else { Some(policy.parse::<Policy>()?) };
                Ok(Run { policy, budget, round, warm_up })
            };
            let runs = runs.into_iter().map(run).collect::<Result<Vec<Run>>>()?;
            simulate::simulate(&self.0, &options.0, &runs, pulse)
        })?;
        let told = |outcome: &Outcome| (outcome.staleness, outcome.learning, outcome.visits, outcome.changed);
        Ok(outcomes.iter().map(told).collect())
    }
}

fn of_page<'a>(starts: &[u64], moments: &'a [f64], place: usize) -> Result<&'a [f64]> {
    let range =
        starts.get(place).zip(starts.get(place + 1)).map(|(start, end)| *start as usize..*end as usize);
    let found = range.and_then(|range| moments.get(range));
    found.ok_or_else(|| Error::Invalid("the offsets of a trace do not fit its moments".to_owned()))
}

/// The optimal allocation of requests per second: the price of a visit, the visits per second of each page, and the
/// share of time in which each copy is stale. Intervals are between two numbers of seconds.
#[pyfunction]
#[pyo3(signature = (columns, budget, exact, intervals = ANY))]
fn refresh_allocation(
    columns: Columns<'_>,
    budget: f64,
    exact: bool,
    intervals: (f64, f64),
) -> PyResult<(f64, Array, Array)> {
    let py = columns.0.py();
    let pages = pages(&columns)?;
    let found = enter(py, |_| Ok(allocate(&pages, budget, intervals, exact)))?;
    Ok((found.price, Array::of(found.visits), Array::of(found.stale)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RefreshOptions>()?;
    module.add_class::<RefreshTrace>()?;
    module.add_function(wrap_pyfunction!(refresh_allocation, module)?)
}
