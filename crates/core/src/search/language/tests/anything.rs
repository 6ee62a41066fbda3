//! Any text is either a query or an error with a position.

use super::*;
use proptest::prelude::*;

/// The most levels of the tree that one level of the language produces: OR, filters, group, AND, NOT, boost,
/// and order and window instead of them.
const LEVELS: usize = 8;

fn depth(query: &Query) -> usize {
    1 + match query {
        Query::Leaf(_) | Query::Filter(_) => 0,
        Query::Interval(interval) => depth_of_interval(interval),
        Query::Not(child) | Query::Boost(child, _) => depth(child),
        Query::And(children) => children.iter().map(depth).max().unwrap_or(0),
        Query::Group { required, optional, excluded } => {
            required.iter().chain(optional).chain(excluded).map(depth).max().unwrap_or(0)
        }
    }
}

fn depth_of_interval(interval: &Interval) -> usize {
    1 + match interval {
        Interval::Leaf(_) | Interval::Phrase(_) => 0,
        Interval::Any(children) | Interval::All(children) | Interval::Ordered(children) => {
            children.iter().map(depth_of_interval).max().unwrap_or(0)
        }
        Interval::Window(child, _) => depth_of_interval(child),
        Interval::Related(relation) => depth_of_interval(&relation.of).max(depth_of_interval(&relation.with)),
    }
}

fn deepest() -> usize {
    LEVELS * (DEEPEST + 1) + MOST_RELATIONS
}

/// Random text made of the language's tokens.
pub fn near_query() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        " ",
        " ",
        " ",
        "a",
        "è",
        "foo",
        "the",
        "(",
        ")",
        "\"",
        "+",
        "-",
        "*",
        "~",
        "^",
        "<",
        ":",
        "[",
        "]",
        ",",
        "1",
        "2",
        "0",
        ".",
        " AND ",
        " OR ",
        " NOT ",
        " < ",
        " CONTAINING ",
        " INSIDE[1,2] ",
        " NOT CONTAINING ",
        " ALIGNED ",
        "title:",
        "url:(",
        "site:x ",
        "lang:it ",
        "after:2024 ",
        "type:",
        "\"a b\"~3",
        "ab*",
        "ab~1",
        "a^2",
        "東京都",
    ]);
    prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
}

fn check(query: &str) {
    match parsed(query) {
        Ok(tree) => assert!(depth(&tree) <= deepest()),
        Err(Error::Query { position, .. }) => assert!(position <= query.chars().count()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_deepest_queries_stay_shallow() {
    for (open, close, nested) in [
        ("(a -(b AND NOT (", "^2) site:x)^2)", 5),
        ("(", " < a)~9", 1),
        ("title:(", " ALIGNED a)", 1),
        ("+-(", ")^2 a", 3),
    ] {
        let levels = DEEPEST / nested;
        let tree = parsed(&format!("{}a{}", open.repeat(levels), close.repeat(levels))).unwrap();
        assert!((levels..=deepest()).contains(&depth(&tree)), "{open}");
    }
}

proptest! {
    #[test]
    fn any_text_parses_or_fails(query in "[ab ()\"+\\-]{0,20}|[a1 ~^*<:.]{0,20}|.{0,40}") {
        check(&query);
    }

    #[test]
    fn any_sequence_of_pieces_parses_or_fails(query in near_query()) {
        check(&query);
    }
}
