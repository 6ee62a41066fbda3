//! What an archive says of a page, in the form in which it is parsed and stored.

use std::net::IpAddr;
use std::path::Path;

use rayon::prelude::*;

use crate::calendar::moment;
use crate::warc::{Entry, Http, Item, Position, Reader, ReaderOptions, Record, stated_sha1};
use crate::{Pulse, Result};

/// A page from elsewhere.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its URL, as given.
    pub url: String,
    /// When it was fetched, in seconds since 1970.
    pub when: f64,
    /// The address that answered, if it is known.
    pub address: Option<IpAddr>,
    /// The SHA-1 of its payload in base 32, as its archive states it.
    pub payload: Option<String>,
    /// What was found there.
    pub content: Content,
}

/// What was found at a URL.
#[derive(Clone, Debug)]
pub enum Content {
    /// A response.
    Response(Http),
    /// A document without the response that brought it.
    Resource {
        /// Its media type; `None`: recognised by its bytes.
        media_type: Option<String>,
        /// Its bytes.
        body: Vec<u8>,
    },
    /// The text of a page, in UTF-8.
    Text(Vec<u8>),
    /// What another URL, or the same one, had before.
    Revisit {
        /// The header of the response, if there was one.
        http: Option<Http>,
        /// The URL that had it.
        of: String,
        /// When it had it, in seconds since 1970.
        at: Option<f64>,
    },
}

impl Content {
    /// The number of bytes that it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Content::Response(http) => http.body.len(),
            Content::Resource { body, .. } | Content::Text(body) => body.len(),
            Content::Revisit { .. } => 0,
        }
    }
}

impl Given {
    /// The page of a record, or the words under which the record is counted instead.
    pub fn of(entry: Entry) -> std::result::Result<Given, &'static str> {
        let when = entry.field("warc-date").and_then(moment);
        let given = Given::at(entry, when.unwrap_or_default())?;
        when.map(|_| given).ok_or("without a date")
    }

    /// The page of a record that was written at `when`, whatever date it has.
    fn at(entry: Entry, when: f64) -> std::result::Result<Given, &'static str> {
        let url = entry.url().to_owned();
        let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match entry.kind() {
            "response" | "resource" | "conversion" | "revisit" => {}
            "request" => return Err("requests"),
            _ => return Err("descriptions"),
        }
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return Err("not on the web");
        }
        if url.split(['?', '#']).next().is_some_and(|path| path.ends_with("/robots.txt")) {
            return Err("robots.txt");
        }
        if entry.is_cut() {
            return Err("too large");
        }
        let address = entry.field("warc-ip-address").and_then(|address| address.parse().ok());
        let media_type = entry.field("content-type").map(str::to_owned);
        let is_http = media_type.as_deref().is_some_and(|kind| kind.starts_with("application/http"));
        let payload = entry.field("warc-payload-digest").and_then(stated_sha1);
        let of = entry.field("warc-refers-to-target-uri").unwrap_or(&url).trim_matches(['<', '>']).to_owned();
        let at = entry.field("warc-refers-to-date").and_then(moment);
        let content = match entry.kind() {
            "response" => Content::Response(Http::read(&entry.block).ok_or("not HTTP")?),
            "revisit" => Content::Revisit { http: Http::read(&entry.block), of, at },
            "conversion" => Content::Text(entry.block),
            _ if is_http => Content::Response(Http::read(&entry.block).ok_or("not HTTP")?),
            _ => Content::Resource { media_type, body: entry.block },
        };
        Ok(Given { url, when, address, payload, content })
    }

    /// The text of the page; `None` if it has none: a redirect, an error, a media type without text, a body that
    /// decodes to more than `limit` bytes.
    pub fn text(self, limit: usize) -> Option<String> {
        let content_type = |media_type: String| ("content-type".to_owned(), media_type);
        let (headers, body) = match self.content {
            Content::Text(body) => return Some(String::from_utf8_lossy(&body).into_owned()),
            Content::Resource { media_type, body } => {
                (media_type.map(content_type).into_iter().collect(), body)
            }
            Content::Response(http) if http.status == 200 => {
                let field = |(name, value): (String, Vec<u8>)| {
                    (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned())
                };
                (http.headers.into_iter().map(field).collect(), http.body)
            }
            Content::Response(_) | Content::Revisit { .. } => return None,
        };
        let page = Record { url: self.url, headers, body }.parse(limit).ok()??;
        Some(page.text)
    }
}

/// The text of each record, on all threads; `None` if it is no page with a text. It needs no date.
pub fn texts(entries: &[&Entry], limit: usize) -> Vec<Option<String>> {
    entries.par_iter().map(|entry| Given::at((*entry).clone(), 0.0).ok()?.text(limit)).collect()
}

/// Where pages are read from.
pub trait Source {
    /// The next record or damage; `None` at the end.
    fn next(&mut self) -> Result<Option<Item>>;
}

impl Source for Reader {
    fn next(&mut self) -> Result<Option<Item>> {
        Reader::next(self)
    }
}

/// The records at some offsets of a file.
pub struct Chosen<'a> {
    /// The file.
    pub path: &'a Path,
    /// The offsets.
    pub offsets: std::slice::Iter<'a, u64>,
    /// How it is read.
    pub options: ReaderOptions,
}

impl Source for Chosen<'_> {
    fn next(&mut self) -> Result<Option<Item>> {
        let Some(offset) = self.offsets.next() else { return Ok(None) };
        let at = Position { offset: *offset, ordinal: 0 };
        let item = Reader::resume(self.path, self.options, at, &Pulse::STEADY)?.next()?;
        let reason = "there is no record".to_owned();
        Ok(Some(item.unwrap_or(Item::Damage { offset: *offset, reason })))
    }
}
