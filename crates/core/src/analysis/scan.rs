//! The scanner: where the words of a text are, by a table of bytes wherever that is enough.
//!
//! Words are those of Unicode (UAX #29). For ASCII its rules come to this: a word is a run of letters and
//! digits; an apostrophe between two letters, and `.` `,` `;` `'` between two digits, stay inside. The same
//! goes for the letters of two bytes that most of Europe writes with (Latin, Cyrillic), and for the typographic
//! apostrophe. At whatever takes more than that, the rest of the stretch up to the next white space goes to
//! [`stretch`](super::stretch): a word begins where another one may not go on, so what stands before it
//! cannot change what follows. A byte costs a look-up; no word is allocated.

use super::stretch::stretch;
use super::token::{Token, Tokens};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Parts words, whatever stands beside it.
    Break,
    Letter,
    Digit,
    /// Begins a letter of two bytes, or `×` or `÷`.
    Lead,
    /// Parts words or not, as its neighbours have it.
    Mark,
    Underscore,
    /// Any other byte that is not ASCII.
    Other,
}

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Break; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\'' | b'.' | b',' | b';' | b':' | b'@' | b'&' | b'+' | b'#' => Class::Mark,
            b'_' => Class::Underscore,
            // U+00C0 to U+027F and U+0400 to U+047F.
            0xc3..=0xc9 | 0xd0 | 0xd1 => Class::Lead,
            0x80.. => Class::Other,
            _ => Class::Break,
        };
        byte += 1;
    }
    classes
}

/// How many of eight bytes, from the lowest on, are ASCII letters and digits.
///
/// All eight at once, in a word: adding `0x80 - c` to a byte below `0x80` sets its highest bit if it is c or
/// more, and no byte overflows into the next.
#[inline]
fn plain_bytes(bytes: u64) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x80 * EACH;
    let from = |low: u64, character: u8| low + EACH * u64::from(0x80 - character);
    let low = bytes & !HIGHEST;
    let lower_case = low | (0x20 * EACH);
    let letters = from(lower_case, b'a') & !from(lower_case, b'z' + 1);
    let digits = from(low, b'0') & !from(low, b'9' + 1);
    let others = (!(letters | digits) | bytes) & HIGHEST;
    others.trailing_zeros() as usize / 8
}

/// What follows a word, or the beginning of one.
enum After {
    /// The word ends.
    End,
    /// So many bytes, and then the word goes on.
    Within(usize),
    /// It takes more than the table.
    Stretch,
}

/// Calls `visit` with every token of `text`, in order of position, a whole before its parts; returns how
/// many positions the text takes.
pub fn scan<'t>(text: &'t str, elides: bool, visit: impl FnMut(Token<'t>)) -> u32 {
    let mut tokens = Tokens::new(text, visit);
    let bytes = Bytes(text.as_bytes());
    let mut room = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.at(at) {
        let found = match CLASSES[usize::from(byte)] {
            Class::Break | Class::Mark => {
                at += 1;
                continue;
            }
            Class::Lead if bytes.is_sign(at) => {
                at += 2;
                continue;
            }
            Class::Letter | Class::Digit | Class::Lead => bytes.word(at, elides),
            Class::Underscore => None,
            Class::Other => match bytes.punctuation(at) {
                0 => None,
                length => {
                    at += length;
                    continue;
                }
            },
        };
        let start = at;
        if let Some(end) = found {
            tokens.word(start..end);
            at = end;
        } else {
            at = bytes.end_of_stretch(start);
            stretch(start..at, elides, &mut room, &mut tokens);
        }
    }
    tokens.positions()
}

#[derive(Clone, Copy)]
struct Bytes<'t>(&'t [u8]);

impl Bytes<'_> {
    #[inline]
    fn at(self, index: usize) -> Option<u8> {
        self.0.get(index).copied()
    }

    #[inline]
    fn class(self, index: usize) -> Class {
        self.at(index).map_or(Class::Break, |byte| CLASSES[usize::from(byte)])
    }

    /// Where the word that starts at `start` ends; `None` where the table cannot tell.
    #[inline]
    fn word(self, start: usize, elides: bool) -> Option<usize> {
        let mut end = start;
        loop {
            end += self.run(end);
            match self.class(end) {
                Class::Letter | Class::Digit => end += 1,
                Class::Break => return Some(end),
                Class::Lead if !self.is_sign(end) => end += 2,
                Class::Lead => return Some(end),
                _ => match self.after(start..end, elides) {
                    After::End => return Some(end),
                    After::Within(length) => end += length,
                    After::Stretch => return None,
                },
            }
        }
    }

    /// How many bytes from `start` on, in steps of eight, are ASCII letters and digits.
    #[inline]
    fn run(self, start: usize) -> usize {
        let mut length = 0;
        while let Some(chunk) = self.0.get(start + length..).and_then(<[u8]>::first_chunk) {
            let plain = plain_bytes(u64::from_le_bytes(*chunk));
            length += plain;
            if plain < 8 {
                break;
            }
        }
        length
    }

    /// What the mark or the other character after a word means.
    fn after(self, word: Range<usize>, elides: bool) -> After {
        let Range { start, end } = word;
        let (mark, length) = match (self.at(end), self.at(end + 1), self.at(end + 2)) {
            (Some(0xe2), Some(0x80), Some(0x98 | 0x99)) => (b'\'', 3),
            (Some(byte), _, _) => (byte, 1),
            (None, _, _) => return After::End,
        };
        let digit_before = self.class(end - 1) == Class::Digit;
        let next = self.class(end + length);
        let letter_after = next == Class::Letter || next == Class::Lead && !self.is_sign(end + length);
        let within_number = digit_before && next == Class::Digit;
        let within_word = !digit_before && letter_after;
        let joins = letter_after || matches!(next, Class::Digit | Class::Underscore);
        match mark {
            b'_' => After::Stretch,
            0x80.. if self.punctuation(end) > 0 => After::End,
            0x80.. => After::Stretch,
            // What Unicode would join needs its tables.
            _ if next == Class::Other && self.punctuation(end + length) == 0 => After::Stretch,
            b'\'' | b'.' | b',' | b';' if within_number => After::Within(length),
            b'\'' if within_word && !elides => After::Within(length),
            b'.' | b'@' if joins => After::Stretch,
            b':' | b'&' if within_word => After::Stretch,
            b':' if self.at(end + 1) == Some(b':') => After::Stretch,
            b'+' if self.at(end + 1) == Some(b'+') => After::Stretch,
            b'#' if end - start == 1 && !digit_before => After::Stretch,
            _ => After::End,
        }
    }

    /// Whether the two bytes at `index`, the first of which is a lead, are `×` or `÷`.
    #[inline]
    fn is_sign(self, index: usize) -> bool {
        self.at(index) == Some(0xc3) && matches!(self.at(index + 1), Some(0x97 | 0xb7))
    }

    /// How many bytes the character at `index` has, if it is frequent and always parts words: the spaces,
    /// quotes and signs of Latin-1, dashes, typographic quotes, the bullet and the ellipsis. Otherwise 0.
    fn punctuation(self, index: usize) -> usize {
        match (self.at(index), self.at(index + 1), self.at(index + 2)) {
            (Some(0xc2), Some(0xa0..=0xa9 | 0xab | 0xac | 0xae..=0xb1 | 0xb4 | 0xb6 | 0xbb | 0xbf), _) => 2,
            (Some(0xe2), Some(0x80), Some(0x90..=0x95 | 0x9a..=0x9f | 0xa2 | 0xa6)) => 3,
            _ => 0,
        }
    }

    fn end_of_stretch(self, start: usize) -> usize {
        let space = self.0[start..].iter().position(u8::is_ascii_whitespace);
        space.map_or(self.0.len(), |length| start + length)
    }
}

#[cfg(test)]
mod tests;
