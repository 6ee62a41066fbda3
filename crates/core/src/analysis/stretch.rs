//! Stretches of text for which a byte table is not enough: letters beyond Latin and Cyrillic, combining
//! marks, scripts without spaces, and identifiers.
//!
//! Words are those of Unicode (UAX #29), with these differences: a run of a script without spaces becomes
//! character bigrams ([`bigrams`](super::bigrams)); joints separate words and join them into wholes
//! ([`joint`](super::joint)); the narrow no-break space, which Unicode treats as a letter, separates words;
//! and so does an apostrophe between letters in languages with elision. Linear in the stretch's length.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::bigrams::Run;
use super::joint::{between_digits, is_joint, is_one_letter, joined, suffix};
use super::token::{Token, Tokens};

const NARROW_NO_BREAK_SPACE: char = '\u{202f}';

/// Finds the tokens of a stretch, delimited by white space or punctuation. `words` is a reused buffer.
pub fn stretch<'t>(
    bytes: Range<usize>,
    elides: bool,
    words: &mut Vec<Range<usize>>,
    tokens: &mut Tokens<'t, impl FnMut(Token<'t>)>,
) {
    let text = tokens.text();
    let mut start = bytes.start;
    while start < bytes.end {
        let run = Run::first(&text[start..bytes.end]);
        let end = start + run.length;
        if run.script.is_some() {
            run.pairs(start..end, tokens);
        } else {
            words.clear();
            unicode_words(text, start..end, elides, words);
            groups(start..end, words, tokens);
        }
        start = end;
    }
}

/// Appends the byte ranges of the words to `words`, split at joints.
fn unicode_words(text: &str, bytes: Range<usize>, elides: bool, words: &mut Vec<Range<usize>>) {
    for (offset, word) in text[bytes.clone()].unicode_word_indices() {
        let mut start = 0;
        for (index, character) in word.char_indices() {
            let parts = match character {
                _ if character.is_alphanumeric() => false,
                NARROW_NO_BREAK_SPACE => true,
                '\'' | '‘' | '’' => elides && !between_digits(word, index, character),
                _ => is_joint(word, index, character),
            };
            if parts {
                push_word(&word[start..index], bytes.start + offset + start, words);
                start = index + character.len_utf8();
            }
        }
        push_word(&word[start..], bytes.start + offset + start, words);
    }
}

/// A word begins with a letter or a digit, not with punctuation that carries a combining mark.
fn push_word(word: &str, start: usize, words: &mut Vec<Range<usize>>) {
    if let Some(first) = word.find(char::is_alphanumeric) {
        words.push(start + first..start + word.len());
    }
}

/// Emits the words, each group of joined ones preceded by its whole.
fn groups<'t>(bytes: Range<usize>, words: &[Range<usize>], tokens: &mut Tokens<'t, impl FnMut(Token<'t>)>) {
    let text = tokens.text();
    let belong = |left: &Range<usize>, right: &Range<usize>| {
        let before = text[left.clone()].chars().next_back();
        let after = text[right.clone()].chars().next();
        before.zip(after).is_some_and(|(before, after)| joined(&text[left.end..right.start], before, after))
    };
    for group in words.chunk_by(belong) {
        let (first, last) = (group[0].start, group[group.len() - 1].end);
        let start = bytes.start + text[bytes.start..first].trim_end_matches('_').len();
        let (surface, rest) = (&text[start..last], &text[last..bytes.end]);
        let underscores = rest.len() - rest.trim_start_matches('_').len();
        let suffix = suffix(surface, rest);
        let end = last + underscores.max(suffix);
        let is_word = group.len() == 1 && start == first && underscores == 0;
        if is_word && (suffix == 0 || is_one_letter(surface)) {
            tokens.word(start..end);
            continue;
        }
        tokens.whole(start..end, group.len() as u32);
        group.iter().for_each(|word| tokens.word(word.clone()));
    }
}
