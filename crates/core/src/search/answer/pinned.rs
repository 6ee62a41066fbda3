//! The statistics of a whole collection, pinned for one query, by which every shard scores alike.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::resolve::Pin;
use crate::search::language::tree::{Leaf, Pattern, Query};
use crate::search::matching::expand::MOST;
use crate::search::matching::{Plan, Slot};
use crate::search::score::Statistics;

/// The statistics of the collection for one query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// The number of documents and words.
    pub statistics: Statistics,
    /// Those of each distinct leaf.
    pub leaves: Vec<Pin>,
}

/// The distinct leaves of a plan.
pub struct Distinct<'q> {
    /// The leaves.
    pub leaves: Vec<&'q Leaf>,
    /// For each slot, the index of its leaf.
    pub which: Vec<usize>,
    /// The most terms that a pattern expands to.
    pub most: usize,
}

/// The distinct leaves of a plan, in order of their first occurrence.
pub fn distinct<'q>(plan: &Plan<'q>) -> Distinct<'q> {
    let patterns = plan.leaves.iter().filter(|leaf| !matches!(leaf.pattern, Pattern::Term(_))).count();
    let mut numbers: HashMap<&Leaf, usize> = HashMap::new();
    let mut leaves = Vec::new();
    let mut which = Vec::with_capacity(plan.leaves.len());
    for leaf in &plan.leaves {
        let number = *numbers.entry(leaf).or_insert(leaves.len());
        if number == leaves.len() {
            leaves.push(*leaf);
        }
        which.push(number);
    }
    Distinct { leaves, which, most: MOST / patterns.max(1) }
}

/// The upper limit on a leaf's total boost, however often the query repeats it: keeps every score finite.
const HIGHEST_BOOST: f64 = 1e6;

/// The scoring leaves, each once: the first slot, the index of the distinct leaf, and its boost.
pub fn scoring(query: &Query, plan: &Plan<'_>, which: &[usize]) -> Vec<(Slot, usize, f64)> {
    let mut scoring: Vec<(Slot, usize, f64)> = Vec::new();
    let mut slot = 0;
    // The scoring leaves are a subsequence of all leaves.
    for (leaf, boost) in query.scoring_leaves() {
        while !std::ptr::eq(plan.leaves[slot], leaf) {
            slot += 1;
        }
        match scoring.iter_mut().find(|(_, number, _)| *number == which[slot]) {
            Some(known) => known.2 = (known.2 + f64::from(boost)).min(HIGHEST_BOOST),
            None => scoring.push((slot, which[slot], f64::from(boost).min(HIGHEST_BOOST))),
        }
    }
    scoring
}

/// The terms that score, each with the number of its leaf.
pub fn terms<'a>(
    scoring: &[(Slot, usize, f64)],
    of_leaf: impl Fn(usize) -> &'a Vec<String>,
) -> Vec<(String, usize)> {
    let numbered = |(number, (_, which, _)): (usize, &(Slot, usize, f64))| {
        of_leaf(*which).iter().map(move |term| (term.clone(), number)).collect::<Vec<_>>()
    };
    scoring.iter().enumerate().flat_map(numbered).collect()
}
