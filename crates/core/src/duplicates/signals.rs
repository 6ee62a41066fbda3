//! Signals: what a text is compared by, as 64-bit hashes in the order of the text.
//!
//! A *word* is a longest run of letters and digits; in scripts without spaces between words each character is one. The
//! signals of a text are its n-grams of words, or its n-grams of characters (*shingles*), where everything between words
//! counts as one space. A text of fewer than n units is one signal; one without words has none. The caller has
//! lower-cased the text ([`super::lower_case`]).
//!
//! With units u₁ … uₙ the hash of an n-gram is that of Karp and Rabin, finished by the mixing of SplitMix64:
//!
//! ```text
//! h = mix(Σᵢ g(uᵢ) Mⁿ⁻ⁱ mod 2⁶⁴)
//! ```
//!
//! where g is XXH3-64 of a word, or the mixed code of a character: each unit is hashed once whatever n is. Time O(length).
//!
//! Source: Richard Karp and Michael Rabin, "Efficient randomized pattern-matching algorithms", 1987.

use serde::{Deserialize, Serialize};

use super::words::for_each_word;
use crate::Signature;
use crate::signature::hash::random;

/// The multiplier of the polynomial: odd, with bits all over.
const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;
const SPACE: char = ' ';

/// What n-grams are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Words.
    Word,
    /// Characters.
    Character,
}

/// How a text becomes signals: n-grams of `size` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signals {
    /// What they are made of.
    pub unit: Unit,
    /// The number of units of each, at least 1.
    pub size: usize,
}

impl Signals {
    /// n-grams of words.
    pub const fn words(size: usize) -> Signals {
        Signals { unit: Unit::Word, size }
    }

    /// Shingles of characters.
    pub const fn characters(size: usize) -> Signals {
        Signals { unit: Unit::Character, size }
    }

    /// Puts the signals of a lower-cased text, repeated ones too, in place of those in `signals`.
    pub fn of(self, text: &str, signals: &mut Vec<u64>) {
        signals.clear();
        match self.unit {
            Unit::Word => {
                let bytes = text.as_bytes();
                for_each_word(text, |start, end| signals.push(Signature::of_word(bytes, start, end).0));
            }
            Unit::Character => {
                let mut end = None;
                for_each_word(text, |start, after| {
                    if end.is_some_and(|end| end != start) {
                        signals.push(random(0, u64::from(SPACE)));
                    }
                    signals
                        .extend(text[start..after].chars().map(|character| random(0, u64::from(character))));
                    end = Some(after);
                });
            }
        }
        to_grams(signals, self.size);
    }
}

/// Replaces the hashes of units by those of their n-grams, in place; fewer than `size` units by one of all of them.
pub(super) fn to_grams(units: &mut Vec<u64>, size: usize) {
    if units.is_empty() {
        return;
    }
    let size = size.clamp(1, units.len());
    // Mⁿ⁻¹: what the unit that leaves was multiplied by.
    let leaving = (1..size).fold(1u64, |power, _| power.wrapping_mul(MULTIPLIER));
    let add = |sum: u64, unit: u64| sum.wrapping_mul(MULTIPLIER).wrapping_add(unit);
    let mut sum = units[..size - 1].iter().copied().fold(0, add);
    let count = units.len() - size + 1;
    for first in 0..count {
        sum = add(sum, units[first + size - 1]);
        let leaves = std::mem::replace(&mut units[first], random(sum, 0));
        sum = sum.wrapping_sub(leaves.wrapping_mul(leaving));
    }
    units.truncate(count);
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

    fn signals(signals: Signals, text: &str) -> Vec<u64> {
        let mut found = vec![7];
        signals.of(text, &mut found);
        found
    }

    fn gram(units: &[u64]) -> u64 {
        random(units.iter().fold(0, |sum: u64, unit| sum.wrapping_mul(MULTIPLIER).wrapping_add(*unit)), 0)
    }

    fn grams(units: &[u64], size: usize) -> Vec<u64> {
        match units.len() {
            0 => Vec::new(),
            length if length < size => vec![gram(units)],
            _ => units.windows(size).map(gram).collect(),
        }
    }

    #[test]
    fn what_is_between_words_is_one_space() {
        let shingles = Signals::characters(3);
        assert_eq!(signals(shingles, "ab,  cd"), signals(shingles, "ab cd"));
        assert_ne!(signals(shingles, "ab cd"), signals(shingles, "abcd"));
    }

    proptest! {
        #[test]
        fn are_the_definition(text in "[ab é中.]{0,40}", size in 1usize..6) {
            let hashes: Vec<u64> = words(&text).iter().map(|word| Signature::of(word.as_bytes()).0).collect();
            prop_assert_eq!(signals(Signals::words(size), &text), grams(&hashes, size));
            let mut spaced = text.replace('.', " ");
            spaced = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
            let codes: Vec<u64> = spaced.chars().map(|character| random(0, u64::from(character))).collect();
            prop_assert_eq!(signals(Signals::characters(size), &text), grams(&codes, size));
        }
    }
}
