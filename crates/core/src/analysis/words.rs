//! The analyzer: texts in one language to tokens, and tokens to terms.
//!
//! A word of more than 64 bytes, or a whole of more than 128, is never typed in a query: it has no term, but
//! it keeps its position, so that a phrase does not match across it.

use super::fold::fold;
use super::scan::scan;
use super::term::{passing_terms, term_into};
use super::{Language, Token, stop};

/// A token of a text with its term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its text.
    pub surface: &'a str,
    /// Its first byte in the text.
    pub start: usize,
    /// The end of its bytes in the text.
    pub end: usize,
    /// Its position: the number of positions before it.
    pub position: u32,
    /// For a whole: how many of the following words are its parts.
    pub parts: u32,
    /// Its term; empty if the word is too long.
    pub term: &'a str,
}

/// Turns texts in one language into terms.
#[derive(Clone)]
pub struct Analyzer {
    language: Language,
}

impl Analyzer {
    /// The analyzer of a language.
    pub fn new(language: Language) -> Analyzer {
        Analyzer { language }
    }

    /// Calls `visit` with every token of `text`, in order of position, a whole before its parts; returns the
    /// number of positions of the text. Allocates nothing per word.
    pub fn tokens<'t>(&self, text: &'t str, visit: impl FnMut(Token<'t>)) -> u32 {
        scan(text, self.language.elides, visit)
    }

    /// Writes the term of a token into `term`, which is cleared first; it stays empty if the token is too
    /// long. Depends only on the surface and the language.
    pub fn term(&self, surface: &str, term: &mut String) {
        term_into(self.language.algorithm, surface, term);
    }

    /// Writes a token before stemming, in lower case and without accents, into `folded`, which is cleared
    /// first.
    pub fn folded(&self, surface: &str, folded: &mut String) {
        folded.clear();
        fold(surface, folded);
    }

    /// Calls `visit` with each surface and its term, bypassing the caches: for generated words.
    pub fn passing_terms(&self, surfaces: impl Iterator<Item = String>, visit: impl FnMut(String, &str)) {
        passing_terms(self.language.algorithm, surfaces, visit);
    }

    /// Whether a word and its term always begin alike, apart from case and accents: most stemmers only strip
    /// suffixes.
    pub fn keeps_beginnings(&self) -> bool {
        self.language.keeps_beginnings()
    }

    /// Whether a word of a text, not yet folded, is a stop word of the language.
    pub fn is_stop_word(&self, surface: &str) -> bool {
        self.language.stop_words.is_some_and(|list| {
            let mut folded = String::new();
            fold(surface, &mut folded);
            stop::is_stop_word(list, &folded)
        })
    }

    /// Calls `visit` with every token of `text` and its term, in the order of [`tokens`](Self::tokens);
    /// returns the number of positions of the text.
    pub fn words(&self, text: &str, mut visit: impl FnMut(Word<'_>)) -> u32 {
        let mut term = String::new();
        self.tokens(text, |Token { surface, start, position, parts }| {
            self.term(surface, &mut term);
            visit(Word { surface, start, end: start + surface.len(), position, parts, term: &term });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::term::LONGEST_WORD;
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

    proptest! {
        #[test]
        fn words_and_terms_begin_alike_where_they_should(language in 0usize..16, word in "[a-zA-Z][a-z']{0,12}") {
            let tags = ["en", "ca", "da", "de", "es", "fi", "fr", "hu", "it", "no", "pt", "ro", "ru", "sv", "tr", "xx"];
            let analyzer = Analyzer::new(Language::of(Some(tags[language])));
            prop_assert!(analyzer.keeps_beginnings());
            analyzer.words(&word, |found| {
                let first = |text: &str| text.chars().next().map(|first| first.to_ascii_lowercase());
                assert_eq!(first(found.term), first(found.surface), "{}", found.surface);
            });
        }
    }

    #[test]
    fn elision_parts_words_where_the_language_elides() {
        assert_eq!(terms("it", "l’acqua dell'isola"), ["l", "acqua", "dell", "isol"]);
        assert_eq!(terms("en", "dog's"), ["dog"]);
    }

    #[test]
    fn wholes_are_folded_and_not_stemmed() {
        assert_eq!(terms("en", "Running_Dogs"), ["running_dogs", "run", "dog"]);
        assert_eq!(terms("en", "C++ and C#"), ["c++", "and", "c#"]);
        assert_eq!(terms("it", "Città.html"), ["citta.html", "citt", "html"]);
        assert_eq!(terms("en", "東京都"), ["東京", "京都"]);
    }

    #[test]
    fn a_word_too_long_has_a_position_and_no_term() {
        let long = "x".repeat(LONGEST_WORD + 1);
        assert_eq!(terms("en", &format!("a {long} b")), ["a", "", "b"]);
        assert_eq!(terms("en", &format!("a_{long}"))[0], format!("a_{long}"));
        assert_eq!(terms("en", &format!("{long}_{long}")), ["", "", ""]);
    }

    #[test]
    fn stop_words_are_known_as_they_are_written() {
        let is_stop_word = |language, word| Analyzer::new(Language::of(Some(language))).is_stop_word(word);
        for (language, word) in [("en", "The"), ("en", "don’t"), ("it", "Perché"), ("de", "für"), ("fr", "à")]
        {
            assert!(is_stop_word(language, word), "{word}");
        }
        for (language, word) in
            [("en", "die"), ("de", "The"), ("en", "cat"), ("en", ""), ("xx", "the"), ("xx", "")]
        {
            assert!(!is_stop_word(language, word), "{word}");
        }
    }
}
