//! End-to-end tests on a small collection, written with the parts that a crawl uses.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::index::{Options, ShardedBuilder};
use crate::warc::warc_record;
use crate::{Pulse, Signature};

const PAGES: usize = 300;

fn url(number: usize) -> String {
    format!("http://a.example/{number}")
}

/// HTML pages, every third of which declares the one before as its canonical URL.
fn crawled(folder: &Path) -> Collection {
    Collection::create(folder, "").unwrap();
    let collection = Collection::write(folder).unwrap();
    let mut archive = ArchiveWriter::open(folder, &HashMap::new(), "test").unwrap();
    let versions = cells::Versions { number: 0, before: 0 };
    let state = TableState::default();
    let mut table = TableWriter::open(folder, 0, &state, 1 << 20, versions, &Pulse::STEADY).unwrap();
    for number in 0..PAGES {
        let fields = [("WARC-Target-URI", url(number)), ("Content-Type", "application/http".to_owned())];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let body = format!("<h1>Heading {number}</h1><p>{}", "words ".repeat(number));
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        let place =
            archive.append(&warc_record("response", &fields, head, body.as_bytes()).unwrap()).unwrap();
        let row = Row {
            url: url(number),
            status: Some(200),
            digest: Some("0".to_owned()),
            title: format!("Title {number}"),
            canonical: (number % 3 == 2).then(|| url(number - 1)),
            file: place.file,
            offset: place.offset,
            length: place.length,
            ..Row::default()
        };
        table.add(&row, true).unwrap();
    }
    let (files, _) = archive.flush().unwrap();
    let mut files: Vec<Change> = files.into_iter().map(|(name, length)| (name, Some(length))).collect();
    let commit = table.checkpoint(true).unwrap();
    files.extend(commit.files);
    let state = BTreeMap::from([(layout::TABLE.to_owned(), json!(commit.state))]);
    collection.commit(&files, state).unwrap();
    collection
}

/// Records the documents it sees, and changes their titles.
struct Noting(Arc<Mutex<Vec<Document>>>);

impl Extractor for Noting {
    fn extract(&mut self, documents: &mut [Document]) -> Result<()> {
        for document in documents {
            document.title.make_ascii_uppercase();
            self.0.lock().unwrap().push(document.clone());
        }
        Ok(())
    }
}

fn documents_of(collection: &Collection, selection: Selection, threads: usize) -> Vec<Document> {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let extractor: Option<Box<dyn Extractor>> = Some(Box::new(Noting(Arc::clone(&noted))));
    let language = Some("en".to_owned());
    let options = DocumentOptions { threads, memory: 1 << 20, max_bytes: 1 << 20, language, extractor };
    let mut documents = Documents::start(collection.snapshot(), selection, options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = Options { threads, ..Options::default() };
    let mut builder = ShardedBuilder::new(folder.path(), 1, options, &[], &Pulse::STEADY).unwrap();
    while documents.feed(&mut builder, Duration::from_millis(5), &Pulse::STEADY).unwrap() {}
    assert_eq!(documents.end(), collection.snapshot().length(layout::ROWS));
    assert_eq!(builder.finish(&Pulse::STEADY).unwrap().len(), 1);
    let found = noted.lock().unwrap().clone();
    assert_eq!(builder.documents(), found.len() as u64);
    found
}

#[test]
fn documents_come_in_the_order_of_their_rows_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let collection = crawled(folder.path());
    let documents = documents_of(&collection, Selection::Since(0), 1);
    let urls: Vec<String> = documents.iter().map(|document| document.url.clone()).collect();
    let expected: Vec<String> = (0..PAGES).filter(|number| number % 3 != 2).map(url).collect();
    assert_eq!(urls, expected);
    assert_eq!(documents[2].title, "TITLE 3");
    assert_eq!((documents[2].headings.as_str(), documents[2].language.as_str()), ("Heading 3", "en"));
    assert_eq!(documents[2].body, "Heading 3\nwords words words");
    assert_eq!(documents_of(&collection, Selection::Since(0), 4), documents);
}

#[test]
fn documents_can_be_asked_for_by_their_signatures() {
    let folder = tempfile::tempdir().unwrap();
    let collection = crawled(folder.path());
    let wanted = [7, 2, 250, 9999].map(|number| Signature::of(url(number).as_bytes()));
    let documents = documents_of(&collection, Selection::Of(wanted.to_vec()), 2);
    let urls: Vec<&str> = documents.iter().map(|document| document.url.as_str()).collect();
    assert_eq!(urls, [url(7), url(250)]);
}

#[test]
fn documents_that_nobody_waits_for_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let collection = crawled(folder.path());
    let options =
        DocumentOptions { threads: 3, memory: 1 << 20, max_bytes: 1 << 20, language: None, extractor: None };
    drop(Documents::start(collection.snapshot(), Selection::Since(0), options).unwrap());
}

#[test]
fn a_snapshot_stays_as_it_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let writer = crawled(folder.path());
    let reader = Collection::read(folder.path()).unwrap();
    let before = reader.snapshot();
    assert!(matches!(Collection::write(folder.path()), Err(Error::InUse { .. })));
    writer.commit(&[], BTreeMap::from([("part".to_owned(), json!({"x": 1}))])).unwrap();
    assert!(reader.refresh().unwrap());
    assert!(!reader.refresh().unwrap());
    assert_eq!(reader.snapshot().manifest.state["part"], json!({"x": 1}));
    assert!(!before.manifest.state.contains_key("part"));
    assert_eq!(before.table(&Pulse::STEADY).unwrap().len(), PAGES as u64);
    writer.close();
    assert!(!writer.is_writer());
    Collection::write(folder.path()).unwrap();
}
