use super::tree::{Comparison, Filter, Interval, Leaf, Pattern, Query, Relation};
use super::*;
use crate::analysis::Language;
use crate::index::format::zone::{Zone, ZoneSet};

mod anything;
mod errors;
mod intervals;
mod round_trip;
mod text;
mod words;

/// Parses in a language without stop words.
fn parsed(query: &str) -> Result<Query> {
    parse(query, &Analyzer::new(Language::of(Some("xx"))))
}

fn english(query: &str) -> Query {
    parse(query, &Analyzer::new(Language::of(None))).unwrap()
}

#[track_caller]
fn means(query: &str, expected: Query) {
    assert_eq!(parsed(query).unwrap(), expected, "{query}");
}

fn only(zone: Zone) -> ZoneSet {
    let mut zones = ZoneSet::default();
    zones.insert(zone);
    zones
}

fn plain(term: &str) -> Leaf {
    Leaf { pattern: Pattern::Term(term.into()), zones: None }
}

fn in_zone(zone: Zone, term: &str) -> Query {
    Query::Leaf(Leaf { zones: Some(only(zone)), ..plain(term) })
}

fn pattern(pattern: Pattern) -> Query {
    Query::Leaf(Leaf { pattern, zones: None })
}

fn prefix(start: &str, term: &str) -> Pattern {
    Pattern::Prefix { start: start.into(), term: term.into() }
}

fn fuzzy(term: &str, changes: u8) -> Pattern {
    Pattern::Fuzzy { term: term.into(), changes }
}

fn term(name: &str) -> Query {
    Query::Leaf(plain(name))
}

fn any<const N: usize>(queries: [Query; N]) -> Query {
    Query::any(queries.into())
}

fn all<const N: usize>(queries: [Query; N]) -> Query {
    Query::And(queries.into())
}

fn not(query: Query) -> Query {
    Query::Not(Box::new(query))
}

fn boost(query: Query, factor: f32) -> Query {
    Query::Boost(Box::new(query), factor)
}

fn phrase(terms: &[(u32, &str)]) -> Query {
    let leaves = terms.iter().map(|(distance, term)| (*distance, plain(term)));
    Query::Interval(Interval::Phrase(leaves.collect()))
}

fn site(host: &str) -> Query {
    Query::Filter(Filter::Site(host.into()))
}

fn language(code: &str) -> Query {
    Query::Filter(Filter::Language(code.into()))
}

fn signed<const R: usize, const O: usize, const E: usize>(
    required: [Query; R],
    optional: [Query; O],
    excluded: [Query; E],
) -> Query {
    Query::Group { required: required.into(), optional: optional.into(), excluded: excluded.into() }
}

#[test]
fn binds_not_then_and_then_or() {
    let bc = all([term("b"), not(term("c"))]);
    means("a OR b AND NOT c", any([term("a"), bc.clone()]));
    means("a b AND -c", any([term("a"), bc]));
    means("(a OR b) AND c", all([any([term("a"), term("b")]), term("c")]));
    means("a - .", term("a"));
}

#[test]
fn signs_and_not_sort_what_stands_side_by_side() {
    let excluded = [term("c"), phrase(&[(0, "d"), (1, "e")])];
    means("a +b -c NOT \"d e\"", signed([term("b")], [term("a")], excluded));
    means("+-a b", signed([not(term("a"))], [term("b")], []));
    means("NOT a", signed([], [], [term("a")]));
}

#[test]
fn a_zone_is_set_where_none_is() {
    for (name, zone) in [
        ("title", Zone::Title),
        ("url", Zone::Url),
        ("body", Zone::Body),
        ("heading", Zone::Headings),
        ("headings", Zone::Headings),
        ("anchor", Zone::Anchors),
        ("anchors", Zone::Anchors),
    ] {
        means(&format!("{name}:a"), in_zone(zone, "a"));
    }
    let [a, b] = ["a", "b"].map(|name| in_zone(Zone::Title, name));
    means("title:(a -b)", signed([], [a.clone()], [b.clone()]));
    means("title:(a AND NOT (b OR url:c) site:x)", {
        let inner = any([b.clone(), in_zone(Zone::Url, "c")]);
        all([all([a.clone(), not(inner)]), site("x")])
    });
    means("title:a b", any([a, term("b")]));
    means("-title:b", signed([], [], [b]));
    let leaf = |name| Leaf { zones: Some(only(Zone::Body)), ..plain(name) };
    means("body:\"a b\"", Query::Interval(Interval::Phrase(vec![(0, leaf("a")), (1, leaf("b"))])));
    let both = Interval::All(vec![Interval::Leaf(leaf("a")), Interval::Leaf(leaf("b"))]);
    means("body:\"a b\"~8", Query::Interval(Interval::Window(Box::new(both), 8)));
    means("body:(a < b ALIGNED \"a b\" CONTAINING a)", {
        let order = Interval::Ordered(vec![Interval::Leaf(leaf("a")), Interval::Leaf(leaf("b"))]);
        let words = Interval::Phrase(vec![(0, leaf("a")), (1, leaf("b"))]);
        let related = |comparison, of, with| {
            Interval::Related(Box::new(Relation { of, with, comparison, margins: (0, 0), negated: false }))
        };
        let of = related(Comparison::Aligned, order, words);
        Query::Interval(related(Comparison::Containing, of, Interval::Leaf(leaf("a"))))
    });
    let patterns = [prefix("ab", "ab"), fuzzy("ab", 1)];
    let [start, like] = patterns.map(|pattern| Query::Leaf(Leaf { pattern, zones: Some(only(Zone::Url)) }));
    means("url:ab* url:ab~", any([start, like]));
}

#[test]
fn filters_are_required() {
    means("site:https://Example.org/docs", site("example.org"));
    means("lang:it", language("it"));
    means("language:pt-BR", language("pt"));
    means("type:PDF", Query::Filter(Filter::Kind("pdf".into())));
    means("before:1970-02", Query::Filter(Filter::Before(31)));
    means("after:1971", Query::Filter(Filter::After(365)));
    means("a site:x b", all([any([term("a"), term("b")]), site("x")]));
    means("a +site:x", all([term("a"), site("x")]));
    means("+a b site:x", all([signed([term("a")], [term("b")], []), site("x")]));
    means("site:x lang:it", all([site("x"), language("it")]));
    means("a -site:x", signed([], [term("a")], [site("x")]));
    means("a AND NOT lang:it", all([term("a"), not(language("it"))]));
    means("(site:x OR site:y)", any([site("x"), site("y")]));
    let sites = any([site("x"), site("y")]);
    means("a (site:x OR site:y) b", all([any([term("a"), term("b")]), sites]));
    means("a OR site:x", any([term("a"), site("x")]));
    means("-a site:x", all([signed([], [], [term("a")]), site("x")]));
    assert_eq!(english("the site:x"), all([term("the"), site("x")]));
}

#[test]
fn boosts_multiply_what_stands_before_them() {
    means("a^2", boost(term("a"), 2.0));
    means("\"a b\"^1.5", boost(phrase(&[(0, "a"), (1, "b")]), 1.5));
    means("(a b)^0.5", boost(any([term("a"), term("b")]), 0.5));
    means("title:a^3", boost_in_title(3.0));
    means("title:(a^3)", boost_in_title(3.0));
    means("ab~1^2", boost(pattern(fuzzy("ab", 1)), 2.0));
    means("ab*^1000", boost(pattern(prefix("ab", "ab")), 1000.0));
    means("+a^2 b", signed([boost(term("a"), 2.0)], [term("b")], []));
    assert_eq!(english("the^2 wind"), any([boost(term("the"), 2.0), term("wind")]));
}

fn boost_in_title(factor: f32) -> Query {
    boost(in_zone(Zone::Title, "a"), factor)
}

#[test]
fn a_lone_star_is_everything() {
    means("*", Query::everything());
    means("(*)", Query::everything());
    means("a * b", any([term("a"), term("b")]));
    means("* site:x", site("x"));
    means("* -a", signed([], [], [term("a")]));
    means("+* a", term("a"));
    means("* AND a", all([Query::everything(), term("a")]));
    means("+(*) a", signed([Query::everything()], [term("a")], []));
    assert_eq!(english("the * of"), any([term("the"), term("of")]));
}
