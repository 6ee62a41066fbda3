//! Segments built from posting lists, for the tests of everything that reads them.

use super::*;
use crate::disk::tests::is_full;
use crate::disk::tests::watch::Watch;
use crate::index::build::assemble::{Assembly, assemble};
use crate::index::build::run::RunWriter;
use crate::index::build::source::Postings;
use crate::index::format::documents::{StoredDocument, pack};
use crate::index::format::facts::Facts;
use crate::index::format::sites::SiteNumbers;
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::index::{DocId, IndexBuilder, NewDocument, Segment};

/// Postings as a model: documents, each with its positions.
pub type List = Vec<(u32, Vec<u32>)>;

/// A segment with these terms, in order, in the body, and no stored text.
pub fn segment_of(folder: &Path, lists: &[(&str, List)]) -> Segment {
    segment_with(folder, lists, &Options::default())
}

/// A segment built with these options.
pub fn segment_with(folder: &Path, lists: &[(&str, List)], options: &Options) -> Segment {
    let last = lists.iter().flat_map(|(_, list)| list).map(|(document, _)| *document).max();
    let documents = last.map_or(0, |last| last + 1);
    let urls: Vec<String> = (0..documents).map(|number| number.to_string()).collect();
    let mut segment = SegmentWriter::create(folder, 1, Piece::Whole).unwrap();
    for block in pack(urls.iter().map(|url| StoredDocument { url, ..StoredDocument::default() })) {
        segment.store(&block).unwrap();
    }
    let mut sites = SiteNumbers::default();
    let mut card = |url: &String| {
        let length = url.len() as u32;
        let site = sites.number(&format!("{length}.example"));
        let facts = Facts { site, day: length, simhash: u64::from(length), ..Facts::default() };
        Card { signature: Signature::of(url.as_bytes()), words: [length; ZONES], facts }
    };
    let cards = urls.iter().map(&mut card).collect();
    let mut run = RunWriter::default();
    for (term, list) in lists {
        let mut postings = Vec::new();
        let mut next_document = 0;
        for (document, positions) in list {
            number::write(u64::from(document - next_document), &mut postings);
            next_document = document + 1;
            number::write(positions.len() as u64, &mut postings);
            let mut next = 0;
            for position in positions {
                number::write(u64::from(position - next), &mut postings);
                next = position + 1;
            }
        }
        let occurrences = list.iter().map(|(_, positions)| positions.len() as u64).sum();
        run.begin_term(term.as_bytes(), ZoneSet::BODY);
        run.push_zone(list.len() as u32, occurrences, &postings);
    }
    let run = run.finish(documents);
    let assembly = Assembly {
        writer: segment,
        cards,
        sites,
        places: (0..documents).collect(),
        urls: Vec::new(),
        parts: vec![(Postings::Run(&run), (0..documents).map(DocId).collect())],
        deleted: Vec::new(),
        phrases: Vec::new(),
    };
    assemble(assembly, options, &Pulse::STEADY).unwrap()[0].open(folder).unwrap()
}

#[test]
fn the_dictionary_finds_every_term_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..500).map(|number| format!("term{:04}", number * 2)).collect();
    let lists: Vec<_> =
        names.iter().map(|name| (name.as_str(), vec![(3, vec![1, 2]), (9, vec![4])])).collect();
    let segment = segment_of(dir.path(), &lists);
    for number in 0..1000 {
        let found = segment.find(&format!("term{number:04}")).unwrap();
        assert_eq!(found.is_some(), number % 2 == 0);
        if let Some(lists) = found {
            assert_eq!((lists[0].1.frequency, lists[0].1.occurrences), (2, 3));
        }
    }
    assert!(segment.find("a").unwrap().is_none() && segment.find("z").unwrap().is_none());
    for (first, from) in [("", 0), ("term0500", 250), ("term0999", 500), ("z", 500)] {
        let mut terms = segment.terms_from(first.as_bytes());
        let mut walked = Vec::new();
        while terms.advance().unwrap() {
            if terms.term() >= first.as_bytes() {
                walked.push(String::from_utf8(terms.term().to_vec()).unwrap());
            }
        }
        assert_eq!(walked, names[from..]);
    }
}

#[test]
fn an_abandoned_segment_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    drop(SegmentWriter::create(dir.path(), 1, Piece::Whole).unwrap());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_full_disk_at_any_operation_leaves_the_segments_before() {
    let folder = tempfile::tempdir().unwrap();
    let build = |number| -> Result<Option<SegmentFile>> {
        let mut builder = IndexBuilder::new(folder.path(), number, Options::default());
        let document = NewDocument { url: "https://a.example/", body: "one two", ..NewDocument::default() };
        builder.add(&[document], &Pulse::STEADY)?;
        builder.finish(&Pulse::STEADY)
    };
    let verify = |file: &SegmentFile| file.open(folder.path()).unwrap().verify(&Pulse::STEADY).unwrap();
    let first = build(1).unwrap().unwrap();
    for number in 0.. {
        let watch = Watch::fail(folder.path(), number);
        let second = build(2);
        let failed = watch.len() > number;
        drop(watch);
        verify(&first);
        match &second {
            Ok(second) => verify(second.as_ref().unwrap()),
            Err(_) => assert!(is_full(&second), "{second:?}"),
        }
        if !failed {
            return;
        }
    }
}
