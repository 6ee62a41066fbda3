//! The queue of pings.

use std::path::PathBuf;

use crivello_core::collection::pings::{self, Ping, Position};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::enter::enter;

/// A ping: the URL, who sent it, when, the media type of the content, and the content.
type Fields<'py> = (String, String, f64, String, Bound<'py, PyBytes>);

/// The queue of a collection's pings.
#[pyclass(module = "crivello._core", frozen)]
struct Pings(pings::Pings);

#[pymethods]
impl Pings {
    #[new]
    fn new(folder: PathBuf) -> Self {
        Pings(pings::Pings::new(folder))
    }

    /// Queues pings durably; returns whether there is room for them.
    fn add(&self, py: Python<'_>, pings: Vec<(String, String, f64, String, Vec<u8>)>) -> PyResult<bool> {
        let ping = |(url, by, time, content_type, content)| Ping { url, by, time, content_type, content };
        let pings: Vec<Ping> = pings.into_iter().map(ping).collect();
        enter(py, |_| self.0.add(&pings))
    }

    /// The pings after a position (the number of the log, and an offset), and the position after them.
    fn read<'py>(&self, py: Python<'py>, position: (u64, u64)) -> PyResult<(Vec<Fields<'py>>, (u64, u64))> {
        let from = Position { log: position.0, offset: position.1 };
        let (pings, end) = enter(py, |_| self.0.read(from))?;
        let fields =
            |ping: Ping| (ping.url, ping.by, ping.time, ping.content_type, PyBytes::new(py, &ping.content));
        Ok((pings.into_iter().map(fields).collect(), (end.log, end.offset)))
    }

    /// Empties the queue, if nothing came after a position, which must be committed.
    fn clear(&self, py: Python<'_>, position: (u64, u64)) -> PyResult<()> {
        enter(py, |_| self.0.clear(Position { log: position.0, offset: position.1 }))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Pings>()
}
