//! The words of a text, each with its place in the text, its position and its term.
//!
//! Boundaries are those of Unicode (UAX #29): hyphens and spaces part words, an apostrophe inside a word
//! does not, unless the language elides. A word longer than 64 bytes is no word that
//! anybody would type: it has no term, but it keeps its position, so that a phrase does not close over it.

use unicode_segmentation::UnicodeSegmentation;

use super::Language;
use super::fold::fold;
use super::stem::stem_into;

/// The longest word that has a term, in bytes.
const LONGEST_WORD: usize = 64;

const APOSTROPHES: [char; 2] = ['\'', '’'];

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The byte of the text where it starts.
    pub start: usize,
    /// The byte of the text where it ends.
    pub end: usize,
    /// How many words of the text come before it.
    pub position: u32,
    /// What it is indexed as; empty for a word that is too long.
    pub term: &'a str,
}

/// Turns texts in one language into terms.
pub struct Analyzer {
    language: Language,
}

impl Analyzer {
    /// The analyzer of a language.
    pub fn new(language: Language) -> Analyzer {
        Analyzer { language }
    }

    /// Calls `visit` with every word of `text`, in order; returns how many there are.
    pub fn words(&self, text: &str, mut visit: impl FnMut(Word<'_>)) -> u32 {
        let mut position = 0;
        let (mut folded, mut stem) = (String::new(), String::new());
        let mut visit_word = |start: usize, word: &str| {
            let end = start + word.len();
            folded.clear();
            if word.len() <= LONGEST_WORD {
                fold(word, &mut folded);
            }
            match self.language.algorithm {
                Some(algorithm) => stem_into(algorithm, &folded, &mut stem),
                None => std::mem::swap(&mut folded, &mut stem),
            }
            visit(Word { start, end, position, term: &stem });
            position += 1;
        };
        for (start, word) in text.unicode_word_indices() {
            if !self.language.elides {
                visit_word(start, word);
                continue;
            }
            let mut begin = start;
            for piece in word.split_inclusive(APOSTROPHES) {
                let part = piece.trim_end_matches(APOSTROPHES);
                if !part.is_empty() {
                    visit_word(begin, part);
                }
                begin += piece.len();
            }
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(language: &str, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Analyzer::new(Language::of(Some(language))).words(text, |word| terms.push(word.term.to_owned()));
        terms
    }

    #[test]
    fn accents_case_and_inflection_do_not_matter() {
        assert_eq!(terms("en", "Running, runs; RUN"), ["run", "run", "run"]);
        assert_eq!(terms("it", "Città citta CITTA'"), ["citt", "citt", "citt"]);
        assert_eq!(terms("en", "boundary-layer"), ["boundari", "layer"]);
        assert_eq!(terms("ja", "running"), ["running"]);
    }

    #[test]
    fn elision_parts_words_where_the_language_elides() {
        assert_eq!(terms("it", "l’acqua dell'isola"), ["l", "acqua", "dell", "isol"]);
        assert_eq!(terms("en", "dog's"), ["dog"]);
    }

    #[test]
    fn a_word_too_long_has_a_position_and_no_term() {
        let long = "x".repeat(LONGEST_WORD + 1);
        assert_eq!(terms("en", &format!("a {long} b")), ["a", "", "b"]);
    }

    proptest! {
        #[test]
        fn words_are_where_they_say(text in "[a-zàé’' .,\\-东Я0-9]{0,60}", language in "(en|it|ru|xx)") {
            let mut end = 0;
            let mut count = 0;
            let total = Analyzer::new(Language::of(Some(&language))).words(&text, |word| {
                assert!(word.start >= end && word.end > word.start);
                assert!(!text[word.start..word.end].contains(' '));
                assert_eq!(word.position, count);
                end = word.end;
                count += 1;
            });
            prop_assert_eq!(total, count);
        }
    }
}
