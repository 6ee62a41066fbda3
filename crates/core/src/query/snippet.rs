//! Snippets: the passage of a document that best shows why it answers a query.
//!
//! The words of the text are analysed as when it was indexed, so that whatever matched is marked, however
//! it is inflected or accented. Among the stretches of at most [`LONGEST`] characters the one with the most
//! different terms of the query wins, then the one with the most matches, then the first. Where nothing
//! matches, the text's beginning is shown. Linear in the text, of which the first [`EXAMINED`] bytes are
//! looked at: about half a millisecond.

use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::Analyzer;

/// The longest passage, in characters.
pub const LONGEST: usize = 200;
/// How much of a text is looked at, in bytes.
pub const EXAMINED: usize = 64 << 10;
/// How many characters, at most, come before the first match, when text after it would fit instead.
const LEAD: usize = 50;
/// How many characters of punctuation, at most, are shown after the last word.
const TRAIL: usize = 4;
const ELLIPSIS: &str = "…";

/// A piece of plain text, and whether it matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The text.
    pub text: String,
    /// Whether it matches.
    pub matches: bool,
}

/// A word of the text.
struct Place {
    bytes: Range<usize>,
    characters: Range<usize>,
    /// Which term of the query it is.
    term: Option<usize>,
}

/// The best passage of `body` for a query with these terms.
pub fn snippet(body: &str, analyzer: &Analyzer, terms: &[&str]) -> Vec<Fragment> {
    let examined = (0..=EXAMINED.min(body.len())).rfind(|end| body.is_char_boundary(*end));
    let places = places(&body[..examined.unwrap_or(0)], analyzer, terms);
    if places.is_empty() {
        return plain_beginning(body);
    }
    let passage = widened(&places, best_stretch(&places, terms.len()));
    let words = &places[passage.clone()];
    let (start, end) = (words[0].bytes.start, words[words.len() - 1].bytes.end);
    let punctuation: usize =
        body[end..].chars().take_while(|next| !next.is_whitespace()).take(TRAIL).map(char::len_utf8).sum();
    let next_word = places.get(passage.end).map_or(body.len(), |next| next.bytes.start);
    let end = (end + punctuation).min(next_word);
    // A single word may be longer than a whole passage.
    let end = body[start..end].char_indices().nth(LONGEST + TRAIL).map_or(end, |(length, _)| start + length);

    let mut fragments = Fragments::default();
    if passage.start > 0 {
        fragments.push(ELLIPSIS, false);
    }
    let mut shown = start;
    for word in words.iter().filter(|word| word.term.is_some() && word.bytes.end <= end) {
        fragments.push(&body[shown..word.bytes.start], false);
        fragments.push(&body[word.bytes.clone()], true);
        shown = word.bytes.end;
    }
    fragments.push(&body[shown..end], false);
    if !body[end..].trim_end().is_empty() {
        fragments.push(ELLIPSIS, false);
    }
    fragments.list
}

fn places(text: &str, analyzer: &Analyzer, terms: &[&str]) -> Vec<Place> {
    let numbers: HashMap<&str, usize> =
        terms.iter().enumerate().map(|(number, term)| (*term, number)).collect();
    let mut places = Vec::new();
    let (mut byte, mut character) = (0, 0);
    analyzer.words(text, |word| {
        let start = character + text[byte..word.start].chars().count();
        character = start + text[word.start..word.end].chars().count();
        byte = word.end;
        let term = numbers.get(word.term).copied();
        places.push(Place { bytes: word.start..word.end, characters: start..character, term });
    });
    places
}

/// The words from the first to the last match of the best stretch; the first word where nothing matches.
fn best_stretch(places: &[Place], terms: usize) -> Range<usize> {
    let matches: Vec<(usize, usize)> =
        places.iter().enumerate().filter_map(|(place, word)| word.term.map(|term| (place, term))).collect();
    let mut best = (0, 0, 0..1);
    let mut counts = vec![0; terms];
    let (mut distinct, mut first) = (0, 0);
    for (last, (place, term)) in matches.iter().enumerate() {
        counts[*term] += 1;
        distinct += usize::from(counts[*term] == 1);
        while first < last
            && places[*place].characters.end - places[matches[first].0].characters.start > LONGEST
        {
            let (_, term) = matches[first];
            counts[term] -= 1;
            distinct -= usize::from(counts[term] == 0);
            first += 1;
        }
        let number = last - first + 1;
        if (distinct, number) > (best.0, best.1) {
            best = (distinct, number, matches[first].0..place + 1);
        }
    }
    best.2
}

/// The stretch with as many words around it as fit: a few before, then all that fit after, then before.
fn widened(places: &[Place], stretch: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = stretch;
    let lead = places[start].characters.start.saturating_sub(LEAD);
    let fits =
        |start: usize, end: usize| places[end - 1].characters.end - places[start].characters.start <= LONGEST;
    while start > 0 && places[start - 1].characters.start >= lead && fits(start - 1, end) {
        start -= 1;
    }
    while end < places.len() && fits(start, end + 1) {
        end += 1;
    }
    while start > 0 && fits(start - 1, end) {
        start -= 1;
    }
    start..end
}

/// The beginning of a text without words.
fn plain_beginning(body: &str) -> Vec<Fragment> {
    let mut fragments = Fragments::default();
    let body = body.trim();
    let end = body.char_indices().nth(LONGEST).map_or(body.len(), |(end, _)| end);
    fragments.push(&body[..end], false);
    if end < body.len() {
        fragments.push(ELLIPSIS, false);
    }
    fragments.list
}

/// Fragments under way: neighbours of a kind are joined, and white space is a single space.
#[derive(Default)]
struct Fragments {
    list: Vec<Fragment>,
}

impl Fragments {
    fn push(&mut self, text: &str, matches: bool) {
        if text.is_empty() {
            return;
        }
        if self.list.last().is_none_or(|last| last.matches != matches) {
            self.list.push(Fragment { text: String::new(), matches });
        }
        let Some(last) = self.list.last_mut() else { return };
        for character in text.chars() {
            match character {
                _ if !character.is_whitespace() => last.text.push(character),
                _ if !last.text.ends_with(' ') => last.text.push(' '),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;
    use proptest::prelude::*;

    fn shown(body: &str, terms: &[&str]) -> String {
        let fragments = snippet(body, &Analyzer::new(Language::of(Some("it"))), terms);
        fragments.iter().map(|f| if f.matches { format!("[{}]", f.text) } else { f.text.clone() }).collect()
    }

    #[test]
    fn marks_the_original_words() {
        assert_eq!(
            shown("Le città, l’acqua.\n\n E basta.", &["citt", "acqua"]),
            "Le [città], l’[acqua]. E basta."
        );
    }

    #[test]
    fn shows_the_stretch_with_the_most_terms() {
        let far = "parola ".repeat(200);
        let body = format!("sole sole sole {far} il sole e la luna {far} luna luna luna");
        let shown = shown(&body, &["sol", "lun"]);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.contains("il [sole] e la [luna] parola"), "{shown}");
    }

    #[test]
    fn shows_the_beginning_where_nothing_matches() {
        assert_eq!(shown("Uno, due.", &["tre"]), "Uno, due.");
        assert_eq!(shown(" ?! ", &["tre"]), "?!");
        assert_eq!(shown("", &["tre"]), "");
    }

    proptest! {
        #[test]
        fn is_short_and_of_the_text(body in "([a-cè]{1,9}|[ .,\n]|x{250}|…|东){0,150}", terms in prop::collection::btree_set("[a-c]{1,2}", 0..4)) {
            let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
            let fragments = snippet(&body, &Analyzer::new(Language::of(None)), &terms);
            let text: String = fragments.iter().map(|fragment| fragment.text.as_str()).collect();
            prop_assert!(text.chars().count() <= LONGEST + TRAIL + 2);
            prop_assert!(fragments.windows(2).all(|pair| pair[0].matches != pair[1].matches));
            let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let inner = text.trim_start_matches('…').trim_end_matches('…');
            prop_assert!(squeeze(&body).contains(&squeeze(inner)), "{:?} in {:?}", text, body);
        }
    }
}
