//! The numbers of languages and kinds, and facts end to end: building, renumbering, replacing, deleting and
//! merging.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::index::format::sites::site_of_url;
use crate::index::join;
use crate::index::{DocId, IndexBuilder, NewDocument, Options, Order, Segment, SegmentFile};
use crate::{Pulse, Signature};

#[derive(Clone, Debug)]
struct Page {
    url: &'static str,
    language: &'static str,
    kind: &'static str,
    day: u32,
    body: String,
}

const URLS: [&str; 9] = [
    "https://example.org/",
    "https://WWW.example.org:8443/a",
    "https://www.example.org/b",
    "https://badexample.org/",
    "https://a.b.example.org/",
    "https://example-x.org/",
    "http://127.0.0.1/",
    "line:3",
    "https://example.com/",
];

fn some_page() -> impl Strategy<Value = Page> {
    let language = prop::sample::select(vec!["", "en", "it-IT", "gsw", "nonsense"]);
    let kind = prop::sample::select(vec!["", "text/html; charset=utf-8", "application/pdf", "x/y"]);
    let url = prop::sample::select(URLS.to_vec());
    (url, language, kind, prop_oneof![Just(0), 0u32..30_000, Just(u32::MAX)], "[a-d ]{0,12}")
        .prop_map(|(url, language, kind, day, body)| Page { url, language, kind, day, body })
}

fn some_batches() -> impl Strategy<Value = Vec<(Vec<Page>, Vec<&'static str>)>> {
    let pages = prop::collection::vec(some_page(), 0..8);
    let deleted = prop::collection::vec(prop::sample::select(URLS.to_vec()), 0..3);
    prop::collection::vec((pages, deleted), 1..4)
}

fn new_document(page: &Page) -> NewDocument<'_> {
    let Page { url, language, kind, day, .. } = *page;
    let simhash = simhash_of(page);
    NewDocument { url, language, kind, day, simhash, body: &page.body, ..NewDocument::default() }
}

/// Some pages have a fingerprint of their own; the others are too short for one.
fn simhash_of(page: &Page) -> Option<u64> {
    page.body.starts_with('a').then(|| Signature::of(page.body.as_bytes()).0)
}

fn build(
    folder: &Path,
    number: u64,
    pages: &[Page],
    deleted: &[&str],
    options: Options,
) -> Option<SegmentFile> {
    let mut builder = IndexBuilder::new(folder, number, options);
    builder.add(&pages.iter().map(new_document).collect::<Vec<_>>(), &Pulse::STEADY).unwrap();
    builder.delete(deleted.iter().map(|url| Signature::of(url.as_bytes())));
    builder.finish(&Pulse::STEADY).unwrap()
}

fn url_of(segment: &Segment, document: DocId) -> String {
    segment.stored(document, |stored| stored.url.to_owned()).unwrap()
}

/// Asserts that a segment has exactly these pages, each with its facts.
fn assert_knows(segment: &Segment, pages: &BTreeMap<&str, &Page>) {
    segment.verify(&Pulse::STEADY).unwrap();
    assert_eq!(segment.totals().documents as usize, pages.len());
    for document in segment.documents() {
        let page = pages[url_of(segment, document).as_str()];
        let facts = segment.facts(document);
        assert_eq!(segment.site_name(facts.site), site_of_url(page.url));
        assert_eq!(facts.language, language_number(page.language));
        assert_eq!((facts.kind, facts.day), (Kind::of_content_type(page.kind), page.day));
        assert_eq!(facts.simhash, simhash_of(page).unwrap_or_default());
        assert_eq!(segment.simhash_of(document), facts.simhash);
    }
    let sites: BTreeSet<String> = pages.keys().map(|url| site_of_url(url)).collect();
    assert_eq!(segment.sites(), sites.len());
    let under = segment.sites_under("example.org");
    for document in segment.documents() {
        let host = site_of_url(&url_of(segment, document));
        let expected = host == "example.org" || host.ends_with(".example.org");
        assert_eq!(under.contains(&segment.site_of(document)), expected, "{host}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn facts_survive_building_ordering_deleting_and_merging(
        batches in some_batches(),
        order in prop::sample::select(vec![Order::Arrival, Order::Url, Order::Bisection]),
        threads in 1usize..3,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { order, threads, ..Options::default() };
        let mut files = Vec::new();
        let mut live: BTreeMap<&str, &Page> = BTreeMap::new();
        for (number, (pages, deleted)) in (1..).zip(&batches) {
            // The tombstones of a segment apply only to older ones.
            deleted.iter().for_each(|url| { live.remove(url); });
            let own: BTreeMap<&str, &Page> = pages.iter().map(|page| (page.url, page)).collect();
            live.extend(&own);
            if let Some(file) = build(dir.path(), number, pages, deleted, options) {
                assert_knows(&file.open(dir.path()).unwrap(), &own);
                files.push(file);
            }
        }
        prop_assume!(!files.is_empty());
        match join(dir.path(), &files, 100, true, &options, &Pulse::STEADY).unwrap().pop() {
            Some(joined) => assert_knows(&joined.open(dir.path()).unwrap(), &live),
            None => prop_assert!(live.is_empty()),
        }
    }
}

#[test]
fn tags_that_name_no_language_are_unknown() {
    for tag in ["", "-", "e1", "engl", "é", "x-klingon-"] {
        assert_eq!(language_number(tag) == 0, tag != "x-klingon-", "{tag}");
    }
}

proptest! {
    #[test]
    fn tags_come_back(tag in "[a-zA-Z]{1,3}", rest in "([-_][a-zA-Z0-9]{0,4})?") {
        let number = language_number(&format!("{tag}{rest}"));
        prop_assert_eq!(language_tag(number), tag.to_lowercase());
    }

    #[test]
    fn every_number_stands_for_one_tag_or_for_none(number: u16) {
        let tag = language_tag(number);
        prop_assert!(tag.is_empty() || language_number(&tag) == number);
    }
}
