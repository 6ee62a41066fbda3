//! Character references: `&amp;`, `&#233;`, `&#xE9;`, and the hundred names that need no semicolon.
//!
//! By the WHATWG standard: the longest matching name counts, and in an attribute a name without its semicolon
//! is left alone if a letter, a digit or `=` follows, since it is then part of a query string. The common
//! names are compared one by one; the other two thousand (crate `entities`) are in a hash table that is built
//! on first use. Constant time per `&`.

use std::borrow::Cow;
use std::sync::LazyLock;

use encoding_rs::WINDOWS_1252;
use entities::ENTITIES;
use memchr::memchr2;
use rustc_hash::FxHashMap;

/// The length of the longest name, with its semicolon.
const LONGEST: usize = 32;

static NAMED: LazyLock<FxHashMap<&'static str, &'static str>> =
    LazyLock::new(|| ENTITIES.iter().map(|known| (&known.entity[1..], known.characters)).collect());

/// The context of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Text,
    Attribute,
}

/// The expansion of a reference.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    Named(&'static str),
    Numbered(char),
}

/// The expansion of the reference at the start of `text` (which starts with `&`), and its length; `None` if
/// it is not a reference.
pub fn reference(text: &str, place: Place) -> Option<(Meaning, usize)> {
    if text.as_bytes().get(1) == Some(&b'#') {
        return numbered(text.as_bytes()).map(|(character, length)| (Meaning::Numbered(character), length));
    }
    let common = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", "\u{a0}"), ("&quot;", "\"")];
    let found = common.iter().find(|(written, _)| text.as_bytes().starts_with(written.as_bytes()));
    if let Some((written, meaning)) = found {
        return Some((Meaning::Named(meaning), written.len()));
    }
    named(text, place).map(|(meaning, length)| (Meaning::Named(meaning), length))
}

/// The value of an attribute with its references decoded.
pub fn in_attribute(value: &str) -> Cow<'_, str> {
    if memchr2(b'&', 0, value.as_bytes()).is_none() {
        return value.into();
    }
    let mut decoded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = memchr2(b'&', 0, rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match reference(rest, Place::Attribute) {
            _ if rest.starts_with('\0') => {
                decoded.push(char::REPLACEMENT_CHARACTER);
                1
            }
            Some((Meaning::Named(meaning), length)) => {
                decoded.push_str(meaning);
                length
            }
            Some((Meaning::Numbered(character), length)) => {
                decoded.push(character);
                length
            }
            None => {
                decoded.push('&');
                1
            }
        };
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    decoded.into()
}

fn named(text: &str, place: Place) -> Option<(&'static str, usize)> {
    let name = &text[1..];
    let letters = name.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    if name.as_bytes().get(letters) == Some(&b';')
        && let Some(meaning) = NAMED.get(&name[..=letters])
    {
        return Some((meaning, letters + 2));
    }
    let (length, meaning) =
        (2..=letters).rev().find_map(|length| Some((length, *NAMED.get(&name[..length])?)))?;
    let next = name.as_bytes().get(length);
    let is_query = next.is_some_and(|byte| *byte == b'=' || byte.is_ascii_alphanumeric());
    (place == Place::Text || !is_query).then_some((meaning, length + 1))
}

fn numbered(text: &[u8]) -> Option<(char, usize)> {
    let (start, radix) = if matches!(text.get(2), Some(b'x' | b'X')) { (3, 16) } else { (2, 10) };
    let digits = text[start..].iter().map_while(|byte| char::from(*byte).to_digit(radix));
    let (number, length) = digits.fold((0u32, 0), |(number, length), digit| {
        (number.saturating_mul(radix).saturating_add(digit), length + 1)
    });
    if length == 0 {
        return None;
    }
    let end = start + length;
    Some((character(number), end + usize::from(text.get(end) == Some(&b';'))))
}

/// The character of a numeric reference; those of the C1 control characters are read as windows-1252, as they
/// were meant.
fn character(number: u32) -> char {
    match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => {
            let byte = [number as u8];
            let decoded = WINDOWS_1252.decode_without_bom_handling(&byte).0;
            decoded.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        number => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known() {
        assert_eq!(NAMED.len(), 2231);
        assert_eq!(NAMED.keys().map(|name| name.len()).max(), Some(LONGEST));
    }

    #[test]
    fn queries_are_left_alone() {
        assert_eq!(in_attribute("?a&copy=1&lt=2&amp;b&reg;&not"), "?a&copy=1&lt=2&b®¬");
        assert_eq!(
            in_attribute("&#x41;&#66&#0;&#x80;&#xd800;&#99999999999;&#;&#x;\0"),
            "AB\u{fffd}€\u{fffd}\u{fffd}&#;&#x;\u{fffd}"
        );
    }
}
