//! Words: longest runs of letters and digits; in scripts without spaces between words each character is one.
//!
//! 64 bytes at a time become a mask with a bit for each byte of a letter or a digit: ASCII without a branch, and every other
//! character by a bitmap of 8 KiB. Words begin and end where neighbouring bits differ, and where a character stands alone;
//! so there is one branch a word, not one a byte. Time O(length).

use std::sync::LazyLock;

const BLOCK: usize = 64;
/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Moves the lowest bit of byte i to bit 56 + i.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// The characters of the bitmap: those of 16 bits.
const MAPPED: u32 = 1 << 16;

/// Whether each character of 16 bits is a letter or a digit.
static LETTERS: LazyLock<Vec<u64>> = LazyLock::new(|| bitmap(char::is_alphanumeric));

/// A bit for each character of 16 bits.
pub fn bitmap(is_set: impl Fn(char) -> bool) -> Vec<u64> {
    let mut bits = vec![0; MAPPED as usize / 64];
    let characters = (0..MAPPED).filter_map(char::from_u32).filter(|character| is_set(*character));
    characters.for_each(|character| bits[character as usize / 64] |= 1 << (character as u32 % 64));
    bits
}

/// The bit of a character in a bitmap; `None` if it has more than 16 bits.
#[inline]
pub fn bit(bitmap: &[u64], character: char) -> Option<bool> {
    let code = character as u32;
    bitmap.get(code as usize / 64).map(|bits| bits >> (code % 64) & 1 == 1)
}

/// Calls `tell` with the start and end of each word.
#[inline]
pub fn for_each_word(text: &str, mut tell: impl FnMut(usize, usize)) {
    let (bytes, bitmap) = (text.as_bytes(), LETTERS.as_slice());
    // The bits from 64 on are those of a character that goes on in the next block.
    let (mut words, mut breaks) = (0u128, 0u128);
    let (mut is_open, mut start) = (false, 0);
    // If the last block is full, an empty one follows, in which its last word ends.
    for at in (0..=bytes.len()).step_by(BLOCK) {
        let (ascii, mut leads) = masks(&bytes[at..bytes.len().min(at + BLOCK)]);
        words |= u128::from(ascii);
        while leads != 0 {
            let place = leads.trailing_zeros() as usize;
            leads &= leads - 1;
            let Some(character) = text[at + place..].chars().next() else { break };
            if bit(bitmap, character).unwrap_or_else(|| character.is_alphanumeric()) {
                let after = 1 << character.len_utf8();
                words |= (after - 1) << place;
                breaks |= if stands_alone(character) { (after | 1) << place } else { 0 };
            }
        }
        let before = (words as u64) << 1 | u64::from(is_open);
        let mut starts = words as u64 & (!before | breaks as u64);
        let mut ends = before & (!(words as u64) | breaks as u64);
        let mut next_start = || {
            let start = at + starts.trailing_zeros() as usize;
            starts &= starts.wrapping_sub(1);
            start
        };
        // Starts and ends alternate.
        if !is_open {
            start = next_start();
        }
        while ends != 0 {
            tell(start, at + ends.trailing_zeros() as usize);
            ends &= ends - 1;
            start = next_start();
        }
        is_open = words >> (BLOCK - 1) & 1 == 1;
        (words, breaks) = (words >> BLOCK, breaks >> BLOCK);
    }
}

/// Of at most 64 bytes: a bit for each letter or digit of ASCII, and one for each byte that begins another character.
#[inline]
fn masks(bytes: &[u8]) -> (u64, u64) {
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    let (eights, _) = block.as_chunks::<8>();
    let (mut words, mut leads) = (0, 0);
    for (number, eight) in eights.iter().enumerate() {
        let bytes = u64::from_le_bytes(*eight);
        words |= gathered(letters(bytes)) << (8 * number);
        leads |= gathered(bytes >> 7 & bytes >> 6 & ONES) << (8 * number);
    }
    (words, leads)
}

/// A one in each byte that is a letter or a digit of ASCII.
#[inline]
fn letters(bytes: u64) -> u64 {
    // The upper bit of each byte says whether it is within a range; seven bits do not carry into the next byte.
    let ascii = bytes & (ONES * 0x7f);
    let within = |bytes: u64, low: u8, high: u8| {
        (bytes + ONES * u64::from(0x80 - low)) & !(bytes + ONES * u64::from(0x7f - high))
    };
    let lower = ascii | (ONES * 0x20);
    let found = (within(ascii, b'0', b'9') | within(lower, b'a', b'z')) & !bytes;
    found >> 7 & ONES
}

/// The lowest bits of eight bytes.
#[inline]
fn gathered(bits: u64) -> u64 {
    bits.wrapping_mul(GATHER) >> 56
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
