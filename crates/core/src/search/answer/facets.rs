//! Facets: the number of matches per site, language, type and year.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::calendar::date;
use crate::index::format::facts::{Kind, language_tag};
use crate::index::{DocId, Segment};

/// The most frequent values of each facet, each with its number of matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Hosts.
    pub sites: Vec<(String, u64)>,
    /// Language tags.
    pub languages: Vec<(String, u64)>,
    /// Types.
    pub kinds: Vec<(String, u64)>,
    /// Years, newest first.
    pub years: Vec<(String, u64)>,
}

/// Running counts.
#[derive(Default)]
pub struct Tally {
    sites: HashMap<String, u64>,
    /// While a segment is read: counts by site number.
    by_number: Vec<u64>,
    languages: HashMap<u16, u64>,
    kinds: HashMap<&'static str, u64>,
    days: BTreeMap<u32, u64>,
}

impl Tally {
    /// Empty counts for one segment.
    pub fn of_segment(segment: &Segment) -> Tally {
        Tally { by_number: vec![0; segment.sites()], ..Tally::default() }
    }

    /// Counts a document.
    pub fn add(&mut self, segment: &Segment, document: DocId) {
        let facts = segment.facts(document);
        if let Some(count) = self.by_number.get_mut(facts.site as usize) {
            *count += 1;
        }
        if facts.language > 0 {
            *self.languages.entry(facts.language).or_default() += 1;
        }
        if facts.kind != Kind::Unknown {
            *self.kinds.entry(facts.kind.name()).or_default() += 1;
        }
        if facts.day > 0 {
            *self.days.entry(facts.day).or_default() += 1;
        }
    }

    /// Adds the counts of a segment.
    pub fn absorb(&mut self, other: Tally, segment: &Segment) {
        for (number, count) in other.by_number.iter().enumerate().filter(|(_, count)| **count > 0) {
            let name = segment.site_name(number as u32);
            if !name.is_empty() {
                *self.sites.entry(name.to_owned()).or_default() += count;
            }
        }
        other.languages.into_iter().for_each(|(tag, count)| *self.languages.entry(tag).or_default() += count);
        other.kinds.into_iter().for_each(|(kind, count)| *self.kinds.entry(kind).or_default() += count);
        other.days.into_iter().for_each(|(day, count)| *self.days.entry(day).or_default() += count);
    }

    /// The counts.
    pub fn counts(self) -> Counts {
        let mut years: BTreeMap<u32, u64> = BTreeMap::new();
        self.days.into_iter().for_each(|(day, count)| *years.entry(date(day).0).or_default() += count);
        let named = |(kind, count): (&'static str, u64)| (kind.to_owned(), count);
        Counts {
            sites: self.sites,
            languages: self.languages,
            kinds: self.kinds.into_iter().map(named).collect(),
            years,
        }
    }
}

/// The number of matches by site, language, type and year.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    sites: HashMap<String, u64>,
    languages: HashMap<u16, u64>,
    kinds: HashMap<String, u64>,
    years: BTreeMap<u32, u64>,
}

impl Counts {
    /// Adds the counts of other documents.
    pub fn absorb(&mut self, other: Counts) {
        other.sites.into_iter().for_each(|(site, count)| *self.sites.entry(site).or_default() += count);
        other.languages.into_iter().for_each(|(tag, count)| *self.languages.entry(tag).or_default() += count);
        other.kinds.into_iter().for_each(|(kind, count)| *self.kinds.entry(kind).or_default() += count);
        other.years.into_iter().for_each(|(year, count)| *self.years.entry(year).or_default() += count);
    }

    /// The top `most` values of each facet.
    pub fn facets(self, most: usize) -> Facets {
        let named = |(tag, count): (u16, u64)| (language_tag(tag), count);
        let years = self.years.into_iter().rev().take(most);
        Facets {
            sites: commonest(self.sites.into_iter(), most),
            languages: commonest(self.languages.into_iter().map(named), most),
            kinds: commonest(self.kinds.into_iter(), most),
            years: years.map(|(year, count)| (year.to_string(), count)).collect(),
        }
    }
}

/// Most frequent first, then by name.
fn commonest(values: impl Iterator<Item = (String, u64)>, most: usize) -> Vec<(String, u64)> {
    let mut values: Vec<(String, u64)> = values.collect();
    values.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    values.truncate(most);
    values
}
