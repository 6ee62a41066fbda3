//! Facts: what is known of a document besides its text, in columns, for filters, facets and collapsing.
//!
//! | column | what | unknown |
//! | --- | --- | --- |
//! | site | the number of its host in the segment's dictionary ([`crate::index::format::sites`]) | the number of the empty name |
//! | language | the primary subtag of its language, three letters in base 27 | 0 |
//! | kind | the kind of file it was ([`Kind`]) | 0 |
//! | day | when it was written or fetched, in days since 1970-01-01 | 0 |
//! | simhash | 64 bits, of which similar texts share most ([`crate::duplicates::of_page`]) | 0 |
//!
//! The first four are rows as narrow as their largest values ([`crate::index::format::rows`]): 3 to 6 bytes a
//! document. SimHashes have a separate section: 8 bytes a document, and reading one is a single load.

use super::card::Card;
use super::rows::{Rows, write_rows};
pub use crate::media::Kind;

/// What is known of a document besides its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The number of its host.
    pub site: u32,
    /// Its language, by [`language_number`]; 0 if unknown.
    pub language: u16,
    /// The kind of file it was.
    pub kind: Kind,
    /// Days since 1970-01-01; 0 if unknown.
    pub day: u32,
    /// The SimHash of its text; 0 if it has none.
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

/// The number of columns.
const COLUMNS: usize = Column::Day as usize + 1;

/// The table of facts; the bytes are passed in for each read.
pub type FactTable = Rows<COLUMNS>;

/// Appends the table of all documents to `bytes`.
pub fn write_facts(cards: &[Card], bytes: &mut Vec<u8>) {
    let row = |Card { facts, .. }: &Card| {
        [facts.site.into(), facts.language.into(), facts.kind as u64, facts.day.into()]
    };
    write_rows(cards.iter().map(row), bytes);
}

const LETTERS: u16 = 27;

/// The number of a language, from its tag: the letters of the primary subtag in base 27, where `a` is 1. 0 if
/// the primary subtag does not have one to three letters.
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

/// The primary subtag for a number; empty if the number stands for none.
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
