//! The examples of RFC 9309, and robots.txt files as found in practice.

use proptest::prelude::*;

use super::*;

const SITE: &str = "http://a.example";

fn allowed(robots: &str, agent: &str, path: &str) -> bool {
    Robots::parse(robots.as_bytes(), agent).allows(&format!("{SITE}{path}")).allowed
}

fn check(rules: &str, yes: &[&str], no: &[&str]) {
    let robots = format!("User-agent: *\n{rules}\n");
    for path in yes {
        assert!(allowed(&robots, "bot", path), "{rules:?} forbids {path}");
    }
    for path in no {
        assert!(!allowed(&robots, "bot", path), "{rules:?} allows {path}");
    }
}

#[test]
fn the_simple_example_of_the_rfc() {
    let robots = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
                  User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
                  User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
                  User-Agent: quxbot\n";
    for (agent, path, expected) in [
        ("other", "/x.gif", false),
        ("other", "/x.gif?a", true),
        ("other", "/example/", false),
        ("other", "/publications/", true),
        ("FooBot/2.1", "/", false),
        ("foobot", "/example/page.html", true),
        ("foobot", "/example/allowed.gif", true),
        ("foobot", "/example/other", false),
        ("barbot", "/example/page.html", false),
        ("bazbot", "/example/page.html", false),
        ("bazbot", "/example/", true),
        ("quxbot", "/example/page.html", true),
    ] {
        assert_eq!(allowed(robots, agent, path), expected, "{agent} {path}");
    }
}

#[test]
fn the_longest_match_decides() {
    let longest = "Allow: /example/page/\nDisallow: /example/page/disallowed.gif";
    check(longest, &["/example/page/", "/example/page/x"], &["/example/page/disallowed.gif"]);
    check("Disallow: /a\nAllow: /a", &["/a"], &[]);
    check("Disallow: /?\nAllow: *$", &["/?a"], &[]);
    check("Disallow: /?a\nAllow: *$", &["/?b"], &["/?a"]);
    check("Allow: /p\nDisallow: /", &["/p"], &["/q"]);
    check("Allow: /$\nDisallow: /", &["/"], &["/page.htm"]);
    check("Allow: /page\nDisallow: /*.htm", &["/page"], &["/page.htm"]);
}

#[test]
fn wildcards_and_anchors() {
    check(
        "Disallow: /fish",
        &["/Fish.asp", "/catfish", "/?id=fish"],
        &["/fish", "/fish.html", "/fish/x", "/fishheads"],
    );
    check("Disallow: /*.php$", &["/a.php?b", "/a.php/", "/a.php5"], &["/a.php", "/b/c.php"]);
    check("Disallow: /fish*.php", &["/Fish.PHP", "/fis.php"], &["/fish.php", "/fishheads/x.php?y"]);
    check("Disallow: /a*b*c$", &["/abcd", "/acb"], &["/abc", "/axxbxxc", "/abcbc"]);
    check("Disallow: *", &[], &["/", "/a"]);
    check("Disallow: /a$b\nDisallow: /star%2A", &["/a", "/starx"], &["/a$b", "/star*"]);
    check("Disallow: $\nDisallow: x", &["/", "/x"], &[]);
}

#[test]
fn escapes_are_compared_as_octets() {
    check("Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", &[], &["/foo/bar?baz=https://foo.bar"]);
    check("Disallow: /foo/bar?baz=https://foo.bar", &[], &["/foo/bar?baz=https%3a%2f%2Ffoo.bar"]);
    check("Disallow: /foo/bar/ツ", &[], &["/foo/bar/%E3%83%84"]);
    check("Disallow: /foo/bar/%e3%83%84", &[], &["/foo/bar/%E3%83%84"]);
    check("Disallow: /foo/bar/%62%61%7A", &[], &["/foo/bar/baz"]);
    check("Disallow: /a%2Fb", &["/a/b"], &["/a%2Fb"]);
    check("Disallow: /a b{", &[], &["/a%20b%7B"]);
    check("Disallow: /100%\nDisallow: /x%zz", &[], &["/100%", "/x%zz1"]);
}

#[test]
fn groups_are_merged_and_the_most_specific_counts() {
    let robots = "user-agent: News\nuser-agent: other\ndisallow: /a\n\nuser-agent: *\ndisallow: /\n\
                  USER-AGENT : news/2.0\ndisallow : /b # why\nuser-agent: news-images\nallow: /";
    for (agent, path, expected) in [
        ("news", "/a", false),
        ("NEWS/1.0", "/b", false),
        ("news", "/c", true),
        ("news-video", "/a", false),
        ("news-images", "/a", true),
        ("newsreader", "/c", false),
        ("", "/c", false),
        ("other", "/b", true),
    ] {
        assert_eq!(allowed(robots, agent, path), expected, "{agent} {path}");
    }
}

#[test]
fn other_lines_do_not_end_a_group() {
    let robots = "disallow: /before\nuser-agent: a\nsitemap: http://a.example/s.xml\nfoo: bar\n\ncrawl-delay: 2\n\
                  user-agent: b\ndisallow: /x\nsitemap: /t.xml\ndisallow: /y\n";
    for agent in ["a", "b"] {
        assert!(!allowed(robots, agent, "/x") && !allowed(robots, agent, "/y"));
        assert!(allowed(robots, agent, "/before"));
    }
    let parsed = Robots::parse(robots.as_bytes(), "none");
    assert_eq!(parsed.sitemaps().collect::<Vec<_>>(), ["http://a.example/s.xml", "/t.xml"]);
    assert_eq!(parsed.allows("http://a.example/x").line, None);
}

#[test]
fn lines_end_and_are_misspelled_in_many_ways() {
    for robots in [
        "\u{feff}User-agent: *\r\nDisallow: /x\r\n",
        "User-agent: *\rDisallow: /x",
        "useragent: *\ndisalow: /x#comment",
        "User-agent *\nDisallow /x",
        "\n\n  user agent :\t*  \n\tDISSALLOW:/x  ",
        "<html>\u{0}\nUser-agent: * x\nDisallow: /x",
    ] {
        assert!(!allowed(robots, "bot", "/x"), "{robots:?}");
        assert!(allowed(robots, "bot", "/"), "{robots:?}");
    }
    check("Disallow:\nAllow:", &["/", "/x"], &[]);
}

#[test]
fn the_verdict_names_its_line() {
    let robots = Robots::parse(b"# one\r\nuser-agent: *\r\rdisallow: /%7ea\nallow: /~a/b", "bot");
    let verdict = robots.allows("https://a.example:8080/~a?b");
    assert_eq!(verdict, Verdict { allowed: false, line: Some(4), rule: Some("Disallow: /~a".to_owned()) });
    assert_eq!(robots.allows("https://a.example/~a/b").line, Some(5));
    assert_eq!(robots.allows("https://a.example/").line, None);
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    check("Disallow: /", &["/robots.txt", "/robots.txt?x"], &["/robots.txt/", "/", ""]);
    assert!(Robots::allow_all().allows("http://a.example/").allowed);
}

#[test]
fn delays_are_those_of_the_group() {
    let delay = |rules: &str| {
        let robots = format!("User-agent: other\nCrawl-delay: 99\n\nUser-agent: *\nDisallow:\n{rules}");
        Robots::parse(robots.as_bytes(), "bot").crawl_delay().map(|delay| delay.as_secs_f64())
    };
    for (rules, expected) in [
        ("Crawl-delay: 2.5", Some(2.5)),
        ("crawl-delay: 1\ncrawl-delay: 3", Some(3.0)),
        ("Request-rate: 1/5", Some(5.0)),
        ("Request-rate: 30/1m 0600-0845", Some(2.0)),
        ("Request-rate: 1/2\nCrawl-delay: 1", Some(2.0)),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: NaN", None),
        ("Crawl-delay: 1e300", None),
        ("Crawl-delay: soon", None),
        ("Request-rate: 0/5", None),
        ("Request-rate: 1/5x", None),
        ("", None),
    ] {
        assert_eq!(delay(rules), expected, "{rules}");
    }
}

#[test]
fn only_whole_lines_of_the_first_500_kib_count() {
    let mut body = b"user-agent: *\ndisallow: /a\n".to_vec();
    body.resize(MAX_BYTES - 11, b'#');
    body.extend(b"\ndisallow: /bc\ndisallow: /d\n");
    body.resize(100 << 20, b'x');
    let robots = Robots::parse(&body, "bot");
    let allowed = |path: &str| robots.allows(&format!("{SITE}{path}")).allowed;
    assert!(!allowed("/a"));
    assert!(allowed("/b") && allowed("/bc") && allowed("/d"));
    assert!(robots.bytes() < 200, "{}", robots.bytes());
}

#[test]
fn many_stars_take_no_longer_than_few() {
    let mut body = b"user-agent: *\n".to_vec();
    for _ in 0..100 {
        body.extend_from_slice(b"disallow: /");
        body.extend_from_slice(&b"*a".repeat(1000));
        body.extend_from_slice(b"b\n");
    }
    let robots = Robots::parse(&body, "bot");
    let path = "a".repeat(2000);
    let start = std::time::Instant::now();
    assert!(robots.allows(&format!("{SITE}/{path}")).allowed);
    assert!(start.elapsed().as_secs() < 5);
}

/// A backtracking matcher.
fn slow(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|start| slow(rest, &path[start..])),
        [byte, rest @ ..] => path.first() == Some(byte) && slow(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn matches_as_the_obvious_matcher_does(pattern in "[/*][ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
        prop_assert_eq!(pattern::matches(pattern.as_bytes(), path.as_bytes()), slow(pattern.as_bytes(), path.as_bytes()));
    }

    #[test]
    fn normal_forms_stay(path in "/[ -~é]{0,20}") {
        let once = pattern::normal_path(&path);
        let text = String::from_utf8(once.clone()).unwrap();
        prop_assert_eq!(pattern::normal_path(&text), once);
    }

    #[test]
    fn any_bytes_are_read(body in prop::collection::vec(any::<u8>(), 0..300), agent in ".{0,10}", path in ".{0,30}") {
        Robots::parse(&body, &agent).allows(&path);
    }

    #[test]
    fn any_lines_are_read(
        body in "((user-agent|allow|disallow|crawl-delay|request-rate|sitemap|é)[: ]{0,2}[*/$%a-c0-9]{0,6}[\r\n#]{1,2}){0,12}",
        path in "/[*$%a-c0-9?]{0,9}",
    ) {
        let robots = Robots::parse(body.as_bytes(), "a");
        let verdict = robots.allows(&format!("{SITE}{path}"));
        prop_assert_eq!(verdict.line.is_some(), verdict.rule.is_some());
    }
}
