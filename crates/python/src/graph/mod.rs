//! The link graph and its ranks.

mod arcs;
mod betweenness;
mod collapse;
mod compare;
mod components;
mod distances;
mod forms;
mod pages;
mod spectral;

use pyo3::prelude::*;

pub(crate) use arcs::numbers;
pub use pages::Ranks;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    arcs::register(module)?;
    spectral::register(module)?;
    compare::register(module)?;
    betweenness::register(module)?;
    collapse::register(module)?;
    components::register(module)?;
    distances::register(module)?;
    pages::register(module)?;
    forms::register(module)
}
