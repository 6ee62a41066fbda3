//! The vocabulary of a chunk: from a token to the number of its term, in one lookup.
//!
//! The term of a token depends only on the token and its language, so folding and stemming are done once for
//! each distinct token of a chunk and cached. The hash table uses open addressing and stores a token of up to
//! 16 bytes in the entry itself, as two overlapping machine words and the length, which together determine
//! the token; for a longer one it stores XXH3-128. So a lookup costs at most one cache miss: 10 to 20 ns.
//! Memory: 48 to 96 bytes per distinct token.

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::analysis::{Analyzer, Language};

/// The identity of a token, without its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    head: u64,
    tail: u64,
    /// Its length up to 16; 0 stands for none and 17 for a longer token.
    length: u8,
    language: u8,
}

const LONGER: u8 = 17;

impl Key {
    const NONE: Key = Key { head: 0, tail: 0, length: 0, language: 0 };

    #[inline]
    fn of(word: &[u8], language: u8) -> Key {
        let length = word.len();
        if let (Some(head), Some(tail)) = (word.first_chunk::<8>(), word.last_chunk::<8>())
            && length <= 16
        {
            let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
            return Key { head, tail, length: length as u8, language };
        }
        if let (Some(head), Some(tail)) = (word.first_chunk::<4>(), word.last_chunk::<4>())
            && length <= 16
        {
            let (head, tail) = (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into());
            return Key { head, tail, length: length as u8, language };
        }
        if length <= 16 {
            let head = word.iter().rev().fold(0, |head, byte| head << 8 | u64::from(*byte));
            return Key { head, tail: 0, length: length as u8, language };
        }
        let hash = XxHash3_128::oneshot(word);
        Key { head: hash as u64, tail: (hash >> 64) as u64, length: LONGER, language }
    }

    #[inline]
    fn place(self, mask: usize) -> usize {
        let low = self.head ^ u64::from(self.length) << 56 ^ u64::from(self.language) << 48;
        let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(self.tail ^ 0xd6e8_feb8_6659_fd93);
        ((product >> 64) as u64 ^ product as u64) as usize & mask
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    term: u32,
}

/// The tokens and terms seen so far.
pub struct Vocabulary {
    entries: Vec<Entry>,
    words: usize,
    terms: Terms,
    /// The analyzer of each language seen.
    languages: Vec<(Language, Analyzer)>,
    term: String,
}

impl Default for Vocabulary {
    fn default() -> Vocabulary {
        Vocabulary::new()
    }
}

impl Vocabulary {
    /// The term number of a token without a term.
    pub const NO_TERM: u32 = u32::MAX;

    /// An empty vocabulary.
    pub fn new() -> Vocabulary {
        Vocabulary {
            entries: vec![Entry { key: Key::NONE, term: 0 }; 1 << 12],
            words: 0,
            terms: Terms::default(),
            languages: Vec::new(),
            term: String::new(),
        }
    }

    /// The number of terms; they are numbered from 0.
    pub fn terms(&self) -> usize {
        self.terms.ends.len()
    }

    /// The terms in order, each with its number.
    pub fn sorted(&self) -> Vec<(&[u8], u32)> {
        let mut sorted: Vec<(&[u8], u32)> =
            (0..self.terms() as u32).map(|number| (self.terms.get(number), number)).collect();
        sorted.sort_unstable();
        sorted
    }

    /// The number of a language, for [`Vocabulary::each`].
    pub fn language(&mut self, tag: &str) -> u8 {
        let language = Language::of(Some(tag));
        let known = self.languages.iter().position(|(known, _)| *known == language);
        let number = known.unwrap_or_else(|| {
            self.languages.push((language, Analyzer::new(language)));
            self.languages.len() - 1
        });
        // A page may claim any tag, but there are only a few dozen languages.
        number as u8
    }

    /// The analyzer of a language, by its number.
    pub fn analyzer(&self, language: u8) -> &Analyzer {
        &self.languages[usize::from(language)].1
    }

    /// Calls `visit` with the term number and position of each token of a text; returns how many positions
    /// the text takes.
    #[inline]
    pub fn each(&mut self, language: u8, text: &str, mut visit: impl FnMut(u32, u32)) -> u32 {
        // The analyzer is small; copying it lets the rest of the vocabulary be borrowed mutably.
        let analyzer = self.languages[usize::from(language)].1.clone();
        analyzer.tokens(text, |token| {
            let term = self.number(&analyzer, language, token.surface);
            if term != Vocabulary::NO_TERM {
                visit(term, token.position);
            }
        })
    }

    #[inline]
    fn number(&mut self, analyzer: &Analyzer, language: u8, word: &str) -> u32 {
        let key = Key::of(word.as_bytes(), language);
        let mask = self.entries.len() - 1;
        let mut place = key.place(mask);
        loop {
            let entry = &self.entries[place];
            if entry.key == key {
                return entry.term;
            }
            if entry.key == Key::NONE {
                return self.insert(analyzer, place, key, word);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, analyzer: &Analyzer, place: usize, key: Key, word: &str) -> u32 {
        analyzer.term(word, &mut self.term);
        let term =
            if self.term.is_empty() { Vocabulary::NO_TERM } else { self.terms.number(self.term.as_bytes()) };
        self.entries[place] = Entry { key, term };
        self.words += 1;
        if self.words * 2 > self.entries.len() {
            self.grow();
        }
        term
    }

    fn grow(&mut self) {
        let entries = vec![Entry { key: Key::NONE, term: 0 }; self.entries.len() * 2];
        let mask = entries.len() - 1;
        for entry in std::mem::replace(&mut self.entries, entries) {
            if entry.key != Key::NONE {
                let mut place = entry.key.place(mask);
                while self.entries[place].key != Key::NONE {
                    place = (place + 1) & mask;
                }
                self.entries[place] = entry;
            }
        }
    }
}

/// The terms, concatenated, and an open-addressing hash table over them.
#[derive(Default)]
struct Terms {
    bytes: Vec<u8>,
    /// Where each term ends.
    ends: Vec<u32>,
    /// The number of a term plus one, and half of its hash; an empty slot if both are zero.
    table: Vec<(u32, u32)>,
}

impl Terms {
    fn get(&self, number: u32) -> &[u8] {
        let start = (number as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[number as usize] as usize]
    }

    fn number(&mut self, term: &[u8]) -> u32 {
        if self.ends.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = XxHash3_64::oneshot(term);
        let half = (hash >> 32) as u32;
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.table[place] {
                (0, _) => break,
                (known, its_half) if its_half == half && self.get(known - 1) == term => return known - 1,
                _ => place = (place + 1) & mask,
            }
        }
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len() as u32);
        let number = self.ends.len() as u32;
        self.table[place] = (number, half);
        number - 1
    }

    fn grow(&mut self) {
        let mask = (self.table.len() * 2).max(1 << 12) - 1;
        self.table.clear();
        self.table.resize(mask + 1, (0, 0));
        for number in 0..self.ends.len() as u32 {
            let hash = XxHash3_64::oneshot(self.get(number));
            let mut place = hash as usize & mask;
            while self.table[place].0 != 0 {
                place = (place + 1) & mask;
            }
            self.table[place] = (number + 1, (hash >> 32) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn different_words_have_different_keys(left in "[ab]{1,20}", right in "[ab]{1,20}") {
            let same = Key::of(left.as_bytes(), 1) == Key::of(right.as_bytes(), 1);
            prop_assert_eq!(same, left == right);
            prop_assert!(Key::of(left.as_bytes(), 1) != Key::of(left.as_bytes(), 2));
        }

        #[test]
        fn numbers_terms_as_the_analyzer_does(texts in prop::collection::vec(("[a-zà ]{0,80}", "(en|it)"), 0..30)) {
            let mut vocabulary = Vocabulary::new();
            let mut numbers: HashMap<String, u32> = HashMap::new();
            for (text, tag) in &texts {
                let mut expected = Vec::new();
                Analyzer::new(Language::of(Some(tag))).words(text, |word| {
                    expected.push((word.term.to_owned(), word.position));
                });
                let mut found = Vec::new();
                let language = vocabulary.language(tag);
                vocabulary.each(language, text, |term, position| found.push((term, position)));
                prop_assert_eq!(found.len(), expected.len());
                for ((number, at), (term, position)) in found.into_iter().zip(expected) {
                    prop_assert_eq!(at, position);
                    prop_assert_eq!(*numbers.entry(term).or_insert(number), number);
                }
            }
            prop_assert_eq!(vocabulary.terms(), numbers.len());
            let sorted = vocabulary.sorted();
            prop_assert!(sorted.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(sorted.iter().all(|(term, number)| numbers[std::str::from_utf8(term).unwrap()] == *number));
        }
    }
}
