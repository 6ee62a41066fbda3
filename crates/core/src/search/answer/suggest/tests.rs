use super::*;
use crate::analysis::{Analyzer, Language};
use crate::index::read::replaced;
use crate::index::read::replaced::Replaced;
use crate::index::{IndexBuilder, NewDocument, Options, Segment};
use crate::{Pulse, Signature};
use std::ops::Range;
use std::path::Path;

/// Pages of words with Zipfian frequencies (a hundred divided by the word's place), some of them misspelt.
fn bodies() -> Vec<String> {
    let words = [
        "Python programming",
        "a Database received",
        "the solar wind",
        "receive databases",
        "git get",
        "queries",
        "a query about wind",
        "connections",
        "perché la città",
    ];
    let page = |number: usize| {
        let said = words.iter().enumerate().filter(|(place, _)| number.is_multiple_of(place + 1));
        said.map(|(_, words)| *words).collect::<Vec<_>>().join(". ")
    };
    let mut bodies: Vec<String> = (0..100).map(page).collect();
    bodies.push("recieve".into());
    bodies
}

fn build(folder: &Path, number: u64, deleted: &[usize], bodies: &[String]) -> Segment {
    let urls: Vec<String> = (0..bodies.len()).map(|page| format!("{number}/{page}")).collect();
    let texts = urls.iter().map(String::as_str).zip(bodies.iter().map(String::as_str));
    let documents: Vec<NewDocument<'_>> = texts
        .map(|(url, body)| NewDocument { url, body, language: "en", ..NewDocument::default() })
        .collect();
    let mut builder = IndexBuilder::new(folder, number, Options::default());
    builder.delete(deleted.iter().map(|page| Signature::of(format!("{}/{page}", number - 1).as_bytes())));
    builder.add(&documents, &Pulse::STEADY).unwrap();
    builder.finish(&Pulse::STEADY).unwrap().unwrap().open(folder).unwrap()
}

struct Snapshot {
    segments: Vec<Segment>,
    replaced: Vec<Replaced>,
}

impl Snapshot {
    fn new(segments: Vec<Segment>) -> Snapshot {
        let replaced = replaced::find(&segments, &Pulse::STEADY).unwrap();
        Snapshot { segments, replaced }
    }

    /// The correction offered for a query, all of whose words may be corrected.
    fn offered(&self, query: &str) -> String {
        let analyzer = Analyzer::new(Language::of(Some("en")));
        let mut words: Vec<Range<usize>> = Vec::new();
        analyzer.words(query, |word| words.push(word.start..word.end));
        let speller = Speller::new(Segments::new(self.segments.iter().zip(&self.replaced)), &analyzer);
        rewrite(query, &speller.corrections(query, &words).unwrap())
    }
}

#[test]
fn offers_words_of_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let bodies = bodies();
    let (older, newer) = bodies.split_at(40);
    let snapshot =
        Snapshot::new(vec![build(folder.path(), 1, &[], older), build(folder.path(), 2, &[], newer)]);
    for (query, expected) in [
        ("pyhton", "python"),
        ("Pythn  +(databse)", "Python  +(database)"),
        ("recieved", "received"),
        ("qurey", "query"),
        ("\"conections\"", "\"connections\""),
        ("progrmaing", "programming"),
        ("solarwind", "solar wind"),
        ("data base", "database"),
        ("data wind base", "data wind base"),
        ("solar wind", "solar wind"),
        ("gitt got git", "git got git"),
        ("the teh", "the teh"),
        ("zyxwvu", "zyxwvu"),
        ("", ""),
    ] {
        assert_eq!(snapshot.offered(query), expected);
    }
}

#[test]
fn shows_no_word_of_a_document_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["secretive"].map(str::to_owned);
    let other = ["public"].map(str::to_owned);
    let first = || build(folder.path(), 1, &[], &texts);
    assert_eq!(Snapshot::new(vec![first()]).offered("secretivve"), "secretive");
    let deleting = build(folder.path(), 2, &[0], &other);
    assert_eq!(Snapshot::new(vec![first(), deleting]).offered("secretivve"), "secretivve");
}
