//! End-to-end searches: against a slow, obvious evaluator ([`model`]), against each other ([`agree`]), under
//! limits ([`limits`]), on damaged files ([`damage`]), and divided ([`shards`]).

mod agree;
mod damage;
mod limits;
mod model;
mod shards;
mod snapshots;

use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::index::{CodeChoice, DocId, IndexBuilder, NewDocument, Options};

/// Words that analysis leaves unchanged; six share a prefix.
const WORDS: [&str; 10] = ["apron", "bird", "draft", "drip", "drop", "drug", "drum", "drab", "elm", "fox"];
const ALIKE: std::ops::Range<usize> = 2..8;
const LANGUAGES: [&str; 3] = ["", "en", "xx"];
const KINDS: [&str; 3] = ["", "text/html", "application/pdf"];
const HOSTS: [&str; 3] = ["a.example", "www.a.example", "b.example"];
/// 2024-01-01.
const NEW_YEAR: u32 = 19_723;

/// A document of the model: its words by number.
#[derive(Clone, Debug)]
struct Page {
    url: String,
    title: Vec<usize>,
    body: Vec<usize>,
    anchors: Vec<usize>,
    host: usize,
    language: usize,
    kind: usize,
    day: u32,
}

impl Page {
    /// A page with some words as its body.
    fn of(url: &str, body: Vec<usize>) -> Page {
        let (title, anchors) = (Vec::new(), Vec::new());
        Page { url: url.to_owned(), title, body, anchors, host: 0, language: 0, kind: 0, day: 0 }
    }

    fn zone(&self, zone: Zone) -> &[usize] {
        match zone {
            Zone::Body => &self.body,
            Zone::Title => &self.title,
            Zone::Anchors => &self.anchors,
            Zone::Headings | Zone::Url => &[],
        }
    }
}

/// Lower word numbers are more frequent.
fn some_word() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..WORDS.len(), 2 => 0..4usize, 2 => Just(0)]
}

fn some_page() -> impl Strategy<Value = Page> {
    let zone = |longest: usize| prop::collection::vec(some_word(), 0..longest);
    let day = prop_oneof![Just(0), NEW_YEAR - 3..NEW_YEAR + 3];
    (zone(4), zone(25), zone(3), 0..HOSTS.len(), 0..LANGUAGES.len(), 0..KINDS.len(), day).prop_map(
        |(title, body, anchors, host, language, kind, day)| Page {
            url: String::new(),
            title,
            body,
            anchors,
            host,
            language,
            kind,
            day,
        },
    )
}

fn some_pages() -> impl Strategy<Value = Vec<Page>> {
    prop::collection::vec(some_page(), 1..60).prop_map(|pages| {
        let addressed = |(number, page): (usize, Page)| {
            let url = format!("http://{}/{number}", HOSTS[page.host]);
            Page { url, ..page }
        };
        pages.into_iter().enumerate().map(addressed).collect()
    })
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Blocks of 16 postings, so that few documents fill many blocks.
fn small_blocks() -> Options {
    Options { codes: CodeChoice { quantum: 16, ..CodeChoice::default() }, ..Options::default() }
}

/// Builds a segment for each of `batches`, numbered from 1.
fn build(folder: &Path, batches: &[&[Page]], options: &Options) -> Vec<SegmentFile> {
    let mut files = Vec::new();
    for (number, pages) in (1..).zip(batches) {
        let texts: Vec<[String; 3]> = pages
            .iter()
            .map(|page| [&page.title, &page.body, &page.anchors].map(|zone| text(zone)))
            .collect();
        let texts: Vec<[&str; 3]> = texts.iter().map(|zones| zones.each_ref().map(String::as_str)).collect();
        let mut documents = Vec::with_capacity(pages.len());
        for (page, [title, body, anchors]) in pages.iter().zip(texts) {
            let (url, language, kind, day) =
                (&page.url, LANGUAGES[page.language], KINDS[page.kind], page.day);
            documents.push(NewDocument {
                url,
                title,
                body,
                anchors,
                language,
                kind,
                day,
                ..NewDocument::default()
            });
        }
        let mut builder =
            IndexBuilder::new(folder, number, Options { threads: 1 + number as usize % 3, ..*options });
        builder.add(&documents, &Pulse::STEADY).unwrap();
        files.extend(builder.finish(&Pulse::STEADY).unwrap());
    }
    files
}

fn open(folder: &Path, files: &[SegmentFile]) -> Result<Searcher> {
    Searcher::open(folder, files, |_| Ok(0.0), &Pulse::STEADY)
}

/// A request for all matches, scored by the leaves alone.
fn everything(query: &str) -> Request<'_> {
    Request { count: u64::MAX, ..Request::new(query, super::Options::default(), 1000) }
}

/// The same with other options.
fn everything_with(query: &str, change: impl FnOnce(&mut super::Options)) -> Request<'_> {
    let mut request = everything(query);
    change(&mut request.options);
    request
}

/// A hit as the tests compare it: its place, and its score to the last bit.
type Place = (usize, DocId, u64);

fn places(ranking: &Ranking) -> Vec<Place> {
    let place = |hit: &Arrangement| (hit.ranked.segment, hit.ranked.document, hit.ranked.score.to_bits());
    ranking.hits.iter().map(place).collect()
}

/// The URLs of all hits with their scores.
fn hits(searcher: &Searcher, request: &Request<'_>) -> Result<Vec<(String, f64)>> {
    let ranking = searcher.rank(request, &Pulse::STEADY)?;
    let shown = searcher.show(&ranking, 0..usize::MAX, false)?;
    Ok(shown.into_iter().map(|hit| (hit.url, hit.score)).collect())
}
