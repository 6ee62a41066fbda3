//! Sitemaps (sitemaps.org 0.9): what a site says about its own URLs.
//!
//! [`read`] takes a `urlset`, a `sitemapindex` or a text file of URLs, and returns its entries in file order;
//! `None` if the body is none of these. The root element or the lines decide, not the media type, which is
//! wrong more often than not. Of the extensions it reads the language alternates (`xhtml:link`), the title and
//! the date of news, and the URLs of images on request. `priority` and `changefreq` are ignored: sites set
//! them to constants, and no large search engine reads them.
//!
//! Broken XML yields the entries that are whole. No entity is ever defined or expanded, so there are no entity
//! bombs. Time is linear in the size of the body; memory is the body, which a caller limits, and
//! [`Limits::entries`] entries.

mod xml;

use std::borrow::Cow;

use super::charset;
use crate::calendar::moment;
use crate::url::{Base, Url};
use xml::{Piece, Pieces, attribute};

/// Where a body is searched for its root element.
const START: usize = 4096;
/// The longest title that is kept, in bytes.
const TITLE: usize = 1024;

/// A sitemap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sitemap {
    /// Whether the entries are sitemaps.
    pub is_index: bool,
    /// The entries, in file order.
    pub entries: Vec<Entry>,
    /// Whether there were more entries than allowed.
    pub cut: bool,
}

/// An entry of a sitemap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The canonical URL.
    pub url: String,
    /// The title, which news have.
    pub title: String,
    /// When it last changed, or was published, in seconds since 1970.
    pub lastmod: Option<f64>,
}

/// What is read of a sitemap.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of entries; the protocol allows 50,000.
    pub entries: usize,
    /// Whether the URLs of images are entries, too.
    pub images: bool,
}

/// Reads the sitemap found at `url`; `None` if the body is not a sitemap.
pub fn read(body: &[u8], url: &str, content_type: Option<&str>, limits: Limits) -> Option<Sitemap> {
    let start = String::from_utf8_lossy(&body[..body.len().min(START)]);
    let root = root(&start);
    if root.is_none() && !begins_with_url(&start) {
        return None;
    }
    let (text, _) = charset::decode(body, content_type, None);
    let base = Url::parse(url).ok().map(Base::new);
    let mut reader = Reader { base, limits, sitemap: Sitemap::default(), address: String::new() };
    match root {
        Some((prefix, is_index)) => {
            reader.sitemap.is_index = is_index;
            reader.xml(&text, &prefix);
        }
        None => reader.lines(&text)?,
    }
    Some(reader.sitemap)
}

/// The prefix of the root element, with its colon, and whether it is an index; `None` for any other root.
fn root(start: &str) -> Option<(String, bool)> {
    let start = start.trim_start_matches('\u{feff}');
    let first = Pieces::new(start).find_map(|piece| match piece {
        Piece::Start { name, .. } => Some(Some(name)),
        Piece::Text(text) if text.trim().is_empty() => None,
        _ => Some(None),
    })??;
    let local = first.rsplit(':').next().unwrap_or(first);
    let is_index = match local.to_ascii_lowercase().as_str() {
        "urlset" => false,
        "sitemapindex" => true,
        _ => return None,
    };
    Some((first[..first.len() - local.len()].to_owned(), is_index))
}

/// Whether a text begins with a URL.
fn begins_with_url(start: &str) -> bool {
    let first = start.trim_start_matches('\u{feff}').trim_start();
    first.starts_with("http://") || first.starts_with("https://")
}

struct Reader {
    base: Option<Base>,
    limits: Limits,
    sitemap: Sitemap,
    /// A buffer for the current URL.
    address: String,
}

/// The element whose text is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Location,
    Lastmod,
    Title,
    Published,
    Image,
}

/// The fields of an entry so far.
#[derive(Default)]
struct Fields {
    location: String,
    lastmod: String,
    title: String,
    published: String,
    /// Alternates and images.
    others: Vec<String>,
}

impl Reader {
    fn xml(&mut self, text: &str, prefix: &str) {
        let (mut fields, mut field, mut in_news) = (Fields::default(), None, false);
        for piece in Pieces::new(text) {
            match piece {
                Piece::Start { name, attributes, closed } => {
                    let own = name.strip_prefix(prefix).filter(|local| !local.contains(':'));
                    let local = name.rsplit(':').next().unwrap_or(name);
                    field = match (own, local) {
                        (Some("url" | "sitemap"), _) => {
                            // An entry that was left open ends where the next begins.
                            self.finish(&mut fields);
                            None
                        }
                        (Some("loc"), _) => Some(Field::Location),
                        (Some("lastmod"), _) => Some(Field::Lastmod),
                        (_, "link") => {
                            let alternate = attribute(attributes, "rel").is_none_or(|rel| rel == "alternate");
                            let href = attribute(attributes, "href").filter(|_| alternate);
                            fields.others.extend(href.map(Cow::into_owned));
                            None
                        }
                        (None, "news") => {
                            in_news = true;
                            None
                        }
                        (None, "title") if in_news => Some(Field::Title),
                        (None, "publication_date") if in_news => Some(Field::Published),
                        (None, "loc") if self.limits.images => Some(Field::Image),
                        _ => None,
                    };
                    if closed {
                        field = None;
                    }
                    if field == Some(Field::Image) {
                        fields.others.push(String::new());
                    }
                }
                Piece::End(name) => {
                    field = None;
                    match name.strip_prefix(prefix) {
                        Some("url" | "sitemap") => self.finish(&mut fields),
                        _ if name.ends_with(":news") => in_news = false,
                        _ => {}
                    }
                }
                Piece::Text(text) => {
                    let Some(value) = field.and_then(|field| fields.of(field)) else { continue };
                    if value.len() + text.len() <= crate::url::MAX_LENGTH.max(TITLE) * 2 {
                        value.push_str(&text);
                    }
                }
            }
            if self.sitemap.cut {
                return;
            }
        }
        self.finish(&mut fields);
    }

    /// Adds an entry with its alternates.
    fn finish(&mut self, fields: &mut Fields) {
        let fields = std::mem::take(fields);
        let lastmod = moment(fields.lastmod.trim()).or_else(|| moment(fields.published.trim()));
        let title = fields.title.split_whitespace().collect::<Vec<_>>().join(" ");
        self.add(&fields.location, title, lastmod);
        for url in fields.others {
            self.add(&url, String::new(), None);
        }
    }

    /// A text file has one URL a line; one with any other line is not a sitemap.
    fn lines(&mut self, text: &str) -> Option<()> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        for line in lines {
            if !begins_with_url(line) || line.contains(char::is_whitespace) {
                return None;
            }
            self.add(line, String::new(), None);
            if self.sitemap.cut {
                break;
            }
        }
        Some(())
    }

    fn add(&mut self, location: &str, title: String, lastmod: Option<f64>) {
        let location = location.trim();
        let base = self.base.as_ref();
        if location.is_empty() || !base.is_some_and(|base| base.resolve(location, &mut self.address)) {
            return;
        }
        if self.sitemap.entries.len() == self.limits.entries {
            self.sitemap.cut = true;
            return;
        }
        self.sitemap.entries.push(Entry { url: self.address.as_str().to_owned(), title, lastmod });
    }
}

impl Fields {
    fn of(&mut self, field: Field) -> Option<&mut String> {
        match field {
            Field::Location => Some(&mut self.location),
            Field::Lastmod => Some(&mut self.lastmod),
            Field::Title => Some(&mut self.title),
            Field::Published => Some(&mut self.published),
            Field::Image => self.others.last_mut(),
        }
    }
}

#[cfg(test)]
mod tests;
