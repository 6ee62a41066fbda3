//! Facts: what is known of a document beside its words, in columns, for filters, facets and collapsing.
//!
//! | column | what | unknown |
//! | --- | --- | --- |
//! | site | the number of its host in the segment's dictionary ([`crate::index::format::sites`]) | the number of the empty name |
//! | language | the primary subtag of its language, three letters in base 27 | 0 |
//! | kind | what sort of file it was | 0 |
//! | day | when it was written or fetched, in days since 1970-01-01 | 0 |
//! | simhash | 64 bits, of which similar texts share most ([`crate::index::build::fingerprint`]) | 0 |
//!
//! The first four are rows as narrow as their largest values ([`crate::index::format::rows`]): 3 to 6 bytes a document. SimHashes
//! have a section of their own: 8 bytes a document, and reading one is a load.

use super::card::Card;
use super::rows::{Rows, write_rows};

/// What is known of a document beside its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The number of its host.
    pub site: u32,
    /// Its language, as [`language_number`] has it; 0 where nobody knows.
    pub language: u16,
    /// What sort of file it was.
    pub kind: Kind,
    /// Days since 1970-01-01; 0 where nobody knows.
    pub day: u32,
    /// The SimHash of its text; 0 where it has none.
    pub simhash: u64,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The number of the host.
    Site,
    /// The number of the language.
    Language,
    /// The number of the kind.
    Kind,
    /// Days since 1970-01-01.
    Day,
}

/// How many columns there are.
const COLUMNS: usize = Column::Day as usize + 1;

/// The table of facts; the bytes are lent for each read.
pub type FactTable = Rows<COLUMNS>;

/// Appends the table of all documents to `bytes`.
pub fn write_facts(cards: &[Card], bytes: &mut Vec<u8>) {
    let row = |Card { facts, .. }: &Card| {
        [facts.site.into(), facts.language.into(), facts.kind as u64, facts.day.into()]
    };
    write_rows(cards.iter().map(row), bytes);
}

/// What sort of file a document was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Nobody knows.
    #[default]
    Unknown,
    /// A page.
    Html,
    /// Plain text, or text in a light markup.
    Text,
    /// A document in PDF.
    Pdf,
    /// A feed of news.
    Feed,
    /// A text, a table or slides of an office suite.
    Office,
    /// Anything else.
    Other,
}

impl Kind {
    /// Every kind, by its number.
    pub const ALL: [Kind; 7] =
        [Kind::Unknown, Kind::Html, Kind::Text, Kind::Pdf, Kind::Feed, Kind::Office, Kind::Other];

    /// The kind with a number.
    pub fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// What it is called in queries and tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Html => "html",
            Kind::Text => "text",
            Kind::Pdf => "pdf",
            Kind::Feed => "feed",
            Kind::Office => "office",
            Kind::Other => "other",
        }
    }

    /// The kind of that name, in any case.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The kind of a media type, whose parameters do not matter (`text/html; charset=utf-8`).
    pub fn of_media_type(media_type: &str) -> Kind {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "" => Kind::Unknown,
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "application/pdf" | "application/x-pdf" => Kind::Pdf,
            "application/rss+xml"
            | "application/atom+xml"
            | "application/rdf+xml"
            | "application/feed+json" => Kind::Feed,
            "application/msword" | "application/rtf" | "text/rtf" => Kind::Office,
            // What is in it may be anything, whichever of its two names it has.
            "text/xml" => Kind::Other,
            essence if essence.starts_with("text/") => Kind::Text,
            essence if OFFICE.iter().any(|suite| essence.starts_with(suite)) => Kind::Office,
            _ => Kind::Other,
        }
    }
}

/// How the media types of office suites begin.
const OFFICE: [&str; 5] = [
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.ms-word",
];

const LETTERS: u16 = 27;

/// The number of a language, from its tag: the letters of the primary subtag in base 27, where `a` is 1. 0 stands
/// for a tag whose primary subtag has not one to three letters.
pub fn language_number(tag: &str) -> u16 {
    let primary = tag.split(['-', '_']).next().unwrap_or_default();
    if primary.len() > 3 {
        return 0;
    }
    let digit =
        |letter: u8| letter.is_ascii_alphabetic().then(|| u16::from(letter.to_ascii_lowercase() - b'a') + 1);
    let number = primary.bytes().try_fold(0, |number, letter| Some(number * LETTERS + digit(letter)?));
    number.unwrap_or_default()
}

/// The primary subtag that a number stands for; empty for one that stands for none.
pub fn language_tag(number: u16) -> String {
    let (mut rest, mut letters) = (number, Vec::new());
    while rest > 0 && letters.len() < 3 {
        match (rest % LETTERS) as u8 {
            0 => return String::new(),
            digit => letters.push(char::from(b'a' + digit - 1)),
        }
        rest /= LETTERS;
    }
    if rest > 0 { String::new() } else { letters.into_iter().rev().collect() }
}

#[cfg(test)]
mod tests;
