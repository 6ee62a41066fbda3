//! The table: rows of URLs at every time, in the order in which they were written or in that of their keys.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crivello_core::Signature;
use crivello_core::collection::cells::{Group, micros};
use crivello_core::collection::{Rows, Snapshot};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use crate::collection::Row;
use crate::enter::enter;

/// The number of rows passed to Python at a time.
const BATCH: usize = 1000;

/// The rows of one commit.
#[pyclass(module = "crivello._core", frozen)]
pub struct Table(pub Arc<Snapshot>);

#[pymethods]
impl Table {
    fn get(&self, py: Python<'_>, url: &str) -> PyResult<Option<Row>> {
        Ok(enter(py, |pulse| self.0.table(pulse)?.get(url))?.map(Row))
    }

    /// The version of a URL at a time, in seconds since 1970.
    fn at(&self, py: Python<'_>, url: &str, when: f64) -> PyResult<Option<Row>> {
        Ok(enter(py, |pulse| self.0.table(pulse)?.at(url, micros(when)))?.map(Row))
    }

    /// All versions of a URL, newest first.
    fn versions(&self, py: Python<'_>, url: &str) -> PyResult<Vec<Row>> {
        Ok(enter(py, |pulse| self.0.table(pulse)?.versions(url))?.into_iter().map(Row).collect())
    }

    fn by_signature(&self, py: Python<'_>, signature: u64) -> PyResult<Option<Row>> {
        Ok(enter(py, |pulse| self.0.table(pulse)?.by_signature(Signature(signature)))?.map(Row))
    }

    /// The state of a feed.
    fn feed<'py>(&self, py: Python<'py>, url: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let cell = enter(py, |pulse| self.0.table(pulse)?.cell(url, Group::Feed))?;
        Ok(cell.map(|(_, value)| PyBytes::new(py, &value)))
    }

    /// The next feeds after a URL, in key order, with their states; at the end there are none.
    #[pyo3(signature = (after = None))]
    fn feeds<'py>(
        &self,
        py: Python<'py>,
        after: Option<&str>,
    ) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let cells = enter(py, |pulse| {
            self.0.table(pulse)?.feeds(after)?.take(BATCH).collect::<crivello_core::Result<Vec<_>>>()
        })?;
        Ok(cells.into_iter().map(|cell| (cell.url, PyBytes::new(py, &cell.value))).collect())
    }

    /// Whether there is a row from an offset of the journal on.
    fn has_rows_since(&self, py: Python<'_>, start: u64) -> PyResult<bool> {
        enter(py, |pulse| Ok(self.0.table(pulse)?.since(start)?.next().transpose()?.is_some()))
    }

    fn contains(&self, py: Python<'_>, urls: Vec<PyBackedStr>) -> PyResult<Vec<bool>> {
        enter(py, |pulse| {
            let table = self.0.table(pulse)?;
            urls.iter().map(|url| table.contains(url)).collect()
        })
    }

    /// The rows in the order in which they were written, from an offset of the journal on; `newest` leaves out
    /// those that a later version replaces.
    #[pyo3(signature = (start = 0, newest = false))]
    fn batches(&self, start: u64, newest: bool) -> RowBatches {
        RowBatches { snapshot: Arc::clone(&self.0), next: AtomicU64::new(start), newest }
    }

    /// The rows of a site, or of the URLs that begin with a prefix, in key order; all `versions` or the newest.
    #[pyo3(signature = (site = None, prefix = None, versions = false))]
    fn scan(&self, site: Option<&str>, prefix: Option<&str>, versions: bool) -> RowScan {
        let rows = match (site, prefix) {
            (Some(site), _) => Rows::of_site(site),
            (None, Some(prefix)) => Rows::of_prefix(prefix),
            (None, None) => Rows::all(),
        };
        RowScan { snapshot: Arc::clone(&self.0), rows: Mutex::new(Some(rows)), versions }
    }

    /// At most `n` ranges of about the same size that together are the table: the first URL of each (`None`: the
    /// beginning), its bytes and its cells.
    fn tablets(&self, py: Python<'_>, n: usize) -> PyResult<Vec<(Option<String>, u64, u64)>> {
        let tablets = enter(py, |pulse| self.0.table(pulse)?.tablets(n))?;
        let first = |from: &[u8]| {
            let row = from.split(|byte| *byte == 0).next().unwrap_or_default();
            crivello_core::graph::order::name(row)
        };
        Ok(tablets.into_iter().map(|tablet| (first(&tablet.from), tablet.bytes, tablet.entries)).collect())
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        enter(py, |pulse| self.0.table(pulse)?.verify(pulse))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter(py, |pulse| Ok(self.0.table(pulse)?.len() as usize))
    }
}

/// The rows from an offset on, in batches, each with the offset of the next one.
#[pyclass(module = "crivello._core", frozen)]
struct RowBatches {
    snapshot: Arc<Snapshot>,
    next: AtomicU64,
    newest: bool,
}

#[pymethods]
impl RowBatches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(Vec<Row>, u64)>> {
        let (rows, next) = enter(py, |pulse| {
            let table = self.snapshot.table(pulse)?;
            let mut next = None;
            let mut rows = Vec::new();
            for row in table.since(self.next.load(Ordering::Relaxed))?.take(BATCH) {
                let (row, end) = row?;
                next = Some(end);
                if !self.newest || table.is_newest(&row)? {
                    rows.push(Row(row));
                }
            }
            Ok((rows, next))
        })?;
        let Some(next) = next else { return Ok(None) };
        self.next.store(next, Ordering::Relaxed);
        Ok(Some((rows, next)))
    }
}

/// The rows of a range of keys, in batches.
#[pyclass(module = "crivello._core", frozen)]
struct RowScan {
    snapshot: Arc<Snapshot>,
    /// What is left; `None` at the end.
    rows: Mutex<Option<Rows>>,
    versions: bool,
}

#[pymethods]
impl RowScan {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<Row>>> {
        enter(py, |pulse| {
            let mut left = self.rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let Some(range) = left.take() else { return Ok(None) };
            let table = self.snapshot.table(pulse)?;
            let mut rows: Vec<Row> = Vec::new();
            for cell in table.scan(&range)? {
                let cell = cell?;
                if cell.group != Group::Visit {
                    continue;
                }
                if rows.last().is_some_and(|row| row.0.url == cell.url) {
                    if !self.versions {
                        continue;
                    }
                } else if rows.len() >= BATCH {
                    *left = Some(Rows { from: table.key_of(&cell.url), to: range.to });
                    break;
                }
                rows.push(Row(table.row_of(cell)?));
            }
            Ok((!rows.is_empty()).then_some(rows))
        })
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Table>()?;
    module.add_class::<RowBatches>()?;
    module.add_class::<RowScan>()
}
