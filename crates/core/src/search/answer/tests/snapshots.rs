//! Segments that replace, delete and are merged, and the metadata of documents.

use std::collections::{BTreeMap, BTreeSet};

use super::model::some_query;
use super::*;
use crate::index::format::Piece;
use crate::index::join;

fn urls(found: Vec<(String, f64)>) -> BTreeSet<String> {
    found.into_iter().map(|(url, _)| url).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn merging_is_building_at_once(
        mut pages in some_pages(),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        query in some_query(),
        parts in 1usize..6,
    ) {
        let whole = tempfile::tempdir().unwrap();
        let parted = tempfile::tempdir().unwrap();
        for index in again {
            let older = index.index(pages.len());
            let newer = Page { url: pages[older].url.clone(), ..pages[pages.len() - 1 - older].clone() };
            pages.push(newer);
        }
        let newest: BTreeMap<&str, usize> =
            pages.iter().enumerate().map(|(number, page)| (page.url.as_str(), number)).collect();
        let is_live = |(number, page): &(usize, &Page)| newest[page.url.as_str()] == *number;
        let live: Vec<Page> = pages.iter().enumerate().filter(is_live).map(|(_, page)| page.clone()).collect();
        let batches: Vec<&[Page]> = pages.chunks(pages.len().div_ceil(parts)).collect();
        let files = build(parted.path(), &batches, &Options::default());
        let merged = join(parted.path(), &files, 100, true, &Options::default(), &Pulse::STEADY).unwrap().remove(0);
        prop_assert_eq!(&merged.name, &Piece::Whole.name(100));

        let at_once = open(whole.path(), &build(whole.path(), &[&live], &Options::default())).unwrap();
        let snapshot = open(parted.path(), &files).unwrap();
        let searcher = open(parted.path(), &[merged]).unwrap();
        prop_assert_eq!(searcher.totals(), at_once.totals());
        let text = query.text();
        let expected = hits(&at_once, &everything(&text)).unwrap();
        prop_assert_eq!(hits(&searcher, &everything(&text)).unwrap(), expected.clone());

        // Before the merge the statistics include replaced documents, but the matches are the same.
        prop_assert_eq!(snapshot.documents() as usize, live.len());
        prop_assert_eq!(urls(hits(&snapshot, &everything(&text)).unwrap()), urls(expected));
    }
}

#[test]
fn what_is_deleted_is_gone_and_may_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let pages: Vec<Page> = (0..5).map(|number: usize| Page::of(&number.to_string(), vec![0])).collect();
    let mut files = build(dir.path(), &[&pages], &Options::default());
    let add = |number: u64, deleted: &[&str], added: Option<&str>| {
        let mut builder = IndexBuilder::new(dir.path(), number, Options::default());
        builder.delete(deleted.iter().map(|url| Signature::of(url.as_bytes())));
        let new = added.map(|url| NewDocument { url, body: "apron", ..NewDocument::default() });
        builder.add(new.as_slice(), &Pulse::STEADY).unwrap();
        builder.finish(&Pulse::STEADY).unwrap()
    };
    assert!(add(9, &[], None).is_none());
    files.extend(add(2, &["1", "3", "absent"], None));
    files.extend(add(3, &["4", "0"], Some("0")));
    files.extend(add(4, &[], Some("3")));
    let found =
        |files: &[SegmentFile]| urls(hits(&open(dir.path(), files).unwrap(), &everything("apron")).unwrap());
    let expected: BTreeSet<String> = ["0", "2", "3"].map(str::to_owned).into();
    assert_eq!(found(&files), expected);
    let join = |files: &[SegmentFile], number: u64, oldest: bool| {
        join(dir.path(), files, number, oldest, &Options::default(), &Pulse::STEADY).unwrap().pop()
    };
    let newer = join(&files[1..], 10, false).unwrap();
    assert_eq!(found(&[files[0].clone(), newer.clone()]), expected);
    let all = join(&[files[0].clone(), newer], 11, true).unwrap();
    assert_eq!(found(&[all]), expected);
    let gone = add(12, &["0", "1", "2", "3", "4"], None).unwrap();
    files.push(gone);
    assert!(found(&files).is_empty());
    assert_eq!(join(&files, 13, true), None);
}

#[test]
fn static_ranks_count_as_much_as_they_weigh() {
    let dir = tempfile::tempdir().unwrap();
    let pages: Vec<Page> = (0..6).map(|number: usize| Page::of(&number.to_string(), vec![0])).collect();
    let files = build(dir.path(), &[&pages], &Options::default());
    let (favourite, endless) = (Signature::of(b"3"), Signature::of(b"5"));
    let rank_of = |signature| {
        Ok(if signature == favourite {
            4.0
        } else if signature == endless {
            f32::INFINITY
        } else {
            f32::NAN
        })
    };
    let searcher = Searcher::open(dir.path(), &files, rank_of, &Pulse::STEADY).unwrap();
    let ask = |depth, rank_weight| {
        let request = everything_with("apron", |options| options.rank_weight = rank_weight);
        hits(&searcher, &Request { depth, ..request }).unwrap()
    };
    let plain = ask(6, 0.0);
    let mut tied = ["0", "1", "2", "3", "4", "5"];
    tied.sort_by_key(|url| Signature::of(url.as_bytes()));
    assert!(plain.iter().map(|(url, _)| url.as_str()).eq(tied));
    let ranked = ask(3, 2.0);
    let first = tied.into_iter().find(|url| !["5", "3"].contains(url)).unwrap();
    assert!(ranked.iter().map(|(url, _)| url.as_str()).eq(["5", "3", first]));
    assert!((ranked[1].1 - plain[0].1 - 2.0 * 5f64.ln()).abs() < 1e-6 && ranked[0].1.is_finite());
    assert_eq!(ranked[2].1, plain[0].1);
    assert!(ask(0, 2.0).is_empty());
}

#[test]
fn hits_are_shown_with_what_is_known_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let page = Page { language: 1, kind: 2, day: NEW_YEAR, ..Page::of("http://a.example/x", vec![0, 1, 8]) };
    let pages = [Page { title: vec![8, 9], ..page }, Page::of("y", vec![8])];
    let searcher = open(dir.path(), &build(dir.path(), &[&pages], &Options::default())).unwrap();
    let ranking = searcher.rank(&everything("bird"), &Pulse::STEADY).unwrap();
    let shown = searcher.show(&ranking, 0..10, true).unwrap();
    assert_eq!(shown.len(), 1);
    let hit = &shown[0];
    assert_eq!((hit.url.as_str(), hit.title.as_str()), ("http://a.example/x", "elm fox"));
    assert_eq!(
        (hit.site.as_str(), hit.language.as_str(), hit.kind.as_str(), hit.day),
        ("a.example", "en", "pdf", NEW_YEAR)
    );
    let marked: Vec<&str> =
        hit.snippet.iter().filter(|part| part.matches).map(|part| part.text.as_str()).collect();
    assert_eq!(marked, ["bird"]);
    assert!(searcher.show(&ranking, 1..10, true).unwrap().is_empty());
    assert!(searcher.show(&ranking, 0..1, false).unwrap()[0].snippet.is_empty());
}
