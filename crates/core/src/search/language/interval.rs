//! The conversion of a query to an interval expression, and its zones.
//!
//! Words, phrases and interval expressions have intervals; AND is the conjunction of their intervals, and OR,
//! like juxtaposition, the union. Everything else in a query has no positions.

use super::tree::{Interval, Query, Relation};
use crate::index::format::zone::ZoneSet;

/// The intervals of a query, or the name of the part that has none.
pub fn interval_of(query: Query) -> Result<Interval, &'static str> {
    match query {
        Query::Leaf(leaf) => Ok(Interval::Leaf(leaf)),
        Query::Interval(interval) => Ok(interval),
        Query::And(children) => Ok(Interval::All(intervals_of(children)?)),
        Query::Group { required, optional, excluded } if required.is_empty() && excluded.is_empty() => {
            Ok(Interval::Any(intervals_of(optional)?))
        }
        Query::Group { .. } => Err("a sign or a NOT"),
        Query::Not(inside) if *inside == Query::any(Vec::new()) => Err("a lone *"),
        Query::Not(_) => Err("a NOT"),
        Query::Filter(_) => Err("a filter"),
        Query::Boost(..) => Err("a boost"),
    }
}

fn intervals_of(queries: Vec<Query>) -> Result<Vec<Interval>, &'static str> {
    queries.into_iter().map(interval_of).collect()
}

/// Sets the zones of every leaf that has none yet.
pub fn set_zones(query: &mut Query, zones: ZoneSet) {
    match query {
        Query::Leaf(leaf) => _ = leaf.zones.get_or_insert(zones),
        Query::Interval(interval) => set_zones_of_interval(interval, zones),
        Query::Filter(_) => {}
        Query::And(children) => children.iter_mut().for_each(|child| set_zones(child, zones)),
        Query::Not(child) | Query::Boost(child, _) => set_zones(child, zones),
        Query::Group { required, optional, excluded } => {
            let children = required.iter_mut().chain(optional).chain(excluded);
            children.for_each(|child| set_zones(child, zones));
        }
    }
}

fn set_zones_of_interval(interval: &mut Interval, zones: ZoneSet) {
    match interval {
        Interval::Leaf(leaf) => _ = leaf.zones.get_or_insert(zones),
        Interval::Phrase(words) => words.iter_mut().for_each(|(_, leaf)| _ = leaf.zones.get_or_insert(zones)),
        Interval::Any(children) | Interval::All(children) | Interval::Ordered(children) => {
            children.iter_mut().for_each(|child| set_zones_of_interval(child, zones));
        }
        Interval::Window(child, _) => set_zones_of_interval(child, zones),
        Interval::Related(relation) => {
            let Relation { of, with, .. } = relation.as_mut();
            set_zones_of_interval(of, zones);
            set_zones_of_interval(with, zones);
        }
    }
}
