//! Trees of iterators, moved at random, against vectors of documents.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::index::writer::tests::{List, segment_of};

const DOCUMENTS: u32 = 300;
const TERMS: [&str; 4] = ["a", "b", "c", "d"];

fn some_query() -> impl Strategy<Value = Query> {
    let term = || prop::sample::select(&TERMS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        4 => term().prop_map(Query::Term),
        1 => prop::collection::vec(term(), 2..4).prop_map(|terms| Query::Phrase((0..).zip(terms).collect())),
        1 => Just(Query::Term("absent".into())),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Query::And),
            inner.clone().prop_map(|query| Query::Not(Box::new(query))),
            (some(), some(), some()).prop_map(|(required, optional, excluded)| Query::Group {
                required,
                optional,
                excluded
            }),
        ]
    })
}

/// The terms of each document, in the order of their positions.
fn some_documents() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0..TERMS.len(), 0..6), DOCUMENTS as usize)
}

fn matches(query: &Query, words: &[usize]) -> bool {
    let holds = |place: usize, term: &str| words.get(place).is_some_and(|word| TERMS[*word] == term);
    match query {
        Query::Term(term) => (0..words.len()).any(|place| holds(place, term)),
        Query::Phrase(terms) => (0..words.len())
            .any(|start| terms.iter().all(|(distance, term)| holds(start + *distance as usize, term))),
        Query::And(children) => children.iter().all(|child| matches(child, words)),
        Query::Not(child) => !matches(child, words),
        Query::Group { required, optional, excluded } => {
            let any = |queries: &[Query]| queries.iter().any(|query| matches(query, words));
            let wanted = if required.is_empty() { optional.is_empty() || any(optional) } else { true };
            wanted && required.iter().all(|query| matches(query, words)) && !any(excluded)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_tree_moves_like_a_vector(
        texts in some_documents(),
        queries in prop::collection::vec(some_query(), 8),
        moves in prop::collection::vec(prop::option::of(0u32..40), 40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut lists: Vec<(&str, List)> = TERMS.iter().map(|term| (*term, Vec::new())).collect();
        // The last document has every term, so that the segment has them all.
        let texts: Vec<Vec<usize>> = texts.into_iter().chain([vec![0, 1, 2, 3]]).collect();
        for (number, words) in (0..).zip(&texts) {
            for term in words.iter().collect::<BTreeSet<_>>() {
                let positions = (0..).zip(words).filter(|(_, word)| *word == term).map(|(place, _)| place);
                lists[*term].1.push((number, positions.collect()));
            }
        }
        let segment = segment_of(dir.path(), &lists);
        for query in queries {
            let model: Vec<u32> = (0..).zip(&texts).filter(|(_, words)| matches(&query, words)).map(|(n, _)| n).collect();
            let place = |at: usize| model.get(at).map_or(DocId::END, |document| DocId(*document));
            let mut found = documents(&query, &segment).unwrap();
            prop_assert!(found.estimate() >= model.len() as u64);
            let mut at = 0;
            for step in &moves {
                prop_assert_eq!(found.document(), place(at), "{:?}", query);
                match step {
                    None => {
                        at = (at + 1).min(model.len());
                        prop_assert_eq!(found.next().unwrap(), place(at));
                    }
                    Some(by) => {
                        let target = DocId(place(at).0.saturating_add(*by));
                        at += model[at..].partition_point(|document| DocId(*document) < target);
                        prop_assert_eq!(found.skip_to(target).unwrap(), place(at));
                    }
                }
            }
        }
    }
}
