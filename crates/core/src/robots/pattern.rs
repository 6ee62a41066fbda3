//! Path patterns: their normal form, and matching.
//!
//! Two spellings of the same octets must compare equal (RFC 9309, 2.2.2). So on both sides an octet that
//! needs no escape is unescaped, every other escape is in upper case, and characters not allowed in a URL are
//! escaped. In the RFC's example `:` and `/` in a query equal their escapes; hence those are unescaped, too.
//! A `*` or `$` in a URL is escaped, since that is how a rule has to write it (2.2.3). [`matches`] searches
//! the pieces between the `*`s from left to right, each at its first occurrence: the leftmost choice leaves
//! the most for the rest, so no backtracking is needed.

use memchr::memmem;

use crate::url::{escaped_byte, is_escaped_in_path};

/// The normal form of a rule's value; `None` if it cannot match any path.
pub fn normal_rule(value: &[u8]) -> Option<Vec<u8>> {
    if !matches!(value.first(), Some(b'/' | b'*')) {
        return None;
    }
    let (value, anchored) = value.strip_suffix(b"$").map_or((value, false), |value| (value, true));
    let mut normal = Vec::with_capacity(value.len() + 1);
    push_normal(&mut normal, value, true);
    if anchored {
        normal.push(b'$');
    }
    normal.shrink_to_fit();
    Some(normal)
}

/// The normal form of a URL's path and query.
pub fn normal_path(path: &str) -> Vec<u8> {
    let path = path.split('#').next().unwrap_or_default().as_bytes();
    let mut normal = Vec::with_capacity(path.len() + 1);
    if path.first() != Some(&b'/') {
        normal.push(b'/');
    }
    push_normal(&mut normal, path, false);
    normal
}

fn push_normal(normal: &mut Vec<u8>, text: &[u8], stars_are_special: bool) {
    let mut in_query = false;
    let mut rest = text;
    while let Some((&first, others)) = rest.split_first() {
        if let Some(byte) = escaped_byte(rest) {
            if needs_no_escape(byte) || (byte == b'/' && in_query) {
                normal.push(byte);
            } else {
                push_escape(normal, byte);
            }
            rest = &rest[3..];
            continue;
        }
        in_query |= first == b'?';
        match first {
            b'*' if stars_are_special => normal.push(first),
            b'*' | b'$' => push_escape(normal, first),
            b'?' => normal.push(first),
            _ if is_escaped_in_path(first) => push_escape(normal, first),
            _ => normal.push(first),
        }
        rest = others;
    }
}

fn needs_no_escape(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':' | b'\'')
}

fn push_escape(normal: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    normal.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Whether a pattern matches the start of a path, or with `$` all of it.
pub fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, anchored) = pattern.strip_suffix(b"$").map_or((pattern, false), |start| (start, true));
    let Some(star) = memchr::memchr(b'*', pattern) else {
        return if anchored { pattern == path } else { path.starts_with(pattern) };
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..star]) else { return false };
    let mut pieces = &pattern[star + 1..];
    while let Some(star) = memchr::memchr(b'*', pieces) {
        let piece = &pieces[..star];
        let Some(place) = memmem::find(rest, piece) else { return false };
        rest = &rest[place + piece.len()..];
        pieces = &pieces[star + 1..];
    }
    if anchored { rest.ends_with(pieces) } else { memmem::find(rest, pieces).is_some() }
}
