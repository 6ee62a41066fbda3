mod oracle;

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const URL: &str = "http://example.com/2024/05/";

fn page(html: &str) -> Page {
    parse(html.as_bytes(), URL, Some("text/html; charset=utf-8"))
}

#[test]
fn text_is_what_a_reader_sees() {
    let cases = [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("un<b>brok</b>en <i>wor</i>d<wbr>s", "unbroken words"),
        ("a<br>b<div>c<div>d</div></div>e", "a\nb\nc\nd\ne"),
        ("  a \n\t b&nbsp;&amp; c &eacute;&#x20AC; ", "a b & c é€"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1 2\n3"),
        ("a<!-- comment -->b", "ab"),
        ("soft\u{ad}hyphen &shy;", "softhyphen"),
        ("a<script>if (1 < 2) '<p>x'</script><style>p {}</style>b", "ab"),
        ("a<noscript><p>x</noscript>b", "a\nxb"),
        ("a<svg><![CDATA[</svg>x]]></svg>b<![CDATA[c]]>d", "abd"),
        ("<math><mi>x<![CDATA[<]]>y</math>", "x<y"),
        ("a<template>x<template>y</template>z<script></template></script></template>b", "ab"),
        ("a<svg><title>x</title><style/><text>y</text><svg/></svg>b", "ab"),
        ("a<svg><path><p>b", "a\nb"),
        ("<title>t</title><body>a<title>u</title>b", "ab"),
        ("<head><title>t</title>in the head", "in the head"),
        ("<nav>menu</nav>body<footer>foot</footer>", "menu\nbody\nfoot"),
        ("<textarea>a<b></textarea> c", "a<b> c"),
        ("<p>a</p", "a"),
        ("</svg></p></h1></a></template>a", "a"),
        ("", ""),
    ];
    for (html, text) in cases {
        assert_eq!(page(html).text, text, "{html}");
    }
}

#[test]
fn zones_are_apart() {
    let found = page(
        "<html lang=IT-it><title> A &lt;b&gt;\n title </title><title>second</title>\
         <h1>First<br>heading</h1><p>text</p><h3></h3><h6>last <a href=/x>one</a>",
    );
    assert_eq!(found.title, "A <b> title");
    assert_eq!(found.headings, ["First heading", "last one"]);
    assert_eq!(found.text, "First\nheading\ntext\nlast one");
    assert_eq!(found.language.as_deref(), Some("it"));
}

#[test]
fn an_open_heading_does_not_swallow_the_page() {
    let found = page(&format!("<h1>one<p>{}<h2>two", "word ".repeat(1000)));
    assert_eq!(found.headings.len(), 2);
    assert!(found.headings[0].len() <= 1024);
    assert_eq!(found.headings[1], "two");
}

#[test]
fn links_come_once_in_order_with_their_first_name() {
    let found = page(
        "<a href='../06/'> <img src=i alt=''> </a><a href=b#x>B <img alt=picture>!</a>\
         <a href='/2024/06/#later'>next\n<b>mon</b>th</a><a name=x>no link</a>\
         <map><area href=/area alt='an  area'></map><iframe src=/frame>x</iframe><frame src='/frame2'>\
         <a href=mailto:a@b.example>mail</a><a rel='x NoFollow' href=/secret>s</a><a href=/open>left <p>open",
    );
    let base = "http://example.com";
    let paths: Vec<&str> = found.links.iter().filter_map(|link| link.strip_prefix(base)).collect();
    assert_eq!(paths, ["/2024/06/", "/2024/05/b", "/area", "/frame", "/frame2", "/open"]);
    assert_eq!(found.anchors, ["next month", "B picture !", "an area", "", "", "left open"]);
    assert_eq!(found.same_shape, [true, false, false, false, false, false]);
}

#[test]
fn the_head_has_its_say() {
    let found = page(
        "<base href=//other.example/dir/><base href=/ignored/><link rel='x Canonical' href=page?a=1#b>\
         <meta http-equiv=Refresh content=\"0; URL = 'next'\"><a href=c>c</a>",
    );
    assert_eq!(found.canonical.as_deref(), Some("http://other.example/dir/page?a=1"));
    assert_eq!(found.links, ["http://other.example/dir/next", "http://other.example/dir/c"]);
    assert!(!found.noindex && !found.nofollow);
}

#[test]
fn assets_are_no_links() {
    let found = page(
        "<base href=/b/><link rel='Apple-Touch-Icon' href=touch.png><link rel='SHORTCUT icon' href=/a.ico#x>\
         <link rel=icon href=second.png><link rel=mask-icon href=mask.svg><link rel=stylesheet href=one.css>\
         <link rel='alternate stylesheet' href=other.css><link rel=StyleSheet href=../two.css?v=1>\
         <link rel=stylesheet href=one.css><link rel=stylesheet href=data:text/css,p><link rel=icon><a href=c>c</a>",
    );
    assert_eq!(found.icon.as_deref(), Some("http://example.com/a.ico"));
    assert_eq!(found.styles, ["http://example.com/b/one.css", "http://example.com/two.css?v=1"]);
    assert_eq!(found.links, ["http://example.com/b/c"]);
    assert!(found.nofollow_links.is_empty());
    let touch = page("<link rel=apple-touch-icon-precomposed href=touch.png>");
    assert_eq!(touch.icon.as_deref(), Some("http://example.com/2024/05/touch.png"));
    let many: String =
        (0..MAX_STYLES + 5).map(|number| format!("<link rel=stylesheet href=/{number}>")).collect();
    assert_eq!(page(&many).styles.len(), MAX_STYLES);
    let plain = parse_text(b"<link rel=icon href=/a.ico>", None);
    assert_eq!((plain.icon, plain.styles.len()), (None, 0));
}

#[test]
fn robots_are_told() {
    let cases = [
        ("NoIndex", true, false),
        ("index, nofollow", false, true),
        ("none", true, true),
        ("noindexing", false, false),
    ];
    for (content, noindex, nofollow) in cases {
        let found = page(&format!("<a href=x>x</a><meta name=ROBOTS content='{content}'>"));
        assert_eq!((found.noindex, found.nofollow), (noindex, nofollow), "{content}");
        assert_eq!(found.links.is_empty(), nofollow);
    }
}

#[test]
fn there_are_no_more_links_than_allowed() {
    let html: String = (0..MAX_LINKS + 5).map(|number| format!("<a href=/{number}>x</a>")).collect();
    assert_eq!(page(&html).links.len(), MAX_LINKS);
}

#[test]
fn the_digest_is_of_the_words() {
    let digest = |html: &str| page(html).digest;
    let one = digest("<title>T</title><p>Some  text</p><p>here</p>");
    assert_eq!(one, digest("<TITLE>t</TITLE><div class=x>some <b>text</b>\nHERE"));
    assert_ne!(one, digest("<title>T</title><p>other text</p><p>here</p>"));
    assert_ne!(one, digest("<title>U</title><p>Some text</p><p>here</p>"));
    assert_ne!(digest("<img src=a>"), digest("<img src=b>"));
}

#[test]
fn converted_text_is_a_page_without_links() {
    let found = parse_text(b"  One   line \r\n\r\n\x0canother\n", None);
    assert_eq!(found.text, "One line\nanother");
    assert_eq!(found.digest, page("<p>one line<p>another").digest);
    assert!(found.links.is_empty());
    let long = "word another thing ".repeat(30);
    assert!(found.simhash.is_none() && page(&long).simhash.is_some());
    assert_eq!(parse_text(long.as_bytes(), None).simhash, page(&long).simhash);
}

#[test]
fn landmarks_are_not_fingerprinted() {
    let words: Vec<String> = (0..80).map(|word| format!("word{}", word * 7 % 31)).collect();
    let text = format!("<p>{}</p>", words.join(" "));
    let alone = page(&text);
    for framed in [
        format!("<header>Site <nav>Home</nav> name</header>{text}<footer>Imprint</footer>"),
        format!("<nav><nav>One</nav> two</nav><main>{text}</main><aside>Read next</aside>"),
        format!("<div role=navigation><div>a</div>b</div>{text}<div role='Search x'>c</div>"),
        format!("<form role=search>Find</form><section role=contentinfo>d</section>{text}"),
        format!("<nav>left open<main>{text}</main>"),
    ] {
        let found = page(&framed);
        assert_eq!(found.simhash, alone.simhash, "{framed}");
        assert_ne!(found.digest, alone.digest, "{framed}");
    }
    for content in [
        format!("<article><header>By A. Writer</header>{text}</article>"),
        format!("<main><footer>Of the text</footer>{text}</main>"),
        format!("<div role=main>Content</div>{text}"),
        format!("</nav></section>Before{text}"),
    ] {
        assert_ne!(page(&content).simhash, alone.simhash, "{content}");
    }
    assert_eq!(page(&format!("<nav>{text}</nav>")).simhash, None);
}

#[test]
fn undeclared_accents_are_right() {
    let found = parse(b"<title>Universit\xe0</title>Perch\xe9 no", URL, None);
    assert_eq!((&*found.title, &*found.text), ("Università", "Perché no"));
}

#[test]
fn a_page_without_an_address_keeps_its_absolute_links() {
    for url in ["", "nonsense", "foo://BAR.É/"] {
        let found = parse("<a href=/x>é</a><a href=http://b.example>".as_bytes(), url, None);
        assert_eq!(found.links, ["http://b.example/"]);
    }
}

#[test]
fn every_kind_of_link_is_followed() {
    let html = "<link rel=next href=/next><link rel='prev' href=/prev><link rel=alternate hreflang=it href=/it>\
        <link rel=alternate type='Text/HTML; charset=utf-8' href=/html><link rel=alternate type=application/rss+xml href=/rss>\
        <link rel='alternate stylesheet' href=/style><link rel=stylesheet href=/style2><link rel=icon href=/icon>\
        <link rel='next nofollow' href=/no><noscript><a href=/plain>p</a><iframe src=/frame></iframe></noscript>\
        <img src=/1.png srcset='/2.png 2x, /3.png 3x'><picture><source srcset=/4.webp></picture>\
        <a href=/ugc rel='ugc sponsored'>u</a><!-- <a href=/comment> --><script>'<a href=/script>'</script>";
    let paths = |found: Page| -> Vec<String> {
        found.links.iter().map(|link| link.trim_start_matches("http://example.com").to_owned()).collect()
    };
    let pages = ["/next", "/prev", "/it", "/html", "/plain", "/frame"];
    let pictures = ["/1.png", "/2.png", "/3.png", "/4.webp"];
    assert_eq!(paths(page(html)), [&pages[..], &["/ugc"]].concat());
    assert_eq!(page(html).vouched, [true, true, true, true, true, true, false]);
    assert_eq!(page(html).nofollow_links, ["http://example.com/no"]);
    let rules = Rules { srcset: true, ..Rules::default() };
    let found = parse_with(html.as_bytes(), URL, None, &rules);
    assert_eq!(paths(found), [&pages[..], &pictures, &["/ugc"]].concat());
}

#[test]
fn the_strongest_of_several_links_to_a_page_counts() {
    let html = "<a rel=nofollow href=/a>no</a><a rel='x UGC' href=/a>ugc</a><a href=/b>b</a><a rel=sponsored href=/b>\
        <a rel='ugc nofollow' href=/c>c</a><a rel=NOFOLLOW href=/d>d</a>";
    let found = page(html);
    assert_eq!(found.links, ["http://example.com/a", "http://example.com/b"]);
    assert_eq!(found.anchors, ["ugc", "b"]);
    assert_eq!(found.vouched, [false, true]);
    assert_eq!(found.nofollow_links, ["http://example.com/c", "http://example.com/d"]);
    let found = page(&format!("<meta name=robots content=nofollow>{html}"));
    assert!(found.links.is_empty() && found.anchors.is_empty());
    assert_eq!(found.nofollow_links.len(), 4);
}

#[test]
fn robots_are_told_by_name_and_in_headers() {
    let told = |html: &str, headers: &[&str]| {
        let rules = Rules { agent: "Crivello", x_robots_tag: headers, ..Rules::default() };
        let found = parse_with(html.as_bytes(), URL, None, &rules);
        (found.noindex, found.nofollow)
    };
    assert_eq!(
        told("<meta name=crivello content=noindex><meta name=robots content=nofollow>", &[]),
        (true, true)
    );
    assert_eq!(told("<meta name=otherbot content=none>", &["otherbot: none"]), (false, false));
    assert_eq!(told("<p>text", &["max-snippet: 3", "crivello: noindex"]), (true, false));
    assert_eq!(told("<p>text", &["none"]), (true, true));
}

/// A quadratic step would take hours here, and recursion would overflow the stack.
#[test]
fn monstrous_pages_take_linear_time() {
    let (start, bytes) = (Instant::now(), crate::size("CRIVELLO_TEST_PAGE_BYTES", 10_000_000));
    for piece in
        ["<div>", "<a href=x>", "<svg>", "<template>", "<h1>x", "<a b='", "&amp", "<!--", "<![CDATA[", "</"]
    {
        page(&piece.repeat(bytes / 10 / piece.len()));
    }
    let links: String =
        (0..100_000).map(|number| format!("<a href='../{number}/x?y#z'>a link</a>")).collect();
    assert_eq!(page(&links).links.len(), MAX_LINKS);
    let nested = page(&"<div><b>x".repeat(bytes / 9));
    assert!(nested.text.len() < bytes / 4 && nested.text.starts_with("x\nx"));
    let attributes = format!("<a {}>x", "b=c ".repeat(1_000_000));
    assert_eq!(page(&attributes).text, "x");
    assert!(start.elapsed() < Duration::from_secs(120));
}

proptest! {
    #[test]
    fn any_bytes_are_a_page(body in prop::collection::vec(any::<u8>(), 0..300), content_type in ".{0,20}") {
        parse(&body, URL, Some(&content_type));
        parse(&body, URL, None);
    }

    #[test]
    fn any_markup_is_a_page_in_order(pieces in prop::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<a href=/1>", "</a>", "<h2>", "</h2>", "<svg>", "</svg>", "<template>", "</template>",
        "<title>", "</title>", "<script>", "</script>", "word", " ", "é漢", "\u{ad}", "&lt;", "<", ">",
        "<img alt=x>", "\0", "<!--", "-->",
    ]), 0..40)) {
        let found = page(&pieces.concat());
        prop_assert_eq!(found.links.len(), found.anchors.len());
        prop_assert_eq!(found.links.len(), found.same_shape.len());
        let anchors = found.anchors.iter().map(String::as_str);
        for text in found.text.lines().chain([&*found.title]).chain(anchors) {
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), text);
        }
        let zones = zones(pieces.concat().as_bytes(), URL, Some("text/html; charset=utf-8"));
        prop_assert_eq!((zones.headings, zones.text), (found.headings, found.text.clone()));
        prop_assert_eq!(&parse_text(found.text.as_bytes(), Some("text/plain; charset=utf-8")).text, &found.text);
        prop_assert_eq!(text(found.text.as_bytes(), Some("text/plain; charset=utf-8")), found.text);
    }
}

#[test]
fn feeds_are_links_on_request() {
    let body = b"<link rel=alternate type='application/rss+xml' href=/rss><link rel='alternate home' \
        type='Application/Atom+XML; charset=utf-8' href=/atom><link rel=alternate type=application/feed+json href=/json>\
        <link rel=stylesheet type=application/rss+xml href=/no><link rel=alternate type=text/css href=/no>";
    let rules = Rules { feeds: true, ..Rules::default() };
    let page = parse_with(body, "http://a.example/", None, &rules);
    assert_eq!(page.links, ["http://a.example/rss", "http://a.example/atom", "http://a.example/json"]);
    assert!(parse(body, "http://a.example/", None).links.is_empty());
}
