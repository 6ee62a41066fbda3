//! The allowed values of settings that are a choice.

use std::collections::HashMap;

use crivello_core::assignment;
use crivello_core::codes::Code;
use crivello_core::crawl::{Assets, Manner, Treatment};
use crivello_core::dictionaries::Construction;
use crivello_core::frontier::VisitingOrder;
use crivello_core::graph::forms::Form;
use crivello_core::index::{Assign, Order, Partition, Preference};
use crivello_core::queues;
use crivello_core::schedule::Policy;
use crivello_core::search::matching::Intersection;
use crivello_core::search::rank::Method;
use crivello_core::search::score::Scorer;
use crivello_core::settings::Choices;
use crivello_core::sieve::Kind;
use crivello_core::url::ScopeKind;
use pyo3::prelude::*;

/// The names of each kind, the default first, each with a short description.
#[pyfunction]
fn choices() -> HashMap<&'static str, Choices> {
    HashMap::from([
        ("assignment", assignment::Method::choices()),
        ("assignment-key", assignment::By::choices()),
        ("assign", Assign::choices()),
        ("assets", Assets::choices()),
        ("code", Code::choices()),
        ("construction", Construction::choices()),
        ("duplicates", Treatment::choices()),
        ("graph-form", Form::choices()),
        ("intersection", Intersection::choices()),
        ("method", Method::choices()),
        ("order", Order::choices()),
        ("partition", Partition::choices()),
        ("politeness", Manner::choices()),
        ("preference", Preference::choices()),
        ("queue", queues::Kind::choices()),
        ("refresh", Policy::choices()),
        ("scope", ScopeKind::choices()),
        ("scorer", Scorer::choices()),
        ("sieve", Kind::choices()),
        ("visit", VisitingOrder::choices()),
    ])
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(choices, module)?)
}
