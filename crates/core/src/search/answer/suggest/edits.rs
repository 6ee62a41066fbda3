//! Candidate generation: all strings at edit distance 1 from a word (deletion, insertion, substitution,
//! transposition).
//!
//! For n letters and an alphabet of a, there are at most n + (n − 1) + (n + 1)·a + n·a candidates: about 500
//! for nine Latin letters, which take a millisecond to stem and look up. (Norvig, *How to write a spelling
//! corrector*, 2007.)

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The alphabets in which a typo can be recognised by its letters.
const ALPHABETS: [RangeInclusive<char>; 3] = ['a'..='z', 'α'..='ω', 'а'..='я'];

/// The strings at edit distance 1 from `word`, which is folded, over the alphabets of its scripts and its own
/// letters.
pub fn edits(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    let alphabet: BTreeSet<char> = ALPHABETS
        .into_iter()
        .filter(|alphabet| letters.iter().any(|letter| alphabet.contains(letter)))
        .flatten()
        .chain(letters.iter().copied())
        .collect();
    let mut edits = BTreeSet::new();
    for place in 0..=letters.len() {
        let (before, after) = letters.split_at(place);
        let mut add = |middle: &[char], rest: &[char]| {
            edits.insert(before.iter().chain(middle).chain(rest).collect());
        };
        alphabet.iter().for_each(|letter| add(&[*letter], after));
        if let [_, rest @ ..] = after {
            add(&[], rest);
            alphabet.iter().for_each(|letter| add(&[*letter], rest));
        }
        if let [first, second, rest @ ..] = after {
            add(&[*second, *first], rest);
        }
    }
    edits.remove(word);
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::matching::expand::distance;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn are_all_words_at_distance_one(word in "[aàbж]{0,6}", other in "[aàbж]{0,7}") {
            let edits = edits(&word);
            prop_assert!(edits.iter().all(|edit| distance(&word, edit) == 1));
            let spelt_alike = other.chars().all(|letter| word.contains(letter));
            prop_assert!(!spelt_alike || edits.contains(&other) == (distance(&word, &other) == 1));
        }
    }

    #[test]
    fn use_the_alphabet_of_the_word() {
        assert_eq!(edits("ab").len(), 2 + 1 + 3 * 26 - 2 + 2 * 25);
        assert!(edits("мир").contains("мира") && !edits("мир").contains("мирa"));
        assert!(edits("città").contains("citta"));
    }
}
