use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { entries: 50_000, images: false };
const AT: &str = "https://a.example/sitemap.xml";

fn sitemap(body: &str) -> Option<Sitemap> {
    read(body.as_bytes(), AT, None, LIMITS)
}

fn urls(body: &str) -> Vec<String> {
    sitemap(body).unwrap().entries.into_iter().map(|entry| entry.url).collect()
}

#[test]
fn a_urlset_has_urls_with_dates() {
    let found = sitemap(
        "\u{feff}<?xml version='1.0'?>\n<!-- made > by hand -->\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
        <url><loc> https://a.example/?a=1&amp;b=2 </loc><lastmod>2024-05-01T12:00:00+02:00</lastmod>
        <changefreq>always</changefreq><priority>1.0</priority></url>
        <url><loc><![CDATA[https://a.example/<x>]]></loc><lastmod>yesterday</lastmod></url>
        <url><loc>/relative</loc><lastmod>2024-05</lastmod></url>
        <url><loc>mailto:a@a.example</loc></url><url/></urlset>",
    )
    .unwrap();
    let entry = |url: &str, lastmod| Entry { url: url.to_owned(), lastmod, title: String::new() };
    assert_eq!(
        found.entries,
        [
            entry("https://a.example/?a=1&b=2", Some(1_714_557_600.0)),
            entry("https://a.example/%3Cx%3E", None),
            entry("https://a.example/relative", Some(1_714_521_600.0)),
        ]
    );
    assert!(!found.is_index && !found.cut);
}

#[test]
fn an_index_has_sitemaps() {
    let found = sitemap(
        "<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>http://a.example/1.xml.gz</sm:loc>\
         <sm:lastmod>1970-01-02</sm:lastmod></sm:sitemap></sm:sitemapindex>",
    )
    .unwrap();
    assert!(found.is_index);
    assert_eq!(found.entries[0].url, "http://a.example/1.xml.gz");
    assert_eq!(found.entries[0].lastmod, Some(86_400.0));
}

#[test]
fn extensions_add_alternates_news_and_images() {
    let body = "<urlset><url><loc>http://a.example/en</loc>\
        <xhtml:link rel='alternate' hreflang='it' href='http://a.example/it?a=1&amp;b'/>\
        <xhtml:link rel='stylesheet' href='http://a.example/style'/>\
        <news:news><news:publication><news:name>The A</news:name></news:publication>\
        <news:publication_date>1970-01-01T00:00:07Z</news:publication_date>\
        <news:title>Lava\n flows</news:title></news:news>\
        <image:image><image:loc>http://a.example/lava.png</image:loc><image:title>x</image:title></image:image>\
        </url></urlset>";
    let found = sitemap(body).unwrap().entries;
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].title.as_str(), found[0].lastmod), ("Lava flows", Some(7.0)));
    assert_eq!(found[1].url, "http://a.example/it?a=1&b");
    let with_images = read(body.as_bytes(), AT, None, Limits { images: true, ..LIMITS }).unwrap();
    assert_eq!(with_images.entries[2].url, "http://a.example/lava.png");
}

#[test]
fn broken_xml_yields_what_is_whole() {
    assert_eq!(
        urls(
            "<urlset><url><loc>http://a.example/1?a=1&b=2<url><loc>http://a.example/2</loc><url><loc>http://a.example/3"
        ),
        ["http://a.example/1?a=1&b=2", "http://a.example/2", "http://a.example/3"]
    );
    assert_eq!(
        urls(
            "<urlset a=\"b><url><loc>http://a.example/1</loc></url><url 2 < 3><loc>http://a.example/2</loc></URL>"
        ),
        ["http://a.example/1", "http://a.example/2"]
    );
}

#[test]
fn entities_are_never_expanded() {
    let laughs = "<!DOCTYPE urlset [<!ENTITY a 'http://a.example/'><!ENTITY b '&a;&a;'>]>\
        <urlset><url><loc>&b;</loc></url><url><loc>http://a.example/x</loc></url></urlset>";
    assert_eq!(urls(laughs), ["https://a.example/&b;", "http://a.example/x"]);
}

#[test]
fn a_text_has_a_url_a_line() {
    assert_eq!(
        urls("http://a.example/1\r\n\n https://a.example/2 \n"),
        ["http://a.example/1", "https://a.example/2"]
    );
    for other in
        ["http://a.example/1\nand more", "http://a.example/ is a site", "", "words", "<html>", "<url>"]
    {
        assert_eq!(sitemap(other), None, "{other}");
    }
    assert_eq!(sitemap("text <urlset>"), None);
}

#[test]
fn no_more_entries_than_allowed_are_read() {
    let body: String = (0..12).map(|n| format!("<url><loc>http://a.example/{n}</loc></url>")).collect();
    let body = format!("<urlset>{body}</urlset>");
    let few = |entries| read(body.as_bytes(), AT, None, Limits { entries, images: false }).unwrap();
    assert_eq!((few(10).entries.len(), few(10).cut), (10, true));
    assert_eq!((few(12).entries.len(), few(12).cut), (12, false));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(body in "(<urlset>|<sitemapindex>|<a:urlset>|http://)?([<>/!?&;'\"= a\\[\\]-]|<url>|<loc>|</loc>|<!--|]]>|http://a/|é){0,60}") {
        let _ = sitemap(&body);
    }

    #[test]
    fn what_is_written_is_read(paths in prop::collection::vec(("[a-z&<>'\"=?]{1,20}", 0..4_000_000_000_u32), 0..20)) {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let mut body = "<urlset>".to_owned();
        let mut expected = Vec::new();
        for (path, seconds) in &paths {
            let url = format!("https://a.example/{path}");
            let when = std::time::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(*seconds));
            body += &format!("<url><loc>{}</loc><lastmod>{}</lastmod></url>", escaped(&url), crate::calendar::timestamp(when));
            expected.push((crate::url::canonical(&url, None).unwrap(), f64::from(*seconds)));
        }
        let found = sitemap(&(body + "</urlset>")).unwrap().entries;
        let found: Vec<_> = found.into_iter().map(|entry| (entry.url, entry.lastmod.unwrap())).collect();
        prop_assert_eq!(found, expected);
    }
}
