use super::*;

#[track_caller]
fn fails(query: &str, wrong: usize, said: &str) {
    match parsed(query) {
        Err(Error::Query { position, reason, .. }) => {
            assert_eq!((position, reason.as_str()), (wrong, said), "{query}");
        }
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn says_where_it_went_wrong() {
    for (query, position, reason) in [
        ("", 0, "there is no word to search for"),
        ("…", 0, "there is no word to search for"),
        ("è AND", 5, "something is missing at the end"),
        ("a OR OR b", 5, "AND and OR need a word on both sides"),
        ("OR a", 0, "AND and OR need a word on both sides"),
        ("AND a", 0, "AND needs something on both sides"),
        ("a AND )", 6, "something is missing before this parenthesis"),
        ("(a", 0, "this parenthesis is never closed"),
        ("a)", 1, "this parenthesis was never opened"),
        ("a)~3", 1, "this parenthesis was never opened"),
        ("a ()", 2, "there is no word between these parentheses"),
        ("a \"b", 2, "this quote is never closed"),
        ("NOT", 3, "something is missing at the end"),
    ] {
        fails(query, position, reason);
    }
}

#[test]
fn intervals_hold_words_only() {
    for (query, position, reason) in [
        ("< a", 0, "< needs something on both sides"),
        ("a <", 3, "something is missing at the end"),
        ("a < < b", 4, "< needs something on both sides"),
        ("a < .", 4, "< needs a word on both sides"),
        ("INSIDE a", 0, "INSIDE needs something on both sides"),
        ("a NOT ALIGNED b", 6, "ALIGNED needs something on both sides"),
        ("a < -b", 4, "a sign or a NOT cannot stand on a side of <"),
        ("NOT a < b", 0, "a sign or a NOT cannot stand on a side of <"),
        ("a < (b -c)", 4, "a sign or a NOT cannot stand on a side of <"),
        ("a < (b AND NOT c)", 4, "a NOT cannot stand on a side of <"),
        ("a CONTAINING b^2", 13, "a boost cannot stand on a side of CONTAINING"),
        ("site:x INSIDE b", 0, "a filter cannot stand on a side of INSIDE"),
        ("(a site:x) < b", 0, "a filter cannot stand on a side of <"),
        ("a ALIGNED *", 10, "a lone * cannot stand on a side of ALIGNED"),
        ("a CONTAINING[2] b", 12, "margins are two numbers, such as [2,3]"),
        ("a INSIDE[2,x] b", 8, "margins are two numbers, such as [2,3]"),
        ("a INSIDE[2,3 b", 8, "margins are two numbers, such as [2,3]"),
        ("a INSIDE[2,1000001] b", 8, "a margin is at most 1,000,000"),
        ("è \"a b c\"~2", 9, "a window has no fewer positions than words"),
        ("\"a b\"~", 5, "a window needs a number, as in ~8"),
        ("\"a b\"~9999999999", 5, "a window has at most 1,000,000 positions"),
        ("(a b)~0", 5, "a window has no fewer positions than words"),
        ("(a -b)~3", 0, "a sign or a NOT cannot stand in a window"),
    ] {
        fails(query, position, reason);
    }
}

#[test]
fn fields_and_suffixes_need_their_values() {
    let kinds = "type: needs one of these after it: html, text, pdf, feed, office, other";
    for (query, position, reason) in [
        ("a title: b", 2, "title: needs a word after it"),
        ("title:", 0, "title: needs a word after it"),
        ("title:…", 0, "title: needs a word after it"),
        ("(heading:)", 1, "heading: needs a word after it"),
        ("title:()", 6, "there is no word between these parentheses"),
        ("site:", 0, "site: needs a host after it, such as example.org"),
        ("lang:italian", 0, "lang: needs a language after it, such as en"),
        ("a type:exe", 2, kinds),
        ("before:2023-02-29", 0, "before: needs a day after it, such as 2024-05-01, 2024-05 or 2024"),
        ("after: 2024", 0, "after: needs a day after it, such as 2024-05-01, 2024-05 or 2024"),
        ("è a*", 3, "a prefix needs at least two letters"),
        ("foo-b*", 5, "a prefix needs at least two letters"),
        ("foo*~1", 4, "a prefix cannot be fuzzy too"),
        ("word~3", 4, "a fuzzy word has one or two changes, as in ~1"),
        ("well-known~", 10, "only a single word can be fuzzy"),
        ("a^0", 1, "a boost is more than 0 and at most 1000"),
        ("(a b)^1000.5", 5, "a boost is more than 0 and at most 1000"),
    ] {
        fails(query, position, reason);
    }
}

#[test]
fn depth_length_and_words_are_limited() {
    for query in ["(".repeat(100_000), "(".repeat(5000), "NOT ".repeat(2000) + "a", "-+".repeat(2500) + "a"] {
        assert!(matches!(parsed(&query), Err(Error::Query { .. })));
    }
    assert!(parsed(&"a ".repeat(MOST_LEAVES)).is_ok());
    fails(&"a ".repeat(MOST_LEAVES + 1), 2 * MOST_LEAVES, "a query has at most 1,000 words");
    fails(&format!("\"{}\"", "a ".repeat(MOST_LEAVES + 1)), 0, "a query has at most 1,000 words");
    let chain = "a ALIGNED ".repeat(MOST_RELATIONS);
    assert!(parsed(&format!("{chain}a")).is_ok());
    let reason = "a query has at most 50 operators CONTAINING, INSIDE and ALIGNED";
    fails(&format!("{chain}a ALIGNED a"), chain.len() + 2, reason);
    assert!(parsed(&format!("{}a", "a < ".repeat(900))).is_ok());
    let nested = format!("{}a{}", "(".repeat(DEEPEST), ")".repeat(DEEPEST));
    means(&nested, term("a"));
    fails(&format!("({nested})"), DEEPEST, "the query is nested more than 50 deep");
}
