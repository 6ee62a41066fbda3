//! Whole searches against a slow, obvious evaluator, and on damaged files.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::index::{IndexBuilder, NewDocument, Options, file_name, join};

/// Words that analysis leaves as they are.
const WORDS: [&str; 8] = ["apron", "bird", "cloud", "drum", "elm", "fox", "gold", "hat"];

#[derive(Clone, Debug)]
struct Page {
    url: String,
    title: Vec<usize>,
    body: Vec<usize>,
}

impl Page {
    fn holds(&self, terms: &[usize]) -> bool {
        [&self.title, &self.body].iter().any(|zone| zone.windows(terms.len()).any(|words| words == terms))
    }

    fn count(&self, term: usize) -> usize {
        self.title.iter().chain(&self.body).filter(|word| **word == term).count()
    }

    fn words(&self) -> usize {
        self.title.len() + self.body.len()
    }
}

/// A query as a model, with the text that says it.
#[derive(Clone, Debug)]
enum Model {
    Words(Vec<usize>),
    And(Vec<Model>),
    Or(Vec<Model>),
    Not(Box<Model>),
    Signed { required: Vec<Model>, optional: Vec<Model>, excluded: Vec<Model> },
}

impl Model {
    fn text(&self) -> String {
        let joined = |queries: &[Model], between: &str| {
            queries.iter().map(|query| format!("({})", query.text())).collect::<Vec<_>>().join(between)
        };
        match self {
            Model::Words(words) if words.len() == 1 => WORDS[words[0]].to_uppercase(),
            Model::Words(words) => {
                format!("\"{}\"", words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" "))
            }
            Model::And(queries) => joined(queries, " AND "),
            Model::Or(queries) => joined(queries, " OR "),
            Model::Not(query) => format!("NOT ({})", query.text()),
            Model::Signed { required, optional, excluded } => {
                let signed = |sign: &str, queries: &[Model]| {
                    queries.iter().map(|query| format!(" {sign}({})", query.text())).collect::<String>()
                };
                signed("", optional) + &signed("+", required) + &signed("-", excluded)
            }
        }
    }

    fn matches(&self, page: &Page) -> bool {
        match self {
            Model::Words(words) => page.holds(words),
            Model::And(queries) => queries.iter().all(|query| query.matches(page)),
            Model::Or(queries) => queries.iter().any(|query| query.matches(page)),
            Model::Not(query) => !query.matches(page),
            Model::Signed { required, optional, excluded } => {
                let any = |queries: &[Model]| queries.iter().any(|query| query.matches(page));
                required.iter().all(|query| query.matches(page))
                    && (!required.is_empty() || optional.is_empty() || any(optional))
                    && !any(excluded)
            }
        }
    }

    fn positive(&self) -> Vec<usize> {
        match self {
            Model::Words(words) => words.clone(),
            Model::And(queries) | Model::Or(queries) => queries.iter().flat_map(Model::positive).collect(),
            Model::Not(_) => Vec::new(),
            Model::Signed { required, optional, .. } => {
                required.iter().chain(optional).flat_map(Model::positive).collect()
            }
        }
    }

    fn score(&self, page: &Page, pages: &[Page]) -> f64 {
        let mean = pages.iter().map(Page::words).sum::<usize>() as f64 / pages.len() as f64;
        let score = |term: usize| {
            // A term counts in the zone where it is most frequent.
            let in_zone = |zone: fn(&Page) -> &Vec<usize>| {
                pages.iter().filter(|page| zone(page).contains(&term)).count()
            };
            let n = in_zone(|page| &page.title).max(in_zone(|page| &page.body)) as f64;
            let count = page.count(term) as f64;
            let idf = (1.0 + (pages.len() as f64 - n + 0.5) / (n + 0.5)).ln();
            idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * page.words() as f64 / mean.max(1.0)))
        };
        self.positive().into_iter().map(score).sum()
    }
}

fn some_model() -> impl Strategy<Value = Model> {
    let words = prop::collection::vec(0..WORDS.len(), 1..4);
    let leaf = prop_oneof![3 => (0..WORDS.len()).prop_map(|word| Model::Words(vec![word])), 1 => words.prop_map(Model::Words)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let some = |least: usize| prop::collection::vec(inner.clone(), least..3);
        prop_oneof![
            some(2).prop_map(Model::And),
            some(2).prop_map(Model::Or),
            inner.clone().prop_map(|query| Model::Not(Box::new(query))),
            (some(0), some(1), some(0)).prop_map(|(required, optional, excluded)| Model::Signed {
                required,
                optional,
                excluded
            }),
        ]
    })
}

fn some_pages() -> impl Strategy<Value = Vec<Page>> {
    let zone = |longest: usize| prop::collection::vec(0..WORDS.len(), 0..longest);
    prop::collection::vec((zone(4), zone(25)), 1..60).prop_map(|zones| {
        let page = |(number, (title, body))| Page { url: format!("http://{number}/"), title, body };
        zones.into_iter().enumerate().map(page).collect()
    })
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Builds a segment for each of `batches`, numbered from 1.
fn build(folder: &Path, batches: &[&[Page]]) -> Vec<SegmentFile> {
    let mut files = Vec::new();
    for (number, pages) in (1..).zip(batches) {
        let texts: Vec<_> = pages.iter().map(|page| (text(&page.title), text(&page.body))).collect();
        let new = |(page, (title, body))| {
            let page: &Page = page;
            NewDocument { url: &page.url, title, body, ..NewDocument::default() }
        };
        let documents: Vec<NewDocument<'_>> = pages
            .iter()
            .zip(texts.iter().map(|(title, body)| (title.as_str(), body.as_str())))
            .map(new)
            .collect();
        let mut builder = IndexBuilder::new(
            folder,
            number,
            Options { threads: 1 + number as usize % 3, ..Options::default() },
        );
        builder.add(&documents, &Pulse::STEADY).unwrap();
        files.extend(builder.finish(&Pulse::STEADY).unwrap());
    }
    files
}

fn open(folder: &Path, files: &[SegmentFile]) -> Result<Searcher> {
    Searcher::open(folder, files, |_| Ok(0.0), &Pulse::STEADY)
}

fn request(query: &str) -> Request<'_> {
    Request { query, language: "en", top: 1000, offset: 0, bm25: Parameters::default(), rank_weight: 0.0 }
}

fn search(searcher: &Searcher, query: &str) -> Result<Vec<(String, f32)>> {
    let answer = searcher.search(&request(query), &Pulse::STEADY)?;
    assert_eq!(answer.matches as usize, answer.hits.len());
    Ok(answer.hits.into_iter().map(|hit| (hit.url, hit.score)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn searches_like_the_obvious_evaluator(pages in some_pages(), models in prop::collection::vec(some_model(), 6), cut in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = pages.split_at(cut.index(pages.len()));
        let files = build(dir.path(), &[first, second]);
        let searcher = open(dir.path(), &files).unwrap();
        searcher.verify(&Pulse::STEADY).unwrap();
        prop_assert_eq!(searcher.documents() as usize, pages.len());
        for model in models {
            let found = search(&searcher, &model.text()).unwrap();
            prop_assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
            let found: BTreeMap<String, f32> = found.into_iter().collect();
            let expected: Vec<&Page> = pages.iter().filter(|page| model.matches(page)).collect();
            let urls: BTreeSet<&str> = expected.iter().map(|page| page.url.as_str()).collect();
            prop_assert_eq!(found.keys().map(String::as_str).collect::<BTreeSet<_>>(), urls, "{}", model.text());
            for page in expected {
                let (score, expected) = (f64::from(found[&page.url]), model.score(page, &pages));
                prop_assert!((score - expected).abs() < 1e-4, "{} not {}: {}", score, expected, model.text());
            }
        }
    }

    #[test]
    fn merging_is_building_at_once(mut pages in some_pages(), again in prop::collection::vec(any::<prop::sample::Index>(), 0..10), model in some_model(), parts in 1usize..6) {
        let whole = tempfile::tempdir().unwrap();
        let parted = tempfile::tempdir().unwrap();
        for index in again {
            let older = index.index(pages.len());
            let newer = Page { url: pages[older].url.clone(), ..pages[pages.len() - 1 - older].clone() };
            pages.push(newer);
        }
        let newest: BTreeMap<&str, usize> = pages.iter().enumerate().map(|(number, page)| (page.url.as_str(), number)).collect();
        let live: Vec<Page> =
            pages.iter().enumerate().filter(|(number, page)| newest[page.url.as_str()] == *number).map(|(_, page)| page.clone()).collect();
        let batches: Vec<&[Page]> = pages.chunks(pages.len().div_ceil(parts)).collect();
        let files = build(parted.path(), &batches);
        let merged = join(parted.path(), &files, 100, true, &Options::default(), &Pulse::STEADY).unwrap().unwrap();
        prop_assert_eq!(&merged.name, &file_name(100));

        let at_once = open(whole.path(), &build(whole.path(), &[&live])).unwrap();
        let snapshot = open(parted.path(), &files).unwrap();
        let searcher = open(parted.path(), &[merged]).unwrap();
        prop_assert_eq!(searcher.totals(), at_once.totals());
        let expected = search(&at_once, &model.text()).unwrap();
        prop_assert_eq!(search(&searcher, &model.text()).unwrap(), expected.clone());

        // Before the merge the statistics count what is replaced, but the matches are the same.
        prop_assert_eq!(snapshot.documents() as usize, live.len());
        let urls = |found: Vec<(String, f32)>| found.into_iter().map(|(url, _)| url).collect::<BTreeSet<_>>();
        prop_assert_eq!(urls(search(&snapshot, &model.text()).unwrap()), urls(expected));
    }

    #[test]
    fn damage_is_an_error_and_never_an_answer(pages in some_pages(), at in any::<prop::sample::Index>(), flip in 1u8.., model in some_model(), cut in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let files = build(dir.path(), &[&pages]);
        let text = model.text();
        let hits = |searcher: &Searcher| searcher.search(&request(&text), &Pulse::STEADY).map(|answer| answer.hits);
        let expected = hits(&open(dir.path(), &files).unwrap()).unwrap();
        let path = dir.path().join(&files[0].name);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= flip;
        }
        std::fs::write(&path, &bytes).unwrap();
        let damaged = open(dir.path(), &files).and_then(|searcher| {
            // What a search does not touch it may answer from, rightly; the rest is an error.
            if let Ok(found) = hits(&searcher) {
                assert_eq!(found, expected);
            }
            searcher.verify(&Pulse::STEADY)
        });
        assert!(matches!(damaged, Err(Error::Corrupt { .. } | Error::Newer { .. })));
        let cut_back = SegmentFile { name: files[0].name.clone(), length: bytes.len() as u64 };
        prop_assert!(open(dir.path(), &[cut_back]).and_then(|searcher| searcher.verify(&Pulse::STEADY)).is_err());
    }
}

#[test]
fn runs_go_to_disk_when_memory_is_short() {
    let dir = tempfile::tempdir().unwrap();
    let urls: Vec<String> = (0..9000).map(|number| format!("http://{number}/")).collect();
    let bodies: Vec<String> =
        (0..9000).map(|number| format!("page number{number} of many ").repeat(20)).collect();
    let new = |(url, body)| {
        let (url, body): (&String, &String) = (url, body);
        NewDocument { url, body, ..NewDocument::default() }
    };
    let documents: Vec<NewDocument<'_>> = urls.iter().zip(&bodies).map(new).collect();
    let build = |number: u64, memory: usize, threads: usize| {
        let mut builder =
            IndexBuilder::new(dir.path(), number, Options { memory, threads, ..Options::default() });
        documents.chunks(100).for_each(|documents| builder.add(documents, &Pulse::STEADY).unwrap());
        let file = builder.finish(&Pulse::STEADY).unwrap().unwrap();
        (std::fs::read(dir.path().join(&file.name)).unwrap(), file)
    };
    let (one, file) = build(7, 1 << 20, 1);
    let (two, _) = build(8, 1 << 20, 2);
    assert!(one == two, "the segment depends on the number of threads");
    assert_eq!(file.name, "segment-000007.seg");
    let searcher = open(dir.path(), &[file]).unwrap();
    assert_eq!(
        searcher.search(&Request { top: 1, ..request("page") }, &Pulse::STEADY).unwrap().matches,
        9000
    );
    assert_eq!(search(&searcher, "number123").unwrap()[0].0, "http://123/");
}

#[test]
fn what_is_deleted_is_gone_and_may_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let page = |number: usize| Page { url: number.to_string(), title: vec![], body: vec![0] };
    let pages: Vec<Page> = (0..5).map(page).collect();
    let mut files = build(dir.path(), &[&pages]);
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
    let urls = |files: &[SegmentFile]| {
        let found = search(&open(dir.path(), files).unwrap(), "apron").unwrap();
        found.into_iter().map(|(url, _)| url).collect::<BTreeSet<_>>()
    };
    let expected: BTreeSet<String> = ["0", "2", "3"].map(str::to_owned).into();
    assert_eq!(urls(&files), expected);
    let join = |files: &[SegmentFile], number: u64, oldest: bool| {
        join(dir.path(), files, number, oldest, &Options::default(), &Pulse::STEADY).unwrap()
    };
    let newer = join(&files[1..], 10, false).unwrap();
    assert_eq!(urls(&[files[0].clone(), newer.clone()]), expected);
    let all = join(&[files[0].clone(), newer], 11, true).unwrap();
    assert_eq!(urls(&[all]), expected);
    let gone = add(12, &["0", "1", "2", "3", "4"], None).unwrap();
    files.push(gone);
    assert!(urls(&files).is_empty());
    assert_eq!(join(&files, 13, true), None);
}

#[test]
fn static_ranks_pages_and_bad_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let page = |number: usize| Page { url: number.to_string(), title: vec![], body: vec![0] };
    let pages: Vec<Page> = (0..5).map(page).collect();
    let files = build(dir.path(), &[&pages]);
    let favourite = Signature::of(b"3");
    let rank_of = |signature| Ok(if signature == favourite { 4.0 } else { f32::NAN });
    let searcher = Searcher::open(dir.path(), &files, rank_of, &Pulse::STEADY).unwrap();
    let ask = |top, offset, rank_weight, b| {
        let bm25 = Parameters { b, ..Parameters::default() };
        let request = Request { top, offset, rank_weight, bm25, ..request("apron") };
        searcher.search(&request, &Pulse::STEADY)
    };
    let urls = |answer: Answer| answer.hits.into_iter().map(|hit| hit.url).collect::<Vec<_>>();
    let plain = ask(1, 0, 0.0, 0.75).unwrap().hits[0].score;
    let ranked = ask(1, 0, 2.0, 0.75).unwrap();
    assert_eq!(ranked.matches, 5);
    assert!((ranked.hits[0].score - plain - 2.0 * 5f32.ln()).abs() < 1e-5);
    assert_eq!(urls(ranked), ["3"]);
    assert_eq!(urls(ask(2, 2, 2.0, 0.75).unwrap()), ["1", "2"]);
    assert_eq!(urls(ask(usize::MAX, 4, 0.0, 0.75).unwrap()), ["4"]);
    assert!(urls(ask(0, 0, 0.0, 0.75).unwrap()).is_empty());
    assert!(matches!(ask(1, 0, f32::NAN, 0.75), Err(Error::Invalid(_))));
    assert!(matches!(ask(1, 0, 0.0, 2.0), Err(Error::Invalid(_))));
}
