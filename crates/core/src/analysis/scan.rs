//! The tokenizer: finds the words of a text, by a byte table wherever that is enough.
//!
//! Words are those of Unicode (UAX #29). For ASCII its rules amount to this: a word is a run of letters and
//! digits; an apostrophe between two letters, and `.` `,` `;` `'` between two digits, do not break it. The
//! same holds for the two-byte letters of most European languages (Latin, Cyrillic), and for the typographic
//! apostrophe. Anything more complex sends the rest of the *stretch*, up to the next white space, to
//! [`stretch`](super::stretch), which uses `unicode-segmentation`: a word begins only where another one
//! cannot continue, so what precedes it cannot change what follows. Each byte costs one look-up; no word is
//! allocated.

use super::stretch::stretch;
use super::token::{Token, Tokens};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Always separates words.
    Break,
    Letter,
    Digit,
    /// The lead byte of a two-byte letter, or of `×` or `÷`.
    Lead,
    /// Separates words or not, depending on its neighbours.
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

/// The number of leading bytes (lowest first) of eight that are ASCII letters or digits.
///
/// SIMD within a register: adding `0x80 - c` to a byte below `0x80` sets its highest bit if it is c or more,
/// and no byte overflows into the next.
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

/// What follows the bytes of a word read so far.
enum After {
    /// The word ends.
    End,
    /// The word continues after the given number of bytes.
    Within(usize),
    /// The byte table is not enough.
    Stretch,
}

/// Calls `visit` with every token of `text`, in order of position, a whole before its parts; returns the
/// number of positions of the text.
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

    /// The end of the word that starts at `start`; `None` if the byte table cannot decide.
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

    /// The number of ASCII letters and digits from `start` on, counted eight bytes at a time.
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

    /// What the mark or non-ASCII character after a word means.
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
            // Whether Unicode joins these needs its tables.
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

    /// The length in bytes of the character at `index` if it is frequent and always separates words: the
    /// spaces, quotes and signs of Latin-1, dashes, typographic quotes, the bullet and the ellipsis.
    /// Otherwise 0.
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
