//! Words: longest runs of letters and digits; in scripts without spaces between words each character is one.
//!
//! Up to 64 bytes of ASCII at a time become a mask with a bit for each letter or digit, without a branch, and words begin and
//! end where neighbouring bits differ: one branch a word, not one a byte. Other characters are looked up in a bitmap of
//! 8 KiB. Time O(length).

use std::sync::LazyLock;

use super::normal::ascii_length;

const BLOCK: usize = 64;
/// The least bytes of ASCII after another character that are read by a mask.
const ENOUGH: usize = 8;
/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Moves the lowest bit of byte i to bit 56 + i.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// The characters of the bitmap: those of 16 bits.
const MAPPED: u32 = 1 << 16;

/// Whether each character of 16 bits is a letter or a digit.
static LETTERS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; MAPPED as usize / 64];
    let is_letter = |code: &u32| char::from_u32(*code).is_some_and(char::is_alphanumeric);
    (0..MAPPED).filter(is_letter).for_each(|code| bits[code as usize / 64] |= 1 << (code % 64));
    bits
});

/// Calls `tell` with the start and end of each word.
#[inline]
pub fn for_each_word(text: &str, mut tell: impl FnMut(usize, usize)) {
    let (bytes, letters) = (text.as_bytes(), LETTERS.as_slice());
    let (mut at, mut start): (usize, Option<usize>) = (0, None);
    while at < bytes.len() {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        let length = ascii_length(block);
        if length > 0 {
            let words = mask(&block[..length]);
            let inside = u64::MAX >> (BLOCK - length);
            let mut edges = (words ^ (words << 1 | u64::from(start.is_some()))) & inside;
            while edges != 0 {
                let edge = at + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                match start.take() {
                    Some(start) => tell(start, edge),
                    None => start = Some(edge),
                }
            }
            at += length;
        }
        if length == block.len() {
            continue;
        }
        // Texts in other scripts have spaces between their words: a mask is worth it if there is more ASCII than that.
        for character in text[at..].chars() {
            if character.is_ascii() && ascii_length(&bytes[at..bytes.len().min(at + ENOUGH)]) == ENOUGH {
                break;
            }
            let is_word = is_letter(letters, character);
            if is_word && !stands_alone(character) {
                start.get_or_insert(at);
            } else if let Some(start) = start.take() {
                tell(start, at);
            }
            at += character.len_utf8();
            if is_word && stands_alone(character) {
                tell(at - character.len_utf8(), at);
            }
        }
    }
    if let Some(start) = start {
        tell(start, bytes.len());
    }
}

/// A bit for each byte of a block of ASCII, set if it is a letter or a digit.
#[inline]
fn mask(block: &[u8]) -> u64 {
    let (eights, rest) = block.as_chunks::<8>();
    let mut words = 0;
    for (number, eight) in eights.iter().enumerate() {
        words |= mask_of_eight(u64::from_le_bytes(*eight)) << (8 * number);
    }
    if !rest.is_empty() {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        words |= mask_of_eight(u64::from_le_bytes(eight)) << (8 * eights.len());
    }
    words
}

#[inline]
fn mask_of_eight(bytes: u64) -> u64 {
    // The upper bit of each byte says whether it is within a range; bytes below 128 do not carry into the next.
    let within = |bytes: u64, low: u8, high: u8| {
        (bytes + ONES * u64::from(0x80 - low)) & !(bytes + ONES * u64::from(0x7f - high))
    };
    let lower = bytes | (ONES * 0x20);
    let found = (within(bytes, b'0', b'9') | within(lower, b'a', b'z')) >> 7 & ONES;
    found.wrapping_mul(GATHER) >> 56
}

#[inline]
fn is_letter(letters: &[u64], character: char) -> bool {
    let code = character as u32;
    match letters.get(code as usize / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => character.is_alphanumeric(),
    }
}

/// Whether a character is of a script without spaces between words (Thai to Myanmar, Khmer, the kana and the
/// ideographs): there each character counts as a word; otherwise a sentence would be one word.
fn stands_alone(character: char) -> bool {
    matches!(character as u32,
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff
        | 0x2e80..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each_word(text, |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn are_letters_and_digits_and_ideographs() {
        assert_eq!(words("it's 3.5 km, né-e"), ["it", "s", "3", "5", "km", "né", "e"]);
        assert_eq!(words("a中文 b"), ["a", "中", "文", "b"]);
        assert_eq!(words(" … "), Vec::<&str>::new());
    }

    #[test]
    fn every_character_is_of_its_kind() {
        for character in (0..=char::MAX as u32).filter_map(char::from_u32) {
            let text = format!("a{character}b");
            let expected = match (character.is_alphanumeric(), stands_alone(character)) {
                (true, true) => vec!["a".to_owned(), character.to_string(), "b".to_owned()],
                (true, false) => vec![text.clone()],
                (false, _) => vec!["a".to_owned(), "b".to_owned()],
            };
            assert_eq!(words(&text), expected, "{character:?}");
        }
    }

    proptest! {
        #[test]
        fn are_the_definition(text in "[ -~é中𝒜…\n]{0,300}|[ -~]{0,300}") {
            let mut expected: Vec<String> = Vec::new();
            let mut is_open = false;
            for character in text.chars() {
                if character.is_alphanumeric() && is_open && !stands_alone(character) {
                    expected.last_mut().unwrap().push(character);
                } else if character.is_alphanumeric() {
                    expected.push(character.into());
                }
                is_open = character.is_alphanumeric() && !stands_alone(character);
            }
            prop_assert_eq!(words(&text), expected);
        }
    }
}
