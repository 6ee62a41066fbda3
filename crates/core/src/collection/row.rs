//! A row of the page table: the outcome of a URL, and the location of its record in the archive.
//!
//! A row is a MessagePack array of the fields below in this order, so fields are only ever added at the end.
//! About 200 bytes.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::archive::Place;
use crate::calendar::timestamp;
use crate::disk::format::Format;

/// The format of the table.
pub const ROW_FORMAT: Format = Format { kind: *b"ROWS", version: 3 };

macro_rules! outcomes {
    ($($(#[$about:meta])* $outcome:ident = $words:literal,)*) => {
        /// The outcome of a URL.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Outcome {
            $($(#[$about])* #[serde(rename = $words)] $outcome,)*
        }

        impl Outcome {
            /// Every outcome.
            pub const ALL: &[Outcome] = &[$(Outcome::$outcome,)*];

            /// The outcome as shown to users and written to files.
            pub fn words(self) -> &'static str {
                match self {
                    $(Outcome::$outcome => $words,)*
                }
            }
        }
    };
}

outcomes! {
    /// The server answered.
    #[default]
    Fetched = "fetched",
    /// The server answered with a sitemap, or with none where one was looked for.
    Sitemap = "sitemap",
    /// The server answered with an icon or a style sheet of pages, or with none.
    Asset = "asset",
    /// The server redirected to another URL.
    Redirected = "redirected",
    /// A page that was visited again has not changed.
    NotModified = "not modified",
    /// The host's robots.txt disallows it, or cannot be fetched.
    Robots = "refused by robots.txt",
    /// It looks like a crawler trap: one of endlessly many URLs.
    Trap = "cut off as a trap",
    /// A limit of the crawl forbids it.
    Limit = "over a limit",
    /// A filter rejects the page.
    Filtered = "filtered out",
    /// It is on a private network.
    Private = "private address",
    /// The host name does not resolve.
    Dns = "no such host",
    /// Nothing listens at the port.
    Refused = "connection refused",
    /// There is no route to the address.
    Unreachable = "unreachable",
    /// It timed out.
    Timeout = "timeout",
    /// The TLS handshake failed.
    Tls = "TLS failed",
    /// The connection closed before the response was complete.
    Reset = "connection lost",
    /// The proxy failed.
    Proxy = "proxy failed",
    /// The body is longer than allowed.
    TooLarge = "too large",
    /// The body decodes to more than allowed.
    Bomb = "decodes to too much",
    /// The body is not in its declared content encoding.
    BadEncoding = "does not decode",
    /// The response is not valid HTTP.
    BadResponse = "not HTTP",
    /// The parser failed on it.
    Unparsed = "could not be parsed",
    /// A page that was there is no longer, for longer than the grace period.
    Gone = "gone",
}

/// A row of the page table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The canonical URL.
    pub url: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its distance from a seed, in links.
    pub depth: u32,
    /// When it was fetched or attempted, in seconds since 1970.
    pub fetched_at: f64,
    /// The status of the response.
    pub status: Option<u16>,
    /// The media type of the response.
    pub content_type: Option<String>,
    /// The digest of its text, in hexadecimal.
    pub digest: Option<String>,
    /// The SimHash of its text; `None` if that is too short for one.
    pub simhash: Option<u64>,
    /// Its language.
    pub language: Option<String>,
    /// Its title.
    pub title: String,
    /// The target of a redirect.
    pub redirect: Option<String>,
    /// The first page with the same text.
    pub duplicate_of: Option<String>,
    /// An earlier near-duplicate.
    pub near_duplicate_of: Option<String>,
    /// Whether the page asks not to be indexed.
    pub noindex: bool,
    /// The number of the archive file.
    pub file: u32,
    /// The offset of the record in it.
    pub offset: u64,
    /// The length of the record.
    pub length: u64,
    /// The file of the record with the text of a converted document.
    pub text_file: u32,
    /// The offset of that record.
    pub text_offset: u64,
    /// The length of that record.
    pub text_length: u64,
    /// The canonical URL that the page declares, if it is another one.
    pub canonical: Option<String>,
    /// The `ETag` validator, for conditional requests.
    pub etag: Option<String>,
    /// The `Last-Modified` validator.
    pub last_modified: Option<String>,
    /// The IP address that answered.
    pub address: Option<String>,
    /// The number of attempts.
    pub attempts: u32,
    /// The duration of the last attempt, in seconds.
    pub seconds: f32,
    /// The reason, if the outcome alone does not say it.
    pub detail: String,
    /// The digest of the body as received, as archives have it: SHA-1 in base 32.
    pub payload: Option<String>,
    /// When the content was last fetched, in seconds since 1970; 0: with this visit.
    pub content_at: f64,
    /// The number of the archive file with the record of a visit that found the page unchanged.
    pub visit_file: u32,
    /// The offset of that record.
    pub visit_offset: u64,
    /// The length of that record; 0: there is none.
    pub visit_length: u64,
    /// The number of bits in which its SimHash differs from that of the page that it is a near-duplicate of.
    pub near_bits: Option<u32>,
}

impl Row {
    /// Whether the page may be indexed.
    pub fn indexable(&self) -> bool {
        let has_page = match self.outcome {
            Outcome::Fetched => self.status == Some(200),
            Outcome::NotModified => true,
            _ => false,
        };
        has_page
            && self.digest.is_some()
            && !self.noindex
            && self.duplicate_of.is_none()
            && !self.is_dropped()
    }

    /// Whether the page is a duplicate of which nothing but this row was stored.
    pub fn is_dropped(&self) -> bool {
        self.length == 0 && (self.duplicate_of.is_some() || self.near_duplicate_of.is_some())
    }

    /// The digest of its text.
    pub fn text_digest(&self) -> Option<u128> {
        self.digest.as_deref().and_then(|digest| u128::from_str_radix(digest, 16).ok())
    }

    /// Whether another page can be an exact duplicate of the page as of this row: it is there with its text, and is
    /// none itself.
    pub fn has_own_text(&self) -> bool {
        self.is_there() && self.duplicate_of.is_none() && !self.is_dropped()
    }

    /// Whether another page can be a near-duplicate of the page as of this row. A near-duplicate has none of its own,
    /// so that they do not chain.
    pub fn is_original(&self) -> bool {
        self.has_own_text() && self.near_duplicate_of.is_none()
    }

    /// Whether the URL has a page as of this row: it did not move, and is not gone.
    pub fn is_there(&self) -> bool {
        matches!(self.outcome, Outcome::Fetched | Outcome::NotModified)
    }

    /// When the content that it has now was fetched, in seconds since 1970.
    pub fn content_at(&self) -> f64 {
        if self.content_at > 0.0 { self.content_at } else { self.fetched_at }
    }

    /// The row of a visit that found the page unchanged: what the visit says of itself, and what the version
    /// before says of the content.
    pub fn unchanged_since(self, before: Row) -> Row {
        Row {
            outcome: self.outcome,
            fetched_at: self.fetched_at,
            status: self.status,
            etag: self.etag.or(before.etag),
            last_modified: self.last_modified.or(before.last_modified),
            address: self.address,
            attempts: self.attempts,
            seconds: self.seconds,
            detail: self.detail,
            content_at: if before.content_at > 0.0 { before.content_at } else { before.fetched_at },
            visit_file: self.visit_file,
            visit_offset: self.visit_offset,
            visit_length: self.visit_length,
            ..before
        }
    }

    /// When it was fetched, in ISO 8601 to the millisecond.
    pub fn fetched(&self) -> String {
        let since = Duration::try_from_secs_f64(self.fetched_at).unwrap_or_default();
        let mut date = timestamp(UNIX_EPOCH + since);
        date.truncate("2024-05-01T12:00:00.000".len());
        date + "+00:00"
    }

    /// The location of the page's record in the archive.
    pub fn place(&self) -> Place {
        Place { file: self.file, offset: self.offset, length: self.length }
    }

    /// The location of the record with the text of a converted document; `None` for other pages.
    pub fn text_place(&self) -> Option<Place> {
        let place = Place { file: self.text_file, offset: self.text_offset, length: self.text_length };
        (place.length > 0).then_some(place)
    }

    /// The location of the record of a visit that found the page unchanged; `None` for other visits.
    pub fn visit_place(&self) -> Option<Place> {
        let place = Place { file: self.visit_file, offset: self.visit_offset, length: self.visit_length };
        (place.length > 0).then_some(place)
    }

    /// A row with nothing in it, as a MessagePack map: the names of the fields, in their order.
    pub fn blank() -> crate::Result<Vec<u8>> {
        rmp_serde::to_vec_named(&Row::default())
            .map_err(|error| crate::Error::Invalid(format!("a row does not encode: {error}")))
    }

    /// The location of the record to read the page from: of a converted document, that with its text.
    pub fn readable_place(&self) -> Place {
        self.text_place().unwrap_or_else(|| self.place())
    }

    /// Encodes the row for the table.
    pub fn encode(&self) -> crate::Result<Vec<u8>> {
        rmp_serde::to_vec(self)
            .map_err(|error| crate::Error::Invalid(format!("a row does not encode: {error}")))
    }

    /// Encodes the row for a cell, whose key has the URL.
    pub fn encode_cell(&self) -> crate::Result<Vec<u8>> {
        Row { url: String::new(), ..self.clone() }.encode()
    }

    /// Decodes a row of the table; `None` if it is not valid.
    pub fn decode(payload: &[u8]) -> Option<Row> {
        rmp_serde::from_slice(payload).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_was() {
        let row = Row {
            url: "http://a.example/".into(),
            outcome: Outcome::Robots,
            simhash: Some(u64::MAX),
            detail: "line 3".into(),
            ..Row::default()
        };
        assert_eq!(Row::decode(&row.encode().unwrap()), Some(row));
        assert_eq!(Row::decode(b"\x93"), None);
    }

    #[test]
    fn outcomes_are_kept_by_their_words() {
        assert_eq!(Outcome::ALL.len(), 23);
        for outcome in Outcome::ALL {
            let kept: String = rmp_serde::from_slice(&rmp_serde::to_vec(outcome).unwrap()).unwrap();
            assert_eq!(kept, outcome.words());
        }
    }
}
