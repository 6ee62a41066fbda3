//! From a row to a document of the index: the page's zones from its record, and its facts from its row.

use std::borrow::Cow;

use super::Snapshot;
use super::day::day_of_page;
use super::row::Row;
use crate::index::NewDocument;
use crate::media::{Format, Reading, essence, may_have_text, media_type};
use crate::parse::{self, Page, Zones};
use crate::warc::Record;
use crate::{Pulse, Result};

/// A document to index. Its URL is its identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its URL.
    pub url: String,
    /// Its external id; may be empty.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its headings, one per line.
    pub headings: String,
    /// Its text.
    pub body: String,
    /// The anchor texts of links to it, one per line.
    pub anchors: String,
    /// Its language tag; empty if unknown.
    pub language: String,
    /// Its media type; empty if unknown.
    pub kind: String,
    /// When it was written, in days since 1970-01-01; 0 if unknown.
    pub day: u32,
    /// The SimHash of its text, 0 if that is too short for one; `None`: it is computed from the body.
    pub simhash: Option<u64>,
}

impl Document {
    /// The document in the form the index takes.
    pub fn as_new(&self) -> NewDocument<'_> {
        NewDocument {
            url: &self.url,
            id: &self.id,
            title: &self.title,
            headings: &self.headings,
            body: &self.body,
            anchors: &self.anchors,
            language: &self.language,
            kind: &self.kind,
            day: self.day,
            simhash: self.simhash,
        }
    }
}

/// A hook that sees documents in indexing order, and may change anything but their URLs.
pub trait Extractor: Send + Sync {
    /// Processes the next documents.
    fn extract(&mut self, documents: &mut [Document]) -> Result<()>;
}

impl Record {
    /// Parses the response; `None` if its type has no text. A body that decodes to more than `limit` bytes is
    /// an error.
    pub fn parse(&self, limit: usize) -> Result<Option<Page>> {
        self.parse_with(limit, &parse::Rules::default())
    }

    /// Parses the response by the rules of a crawler.
    pub fn parse_with(&self, limit: usize, rules: &parse::Rules<'_>) -> Result<Option<Page>> {
        let content_type = self.header("content-type");
        Ok(match self.text(limit)? {
            (Reading::Html, body) => Some(parse::parse_with(&body, &self.url, content_type, rules)),
            (Reading::Text, body) => Some(parse::parse_text_with(&body, content_type, rules)),
            _ => None,
        })
    }

    /// The zones of a response.
    fn zones(&self, limit: usize) -> Result<Zones> {
        let content_type = self.header("content-type");
        Ok(match self.text(limit)? {
            (Reading::Html, body) => parse::zones(&body, &self.url, content_type),
            (Reading::Text, body) => Zones { text: parse::text(&body, content_type), ..Zones::default() },
            _ => Default::default(),
        })
    }

    /// The decoded body, and how to read it.
    fn text(&self, limit: usize) -> Result<(Reading, Cow<'_, [u8]>)> {
        let content_type = self.header("content-type");
        let is_encoded = self.header("content-encoding").is_some_and(|encoding| !encoding.is_empty());
        if !may_have_text(content_type.and_then(essence).as_deref(), is_encoded) {
            return Ok((Reading::Unread, Cow::default()));
        }
        let body = self.decoded(limit)?;
        let media_type = media_type(content_type, &self.url, &body);
        Ok((Format::of(media_type.as_deref()).reading, body))
    }
}

impl Snapshot {
    /// The page as parsed, or that of a converted document; `None` if it has neither markup nor text.
    pub fn parse(&self, row: &Row, limit: usize) -> Result<Option<Page>> {
        self.archive.read(row.readable_place())?.parse(limit)
    }

    /// The zones of a page, empty if it has no text; `limit` is the maximum decoded size of its body.
    pub fn zones(&self, row: &Row, limit: usize) -> Result<Zones> {
        self.archive.read(row.readable_place())?.zones(limit)
    }

    /// Whether a page is indexed under its own URL. One that declares another canonical URL is not if that
    /// page is itself in the index.
    pub(super) fn stands_for_itself(&self, row: &Row, pulse: &Pulse) -> Result<bool> {
        if !row.indexable() {
            return Ok(false);
        }
        let Some(canonical) = &row.canonical else { return Ok(true) };
        let own = self.table(pulse)?.get(canonical)?;
        Ok(!own.is_some_and(|own| own.indexable() && own.canonical.is_none()))
    }

    /// The document of a page, with the anchor texts of links to it; `None` if it has neither text nor title.
    pub(super) fn document(&self, row: Row, anchors: String, limit: usize) -> Result<Option<Document>> {
        let Zones { headings, text, day } = self.zones(&row, limit)?;
        if text.is_empty() && row.title.is_empty() {
            return Ok(None);
        }
        Ok(Some(Document {
            day: day_of_page(day, row.last_modified.as_deref(), row.fetched_at),
            simhash: Some(row.simhash.unwrap_or_default()),
            url: row.url,
            id: String::new(),
            title: row.title,
            headings: headings.join("\n"),
            body: text,
            anchors,
            language: row.language.unwrap_or_default(),
            kind: row.content_type.unwrap_or_default(),
        }))
    }
}
