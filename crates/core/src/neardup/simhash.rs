//! SimHash: 64 bits for a text, of which two similar texts share most.
//!
//! The text becomes a *set* S of signals, its shingles of three consecutive words, and bit i is 1 if and
//! only if
//!
//! ```text
//! |{s ∈ S : h(s)[i] = 1}|  >  |{s ∈ S : h(s)[i] = 0}|
//! ```
//!
//! where h is XXH3-64. Two texts whose sets are at angle θ differ in 64 θ/π bits on average; within
//! distance 3 they are near-duplicates with precision and recall of about 0.75 (Manku, Jain, Das Sarma,
//! *Detecting Near-Duplicates for Web Crawling*, 2007; the function is Charikar's, 2002).
//! Time O(n log n) for n words; 24 bytes a word while it runs.

use crate::Signature;

/// How many words make a shingle.
const SHINGLE: usize = 3;

/// The SimHash of a text, which should be in lower case already; 0 if it has no words.
pub fn simhash(text: &str) -> u64 {
    let words = words(text);
    let mut hashes: Vec<u64> =
        words.windows(SHINGLE.min(words.len()).max(1)).map(|shingle| hash(text, shingle)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let mut ones = [0u32; 64];
    for hash in &hashes {
        for (bit, count) in ones.iter_mut().enumerate() {
            *count += (hash >> bit & 1) as u32;
        }
    }
    let majority =
        |(bit, &count): (usize, &u32)| u64::from(2 * u64::from(count) > hashes.len() as u64) << bit;
    ones.iter().enumerate().map(majority).sum()
}

/// A word's place in the text.
type Word = (usize, usize);

fn hash(text: &str, shingle: &[Word]) -> u64 {
    let start = shingle.first().map_or(0, |word| word.0);
    let end = shingle.last().map_or(0, |word| word.1);
    Signature::of(&text.as_bytes()[start..end]).0
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::with_capacity(text.len() / 6);
    let mut start = None;
    for (at, character) in text.char_indices() {
        if !character.is_whitespace() && !stands_alone(character) {
            start.get_or_insert(at);
            continue;
        }
        words.extend(start.take().map(|start| (start, at)));
        if !character.is_whitespace() {
            words.push((at, at + character.len_utf8()));
        }
    }
    words.extend(start.map(|start| (start, text.len())));
    words
}

/// Whether a character is of a script that puts no spaces between words (Thai to Myanmar, Khmer, the kana
/// and the ideographs): there each character counts as a word, or a whole sentence would be one.
fn stands_alone(character: char) -> bool {
    matches!(character as u32,
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff
        | 0x2e80..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similar_texts_are_near_and_others_far() {
        let text: Vec<String> = (0..500).map(|word| format!("word{}", word * word % 101)).collect();
        let mut edited = text.clone();
        edited[250] = "edited".into();
        let other: Vec<String> = (0..500).map(|word| format!("other{}", word * 7 % 103)).collect();
        let [text, edited, other] = [text, edited, other].map(|words| simhash(&words.join(" ")));
        assert!((text ^ edited).count_ones() <= 8);
        assert!((text ^ other).count_ones() > 16);
    }

    #[test]
    fn short_texts_are_one_shingle() {
        assert_eq!(simhash(""), 0);
        assert_eq!(simhash("one two"), Signature::of(b"one two").0);
        assert_eq!(simhash("one two three"), Signature::of(b"one two three").0);
    }

    #[test]
    fn ideographs_are_words() {
        assert_eq!(words("a中文 b"), [(0, 1), (1, 4), (4, 7), (8, 9)]);
    }

    proptest! {
        #[test]
        fn is_the_definition(words in prop::collection::vec("[abc]", 3..40)) {
            let signals: HashSet<String> = words.windows(3).map(|shingle| shingle.join(" ")).collect();
            let hashes: Vec<u64> = signals.iter().map(|signal| Signature::of(signal.as_bytes()).0).collect();
            let found = simhash(&words.join(" "));
            for bit in 0..64 {
                let ones = hashes.iter().filter(|hash| *hash >> bit & 1 == 1).count();
                prop_assert_eq!(found >> bit & 1 == 1, ones > hashes.len() - ones);
            }
        }
    }
}
