//! SimHash: a 64-bit fingerprint; similar texts agree in most of its bits.
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
//! Time O(n) for n words; at most 48 bytes per word while it runs.

use std::hash::{BuildHasher, RandomState};

use crate::Signature;

/// The number of words per shingle.
const SHINGLE: usize = 3;

/// The SimHash of a text, which the caller has lower-cased; 0 if it has no words.
pub fn simhash(text: &str) -> u64 {
    let mut signals = Signals::with_capacity(text.len() / 6 + 1);
    let mut starts = [0; SHINGLE];
    let (mut count, mut last) = (0, 0);
    for_each_word(text, |start, end| {
        starts.rotate_left(1);
        starts[SHINGLE - 1] = start;
        count += 1;
        last = end;
        if count >= SHINGLE {
            signals.add(Signature::of(&text.as_bytes()[starts[0]..end]).0);
        }
    });
    if (1..SHINGLE).contains(&count) {
        signals.add(Signature::of(&text.as_bytes()[starts[SHINGLE - count]..last]).0);
    }
    signals.majority()
}

/// A set of hashes, and how many of them have each bit set: a table with linear probing, at most half full.
struct Signals {
    /// The slots, a power of two; zero marks an empty one.
    places: Vec<u64>,
    has_zero: bool,
    /// A random odd multiplier, so that no page can choose its slots (hash flooding).
    factor: u64,
    len: u64,
    ones: [u64; 64],
    /// Byte b of `recent[i]` counts bit i + 8 b, up to 255.
    recent: [u64; 8],
}

impl Signals {
    fn with_capacity(count: usize) -> Signals {
        Signals {
            places: vec![0; (2 * count).next_power_of_two()],
            has_zero: false,
            factor: RandomState::new().hash_one(0) | 1,
            len: 0,
            ones: [0; 64],
            recent: [0; 8],
        }
    }

    #[inline]
    fn add(&mut self, hash: u64) {
        if 2 * self.len >= self.places.len() as u64 {
            self.grow();
        }
        if self.insert(hash) {
            self.count(hash);
        }
    }

    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let mask = self.places.len() - 1;
        let mut at = (hash.wrapping_mul(self.factor) >> 32) as usize & mask;
        while self.places[at] != 0 {
            if self.places[at] == hash {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.places[at] = hash;
        true
    }

    fn grow(&mut self) {
        let places = vec![0; 2 * self.places.len()];
        for hash in std::mem::replace(&mut self.places, places) {
            if hash != 0 {
                self.insert(hash);
            }
        }
    }

    #[inline]
    fn count(&mut self, hash: u64) {
        const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
        for (shift, counter) in self.recent.iter_mut().enumerate() {
            *counter += hash >> shift & LOWEST_BITS;
        }
        self.len += 1;
        if self.len.is_multiple_of(255) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for (bit, count) in self.ones.iter_mut().enumerate() {
            *count += self.recent[bit % 8] >> (bit / 8 * 8) & 0xff;
        }
        self.recent = [0; 8];
    }

    /// The bits set in more than half of the hashes.
    fn majority(mut self) -> u64 {
        self.settle();
        self.ones.iter().enumerate().map(|(bit, count)| u64::from(2 * count > self.len) << bit).sum()
    }
}

/// Calls `tell` with the start and end of each word.
#[inline]
fn for_each_word(text: &str, mut tell: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let (mut at, mut start) = (0, None);
    while at < bytes.len() {
        let (character, length) = match bytes[at] {
            b'!'..=b'~' => {
                start.get_or_insert(at);
                at += 1;
                continue;
            }
            byte if byte.is_ascii() => (char::from(byte), 1),
            _ => text[at..].chars().next().map_or(('\0', 1), |character| (character, character.len_utf8())),
        };
        if character.is_whitespace() || stands_alone(character) {
            if let Some(start) = start.take() {
                tell(start, at);
            }
            if !character.is_whitespace() {
                tell(at, at + length);
            }
        } else {
            start.get_or_insert(at);
        }
        at += length;
    }
    if let Some(start) = start {
        tell(start, bytes.len());
    }
}

/// Whether a character belongs to a script without spaces between words (Thai to Myanmar, Khmer, the kana
/// and the ideographs): there each character counts as a word; otherwise a sentence would be one word.
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
        let mut words = Vec::new();
        for_each_word("a中文 b", |start, end| words.push((start, end)));
        assert_eq!(words, [(0, 1), (1, 4), (4, 7), (8, 9)]);
    }

    proptest! {
        #[test]
        fn is_the_definition(words in prop::collection::vec("[abé]{1,2}", 3..700)) {
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
