//! Edits of a query's text, by what the parser found in it.

use super::anything::near_query;
use super::*;
use crate::search::language::text::QueryText;
use proptest::prelude::*;

fn with_text<T>(query: &str, make: impl FnOnce(QueryText<'_>) -> T) -> T {
    let analyzer = Analyzer::new(Language::of(None));
    make(QueryText::new(query, &analyzer))
}

fn plain(query: &str) -> String {
    with_text(query, |text| text.plain_words())
}

fn unquoted(query: &str) -> String {
    with_text(query, |text| text.unquoted())
}

/// The removable filters, and then the others, in parentheses.
fn filters(query: &str) -> Vec<String> {
    let told = |filter: PlacedFilter| {
        let text = format!("{}{}:{}", if filter.negated { "-" } else { "" }, filter.name, filter.value);
        if filter.removable { text } else { format!("({text})") }
    };
    with_text(query, |text| text.filters().into_iter().map(told).collect())
}

#[test]
fn a_language_is_required_by_a_filter_beside_everything_else() {
    for (query, language) in [
        ("vento lang:it", Some("it")),
        ("vento AND language:IT-ch", Some("it")),
        ("+lang:it (vento OR mare)", Some("it")),
        ("vento", None),
        ("vento -lang:it", None),
        ("vento OR lang:it", None),
        ("(vento lang:it) mare", None),
        ("vento AND lang:it mare", None),
    ] {
        assert_eq!(with_text(query, |text| text.language()).as_deref(), language, "{query}");
    }
}

#[test]
fn filters_are_told_in_canonical_form() {
    for (query, found) in [
        ("wind site:https://A.example/x", vec!["site:a.example"]),
        ("language:it wind -type:PDF", vec!["lang:it", "-type:pdf"]),
        ("NOT lang:pt-BR +after:2024", vec!["-lang:pt", "after:2024-01-01"]),
        ("-+lang:it -(lang:en)", vec!["-lang:it", "(lang:en)"]),
        ("site:a.example", vec!["site:a.example"]),
        ("(wind site:a.example) moon", vec!["(site:a.example)"]),
        ("wind OR site:a.example", vec!["(site:a.example)"]),
        ("wind site:a.example moon OR storm", vec!["(site:a.example)"]),
        ("wind AND lang:en moon", vec!["(lang:en)"]),
        ("\"site:a.example\" website:a.example url::x", vec![]),
        ("SITE:a.example", vec![]),
        ("wind type:exe site:a.example", vec![]),
    ] {
        assert_eq!(filters(query), found, "{query}");
    }
}

#[test]
fn a_query_without_its_filters_is_a_query() {
    let without = |query: &str| {
        with_text(query, |text| {
            let spans: Vec<_> =
                text.filters().into_iter().filter(|one| one.removable).map(|one| one.span).collect();
            text.without(&spans)
        })
    };
    assert_eq!(without("wind  site:a.example -lang:it  \"è  x\""), "wind \"è  x\"");
    assert_eq!(without("\"a\"site:x(b)"), "\"a\" (b)");
    assert_eq!(without("NOT site:x … "), "*");
    assert_eq!(without("a OR site:x"), "a OR site:x");
}

#[test]
fn a_clause_holds_for_the_whole_query() {
    let narrowed = |query: &str| with_text(query, |text| text.narrowed("type:pdf"));
    assert_eq!(narrowed(" wind AND moon "), "wind AND moon type:pdf");
    assert_eq!(narrowed("wind OR moon"), "(wind OR moon) type:pdf");
    assert_eq!(narrowed("(wind OR moon)"), "(wind OR moon) type:pdf");
    assert_eq!(narrowed("\"wind OR moon\""), "\"wind OR moon\" type:pdf");
}

#[test]
fn plain_words_are_those_that_are_wanted() {
    for (query, words) in [
        ("sun INSIDE \"solar flare\"~9", "sun solar flare"),
        ("sun NOT INSIDE[1,2] (flare < x)", "sun"),
        ("\"sun AND -moon\" AND title:it*^2", "sun and moon it"),
        ("jaguar -car -\"big cat\" NOT (a b)", "jaguar"),
        ("language:it wind +c++ std::vector x<y --force", "wind c++ std::vector x<y --force"),
        ("title:site:a", "site a"),
        ("* < … -", ""),
        // A query that does not parse has words, too.
        ("moon (site:a.example -lang:it after:never ice", "moon ice"),
        ("\"solar wind AND (moon", "solar wind moon"),
        ("wind) OR OR storm)~3 INSIDE[ x", "wind storm x"),
        ("-(\" AND", ""),
    ] {
        assert_eq!(plain(query), words, "{query}");
    }
}

#[test]
fn every_operator_and_every_name_is_left_out_of_plain_words() {
    for operator in operators() {
        for query in
            [format!("sun {operator} moon"), format!("sun {operator} (moon)"), format!("{operator} sun")]
        {
            let words = plain(&query);
            assert!(words.split(' ').all(|word| ["", "sun", "moon"].contains(&word)), "{query}: {words}");
        }
        let quoted = plain(&format!("\"sun {operator}\""));
        assert_eq!(quoted.trim(), format!("sun {}", operator.to_lowercase().replace('<', "")).trim());
    }
    for (name, canonical, is_filter) in fields() {
        let value = ["example.org", "it", "pdf", "2024"]
            .into_iter()
            .find(|value| parsed(&format!("{name}:{value}")).is_ok())
            .unwrap();
        let query = format!("sun {name}:{value}");
        let wanted = if is_filter { "sun".into() } else { format!("sun {value}") };
        assert_eq!(plain(&query), wanted);
        let found = filters(&query);
        assert_eq!(found.len(), usize::from(is_filter), "{query}");
        assert!(found.iter().all(|filter| filter.starts_with(&format!("{canonical}:"))), "{found:?}");
    }
}

#[test]
fn phrases_become_loose_words() {
    for (query, loose) in [
        ("\"solar wind\" moon", "solar wind moon"),
        ("a\"b c\"~8 d title:\"e f\"^2", "a b c d title:(e f)^2"),
        ("+\"a b\" -\"c d\" (\"e\" < \"f g\"~9)", "+(a b) -\"c d\" (e < (f g))"),
        ("\"a OR b\"", "a or b"),
        ("\"a b", "a b"),
    ] {
        assert_eq!(unquoted(query), loose, "{query}");
    }
}

#[test]
fn only_what_stands_for_itself_may_be_misspelt() {
    let query = "pyhton AND \"città è\" site:a.b x* y~1 -no NOT never (ok) +must title:it a^2 < b -(c d)";
    let words = with_text(query, |text| text.wanted());
    let found: Vec<&str> =
        words.into_iter().filter(|word| word.plain).map(|word| &query[word.span]).collect();
    assert_eq!(found, ["pyhton", "città", "è", "ok", "a", "b"]);
}

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => near_query(), 1 => "[ab ()\"+\\-:*~^<]{0,30}", 1 => ".{0,60}", 1 => "(a-){0,700}(b ){0,700}"]
}

proptest! {
    #[test]
    fn plain_words_of_any_text_parse_to_words(query in some_text()) {
        let words = plain(&query);
        if words.is_empty() {
            return Ok(());
        }
        let tree = parsed(&words);
        prop_assert!(tree.is_ok(), "{:?}: {:?}", words, tree);
        prop_assert_eq!(plain(&words), words.clone());
        let loose = unquoted(&query);
        prop_assert!(loose.is_empty() || parsed(&loose).is_ok(), "{:?}", loose);
    }

    #[test]
    fn a_filter_that_is_taken_out_can_be_put_back(query in near_query()) {
        for filter in with_text(&query, |text| text.filters()).into_iter().filter(|filter| filter.removable) {
            let rest = with_text(&query, |text| text.without(std::slice::from_ref(&filter.span)));
            prop_assert!(parsed(&rest).is_ok(), "{:?}", rest);
            let sign = if filter.negated { "-" } else { "" };
            let clause = format!("{sign}{}:{}", filter.name, filter.value);
            let back = with_text(&rest, |text| text.narrowed(&clause));
            prop_assert_eq!(clauses(&parsed(&back).unwrap()), clauses(&parsed(&query).unwrap()), "{:?}", back);
        }
    }
}

/// The clauses of a query that all must match, in canonical order: an excluded one, alone or in a group, is a
/// NOT.
fn clauses(query: &Query) -> Vec<String> {
    fn gather(query: &Query, found: &mut Vec<String>) {
        match query {
            Query::And(parts) => parts.iter().for_each(|part| gather(part, found)),
            Query::Group { required, optional, excluded } if !excluded.is_empty() => {
                found.extend(excluded.iter().map(negation));
                if !(required.is_empty() && optional.is_empty()) {
                    let (required, optional) = (required.clone(), optional.clone());
                    gather(&Query::Group { required, optional, excluded: Vec::new() }, found);
                }
            }
            Query::Group { required, optional, .. } if required.len() + optional.len() == 1 => {
                required.iter().chain(optional).for_each(|part| gather(part, found));
            }
            Query::Not(part) if *query != Query::everything() => found.push(negation(part)),
            _ if *query == Query::everything() => {}
            other => found.push(format!("{other:?}")),
        }
    }
    fn negation(part: &Query) -> String {
        match part {
            Query::Not(inside) => match inside.as_ref() {
                Query::Not(twice) => negation(twice),
                once => format!("{once:?}"),
            },
            other => format!("Not({other:?})"),
        }
    }
    let mut found = Vec::new();
    gather(query, &mut found);
    found.sort();
    found
}
