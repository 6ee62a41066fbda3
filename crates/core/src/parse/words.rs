//! Content fingerprints of a page: a digest for exact duplicates of its words, a SimHash for near-duplicates.

use memchr::memmem;
use twox_hash::XxHash3_128;

use crate::duplicates::simhash;

/// The fingerprints of a page's words.
pub struct Words {
    pub digest: u128,
    pub simhash: u64,
}

impl Words {
    /// The fingerprints of a page with this title and text, or of its bytes if it has no text.
    pub fn of(title: &str, text: &str, body: &[u8]) -> Words {
        if text.is_empty() {
            return Words { digest: XxHash3_128::oneshot(body), simhash: 0 };
        }
        let mut page = Vec::with_capacity(title.len() + 1 + text.len());
        push_lower_case(&mut page, title);
        // No title or text contains a control character, so the separator is unambiguous.
        page.push(0);
        let start = page.len();
        push_lower_case(&mut page, text);
        // It is built from characters, so it is valid.
        let words = std::str::from_utf8(&page[start..]).unwrap_or_default();
        Words { digest: XxHash3_128::oneshot(&page), simhash: simhash(words) }
    }
}

/// Appends `text` in lower case and on one line: `text.to_lowercase().replace('\n', " ")`, several times as
/// fast if most of it is ASCII.
fn push_lower_case(page: &mut Vec<u8>, text: &str) {
    // Only the lower case of the Greek sigma depends on its context.
    if memmem::find(text.as_bytes(), "Σ".as_bytes()).is_some() {
        page.extend(text.to_lowercase().replace('\n', " ").bytes());
        return;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(block_end(rest, BLOCK));
        if block.is_ascii() {
            page.extend(block.bytes().map(lower_case));
        } else {
            push_characters(page, block);
        }
        rest = after;
    }
}

fn push_characters(page: &mut Vec<u8>, text: &str) {
    for character in text.chars() {
        if character.is_ascii() {
            page.push(lower_case(character as u8));
        } else {
            for lower in character.to_lowercase() {
                page.extend(lower.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
}

/// The first character boundary at or after `least` bytes.
fn block_end(text: &str, least: usize) -> usize {
    (least..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The number of bytes that are checked together.
const BLOCK: usize = 128;

#[inline]
fn lower_case(byte: u8) -> u8 {
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
            push_lower_case(&mut page, &text);
            prop_assert_eq!(page, text.to_lowercase().replace('\n', " ").into_bytes());
        }
    }
}
