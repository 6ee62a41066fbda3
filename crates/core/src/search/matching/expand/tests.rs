use super::*;
use crate::Pulse;
use crate::index::{IndexBuilder, NewDocument, Options};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A dictionary that counts its accesses.
struct Sorted {
    terms: Vec<String>,
    at: Option<usize>,
    touched: usize,
}

impl Sorted {
    fn new(terms: impl IntoIterator<Item = String>) -> Sorted {
        let terms: BTreeSet<String> = terms.into_iter().collect();
        Sorted { terms: terms.into_iter().collect(), at: None, touched: 0 }
    }

    fn move_to(&mut self, at: usize) -> Result<bool> {
        self.at = Some(at);
        self.touched += 1;
        Ok(at < self.terms.len())
    }
}

impl SortedTerms for Sorted {
    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let first = self.terms.partition_point(|term| term.as_bytes() < target);
        self.move_to(first.max(self.at.unwrap_or(0)))
    }

    fn advance(&mut self) -> Result<bool> {
        self.move_to(self.at.map_or(0, |at| at + 1))
    }

    fn term(&self) -> &[u8] {
        self.terms[self.at.unwrap()].as_bytes()
    }
}

fn text(terms: &impl SortedTerms) -> String {
    String::from_utf8(terms.term().to_vec()).unwrap()
}

fn near(terms: &mut Sorted, term: &str, changes: u8) -> Vec<(String, u8)> {
    let mut found = Vec::new();
    fuzzy(terms, term, changes, |terms, changes| found.push((text(terms), changes))).unwrap();
    found
}

const TERM: &str = "[abcé東\u{10ffff}\u{d7ff}]{0,7}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn fuzzy_is_a_comparison_with_every_term(terms in prop::collection::vec(TERM, 0..200), term in TERM, changes in 0u8..4) {
        let mut terms = Sorted::new(terms);
        let expected: Vec<(String, u8)> = terms
            .terms
            .iter()
            .map(|other| (other.clone(), distance(&term, other) as u8))
            .filter(|(_, distance)| *distance <= changes)
            .collect();
        prop_assert_eq!(&near(&mut terms, &term, changes), &expected);
        let start: String = term.chars().take(1).collect();
        let (mut found, mut again) = (Vec::new(), Sorted::new(terms.terms));
        fuzzy_after(&mut again, &start, &term, changes, |terms, changes| found.push((text(terms), changes))).unwrap();
        prop_assert!(found.iter().eq(expected.iter().filter(|(term, _)| term.starts_with(&start))));
    }

    #[test]
    fn prefix_is_a_comparison_with_every_term(terms in prop::collection::vec(TERM, 0..100), start in "[abcé東\u{10ffff}]{0,2}") {
        let mut terms = Sorted::new(terms);
        let expected: Vec<String> = terms.terms.iter().filter(|term| term.starts_with(&start)).cloned().collect();
        let mut found = Vec::new();
        prefix(&mut terms, &start, |terms| found.push(text(terms))).unwrap();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn fuzzy_touches_a_small_part_of_the_dictionary() {
    let letters = || (b'a'..=b'j').map(char::from);
    let triples =
        || letters().flat_map(move |a| letters().flat_map(move |b| letters().map(move |c| [a, b, c])));
    let words = triples()
        .flat_map(|left| triples().step_by(7).map(move |right| left.into_iter().chain(right).collect()));
    let mut terms = Sorted::new(words);
    assert!(terms.terms.len() > 140_000);
    assert!(!near(&mut terms, "cabbed", 1).is_empty());
    assert!(terms.touched < 500, "{}", terms.touched);
    terms.at = None;
    terms.touched = 0;
    assert!(!near(&mut terms, "cabbed", 2).is_empty());
    assert!(terms.touched < 12_000, "{}", terms.touched);
}

/// A segment of documents without stemming.
fn segment(folder: &std::path::Path, bodies: &[String]) -> Segment {
    let urls: Vec<String> = (0..bodies.len()).map(|number| number.to_string()).collect();
    let new = |(url, body)| NewDocument { url, body, language: "xx", ..NewDocument::default() };
    let documents: Vec<NewDocument<'_>> =
        urls.iter().map(String::as_str).zip(bodies.iter().map(String::as_str)).map(new).collect();
    let mut builder = IndexBuilder::new(folder, 1, Options::default());
    builder.add(&documents, &Pulse::STEADY).unwrap();
    builder.finish(&Pulse::STEADY).unwrap().unwrap().open(folder).unwrap()
}

/// The terms of a pattern in order, with their edit distances and document frequencies.
fn expanded(segment: &Segment, pattern: &Pattern, zones: ZoneSet) -> Vec<(String, u8, u32)> {
    let mut found = Vec::new();
    each_match(segment, pattern, zones, |term, lists, changes| {
        assert!(lists.iter().all(|(zone, _)| zones.contains(*zone)));
        found.push((term.to_owned(), changes, lists.iter().map(|(_, list)| list.frequency).max().unwrap()));
    })
    .unwrap();
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_segment_is_sought_like_a_list(bodies in prop::collection::vec("([a-dé]{1,5} ){1,60}", 1..10), targets in prop::collection::btree_set("[a-dé]{0,3}", 0..40)) {
        let folder = tempfile::tempdir().unwrap();
        let segment = segment(folder.path(), &bodies);
        let mut all = Vec::new();
        let mut walk = segment.terms();
        while walk.advance().unwrap() {
            all.push(text(&walk));
        }
        let (mut list, mut walk) = (Sorted::new(all), segment.terms());
        for target in &targets {
            let found = list.seek(target.as_bytes()).unwrap();
            prop_assert_eq!(walk.seek(target.as_bytes()).unwrap(), found);
            if !found {
                prop_assert!(!walk.advance().unwrap());
                break;
            }
            prop_assert_eq!(walk.term(), list.term());
            if target.len() % 2 == 1 {
                let found = list.advance().unwrap();
                prop_assert_eq!(walk.advance().unwrap(), found);
                if !found {
                    break;
                }
                prop_assert_eq!(walk.term(), list.term());
            }
        }
    }
}

#[test]
fn expands_patterns_on_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let bodies = ["solar solaris wind", "solar sonar run", "solar polar running"].map(str::to_owned);
    let segment = segment(folder.path(), &bodies);
    let expanded = |pattern: Pattern| expanded(&segment, &pattern, ZoneSet::BODY);
    let with = |terms: &[(&str, u8, u32)]| -> Vec<(String, u8, u32)> {
        terms.iter().map(|(term, changes, documents)| ((*term).to_owned(), *changes, *documents)).collect()
    };
    let prefix =
        |start: &str, term: &str| expanded(Pattern::Prefix { start: start.into(), term: term.into() });
    assert_eq!(prefix("sola", "sola"), with(&[("solar", 0, 3), ("solaris", 0, 1)]));
    assert_eq!(prefix("running", "run"), with(&[("run", 0, 1), ("running", 0, 1)]));
    let fuzzy = |term: &str, changes| expanded(Pattern::Fuzzy { term: term.into(), changes });
    assert_eq!(fuzzy("sloar", 1), with(&[("solar", 1, 3)]));
    assert_eq!(fuzzy("solar", 1), with(&[("polar", 1, 1), ("solar", 0, 3), ("sonar", 1, 1)]));
    assert_eq!(expanded(Pattern::Term("wind".into())), with(&[("wind", 0, 1)]));
    assert!(expanded(Pattern::Term("winds".into())).is_empty());
    let mut title = ZoneSet::default();
    title.insert(Zone::Title);
    assert!(super::tests::expanded(&segment, &Pattern::Term("wind".into()), title).is_empty());
}

#[test]
fn keeps_what_is_nearest_and_most_frequent() {
    let mut ordered = BTreeMap::new();
    let mut terms = BTreeMap::new();
    for number in 0..5 * MOST {
        let worth = (number as u8 % 3, 1 + number as u64 * 7919 % 10_007);
        terms.insert(number.to_string(), worth);
        ordered.insert((worth.0, Reverse(worth.1), number.to_string()), number.to_string());
    }
    let expected: BTreeSet<String> = ordered.into_values().take(MOST).collect();
    assert!(least_worth(terms, MOST, |worth| *worth).into_keys().eq(expected));
}
