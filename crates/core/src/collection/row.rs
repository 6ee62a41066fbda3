//! A row of the table: what became of a URL, and where its record lies in the archive.
//!
//! A row is a MessagePack array of the fields below in this order, so fields are only ever added at the end;
//! `crivello.store.Row` is the same row for Python. About 200 bytes.

use serde::{Deserialize, Serialize};

use crate::disk::format::Format;

/// The table's name in a collection.
pub const ROWS: &str = "table/rows.log";

/// The format of the table.
pub const ROW_FORMAT: Format = Format { kind: *b"ROWS", version: 2 };

/// What became of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    /// The server answered.
    #[default]
    #[serde(rename = "fetched")]
    Fetched,
    /// The server named another address.
    #[serde(rename = "redirected")]
    Redirected,
    /// The server said that nothing changed since the last time.
    #[serde(rename = "not modified")]
    NotModified,
    /// The host's robots.txt forbids it, or cannot be had.
    #[serde(rename = "refused by robots.txt")]
    Robots,
    /// It looks like one of endlessly many.
    #[serde(rename = "cut off as a trap")]
    Trap,
    /// A limit of the crawl forbids it.
    #[serde(rename = "over a limit")]
    Limit,
    /// A filter keeps the page out.
    #[serde(rename = "filtered out")]
    Filtered,
    /// It is on a private network.
    #[serde(rename = "private address")]
    Private,
    /// The name does not resolve.
    #[serde(rename = "no such host")]
    Dns,
    /// Nobody listens there.
    #[serde(rename = "connection refused")]
    Refused,
    /// No way leads there.
    #[serde(rename = "unreachable")]
    Unreachable,
    /// It took too long.
    #[serde(rename = "timeout")]
    Timeout,
    /// No secure connection came about.
    #[serde(rename = "TLS failed")]
    Tls,
    /// The connection ended before the answer did.
    #[serde(rename = "connection lost")]
    Reset,
    /// The proxy did not do its part.
    #[serde(rename = "proxy failed")]
    Proxy,
    /// The body is longer than allowed.
    #[serde(rename = "too large")]
    TooLarge,
    /// The body decodes to more than allowed.
    #[serde(rename = "decodes to too much")]
    Bomb,
    /// The body is not in the encoding it is said to be in.
    #[serde(rename = "does not decode")]
    BadEncoding,
    /// The answer is not HTTP.
    #[serde(rename = "not HTTP")]
    BadResponse,
    /// The parser failed on it.
    #[serde(rename = "could not be parsed")]
    Unparsed,
}

impl Outcome {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Fetched => "fetched",
            Outcome::Redirected => "redirected",
            Outcome::NotModified => "not modified",
            Outcome::Robots => "refused by robots.txt",
            Outcome::Trap => "cut off as a trap",
            Outcome::Limit => "over a limit",
            Outcome::Filtered => "filtered out",
            Outcome::Private => "private address",
            Outcome::Dns => "no such host",
            Outcome::Refused => "connection refused",
            Outcome::Unreachable => "unreachable",
            Outcome::Timeout => "timeout",
            Outcome::Tls => "TLS failed",
            Outcome::Reset => "connection lost",
            Outcome::Proxy => "proxy failed",
            Outcome::TooLarge => "too large",
            Outcome::Bomb => "decodes to too much",
            Outcome::BadEncoding => "does not decode",
            Outcome::BadResponse => "not HTTP",
            Outcome::Unparsed => "could not be parsed",
        }
    }
}

/// What is known about a URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The canonical URL.
    pub url: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How many links it is away from a seed.
    pub depth: u32,
    /// When it was tried, in seconds since 1970.
    pub fetched_at: f64,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The media type of the answer.
    pub content_type: Option<String>,
    /// The digest of its words, in hexadecimal.
    pub digest: Option<String>,
    /// The SimHash of its words.
    pub simhash: Option<u64>,
    /// Its language.
    pub language: Option<String>,
    /// Its title.
    pub title: String,
    /// Where it leads.
    pub redirect: Option<String>,
    /// The page with the same words that came first.
    pub duplicate_of: Option<String>,
    /// A page with nearly the same words that came first.
    pub near_duplicate_of: Option<String>,
    /// Whether the page asks not to be found.
    pub noindex: bool,
    /// The number of the archive's file.
    pub file: u32,
    /// Where the record lies in it.
    pub offset: u64,
    /// How long the record is.
    pub length: u64,
    /// The file of the record with the text of a converted document.
    pub text_file: u32,
    /// Where that record lies.
    pub text_offset: u64,
    /// How long that record is.
    pub text_length: u64,
    /// The address that the page calls its own, where that is another one.
    pub canonical: Option<String>,
    /// The validators for asking again.
    pub etag: Option<String>,
    /// When the server says that it changed.
    pub last_modified: Option<String>,
    /// The address that answered.
    pub address: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// How many seconds the last try took.
    pub seconds: f32,
    /// Why, where the outcome leaves that open.
    pub detail: String,
}

impl Row {
    /// The row as the table keeps it.
    pub fn encode(&self) -> crate::Result<Vec<u8>> {
        rmp_serde::to_vec(self)
            .map_err(|error| crate::Error::Invalid(format!("a row does not encode: {error}")))
    }

    /// A row that the table kept; None where it is not one.
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
        for outcome in
            [Outcome::Fetched, Outcome::Tls, Outcome::BadResponse, Outcome::Unparsed, Outcome::Bomb]
        {
            let kept: String = rmp_serde::from_slice(&rmp_serde::to_vec(&outcome).unwrap()).unwrap();
            assert_eq!(kept, outcome.words());
        }
    }
}
