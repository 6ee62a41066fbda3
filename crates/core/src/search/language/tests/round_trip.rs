//! Round trip: a tree written in the query language parses to the same tree.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;

/// A word that takes a position but has no term, to make a gap in a phrase.
fn gap() -> String {
    "x".repeat(65)
}

fn word() -> impl Strategy<Value = String> {
    select(vec!["aa", "bb", "std::vec", "running", "東京"]).prop_map(str::to_owned)
}

fn zones() -> impl Strategy<Value = Option<ZoneSet>> {
    prop::option::weighted(0.3, select(Zone::ALL.to_vec()).prop_map(only))
}

fn plain_word() -> impl Strategy<Value = Pattern> {
    word().prop_map(Pattern::Term)
}

fn any_leaf() -> impl Strategy<Value = Leaf> {
    let pattern = (word(), 0..4u8).prop_map(|(term, kind)| match kind {
        0 => Pattern::Prefix { start: term.clone(), term },
        changes @ (1 | 2) => Pattern::Fuzzy { term, changes },
        _ => Pattern::Term(term),
    });
    (pattern, zones()).prop_map(|(pattern, zones)| Leaf { pattern, zones })
}

/// Words of one zone as in a phrase, at increasing distances.
fn any_phrase() -> impl Strategy<Value = Interval> {
    let words = prop::collection::vec((1..4u32, plain_word()), 2..4);
    (words, zones(), prop::bool::ANY).prop_map(|(words, zones, prefixed)| {
        let mut end = 0;
        let mut leaves: Vec<(u32, Leaf)> = Vec::new();
        for (step, pattern) in words {
            // A compound takes a position for each part, and a character bigram one more.
            let taken = leaves.last().map_or(0, |(_, leaf)| taken(leaf));
            end += if leaves.is_empty() { 0 } else { taken + step - 1 };
            leaves.push((end, Leaf { pattern, zones }));
        }
        if prefixed && leaves.iter().all(|(_, leaf)| taken(leaf) == 1) && end as usize == leaves.len() - 1 {
            let last = leaves.len() - 1;
            if let Pattern::Term(term) = leaves[last].1.pattern.clone() {
                leaves[last].1.pattern = Pattern::Prefix { start: term.clone(), term };
            }
        }
        Interval::Phrase(leaves)
    })
}

fn taken(leaf: &Leaf) -> u32 {
    match &leaf.pattern {
        Pattern::Term(term) if term == "std::vec" || term == "東京" => 2,
        _ => 1,
    }
}

fn any_interval() -> impl Strategy<Value = Interval> {
    let leaf = prop_oneof![any_leaf().prop_map(Interval::Leaf), any_phrase()];
    leaf.prop_recursive(4, 20, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 2..4);
        let adjusted =
            (select(vec![Comparison::Containing, Comparison::Inside]), (0..3u32, 0..3u32), prop::bool::ANY);
        let comparison = prop_oneof![2 => adjusted, 1 => Just((Comparison::Aligned, (0, 0), false))];
        let relation = (inner.clone(), inner.clone(), comparison).prop_map(
            |(of, with, (comparison, margins, negated))| {
                Interval::Related(Box::new(Relation { of, with, comparison, margins, negated }))
            },
        );
        prop_oneof![
            1 => several().prop_map(Interval::Any),
            1 => several().prop_map(Interval::All),
            1 => several().prop_map(Interval::Ordered),
            1 => (prop::collection::vec(plain_word(), 2..4), zones(), 4..9u32).prop_map(
                |(words, zones, positions)| {
                    let leaves = words.into_iter().map(|pattern| Interval::Leaf(Leaf { pattern, zones }));
                    Interval::Window(Box::new(Interval::All(leaves.collect())), positions)
                }
            ),
            1 => (inner.clone(), 1..9u32)
                .prop_map(|(inside, positions)| Interval::Window(Box::new(inside), positions)),
            3 => relation,
        ]
    })
}

fn any_filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        select(vec!["example.org", "www.a.b", "[::1]"]).prop_map(|host| Filter::Site(host.into())),
        select(vec!["xx", "nds"]).prop_map(|code| Filter::Language(code.into())),
        select(vec!["html", "text", "pdf", "feed", "office", "other"])
            .prop_map(|kind| Filter::Kind(kind.into())),
        (0..28u32).prop_map(Filter::Before),
        (0..28u32).prop_map(Filter::After),
    ]
}

/// A tree as the parser produces it: no group of one, a NOT only where the language has it, and no juxtaposed
/// filters.
fn any_query() -> impl Strategy<Value = Query> {
    let leaf = prop_oneof![
        4 => any_leaf().prop_map(Query::Leaf),
        3 => any_interval().prop_map(|interval| match interval {
            Interval::Leaf(leaf) => Query::Leaf(leaf),
            Interval::Any(children) | Interval::All(children) => Query::Interval(Interval::Ordered(children)),
            other => Query::Interval(other),
        }),
        2 => any_filter().prop_map(Query::Filter),
        1 => Just(Query::everything()),
    ];
    leaf.prop_recursive(4, 30, 3, |inner| {
        let maybe_not = (inner.clone(), prop::bool::ANY)
            .prop_map(|(query, negated)| if negated { not(query) } else { query });
        let sided = |optional: bool| {
            let side_by_side = move |query: &Query| {
                !(meaning::is_filter(query) || optional && *query == Query::everything())
            };
            let items = if optional { inner.clone().boxed() } else { maybe_not.clone().boxed() };
            prop::collection::vec(items.prop_filter("stands side by side", side_by_side), 0..3)
        };
        let excluded = prop::collection::vec(maybe_not.clone(), 0..3);
        let group = (sided(false), sided(true), excluded).prop_filter_map("a group of some", |parts| {
            let (required, optional, excluded) = parts;
            let one = excluded.is_empty() && required.len() + optional.len() < 2;
            (!one).then_some(Query::Group { required, optional, excluded })
        });
        prop_oneof![
            prop::collection::vec(maybe_not.clone(), 2..4).prop_map(Query::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Query::any),
            group,
            (inner.clone(), 1..4000u16).prop_map(|(query, quarters)| boost(query, f32::from(quarters) / 4.0)),
        ]
    })
}

fn zone_of(leaf: &Leaf) -> String {
    leaf.zones
        .and_then(|zones| zones.zones().next())
        .map_or(String::new(), |zone| format!("{}:", zone.name()))
}

fn term_of(leaf: &Leaf) -> &str {
    match &leaf.pattern {
        Pattern::Term(term) | Pattern::Prefix { term, .. } | Pattern::Fuzzy { term, .. } => term,
    }
}

fn leaf_text(leaf: &Leaf) -> String {
    let zone = zone_of(leaf);
    match &leaf.pattern {
        Pattern::Fuzzy { term, changes } => format!("{zone}{term}~{changes}"),
        Pattern::Prefix { term, .. } => format!("{zone}{term}*"),
        Pattern::Term(term) => format!("{zone}{term}"),
    }
}

fn phrase_text(leaves: &[(u32, Leaf)]) -> String {
    let zone = leaves.first().map_or(String::new(), |(_, leaf)| zone_of(leaf));
    if let Some((_, Leaf { pattern: Pattern::Prefix { .. }, .. })) = leaves.last() {
        let words: Vec<&str> = leaves.iter().map(|(_, leaf)| term_of(leaf)).collect();
        return format!("{zone}{}*", words.join("-"));
    }
    let mut words = Vec::new();
    let mut next = 0;
    for (distance, leaf) in leaves {
        words.extend((next..*distance).map(|_| gap()));
        words.push(term_of(leaf).to_owned());
        next = distance + taken(leaf);
    }
    format!("{zone}\"{}\"", words.join(" "))
}

fn window_text(inside: &Interval, positions: u32) -> String {
    if let Interval::All(words) = inside
        && let [Interval::Leaf(first), ..] = words.as_slice()
        && words.len() <= positions as usize
        && let Some(terms) = same_zone(first, words)
    {
        return format!("{}\"{}\"~{positions}", zone_of(first), terms.join(" "));
    }
    format!("({})~{positions}", interval_text(inside))
}

/// The terms of leaves that are terms, if all are in the zone of the first.
fn same_zone<'a>(first: &Leaf, words: &'a [Interval]) -> Option<Vec<&'a str>> {
    let term = |word: &'a Interval| match word {
        Interval::Leaf(Leaf { pattern: Pattern::Term(term), zones }) if *zones == first.zones => {
            Some(term.as_str())
        }
        _ => None,
    };
    words.iter().map(term).collect()
}

fn interval_text(interval: &Interval) -> String {
    let joined = |children: &[Interval], operator: &str| {
        let texts: Vec<String> = children.iter().map(|child| format!("({})", interval_text(child))).collect();
        texts.join(operator)
    };
    let related = |relation: &Relation| {
        let Relation { of, with, comparison, margins: (left, right), negated } = relation;
        let (of, with, not) = (interval_text(of), interval_text(with), if *negated { "NOT " } else { "" });
        match comparison {
            Comparison::Containing => format!("({of}) {not}CONTAINING[{left},{right}] ({with})"),
            Comparison::Inside => format!("({of}) {not}INSIDE[{left},{right}] ({with})"),
            Comparison::Aligned => format!("({of}) ALIGNED ({with})"),
        }
    };
    match interval {
        Interval::Leaf(leaf) => leaf_text(leaf),
        Interval::Phrase(leaves) => phrase_text(leaves),
        Interval::Any(children) => joined(children, " OR "),
        Interval::All(children) => joined(children, " AND "),
        Interval::Ordered(children) => joined(children, " < "),
        Interval::Window(inside, positions) => window_text(inside, *positions),
        Interval::Related(relation) => related(relation),
    }
}

fn filter_text(filter: &Filter) -> String {
    match filter {
        Filter::Site(host) => format!("site:{host}"),
        Filter::Language(code) => format!("lang:{code}"),
        Filter::Kind(kind) => format!("type:{kind}"),
        Filter::Before(day) => format!("before:1970-01-{:02}", day + 1),
        Filter::After(day) => format!("after:1970-01-{:02}", day + 1),
    }
}

/// The text in parentheses, with a NOT before them.
fn part_text(query: &Query) -> String {
    match query {
        Query::Not(inside) if *query != Query::everything() => format!("NOT ({})", query_text(inside)),
        _ => format!("({})", query_text(query)),
    }
}

fn query_text(query: &Query) -> String {
    match query {
        Query::Leaf(leaf) => leaf_text(leaf),
        Query::Interval(interval) => interval_text(interval),
        Query::Filter(filter) => filter_text(filter),
        Query::And(children) => children.iter().map(part_text).collect::<Vec<_>>().join(" AND "),
        Query::Not(_) => "*".into(),
        Query::Group { required, optional, excluded } if required.is_empty() && excluded.is_empty() => {
            optional.iter().map(part_text).collect::<Vec<_>>().join(" OR ")
        }
        Query::Group { required, optional, excluded } => {
            let signed = |sign: &str, queries: &[Query]| -> Vec<String> {
                queries.iter().map(|query| format!("{sign}{}", part_text(query))).collect()
            };
            [signed("+", required), signed("", optional), signed("-", excluded)].concat().join(" ")
        }
        Query::Boost(inside, factor) => format!("({})^{factor}", query_text(inside)),
    }
}

proptest! {
    #[test]
    fn a_tree_is_what_its_text_means(query in any_query()) {
        let text = query_text(&query);
        prop_assert_eq!(parsed(&text).map_err(|error| error.to_string()), Ok(query), "{}", text);
    }
}
