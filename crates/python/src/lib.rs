//! The boundary between Python and the core: conversions and errors, nothing else.
//!
//! Every function and method goes through [`enter::enter`]. People import `crivello`; this module,
//! `crivello._core`, is private, and `python/crivello/_core.pyi` is its complete description.

mod analysis;
mod code;
mod crawl;
mod dict;
mod enter;
mod fault;
mod filter;
mod graph;
mod index;
mod log;
mod parse;
mod robots;
mod search;
mod sieve;
mod signature;
mod store;
mod stream;
mod url;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    analysis::register(module)?;
    code::register(module)?;
    crawl::register(module)?;
    dict::register(module)?;
    enter::register(module)?;
    fault::register(module)?;
    filter::register(module)?;
    graph::register(module)?;
    index::register(module)?;
    log::register(module)?;
    parse::register(module)?;
    robots::register(module)?;
    search::register(module)?;
    sieve::register(module)?;
    signature::register(module)?;
    store::register(module)?;
    stream::register(module)?;
    url::register(module)
}
