//! Trees of nodes, moved at random, against vectors of documents.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::interval::Expression;
use super::leaf::Scoring;
use super::*;
use crate::index::build::writer::tests::{List, segment_with};
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::index::{CodeChoice, Options, Zone};
use crate::search::language::tree::{Comparison, Filter, Interval, Leaf, Pattern, Query, Relation};
use crate::search::score::{Found, Model, Statistics};

const DOCUMENTS: u32 = 300;
const TERMS: [&str; 4] = ["a", "b", "c", "d"];

fn leaf(term: &str) -> Leaf {
    Leaf { pattern: Pattern::Term(term.to_owned()), zones: None }
}

fn some_leaf() -> impl Strategy<Value = Leaf> {
    prop_oneof![8 => prop::sample::select(&TERMS[..]), 1 => Just("absent")].prop_map(leaf)
}

fn some_interval() -> impl Strategy<Value = Interval> {
    let phrase = prop::collection::vec(some_leaf(), 2..4)
        .prop_map(|words| Interval::Phrase((0..).zip(words).collect()));
    let simple = prop_oneof![2 => some_leaf().prop_map(Interval::Leaf), 1 => phrase];
    simple.prop_recursive(2, 6, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let comparison =
            prop::sample::select(vec![Comparison::Containing, Comparison::Inside, Comparison::Aligned]);
        let relation = (inner.clone(), inner.clone(), comparison, 0u32..2, any::<bool>()).prop_map(
            |(of, with, comparison, margin, negated)| {
                Box::new(Relation { of, with, comparison, margins: (margin, 0), negated })
            },
        );
        prop_oneof![
            1 => some().prop_map(Interval::Any),
            1 => some().prop_map(Interval::All),
            1 => some().prop_map(Interval::Ordered),
            1 => (inner.clone(), 1u32..5).prop_map(|(inner, window)| Interval::Window(Box::new(inner), window)),
            3 => relation.prop_map(Interval::Related),
        ]
    })
}

/// The day of a document of the test's segments is the length of its number.
fn some_filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        (1u32..4).prop_map(Filter::Before),
        (0u32..5).prop_map(Filter::After),
        Just(Filter::Site("example".into())),
        (0u32..5).prop_map(|length| Filter::Site(format!("{length}.example"))),
        Just(Filter::Language("it".into())),
        Just(Filter::Kind("unheard of".into())),
    ]
}

fn some_query() -> impl Strategy<Value = Query> {
    let simple = prop_oneof![
        5 => some_leaf().prop_map(Query::Leaf),
        2 => some_interval().prop_map(Query::Interval),
        1 => some_filter().prop_map(Query::Filter),
    ];
    simple.prop_recursive(4, 24, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Query::And),
            inner.clone().prop_map(|query| Query::Not(Box::new(query))),
            inner.clone().prop_map(|query| Query::Boost(Box::new(query), 2.0)),
            (some(), some(), some()).prop_map(|(required, optional, excluded)| Query::Group {
                required,
                optional,
                excluded
            }),
        ]
    })
}

/// A document: its number and its words.
type Text = (u32, Vec<usize>);

fn some_documents() -> impl Strategy<Value = Vec<Text>> {
    prop::collection::vec(prop::collection::vec(0..TERMS.len(), 0..6), DOCUMENTS as usize).prop_map(|texts| {
        // The last document has every term, so that the segment's term dictionary has them all.
        (0..).zip(texts.into_iter().chain([vec![0, 1, 2, 3]])).collect()
    })
}

fn positions(leaf: &Leaf, words: &[usize]) -> Vec<u32> {
    let Pattern::Term(term) = &leaf.pattern else { return Vec::new() };
    (0..).zip(words).filter(|(_, word)| TERMS[**word] == term).map(|(place, _)| place).collect()
}

fn matches(query: &Query, document: &Text) -> bool {
    let (number, words) = document;
    let digits = number.to_string().len() as u32;
    match query {
        Query::Leaf(leaf) => !positions(leaf, words).is_empty(),
        Query::Interval(interval) => {
            let (mut expression, leaves) = Expression::with_leaves(interval);
            let positions: Vec<Vec<u32>> = leaves.iter().map(|leaf| positions(leaf, words)).collect();
            expression.matches(&positions)
        }
        Query::Filter(Filter::Before(day)) => digits < *day,
        Query::Filter(Filter::After(day)) => digits >= *day,
        Query::Filter(Filter::Site(host)) => host == "example" || *host == format!("{digits}.example"),
        Query::Filter(_) => false,
        Query::And(children) => children.iter().all(|child| matches(child, document)),
        Query::Not(child) => !matches(child, document),
        Query::Boost(child, _) => matches(child, document),
        Query::Group { required, optional, excluded } => {
            let any = |queries: &[Query]| queries.iter().any(|query| matches(query, document));
            let anything = !required.is_empty() || (optional.is_empty() && !excluded.is_empty());
            (anything || any(optional))
                && required.iter().all(|query| matches(query, document))
                && !any(excluded)
        }
    }
}

fn segment_of(folder: &std::path::Path, texts: &[Text]) -> Segment {
    let mut lists: Vec<(&str, List)> = TERMS.iter().map(|term| (*term, Vec::new())).collect();
    for (number, words) in texts {
        for term in words.iter().collect::<BTreeSet<_>>() {
            lists[*term].1.push((*number, positions(&leaf(TERMS[*term]), words)));
        }
    }
    let codes = CodeChoice { quantum: 16, ..CodeChoice::default() };
    segment_with(folder, &lists, &Options { codes, ..Options::default() })
}

/// Cursors over the leaves of a plan.
fn leaves_of<'a>(plan: &Plan<'_>, segment: &'a Segment) -> Leaves<'a> {
    let statistics = Statistics::of(segment.totals());
    let score = Model::default().leaf(
        &statistics,
        &Found { zones: ZoneSet::BODY, documents: 1, occurrences: 1 },
        1.0,
    );
    let lengths = std::sync::Arc::new(vec![1; segment.totals().documents as usize]);
    let scoring = Scoring {
        score,
        lengths: [const { None }; ZONES].map(|_: Option<()>| Some(lengths.clone())),
        bag: None,
        alone: true,
    };
    let cursor = |leaf: &&Leaf| {
        let Pattern::Term(term) = &leaf.pattern else { unreachable!("all are terms") };
        LeafCursor::new(segment, &segment.find(term).unwrap().unwrap_or_default(), &scoring).unwrap()
    };
    Leaves { segment, cursors: plan.leaves.iter().map(cursor).collect() }
}

fn searched() -> ZoneSet {
    let mut zones = ZoneSet::default();
    Zone::SEARCHED.into_iter().for_each(|zone| zones.insert(zone));
    zones
}

/// The first document, from the current one on, that the node confirms.
fn confirmed(node: &mut Node, leaves: &mut Leaves<'_>) -> DocId {
    while node.document(leaves) != DocId::END && !node.confirm(leaves).unwrap() {
        node.next(leaves).unwrap();
    }
    node.document(leaves)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_tree_moves_like_a_vector(
        texts in some_documents(),
        queries in prop::collection::vec(some_query(), 12),
        moves in prop::collection::vec(prop::option::of(0u32..40), 40),
        kind in prop::sample::select(&[Intersection::Greedy, Intersection::Heap, Intersection::Adaptive][..]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let segment = segment_of(dir.path(), &texts);
        for query in queries {
            let plan = Plan::new(&query, searched(), kind);
            let model: Vec<u32> = texts.iter().filter(|text| matches(&query, text)).map(|(number, _)| *number).collect();
            let place = |at: usize| model.get(at).map_or(DocId::END, |document| DocId(*document));
            let ahead = plan.ahead();
            let scores = |slot: &Slot| {
                query.scoring_leaves().iter().any(|(leaf, _)| std::ptr::eq(*leaf, plan.leaves[*slot]))
            };
            prop_assert!(ahead.iter().all(|slot| *slot < plan.leaves.len()), "{:?}", query);
            let scored: Vec<Slot> =
                (0..plan.leaves.len()).filter(|slot| scores(slot) && !ahead.contains(slot)).collect();
            let mut leaves = leaves_of(&plan, &segment);
            let mut node = plan.node(&mut leaves).unwrap();
            prop_assert!(node.estimate(&leaves) >= model.len() as u64, "{:?}", query);
            let mut at = 0;
            for step in &moves {
                prop_assert_eq!(confirmed(&mut node, &mut leaves), place(at), "{:?}", query);
                if place(at) != DocId::END {
                    // Scoring finds every leaf of the document, except for those that are read ahead.
                    let words = &texts[place(at).0 as usize].1;
                    for (slot, leaf) in scored.iter().map(|slot| (*slot, plan.leaves[*slot])) {
                        let here = leaves.cursors[slot].skip_to(place(at)).unwrap() == place(at);
                        prop_assert_eq!(here, !positions(leaf, words).is_empty(), "{:?}", query);
                    }
                }
                let candidate = match step {
                    None => {
                        at = (at + 1).min(model.len());
                        node.next(&mut leaves).unwrap()
                    }
                    Some(by) => {
                        let target = DocId(place(at).0.saturating_add(*by));
                        at += model[at..].partition_point(|document| DocId(*document) < target);
                        node.skip_to(&mut leaves, target).unwrap()
                    }
                };
                prop_assert!(candidate <= place(at) && candidate == node.document(&leaves));
                prop_assert!(!node.is_certain() || candidate == place(at), "{:?}", query);
            }
        }
    }

    #[test]
    fn plans_tell_the_truth_about_their_queries(texts in some_documents(), queries in prop::collection::vec(some_query(), 24)) {
        let dir = tempfile::tempdir().unwrap();
        let segment = segment_of(dir.path(), &texts);
        for query in queries {
            let plan = Plan::new(&query, searched(), Intersection::Greedy);
            let holds = |slot: Slot, text: &Text| !positions(plan.leaves[slot], &text.1).is_empty();
            let required = plan.required();
            for text in &texts {
                let all = required.iter().all(|slot| holds(*slot, text));
                prop_assert!(all || !matches(&query, text), "{:?}", query);
                prop_assert!(!plan.is_decided() || all == matches(&query, text), "{:?}", query);
            }
            if !plan.is_disjunction() {
                continue;
            }
            let scoring: Vec<&Leaf> = query.scoring_leaves().into_iter().map(|(leaf, _)| leaf).collect();
            let mut leaves = leaves_of(&plan, &segment);
            let mut restriction = plan.restriction(&mut leaves).unwrap();
            for text in &texts {
                let any = scoring.iter().any(|leaf| !positions(leaf, &text.1).is_empty());
                let document = DocId(text.0);
                let passes = restriction.as_mut().is_none_or(|node| {
                    node.skip_to(&mut leaves, document).unwrap() == document && node.confirm(&mut leaves).unwrap()
                });
                prop_assert_eq!(any && passes, matches(&query, text), "{:?}", query);
            }
        }
    }
}
