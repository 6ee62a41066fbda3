//! The normal form of a text: what does not count as a difference is left out.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::words::{bit, bitmap};

/// What is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Normal {
    /// Tags and comments of HTML or XML, and what scripts and styles contain.
    pub markup: bool,
    /// The difference between upper and lower case.
    pub case: bool,
    /// Digits.
    pub digits: bool,
    /// Dates and times: 2026-03-26, 26/3/26, March 26, 2026, 26 March 2026, 12:30:59, T12:30Z, 7 pm.
    pub dates: bool,
    /// White space.
    pub space: bool,
}

static MARKUP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>|</?[a-z!?][^>]*>").ok()
});

static DATES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let month = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|\
                 oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
    let day = "[0-3]?[0-9](?:st|nd|rd|th)?";
    let date = format!(
        "[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}|[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.](?:[0-9]{{4}}|[0-9]{{2}})|\
         {day}\\s+(?:of\\s+)?{month},?\\s+[0-9]{{4}}|{month}\\s+{day},?\\s+[0-9]{{4}}|{month}\\s+[0-9]{{4}}"
    );
    let clock = "[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]+)?)?";
    let zone = "(?:\\s?[ap]\\.?m\\b\\.?|z\\b|\\s?(?:utc|gmt)\\b|\\s?[+-][0-9]{2}:?[0-9]{2}\\b)";
    let hour = "[01]?[0-9]\\s?[ap]m\\b";
    Regex::new(&format!("(?i)\\b(?:(?:{date})(?:t?{clock}{zone}?)?|{clock}{zone}?|{hour})")).ok()
});

impl Normal {
    /// Case and white space: the same words.
    pub const WORDS: Normal = Normal { markup: false, case: true, digits: false, dates: false, space: true };

    /// The normal form of a text.
    pub fn of(self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for (_, pattern) in
            [(self.markup, &MARKUP), (self.dates, &DATES)].iter().filter(|(wanted, _)| *wanted)
        {
            if let Some(pattern) = pattern.as_ref() {
                text = Cow::Owned(pattern.replace_all(&text, " ").into_owned());
            }
        }
        if self.case {
            let mut lower = Vec::with_capacity(text.len());
            lower_case(&mut lower, &text);
            // It is built from characters, so it is valid.
            text = Cow::Owned(String::from_utf8(lower).unwrap_or_default());
        }
        let is_kept = |character: &char| {
            !(self.space && character.is_whitespace() || self.digits && character.is_numeric())
        };
        if self.space || self.digits { text.chars().filter(is_kept).collect() } else { text.into_owned() }
    }
}

/// Whether each character of 16 bits is another one in lower case.
static UPPER: LazyLock<Vec<u64>> = LazyLock::new(|| bitmap(|one| !one.to_lowercase().eq([one])));

/// Appends `text` in lower case and on one line: `text.to_lowercase().replace('\n', " ")`, several times as
/// fast if most characters are ASCII, or in lower case already.
pub fn lower_case(page: &mut Vec<u8>, text: &str) {
    let (start, upper) = (page.len(), UPPER.as_slice());
    page.extend(text.bytes().map(of_ascii));
    let mut at = ascii_length(text.as_bytes());
    while at < text.len() {
        for character in text[at..].chars().take_while(|character| !character.is_ascii()) {
            let after = at + character.len_utf8();
            if bit(upper, character).unwrap_or(true) {
                let mut lower = [0; 4];
                // Only the lower case of the Greek sigma depends on its context.
                let is_in_place = character != 'Σ'
                    && only(character.to_lowercase())
                        .is_some_and(|character| character.encode_utf8(&mut lower).len() == after - at);
                if !is_in_place {
                    page.truncate(start);
                    page.extend(text.to_lowercase().replace('\n', " ").bytes());
                    return;
                }
                page[start + at..start + after].copy_from_slice(&lower[..after - at]);
            }
            at = after;
        }
        at += ascii_length(&text.as_bytes()[at..]);
    }
}

/// The only item there is.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// The number of bytes before the first one that is not ASCII.
pub fn ascii_length(bytes: &[u8]) -> usize {
    const UPPER_BITS: u64 = 0x8080_8080_8080_8080;
    let (eights, rest) = bytes.as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let upper = u64::from_le_bytes(*eight) & UPPER_BITS;
        if upper != 0 {
            return 8 * number + upper.trailing_zeros() as usize / 8;
        }
    }
    bytes.len() - rest.iter().position(|byte| !byte.is_ascii()).map_or(0, |place| rest.len() - place)
}

#[inline]
fn of_ascii(byte: u8) -> u8 {
    if byte == b'\n' { b' ' } else { byte.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lower_case_is_that_of_the_standard_library(text in "([A-Za-z \\n]{0,80}|[éÉİßΣσςǅ漢]{0,3}|\\PC{0,5}){0,6}") {
            let mut page = Vec::new();
            lower_case(&mut page, &text);
            prop_assert_eq!(page, text.to_lowercase().replace('\n', " ").into_bytes());
        }

        #[test]
        fn nothing_is_left_out_unless_wanted(text in "\\PC{0,80}") {
            prop_assert_eq!(Normal::default().of(&text), text);
        }
    }

    #[test]
    fn every_character_gets_its_lower_case() {
        for character in (0..=char::MAX as u32).filter_map(char::from_u32).filter(|one| *one != 'Σ') {
            let text = format!("A{character}B");
            let mut page = Vec::new();
            lower_case(&mut page, &text);
            assert_eq!(page, text.to_lowercase().replace('\n', " ").into_bytes(), "{character:?}");
        }
    }

    #[test]
    fn each_switch_leaves_out_one_thing() {
        let html = Normal { markup: true, space: true, ..Normal::default() };
        assert_eq!(
            html.of("<p class=x>One <!-- no --> two<script>var a = '<b>';</script> 1 < 2</p>"),
            "Onetwo1<2"
        );
        assert_eq!(Normal { case: true, ..Normal::default() }.of("Èx Y"), "èx y");
        assert_eq!(Normal { digits: true, ..Normal::default() }.of("a1b22 ٣"), "ab ");
        assert_eq!(Normal { space: true, ..Normal::default() }.of("a b\n\u{a0}c"), "abc");
    }

    #[test]
    fn dates_and_times_are_left_out() {
        let normal = Normal { dates: true, space: true, ..Normal::default() };
        for date in [
            "2026-03-26",
            "26/3/26",
            "March 26, 2026",
            "26th of March 2026",
            "Mar. 2026",
            "12:30:59",
            "2026-03-26T12:30Z",
            "2026-03-26 12:30:59.123 +01:00",
            "7 pm",
            "11:05 PM",
        ] {
            assert_eq!(normal.of(&format!("at {date} it")), "atit", "{date}");
        }
        for other in ["version 3.11", "may 5 of them", "1:2", "10.1.2.3.4", "chapter 12"] {
            assert_ne!(normal.of(other), "", "{other}");
        }
        assert_eq!(normal.of("may 5 of them"), "may5ofthem");
    }
}
