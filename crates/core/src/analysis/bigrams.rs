//! Scripts without spaces between words: character bigrams (overlapping pairs of characters).
//!
//! Chinese, Japanese, Thai, Lao, Khmer and Burmese do not separate words, and Korean appends particles to
//! them. A run of n characters in such a script takes n positions and yields n - 1 bigrams, each at the
//! position of its first character: a query then matches anywhere, also inside a longer run, and a phrase of
//! bigrams is exact. A single character is a token. Needs no dictionary; costs one token per character.
//!
//! A character is a grapheme cluster, so that no vowel mark is separated from its consonant. Han, kana and
//! Hangul share a run, because Japanese mixes them.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::token::{Token, Tokens};

/// Scripts whose characters pair with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Han, kana, bopomofo and Hangul.
    EastAsian,
    /// Thai, Lao, Burmese and Khmer.
    SouthEastAsian,
}

/// The script of a letter, if it is one of those without spaces.
fn script(letter: char) -> Option<Script> {
    match letter {
        ..'\u{e01}' => None,
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' => Some(Script::SouthEastAsian),
        '\u{e81}'..='\u{ebd}' | '\u{ec0}'..='\u{ece}' | '\u{edc}'..='\u{edf}' => Some(Script::SouthEastAsian),
        '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{aa60}'..='\u{aa7f}' => {
            Some(Script::SouthEastAsian)
        }
        '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}' | '\u{17dd}' => Some(Script::SouthEastAsian),
        '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' => {
            Some(Script::EastAsian)
        }
        '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{303b}' => {
            Some(Script::EastAsian)
        }
        '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' => {
            Some(Script::EastAsian)
        }
        '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{318e}' | '\u{31a0}'..='\u{31ff}' => {
            Some(Script::EastAsian)
        }
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
            Some(Script::EastAsian)
        }
        '\u{ff66}'..='\u{ff9d}' | '\u{ffa0}'..='\u{ffdc}' => Some(Script::EastAsian),
        '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{323af}' => Some(Script::EastAsian),
        _ => None,
    }
}

/// Whether a letter of [`script`] is always a grapheme cluster, unless a mark follows.
fn stands_alone(letter: char) -> bool {
    !matches!(letter, ..'\u{1200}' | '\u{1780}'..='\u{17ff}' | '\u{a960}'..='\u{abff}' | '\u{d7a4}'..='\u{d7ff}' | '\u{ffa0}'..='\u{ffdc}')
}

/// Marks that follow a letter in its cluster: combining ones, and the halfwidth voiced sound marks.
fn is_mark(character: char) -> bool {
    is_combining_mark(character) || matches!(character, '\u{ff9e}' | '\u{ff9f}')
}

/// The first run of a non-empty text: letters of one script without spaces, or everything before the first
/// such letter.
pub struct Run {
    /// Its length in bytes.
    pub length: usize,
    /// Its script; `None` for text whose words are separated by spaces.
    pub script: Option<Script>,
    /// Whether each of its characters is a grapheme cluster.
    simple: bool,
}

impl Run {
    /// The run that `text` begins with.
    pub fn first(text: &str) -> Run {
        let begins = |letter: &char| script(*letter).filter(|_| letter.is_alphabetic());
        let Some(first) = text.chars().next().as_ref().and_then(begins) else {
            let next = text.char_indices().find(|(_, letter)| begins(letter).is_some());
            return Run { length: next.map_or(text.len(), |(index, _)| index), script: None, simple: false };
        };
        let mut simple = true;
        let mut length = text.len();
        for (index, letter) in text.char_indices() {
            let belongs = script(letter) == Some(first);
            if !belongs && !is_mark(letter) {
                length = index;
                break;
            }
            simple &= belongs && stands_alone(letter);
        }
        Run { length, script: Some(first), simple }
    }

    /// Emits the bigrams of the run, which is at `bytes` of the text.
    pub fn pairs<'t>(&self, bytes: Range<usize>, tokens: &mut Tokens<'t, impl FnMut(Token<'t>)>) {
        let run = &tokens.text()[bytes.clone()];
        if self.simple {
            let starts = run.char_indices().map(|(index, _)| index);
            pair_up(starts, bytes, tokens);
        } else {
            let starts = run.grapheme_indices(true).map(|(index, _)| index);
            pair_up(starts, bytes, tokens);
        }
    }
}

/// Emits pairs of characters, given their start offsets relative to the start of the run.
fn pair_up<'t>(
    starts: impl Iterator<Item = usize>,
    bytes: Range<usize>,
    tokens: &mut Tokens<'t, impl FnMut(Token<'t>)>,
) {
    // Where the last two characters begin.
    let (mut first, mut second) = (None, None);
    for start in starts.map(|start| bytes.start + start) {
        if let Some(first) = first {
            tokens.word(first..start);
        }
        (first, second) = (second, Some(start));
    }
    match (first, second) {
        (Some(first), Some(_)) => {
            tokens.word(first..bytes.end);
            tokens.skip();
        }
        _ => tokens.word(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(run: &str) -> (Vec<(u32, &str)>, u32) {
        let mut found = Vec::new();
        let mut tokens = Tokens::new(run, |token: Token<'_>| found.push((token.position, token.surface)));
        let first = Run::first(run);
        assert_eq!((first.length, first.script.is_some()), (run.len(), true), "{run}");
        first.pairs(0..run.len(), &mut tokens);
        let positions = tokens.positions();
        (found, positions)
    }

    #[test]
    fn pairs_overlap_and_a_character_alone_is_a_token() {
        assert_eq!(pairs("東京都"), (vec![(0, "東京"), (1, "京都")], 3));
        assert_eq!(pairs("人"), (vec![(0, "人")], 1));
        assert_eq!(pairs("タワーを見る").1, 6);
        assert_eq!(pairs("한국어"), (vec![(0, "한국"), (1, "국어")], 3));
    }

    #[test]
    fn marks_stay_with_their_letters() {
        assert_eq!(pairs("ที่นี่"), (vec![(0, "ที่นี่")], 2));
        assert_eq!(pairs("か\u{3099}き").0, [(0, "か\u{3099}き")]);
        assert_eq!(pairs("ｶﾞｷ").0, [(0, "ｶﾞｷ")]);
        // Hangul as its jamo: two syllables.
        assert_eq!(pairs("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}").1, 2);
    }

    #[test]
    fn runs_end_where_the_script_does() {
        let lengths = ["abc東", "東京tower", "東京。", "ไทย東京", "東"].map(|text| Run::first(text).length);
        assert_eq!(lengths, [3, 6, 6, 9, 3]);
    }

    proptest! {
        #[test]
        fn every_character_but_the_last_begins_a_pair(run in "[一-丯ぁ-ゖァ-ヺ가-힣ก-ฮกิกี่ကကိកកិ]{1,20}") {
            let mut rest = run.as_str();
            while !rest.is_empty() {
                let first = Run::first(rest);
                let clusters: Vec<&str> = rest[..first.length].graphemes(true).collect();
                if first.script.is_some() {
                    let (found, positions) = pairs(&rest[..first.length]);
                    prop_assert_eq!(positions as usize, clusters.len());
                    let expected: Vec<String> = match clusters.as_slice() {
                        [alone] => vec![(*alone).to_owned()],
                        _ => clusters.windows(2).map(|pair| pair.concat()).collect(),
                    };
                    prop_assert_eq!(found.iter().map(|(_, pair)| *pair).collect::<Vec<_>>(), expected);
                }
                rest = &rest[first.length..];
            }
        }
    }
}
