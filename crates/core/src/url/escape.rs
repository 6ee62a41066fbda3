//! Percent-encoding: which bytes are allowed in which part of a URL (WHATWG URL standard, section 1.3).
//!
//! Every set of the standard contains the controls and all non-ASCII bytes, so the output is always ASCII.
//! One table look-up per byte; runs that need no escaping are copied in one piece.

use std::borrow::Cow;

/// A percent-encode set: bytes that must be escaped, as a bit in [`TABLE`].
#[derive(Clone, Copy)]
pub struct EscapeSet(u8);

pub const CONTROLS: EscapeSet = EscapeSet(1);
pub const FRAGMENT: EscapeSet = EscapeSet(2);
pub const QUERY: EscapeSet = EscapeSet(4);
pub const SPECIAL_QUERY: EscapeSet = EscapeSet(8);
pub const PATH: EscapeSet = EscapeSet(16);
pub const USERINFO: EscapeSet = EscapeSet(32);

/// The sets that each byte belongs to.
static TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte < 0x20 || byte > 0x7e {
            table[byte] = u8::MAX;
        }
        byte += 1;
    }
    table = with(table, b" \"<>`", FRAGMENT.0);
    table = with(table, b" \"#<>", QUERY.0 | SPECIAL_QUERY.0 | PATH.0 | USERINFO.0);
    table = with(table, b"'", SPECIAL_QUERY.0);
    table = with(table, b"?^`{}", PATH.0 | USERINFO.0);
    with(table, b"/:;=@[\\]|", USERINFO.0)
};

const fn with(mut table: [u8; 256], bytes: &[u8], sets: u8) -> [u8; 256] {
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] |= sets;
        index += 1;
    }
    table
}

/// Appends `text` with every byte of `set` escaped.
pub fn push_escaped(output: &mut String, text: &str, set: EscapeSet) {
    let must = |byte: &u8| TABLE[usize::from(*byte)] & set.0 != 0;
    let mut rest = text;
    while let Some(place) = rest.as_bytes().iter().position(must) {
        let (clean, dirty) = rest.split_at(place);
        output.push_str(clean);
        let mut characters = dirty.chars();
        if let Some(character) = characters.next() {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                push_byte(output, byte);
            }
        }
        rest = characters.as_str();
    }
    output.push_str(rest);
}

/// Whether a byte is escaped in the path of a URL.
pub fn is_escaped_in_path(byte: u8) -> bool {
    TABLE[usize::from(byte)] & PATH.0 != 0
}

/// Appends `%XX`.
fn push_byte(output: &mut String, byte: u8) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    output.push('%');
    output.push(DIGITS[usize::from(byte >> 4)]);
    output.push(DIGITS[usize::from(byte & 15)]);
}

/// The byte denoted by `%XX` at the start of `text`.
pub fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(*high)? << 4 | digit(*low)?) as u8)
}

/// The percent-decoded text; invalid UTF-8 becomes U+FFFD.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}
