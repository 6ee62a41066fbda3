//! From bytes to a page: links, text by zone, language, digest and SimHash, in one pass and without a DOM.
//!
//! Any bytes yield a page: HTML has no fatal syntax errors. Time is linear in the size of the page, 130 to
//! 220 MB/s a core on real ones; memory is at most about eight times its text, most of it for the SimHash,
//! and nesting costs nothing. Each step documents its contract: `charset` (bytes to characters), `tokens`
//! (characters to tags), `extract` (tags to zones), `links` (URLs), `language`.

mod assets;
mod charset;
mod described;
mod elements;
mod extract;
mod flow;
mod language;
mod links;
mod raw;
mod references;
mod robots;
pub mod sitemap;
mod srcset;
mod tag;
mod tokens;
mod words;

use std::borrow::Cow;

use crate::url::{Url, same_shape};

use extract::Extract;
use flow::Flow;
use links::Links;
use robots::Directives;
use words::Words;

pub use assets::{MAX_STYLES, imports};
pub use links::MAX_LINKS;

/// A parsed page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The content of the first `<title>`.
    pub title: String,
    /// The headings of all levels; they are in the text as well.
    pub headings: Vec<String>,
    /// The visible text, one block per line.
    pub text: String,
    /// The canonical URLs that may be followed, each once, in page order.
    pub links: Vec<String>,
    /// The anchor text of each link; may be empty.
    pub anchors: Vec<String>,
    /// Whether the page vouches for each link: its relations are neither `ugc` nor `sponsored`.
    pub vouched: Vec<bool>,
    /// The URLs of the links that may not be followed, each once, in page order.
    pub nofollow_links: Vec<String>,
    /// Whether each link's URL has the same shape as the page's.
    pub same_shape: Vec<bool>,
    /// An ISO 639-1 code.
    pub language: Option<String>,
    /// The encoding of the bytes, by its WHATWG name.
    pub charset: &'static str,
    /// The canonical URL that the page declares (`rel=canonical`).
    pub canonical: Option<String>,
    /// The URL of the icon that the page declares: of the first `rel=icon`, or else `rel=apple-touch-icon`.
    pub icon: Option<String>,
    /// The URLs of its style sheets (`rel=stylesheet`), without alternative ones: each once, in page order, at most
    /// [`MAX_STYLES`]. They are no links, and neither is the icon.
    pub styles: Vec<String>,
    /// The page asks not to be indexed.
    pub noindex: bool,
    /// The page asks that its links not be followed; `links` is then empty.
    pub nofollow: bool,
    /// XXH3-128 of title and text, ignoring case and layout, or of the bytes if there is no text: equal for
    /// the same words in any markup.
    pub digest: u128,
    /// See [`crate::duplicates::of_page`]; `None` if the text outside landmarks is too short.
    pub simhash: Option<u64>,
}

/// Options of the parser, and the response headers that concern robots.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The crawler's name, by which a page may address it alone; case-insensitive.
    pub agent: &'a str,
    /// Whether image URLs (`src` and `srcset`) are links too.
    pub srcset: bool,
    /// Whether the feeds that a page declares (`rel=alternate`) are links too.
    pub feeds: bool,
    /// The values of the X-Robots-Tag headers.
    pub x_robots_tag: &'a [&'a str],
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Rules { agent: "crivello", srcset: false, feeds: false, x_robots_tag: &[] }
    }
}

/// Parses an HTML page found at `url`; if that is invalid, only absolute links are found.
pub fn parse(body: &[u8], url: &str, content_type: Option<&str>) -> Page {
    parse_with(body, url, content_type, &Rules::default())
}

/// Parses an HTML page by `rules`.
pub fn parse_with(body: &[u8], url: &str, content_type: Option<&str>, rules: &Rules) -> Page {
    let url = address(url);
    let (document, charset) = charset::decode(body, content_type, url.as_ref());
    let mut extract = Extract::new(Links::new(url.clone()), rules);
    tokens::read(&document, &mut extract);
    extract.finish();

    let text = extract.text.finish();
    let title = extract.title.finish();
    let found = extract.links.finish(extract.directives.nofollow);
    let own = url.and_then(|url| crate::url::canonical(url.as_str(), None)).unwrap_or_default();
    let words = Words::of(&title, &text, &extract.landmarks, body);
    Page {
        headings: extract.headings,
        same_shape: found.urls.iter().map(|link| same_shape(link, &own)).collect(),
        links: found.urls,
        anchors: found.anchors,
        vouched: found.vouched,
        nofollow_links: found.nofollow,
        language: language::language(extract.declared.as_deref(), &text),
        charset,
        canonical: extract.canonical,
        icon: extract.assets.icon(),
        styles: extract.assets.styles,
        noindex: extract.directives.noindex,
        nofollow: extract.directives.nofollow,
        digest: words.digest,
        simhash: words.simhash,
        title,
        text,
    }
}

/// What the index takes of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zones {
    /// The headings of all levels.
    pub headings: Vec<String>,
    /// The text.
    pub text: String,
    /// When it says that it was written, in days since 1970-01-01.
    pub day: Option<u32>,
}

/// The zones of an HTML page, as [`parse`] finds them, in half the time: without links, language, digest and
/// SimHash.
pub fn zones(body: &[u8], url: &str, content_type: Option<&str>) -> Zones {
    let (document, _) = charset::decode(body, content_type, address(url).as_ref());
    let rules = Rules::default();
    let mut extract = Extract::new(Links::none(), &rules);
    tokens::read(&document, &mut extract);
    extract.finish();
    Zones { headings: extract.headings, text: extract.text.finish(), day: extract.described.day() }
}

fn address(url: &str) -> Option<Url> {
    Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Parses plain text.
pub fn parse_text(body: &[u8], content_type: Option<&str>) -> Page {
    parse_text_with(body, content_type, &Rules::default())
}

/// Parses plain text by `rules`, of which only the robots headers apply to it.
pub fn parse_text_with(body: &[u8], content_type: Option<&str>, rules: &Rules) -> Page {
    let mut directives = Directives::default();
    rules.x_robots_tag.iter().for_each(|value| directives.add_header(value, rules.agent));
    let (normalised, charset) = lines(body, content_type);
    let words = Words::of("", &normalised, &[], body);
    Page {
        title: String::new(),
        headings: Vec::new(),
        links: Vec::new(),
        anchors: Vec::new(),
        vouched: Vec::new(),
        nofollow_links: Vec::new(),
        same_shape: Vec::new(),
        language: language::language(None, &normalised),
        charset,
        canonical: None,
        icon: None,
        styles: Vec::new(),
        noindex: directives.noindex,
        nofollow: directives.nofollow,
        digest: words.digest,
        simhash: words.simhash,
        text: normalised,
    }
}

/// The text of a plain text document, as [`parse_text`] finds it, without anything else.
pub fn text(body: &[u8], content_type: Option<&str>) -> String {
    lines(body, content_type).0
}

/// The characters of a text with markup of its own (Markdown, XML …), found at `url`.
pub fn characters<'a>(body: &'a [u8], content_type: Option<&str>, url: &str) -> Cow<'a, str> {
    charset::decode(body, content_type, address(url).as_ref()).0
}

fn lines(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
    let (text, charset) = charset::decode(body, content_type, None);
    let mut flow = Flow::default();
    for line in text.lines() {
        flow.push(line);
        flow.line();
    }
    (flow.finish(), charset)
}

#[cfg(test)]
mod tests;
