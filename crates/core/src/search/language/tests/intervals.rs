use super::*;

fn leaf(term: &str) -> Interval {
    Interval::Leaf(plain(term))
}

fn ordered<const N: usize>(intervals: [Interval; N]) -> Interval {
    Interval::Ordered(intervals.into())
}

fn related(
    comparison: Comparison,
    of: Interval,
    with: Interval,
    margins: (u32, u32),
    negated: bool,
) -> Interval {
    Interval::Related(Box::new(Relation { of, with, comparison, margins, negated }))
}

#[track_caller]
fn spans(query: &str, expected: Interval) {
    means(query, Query::Interval(expected));
}

#[test]
fn a_window_holds_its_words_in_any_order() {
    let words = Interval::All(["a", "b", "c"].map(leaf).into());
    spans("\"a b c\"~8", Interval::Window(Box::new(words.clone()), 8));
    spans("\"a b c\"~3", Interval::Window(Box::new(words), 3));
    let twice = Interval::All(["a", "a"].map(leaf).into());
    spans("\"a a\"~3", Interval::Window(Box::new(twice), 3));
    means("\"a\"~8", term("a"));
    spans("(a < b)~8", Interval::Window(Box::new(ordered(["a", "b"].map(leaf))), 8));
    means("\"a b\"~8^2", {
        let words = Interval::All(["a", "b"].map(leaf).into());
        boost(Query::Interval(Interval::Window(Box::new(words), 8)), 2.0)
    });
}

#[test]
fn order_chains() {
    spans("a < b", ordered(["a", "b"].map(leaf)));
    spans("a < b < c", ordered(["a", "b", "c"].map(leaf)));
    spans("(a < b) < c", ordered([ordered(["a", "b"].map(leaf)), leaf("c")]));
    spans("a < (b < c)", ordered([leaf("a"), ordered(["b", "c"].map(leaf))]));
}

#[test]
fn containment_has_margins_and_a_negation() {
    let (a, b) = (leaf("a"), leaf("b"));
    let related = |comparison, margins, negated| related(comparison, a.clone(), b.clone(), margins, negated);
    spans("a CONTAINING b", related(Comparison::Containing, (0, 0), false));
    spans("a CONTAINING[2,3] b", related(Comparison::Containing, (2, 3), false));
    spans("a NOT CONTAINING[2, 3] b", related(Comparison::Containing, (2, 3), true));
    spans("a INSIDE b", related(Comparison::Inside, (0, 0), false));
    spans("a INSIDE[1,0] b", related(Comparison::Inside, (1, 0), false));
    spans("a NOT INSIDE b", related(Comparison::Inside, (0, 0), true));
    spans("a ALIGNED b", related(Comparison::Aligned, (0, 0), false));
}

#[test]
fn interval_operators_bind_tighter_than_and_and_to_the_left() {
    let containing = |of, with| related(Comparison::Containing, of, with, (0, 0), false);
    let ab = containing(leaf("a"), leaf("b"));
    means("a CONTAINING b AND c", all([Query::Interval(ab.clone()), term("c")]));
    means("c a CONTAINING b", any([term("c"), Query::Interval(ab.clone())]));
    means("c OR a CONTAINING b", any([term("c"), Query::Interval(ab.clone())]));
    spans("a < b CONTAINING c", containing(ordered(["a", "b"].map(leaf)), leaf("c")));
    spans("a CONTAINING b < c < d", ordered([ab.clone(), leaf("c"), leaf("d")]));
    spans("a CONTAINING b CONTAINING c", containing(ab.clone(), leaf("c")));
    means("-(a CONTAINING b)", signed([], [], [Query::Interval(ab)]));
}

#[test]
fn groups_on_a_side_are_any_or_all() {
    let (a, b, c) = (leaf("a"), leaf("b"), leaf("c"));
    let any_of = Interval::Any(vec![a.clone(), b.clone()]);
    let all_of = Interval::All(vec![a.clone(), b.clone()]);
    spans("(a OR b) < c", ordered([any_of.clone(), c.clone()]));
    spans("(a b) < c", ordered([any_of.clone(), c.clone()]));
    spans("c < (a AND b)", ordered([c.clone(), all_of.clone()]));
    spans("((a AND b) OR (a < b)) < c", {
        let inner = Interval::Any(vec![all_of, ordered([a.clone(), b.clone()])]);
        ordered([inner, c.clone()])
    });
    let words = Interval::Phrase(vec![(0, plain("a")), (1, plain("b"))]);
    let window = Interval::Window(Box::new(Interval::All(vec![a, b])), 4);
    spans("\"a b\" < \"a b\"~4", ordered([words, window]));
    let patterns = [prefix("ab", "ab"), fuzzy("cd", 1)];
    spans("ab* < cd~", ordered(patterns.map(|pattern| Interval::Leaf(Leaf { pattern, zones: None }))));
}
