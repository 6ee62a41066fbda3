//! Leaf lookup: the posting lists of a query's leaves in every segment, and their statistics over the
//! collection.

use std::collections::HashMap;

use super::Searcher;
use crate::Result;
use crate::index::format::lists::Lists;
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::search::language::tree::{Leaf, Pattern};
use crate::search::matching::expand::expand;
use crate::search::score::Found;

/// A leaf after lookup.
pub struct Resolved {
    /// Its statistics over the collection.
    pub found: Found,
    /// Its posting lists in each segment.
    pub lists: Vec<Lists>,
    /// The terms it expands to.
    pub terms: Vec<String>,
}

/// Looks up a leaf; a pattern expands to at most `most` terms of a segment.
pub fn resolve(searcher: &Searcher, leaf: &Leaf, searched: ZoneSet, most: usize) -> Result<Resolved> {
    let zones = leaf.zones.unwrap_or(searched);
    match &leaf.pattern {
        Pattern::Term(term) => of_term(searcher, term, zones),
        pattern => of_pattern(searcher, pattern, zones, most),
    }
}

fn of_term(searcher: &Searcher, term: &str, zones: ZoneSet) -> Result<Resolved> {
    let mut frequencies = [0; ZONES];
    let mut occurrences = 0;
    let mut lists = Vec::with_capacity(searcher.parts.len());
    for part in &searcher.parts {
        let mut of_part = part.segment.find(term)?.unwrap_or_default();
        of_part.retain(|(zone, _)| zones.contains(*zone));
        for (zone, list) in &of_part {
            frequencies[*zone as usize] += u64::from(list.frequency);
            occurrences += list.occurrences;
        }
        lists.push(of_part);
    }
    let documents = frequencies.into_iter().max().unwrap_or(0);
    Ok(Resolved { found: Found { zones, documents, occurrences }, lists, terms: vec![term.to_owned()] })
}

fn of_pattern(searcher: &Searcher, pattern: &Pattern, zones: ZoneSet, most: usize) -> Result<Resolved> {
    let mut frequencies: HashMap<String, [u64; ZONES]> = HashMap::new();
    let mut occurrences = 0;
    let mut lists = Vec::with_capacity(searcher.parts.len());
    for part in &searcher.parts {
        let mut of_part = Lists::new();
        for expansion in expand(&part.segment, pattern, zones, most)? {
            let of_term = frequencies.entry(expansion.term).or_default();
            for (zone, list) in expansion.lists {
                of_term[zone as usize] += u64::from(list.frequency);
                occurrences += list.occurrences;
                of_part.push((zone, list));
            }
        }
        lists.push(of_part);
    }
    let documents = frequencies.values().flatten().copied().max().unwrap_or(0);
    let mut terms: Vec<String> = frequencies.into_keys().collect();
    terms.sort_unstable();
    Ok(Resolved { found: Found { zones, documents, occurrences }, lists, terms })
}
