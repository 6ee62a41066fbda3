//! A row of the table: what became of a URL, and where its record lies in the archive.
//!
//! A row is a MessagePack array of the fields below in this order, so fields are only ever added at the end.
//! About 200 bytes.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::archive::Place;
use crate::calendar::timestamp;
use crate::disk::format::Format;

/// The format of the table.
pub const ROW_FORMAT: Format = Format { kind: *b"ROWS", version: 2 };

macro_rules! outcomes {
    ($($(#[$about:meta])* $outcome:ident = $words:literal,)*) => {
        /// What became of a URL.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Outcome {
            $($(#[$about])* #[serde(rename = $words)] $outcome,)*
        }

        impl Outcome {
            /// Every outcome.
            pub const ALL: &[Outcome] = &[$(Outcome::$outcome,)*];

            /// The outcome as people and files have it.
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
    /// The server named another address.
    Redirected = "redirected",
    /// The server said that nothing changed since the last time.
    NotModified = "not modified",
    /// The host's robots.txt forbids it, or cannot be had.
    Robots = "refused by robots.txt",
    /// It looks like one of endlessly many.
    Trap = "cut off as a trap",
    /// A limit of the crawl forbids it.
    Limit = "over a limit",
    /// A filter keeps the page out.
    Filtered = "filtered out",
    /// It is on a private network.
    Private = "private address",
    /// The name does not resolve.
    Dns = "no such host",
    /// Nobody listens there.
    Refused = "connection refused",
    /// No way leads there.
    Unreachable = "unreachable",
    /// It took too long.
    Timeout = "timeout",
    /// No secure connection came about.
    Tls = "TLS failed",
    /// The connection ended before the answer did.
    Reset = "connection lost",
    /// The proxy did not do its part.
    Proxy = "proxy failed",
    /// The body is longer than allowed.
    TooLarge = "too large",
    /// The body decodes to more than allowed.
    Bomb = "decodes to too much",
    /// The body is not in the encoding it is said to be in.
    BadEncoding = "does not decode",
    /// The answer is not HTTP.
    BadResponse = "not HTTP",
    /// The parser failed on it.
    Unparsed = "could not be parsed",
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
    /// Whether the page belongs into the index.
    pub fn indexable(&self) -> bool {
        let has_text = self.outcome == Outcome::Fetched && self.status == Some(200) && self.digest.is_some();
        has_text && !self.noindex && self.duplicate_of.is_none()
    }

    /// When it was tried, as ISO 8601 has it, to the millisecond.
    pub fn fetched(&self) -> String {
        let since = Duration::try_from_secs_f64(self.fetched_at).unwrap_or_default();
        let mut date = timestamp(UNIX_EPOCH + since);
        date.truncate("2024-05-01T12:00:00.000".len());
        date + "+00:00"
    }

    /// Where the page's record lies in the archive.
    pub fn place(&self) -> Place {
        Place { file: self.file, offset: self.offset, length: self.length }
    }

    /// Where the record with the text of a converted document lies; `None` for other pages.
    pub fn text_place(&self) -> Option<Place> {
        let place = Place { file: self.text_file, offset: self.text_offset, length: self.text_length };
        (place.length > 0).then_some(place)
    }

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
        assert_eq!(Outcome::ALL.len(), 20);
        for outcome in Outcome::ALL {
            let kept: String = rmp_serde::from_slice(&rmp_serde::to_vec(outcome).unwrap()).unwrap();
            assert_eq!(kept, outcome.words());
        }
    }
}
