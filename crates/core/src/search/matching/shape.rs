//! Static analysis of a query: which of its leaves are required, whether they are sufficient, and which of
//! them the nodes read ahead.
//!
//! Leaves are numbered in traversal order ([`Query::leaves`]), so every traversal here also counts the leaves
//! that it skips.

use super::plan::Slot;
use crate::search::language::tree::{Interval, Query};

/// Whether a query is a conjunction of leaves.
pub fn is_conjunction(query: &Query) -> bool {
    let leaves = |children: &[Query]| children.iter().all(|child| matches!(unboosted(child), Query::Leaf(_)));
    match query {
        Query::And(children) => leaves(children),
        Query::Group { required, optional, excluded } => {
            optional.is_empty() && excluded.is_empty() && leaves(required)
        }
        _ => false,
    }
}

/// A part of a disjunction, in traversal order.
pub enum Restriction<'q> {
    /// The leaves themselves.
    Leaves,
    /// Must match.
    Must(&'q Query),
    /// None may match.
    MustNot(&'q [Query]),
}

/// The number of leaves of the disjunction, and its parts.
pub fn disjunction(query: &Query) -> Option<(usize, Vec<Restriction<'_>>)> {
    match query {
        Query::Leaf(_) => Some((1, vec![Restriction::Leaves])),
        Query::Boost(child, _) => disjunction(child),
        Query::Group { required, optional, excluded } if required.is_empty() && !optional.is_empty() => {
            let simple = optional.iter().all(|child| matches!(unboosted(child), Query::Leaf(_)));
            let mut parts = vec![Restriction::Leaves];
            if !excluded.is_empty() {
                parts.push(Restriction::MustNot(excluded));
            }
            simple.then_some((optional.len(), parts))
        }
        Query::And(children) => {
            let mut found = None;
            let mut parts = Vec::new();
            for child in children {
                if scores_nothing(child) {
                    parts.push(Restriction::Must(child));
                } else if found.is_none() {
                    let (slots, of_child) = disjunction(child)?;
                    found = Some(slots);
                    parts.extend(of_child);
                } else {
                    return None;
                }
            }
            found.map(|slots| (slots, parts))
        }
        _ => None,
    }
}

/// The required leaves: no document matches without all of them.
pub fn required(query: &Query) -> Vec<Slot> {
    let mut required = Vec::new();
    required_of(query, &mut 0, true, &mut required);
    required
}

/// Traverses a query whose first leaf is `next`; if `must`, the query is required, and so are some of its
/// leaves.
fn required_of(query: &Query, next: &mut Slot, must: bool, required: &mut Vec<Slot>) {
    match query {
        Query::Leaf(_) => {
            required.extend(must.then_some(*next));
            *next += 1;
        }
        Query::Interval(interval) => required_of_interval(interval, next, must, required),
        Query::Filter(_) => {}
        Query::Boost(child, _) => required_of(child, next, must, required),
        Query::Not(child) => required_of(child, next, false, required),
        Query::And(children) => children.iter().for_each(|child| required_of(child, next, must, required)),
        Query::Group { required: wanted, optional, excluded } => {
            wanted.iter().for_each(|child| required_of(child, next, must, required));
            let only = must && wanted.is_empty() && optional.len() == 1;
            optional.iter().for_each(|child| required_of(child, next, only, required));
            excluded.iter().for_each(|child| required_of(child, next, false, required));
        }
    }
}

/// The leaves whose positions decide whether a document matches: those of phrases and other intervals.
pub fn positional(query: &Query) -> Vec<Slot> {
    let mut positional = Vec::new();
    positional_of(query, &mut 0, &mut positional);
    positional
}

fn positional_of(query: &Query, next: &mut Slot, positional: &mut Vec<Slot>) {
    match query {
        Query::Leaf(_) => *next += 1,
        Query::Interval(interval) => {
            let mut leaves = Vec::new();
            interval.leaves(&mut leaves);
            if !matches!(interval, Interval::Leaf(_)) {
                positional.extend(*next..*next + leaves.len());
            }
            *next += leaves.len();
        }
        Query::Filter(_) => {}
        Query::Boost(child, _) | Query::Not(child) => positional_of(child, next, positional),
        Query::And(children) => children.iter().for_each(|child| positional_of(child, next, positional)),
        Query::Group { required, optional, excluded } => {
            let children = required.iter().chain(optional).chain(excluded);
            children.for_each(|child| positional_of(child, next, positional));
        }
    }
}

/// Whether a document matches if it contains all leaves that [`required_of`] finds.
pub fn is_decided(query: &Query) -> bool {
    match query {
        Query::Leaf(_) | Query::Interval(Interval::Leaf(_)) => true,
        Query::Boost(child, _) => is_decided(child),
        Query::And(children) => children.iter().all(is_decided),
        Query::Group { required, optional, excluded } if excluded.is_empty() => {
            match (required.as_slice(), optional.as_slice()) {
                ([], [only]) => is_decided(only),
                ([], _) => false,
                (required, _) => required.iter().all(is_decided),
            }
        }
        _ => false,
    }
}

fn required_of_interval(interval: &Interval, next: &mut Slot, must: bool, required: &mut Vec<Slot>) {
    match interval {
        Interval::Leaf(_) => {
            required.extend(must.then_some(*next));
            *next += 1;
        }
        Interval::Phrase(words) => {
            required.extend((*next..*next + words.len()).filter(|_| must));
            *next += words.len();
        }
        Interval::Any(children) => {
            let only = must && children.len() == 1;
            children.iter().for_each(|child| required_of_interval(child, next, only, required));
        }
        Interval::All(children) | Interval::Ordered(children) => {
            children.iter().for_each(|child| required_of_interval(child, next, must, required));
        }
        Interval::Window(child, _) => required_of_interval(child, next, must, required),
        Interval::Related(relation) => {
            required_of_interval(&relation.of, next, must, required);
            required_of_interval(&relation.with, next, must && !relation.negated, required);
        }
    }
}

/// Where the nodes of a part of a query are when the whole tree is on a document.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    /// On the document.
    There,
    /// On the document or past it, because another part contains it; a leaf moves no further than its target.
    Beside,
    /// The same, and its leaves move on to their next common document.
    Ahead,
}

impl Standing {
    /// The standing of each of `parts` parts of a union.
    fn any_of(self, parts: usize) -> Standing {
        if parts > 1 && self == Standing::There { Standing::Beside } else { self }
    }

    /// The standing of each of `parts` parts of an intersection.
    fn all_of(self, parts: usize) -> Standing {
        if parts > 1 && self == Standing::Beside { Standing::Ahead } else { self }
    }
}

/// The scoring leaves whose cursors the nodes may move past the tree's current document although they contain
/// it: in `a OR (b AND c)`, the cursors of b and c are on their next common document while the tree is on
/// documents of a.
pub fn ahead(query: &Query) -> Vec<Slot> {
    let mut ahead = Vec::new();
    ahead_of(query, &mut 0, Standing::There, &mut ahead);
    ahead
}

fn ahead_of(query: &Query, next: &mut Slot, standing: Standing, ahead: &mut Vec<Slot>) {
    match query {
        Query::Leaf(_) => {
            ahead.extend((standing == Standing::Ahead).then_some(*next));
            *next += 1;
        }
        Query::Interval(interval) => ahead_of_interval(interval, next, standing, ahead),
        Query::Filter(_) => {}
        Query::Boost(child, _) => ahead_of(child, next, standing, ahead),
        Query::Not(child) => *next += leaves_of(std::slice::from_ref(child)),
        Query::And(children) => {
            let standing = standing.all_of(children.len());
            children.iter().for_each(|child| ahead_of(child, next, standing, ahead));
        }
        Query::Group { required, optional, excluded } => {
            let of_required = standing.all_of(required.len());
            required.iter().for_each(|child| ahead_of(child, next, of_required, ahead));
            if required.is_empty() {
                let standing = standing.any_of(optional.len());
                optional.iter().for_each(|child| ahead_of(child, next, standing, ahead));
            } else {
                *next += leaves_of(optional);
            }
            *next += leaves_of(excluded);
        }
    }
}

fn ahead_of_interval(interval: &Interval, next: &mut Slot, standing: Standing, ahead: &mut Vec<Slot>) {
    match interval {
        Interval::Leaf(_) => {
            ahead.extend((standing == Standing::Ahead).then_some(*next));
            *next += 1;
        }
        Interval::Phrase(words) => {
            let standing = standing.all_of(words.len());
            ahead.extend((*next..*next + words.len()).filter(|_| standing == Standing::Ahead));
            *next += words.len();
        }
        Interval::Any(children) => {
            let standing = standing.any_of(children.len());
            children.iter().for_each(|child| ahead_of_interval(child, next, standing, ahead));
        }
        Interval::All(children) | Interval::Ordered(children) => {
            let standing = standing.all_of(children.len());
            children.iter().for_each(|child| ahead_of_interval(child, next, standing, ahead));
        }
        Interval::Window(child, _) => ahead_of_interval(child, next, standing, ahead),
        Interval::Related(relation) => {
            let standing = standing.all_of(2);
            ahead_of_interval(&relation.of, next, standing, ahead);
            ahead_of_interval(&relation.with, next, standing, ahead);
        }
    }
}

/// The total number of leaves of some queries.
pub fn leaves_of(queries: &[Query]) -> usize {
    let mut leaves = Vec::new();
    queries.iter().for_each(|query| query.leaves(&mut leaves));
    leaves.len()
}

fn unboosted(query: &Query) -> &Query {
    match query {
        Query::Boost(child, _) => unboosted(child),
        other => other,
    }
}

fn scores_nothing(query: &Query) -> bool {
    query.scoring_leaves().is_empty()
}
