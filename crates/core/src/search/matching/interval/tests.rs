//! Random expressions over random positions, against the definitions of the operators.

use proptest::prelude::*;

use super::*;
use crate::search::language::tree::{Comparison, Pattern, Relation};

fn span(left: u32, right: u32) -> Span {
    Span { left, right }
}

fn word() -> Leaf {
    Leaf { pattern: Pattern::Term("word".into()), zones: None }
}

fn leaf() -> Interval {
    Interval::Leaf(word())
}

fn phrase(distances: &[u32]) -> Interval {
    Interval::Phrase(distances.iter().map(|distance| (*distance, word())).collect())
}

fn spans(interval: &Interval, positions: &[&[u32]]) -> Vec<Span> {
    let positions: Vec<Vec<u32>> = positions.iter().map(|list| list.to_vec()).collect();
    let mut spans = Vec::new();
    Expression::new(interval).spans(&positions, &mut spans);
    spans
}

fn lies_in(inner: Span, outer: Span) -> bool {
    outer.left <= inner.left && inner.right <= outer.right
}

/// The minimal intervals, in order.
fn minimal(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.left, span.right));
    spans.dedup();
    let is_minimal = |span: &&Span| spans.iter().all(|other| other == *span || !lies_in(*other, **span));
    spans.iter().filter(is_minimal).copied().collect()
}

/// The Cartesian product: every way to take one interval of each set.
fn tuples(sets: &[Vec<Span>]) -> Vec<Vec<Span>> {
    sets.iter().fold(vec![Vec::new()], |tuples, set| {
        let longer = |tuple: &Vec<Span>| {
            let tuple = tuple.clone();
            set.iter().map(move |span| [tuple.as_slice(), &[*span]].concat()).collect::<Vec<_>>()
        };
        tuples.iter().flat_map(longer).collect()
    })
}

/// From the first position of a tuple to its last.
fn hull(tuple: &[Span]) -> Option<Span> {
    let left = tuple.iter().map(|span| span.left).min()?;
    let right = tuple.iter().map(|span| span.right).max()?;
    Some(Span { left, right })
}

/// The definition of every operator. Takes the positions of its leaves from `positions`.
fn slow(interval: &Interval, positions: &mut std::slice::Iter<Vec<u32>>) -> Vec<Span> {
    match interval {
        Interval::Leaf(_) => {
            positions.next().unwrap().iter().map(|position| span(*position, *position)).collect()
        }
        Interval::Phrase(words) => {
            let lists: Vec<&Vec<u32>> = words.iter().map(|_| positions.next().unwrap()).collect();
            let Some((last, _)) = words.last() else { return Vec::new() };
            let is_start = |start: &u32| {
                (words.iter().zip(&lists)).all(|((distance, _), list)| list.contains(&(start + distance)))
            };
            (0..=PLACES).filter(is_start).map(|start| span(start, start + last)).collect()
        }
        Interval::Any(children) => {
            minimal(children.iter().flat_map(|child| slow(child, positions)).collect())
        }
        Interval::All(children) => {
            let sets: Vec<Vec<Span>> = children.iter().map(|child| slow(child, positions)).collect();
            minimal(tuples(&sets).iter().filter_map(|tuple| hull(tuple)).collect())
        }
        Interval::Ordered(children) => {
            let sets: Vec<Vec<Span>> = children.iter().map(|child| slow(child, positions)).collect();
            let is_ordered = |tuple: &&Vec<Span>| tuple.windows(2).all(|pair| pair[0].right < pair[1].left);
            minimal(tuples(&sets).iter().filter(is_ordered).filter_map(|tuple| hull(tuple)).collect())
        }
        Interval::Window(child, length) => {
            slow(child, positions).into_iter().filter(|span| span.right - span.left < *length).collect()
        }
        Interval::Related(relation) => slow_relation(relation, positions),
    }
}

fn slow_relation(relation: &Relation, positions: &mut std::slice::Iter<Vec<u32>>) -> Vec<Span> {
    let holds = |span: Span, (left, right): (i64, i64)| {
        let contains = i64::from(span.left) <= left && right <= i64::from(span.right);
        let inside = left <= i64::from(span.left) && i64::from(span.right) <= right;
        match relation.comparison {
            Comparison::Containing => contains,
            Comparison::Inside => inside,
            Comparison::Aligned => contains && inside,
        }
    };
    let (of, with) = (slow(&relation.of, positions), slow(&relation.with, positions));
    let enlarge = |span: &Span| {
        let (left, right) = relation.margins;
        (i64::from(span.left) - i64::from(left), i64::from(span.right) + i64::from(right))
    };
    let is_related = |span: &Span| with.iter().any(|other| holds(*span, enlarge(other)));
    of.into_iter().filter(|span| is_related(span) != relation.negated).collect()
}

/// Positions are less than this.
const PLACES: u32 = 16;

fn some_relation(inner: impl Strategy<Value = Interval> + Clone) -> impl Strategy<Value = Box<Relation>> {
    let margins = prop_oneof![2 => Just((0, 0)), 2 => (0..3_u32, 0..3_u32), 1 => Just((u32::MAX, u32::MAX))];
    let comparison =
        prop::sample::select(vec![Comparison::Containing, Comparison::Inside, Comparison::Aligned]);
    (inner.clone(), inner, comparison, margins, any::<bool>()).prop_map(
        |(of, with, comparison, margins, negated)| {
            Box::new(Relation { of, with, comparison, margins, negated })
        },
    )
}

fn some_interval() -> impl Strategy<Value = Interval> {
    let distances = prop::collection::vec(1..3_u32, 0..3).prop_map(|gaps| {
        let mut distances = vec![0];
        distances.extend(gaps.iter().scan(0, |sum, gap| {
            *sum += gap;
            Some(*sum)
        }));
        distances
    });
    let simple = prop_oneof![2 => Just(leaf()), 1 => distances.prop_map(|distances| phrase(&distances))];
    simple.prop_recursive(4, 16, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            1 => some().prop_map(Interval::Any),
            1 => some().prop_map(Interval::All),
            1 => some().prop_map(Interval::Ordered),
            1 => (inner.clone(), 0..10_u32).prop_map(|(child, length)| Interval::Window(Box::new(child), length)),
            3 => some_relation(inner.clone()).prop_map(Interval::Related),
        ]
    })
}

/// An expression, and the positions of its leaves in some documents.
fn some_case() -> impl Strategy<Value = (Interval, Vec<Vec<Vec<u32>>>)> {
    some_interval().prop_flat_map(|interval| {
        let leaves = Expression::new(&interval).leaves();
        let list = prop::collection::btree_set(0..PLACES, 0..8).prop_map(|list| list.into_iter().collect());
        let documents = prop::collection::vec(prop::collection::vec(list, leaves), 3);
        (Just(interval), documents)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn expressions_mean_what_their_operators_do((interval, documents) in some_case()) {
        let mut expression = Expression::new(&interval);
        let mut found = Vec::new();
        for positions in &documents {
            expression.spans(positions, &mut found);
            let rises = |pair: &[Span]| pair[0].left < pair[1].left && pair[0].right < pair[1].right;
            prop_assert!(found.windows(2).all(rises));
            prop_assert_eq!(&found, &slow(&interval, &mut positions.iter()));
            prop_assert_eq!(expression.matches(positions), !found.is_empty());
            prop_assert_eq!(expression.root.next(positions).is_none(), found.len() <= 1);
        }
    }

    #[test]
    fn an_expression_that_is_over_stays_so((interval, documents) in some_case()) {
        let mut expression = Expression::new(&interval);
        for positions in &documents {
            expression.spans(positions, &mut Vec::new());
            prop_assert_eq!(expression.root.next(positions), None);
            prop_assert_eq!(expression.root.next(positions), None);
        }
    }
}

proptest! {
    #[test]
    fn phrases_are_found_in_lists_of_any_length(
        rare in prop::collection::btree_set(0..600_u32, 0..20),
        frequent in prop::collection::btree_set(0..600_u32, 100..300),
        other in prop::collection::btree_set(0..600_u32, 50..500),
    ) {
        let lists = [&rare, &frequent, &other].map(|list| list.iter().copied().collect::<Vec<u32>>());
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let lists: [&[u32]; 3] = order.map(|number| &lists[number][..]);
            let is_start = |start: &u32| {
                lists.iter().zip([0, 2, 3]).all(|(list, distance)| list.contains(&(start + distance)))
            };
            let expected: Vec<Span> = (0..600).filter(is_start).map(|start| span(start, start + 3)).collect();
            prop_assert_eq!(spans(&phrase(&[0, 2, 3]), &lists), expected);
            let is_start = |start: &u32| lists[0].contains(start) && lists[1].contains(&(start + 1));
            let expected: Vec<Span> = (0..600).filter(is_start).map(|start| span(start, start + 1)).collect();
            prop_assert_eq!(spans(&phrase(&[0, 1]), &lists[..2]), expected);
        }
    }
}

#[test]
fn what_is_made_of_nothing_is_nowhere() {
    for interval in [phrase(&[]), Interval::Any(vec![]), Interval::All(vec![]), Interval::Ordered(vec![])] {
        assert_eq!(spans(&interval, &[]), []);
    }
    assert_eq!(spans(&Interval::Window(Box::new(leaf()), 0), &[&[1, 2]]), []);
}

#[test]
fn a_conjunction_may_overlap_and_a_sequence_may_not() {
    let twice = vec![leaf(), leaf()];
    assert_eq!(spans(&Interval::All(twice.clone()), &[&[3, 8], &[3, 8]]), [span(3, 3), span(8, 8)]);
    assert_eq!(spans(&Interval::Ordered(twice), &[&[3, 8, 9], &[3, 8, 9]]), [span(3, 8), span(8, 9)]);
}

#[test]
fn the_greatest_position_is_like_any_other() {
    const END: u32 = u32::MAX;
    let places: &[u32] = &[0, END - 1, END];
    let both = vec![leaf(), leaf()];
    assert_eq!(spans(&phrase(&[0, 1]), &[places, places]), [span(END - 1, END)]);
    assert_eq!(spans(&phrase(&[0, END]), &[places, places]), [span(0, END)]);
    assert_eq!(spans(&Interval::Any(both.clone()), &[places, places]), spans(&leaf(), &[places]));
    assert_eq!(spans(&Interval::All(both.clone()), &[places, places]), spans(&leaf(), &[places]));
    assert_eq!(spans(&Interval::Ordered(both.clone()), &[places, places]).last(), Some(&span(END - 1, END)));
    let whole = Interval::All(both);
    assert_eq!(spans(&Interval::Window(Box::new(whole), END), &[&[0], &[END]]), []);
}

#[test]
fn nothing_contains_what_leaves_the_positions() {
    let contains = |margins| {
        let (of, with) = (Interval::All(vec![leaf(), leaf()]), leaf());
        let comparison = Comparison::Containing;
        Interval::Related(Box::new(Relation { of, with, comparison, margins, negated: false }))
    };
    let whole = [0_u32, u32::MAX];
    let found = |margins, place| spans(&contains(margins), &[&whole[..1], &whole[1..], &[place]]);
    assert_eq!(found((5, 0), 5), [span(0, u32::MAX)]);
    assert_eq!(found((6, 0), 5), []);
    assert_eq!(found((0, 5), u32::MAX - 5), [span(0, u32::MAX)]);
    assert_eq!(found((0, 6), u32::MAX - 5), []);
}

#[test]
fn leaves_are_numbered_as_they_are_met() {
    let named = |name: &str| Leaf { pattern: Pattern::Term(name.into()), zones: None };
    let relation = Relation {
        of: Interval::Ordered(vec![
            Interval::Leaf(named("a")),
            Interval::Phrase(vec![(0, named("b")), (1, named("c"))]),
        ]),
        with: Interval::All(vec![Interval::Leaf(named("d")), Interval::Leaf(named("e"))]),
        comparison: Comparison::Inside,
        margins: (0, 0),
        negated: true,
    };
    let interval = Interval::Related(Box::new(relation));
    let (expression, leaves) = Expression::with_leaves(&interval);
    assert_eq!(expression.leaves(), 5);
    assert_eq!(leaves, ["a", "b", "c", "d", "e"].map(named).iter().collect::<Vec<_>>());
}
