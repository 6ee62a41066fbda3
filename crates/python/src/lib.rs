//! The boundary between Python and the core: conversions and errors, nothing else.
//!
//! Every function and method goes through [`enter::enter`]. People import `crivello`; this module,
//! `crivello._core`, is private, and `python/crivello/_core.pyi` is its complete description.

mod analysis;
mod archive;
mod array;
mod assignment;
mod choices;
mod codes;
mod collection;
mod crawl;
mod dictionaries;
mod duplicates;
mod enter;
mod fault;
mod filters;
mod graph;
mod hamming;
mod index;
mod language;
mod media;
mod parse;
mod pings;
mod queues;
mod robots;
mod schedule;
mod search;
mod shards;
mod sieve;
mod signature;
mod stream;
mod table;
mod url;
mod utf8;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    analysis::register(module)?;
    archive::register(module)?;
    array::register(module)?;
    assignment::register(module)?;
    choices::register(module)?;
    codes::register(module)?;
    crawl::register(module)?;
    dictionaries::register(module)?;
    duplicates::register(module)?;
    enter::register(module)?;
    fault::register(module)?;
    filters::register(module)?;
    graph::register(module)?;
    hamming::register(module)?;
    index::register(module)?;
    language::register(module)?;
    media::register(module)?;
    parse::register(module)?;
    pings::register(module)?;
    queues::register(module)?;
    robots::register(module)?;
    schedule::register(module)?;
    search::register(module)?;
    shards::register(module)?;
    sieve::register(module)?;
    signature::register(module)?;
    collection::register(module)?;
    stream::register(module)?;
    table::register(module)?;
    url::register(module)
}
