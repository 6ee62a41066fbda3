//! The boundary between Python and the core: conversions and errors, nothing else.
//!
//! Every function and method goes through [`enter::enter`]. People import `crivello`; this module,
//! `crivello._core`, is private, and `python/crivello/_core.pyi` is its complete description.

mod enter;
mod index;
mod log;
mod search;
mod sieve;
mod signature;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    enter::register(module)?;
    index::register(module)?;
    log::register(module)?;
    search::register(module)?;
    sieve::register(module)?;
    signature::register(module)
}
