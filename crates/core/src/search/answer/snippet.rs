//! Snippets: the passage of a document that best shows why it matches a query.
//!
//! The text is analysed by the analyzer it was indexed with, so every match is highlighted, however it is
//! inflected or accented. Among the passages of at most [`LONGEST`] characters, the one with the most
//! distinct query terms wins, then the one with the most matches, then the first. If nothing matches, the
//! beginning of the text is shown.
//!
//! The first [`EXAMINED`] bytes of a text are examined, in two steps: a scan for matches, in which only words
//! that begin with the first letter of a query term are stemmed; then the neighbourhood of the best passage
//! is split into non-overlapping units, by which the passage is widened. About 0.1 ms per page.
//!
//! Tokens overlap: an identifier and its parts, the bigrams of a script without spaces. So passages are cut
//! between units, while matches are highlighted.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::analysis::Analyzer;

/// The longest passage, in characters.
pub const LONGEST: usize = 200;
/// The number of bytes of a text that are examined.
pub const EXAMINED: usize = 64 << 10;
/// The most characters before the first match, if text after it would fit instead.
const LEAD: usize = 50;
/// The most characters of punctuation after the last word.
const TRAIL: usize = 4;
/// The number of bytes before and after the best passage that may be part of the snippet: a character has at
/// most four bytes.
const AROUND: usize = 4 * LONGEST;
/// A longer token is not a unit: its parts are.
const LONGEST_UNIT: usize = 128;
const ELLIPSIS: &str = "…";

/// A piece of plain text, and whether it matches the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    /// The text.
    pub text: String,
    /// Whether it matches.
    pub matches: bool,
}

/// A unit that a passage never cuts: a word, an identifier, or a character of a script without spaces.
struct Unit {
    bytes: Range<usize>,
    characters: Range<usize>,
}

/// A token that matches: its place, and which query term it is.
struct Match {
    bytes: Range<usize>,
    term: usize,
}

/// The best passage of `body` for a query with these terms, each with the number of its leaf: the terms of
/// one prefix count as one.
pub fn snippet(body: &str, analyzer: &Analyzer, terms: &[(&str, usize)]) -> Vec<Fragment> {
    let examined = &body[..boundary(body, EXAMINED)];
    let matches = find(examined, analyzer, terms);
    let different = terms.iter().map(|(_, number)| number + 1).max().unwrap_or(0);
    let stretch = best_stretch(examined, &matches, different);
    let around = neighbourhood(examined, &stretch);
    let units = units(examined, around.clone(), analyzer);
    if units.is_empty() {
        return plain_beginning(body);
    }
    let passage = widened(&units, units_of(&units, &stretch));
    let (start, end) = (units[passage.start].bytes.start, units[passage.end - 1].bytes.end);
    let punctuation: usize =
        body[end..].chars().take_while(|next| !next.is_whitespace()).take(TRAIL).map(char::len_utf8).sum();
    let next_unit = units.get(passage.end).map_or(body.len(), |next| next.bytes.start);
    let end = (end + punctuation).min(next_unit);
    // A single word may be longer than the longest passage.
    let end = body[start..end].char_indices().nth(LONGEST + TRAIL).map_or(end, |(length, _)| start + length);

    let mut fragments = Fragments::default();
    if passage.start > 0 || around.start > 0 {
        fragments.push(ELLIPSIS, false);
    }
    let mut shown = start;
    for Range { start: from, end: to } in matches.iter().map(|found| found.bytes.clone()) {
        if from < start || to > end || to <= shown {
            continue;
        }
        let from = from.max(shown);
        fragments.push(&body[shown..from], false);
        fragments.push(&body[from..to], true);
        shown = to;
    }
    fragments.push(&body[shown..end], false);
    if !body[end..].trim_end().is_empty() {
        fragments.push(ELLIPSIS, false);
    }
    fragments.list
}

/// The tokens that match.
fn find(text: &str, analyzer: &Analyzer, terms: &[(&str, usize)]) -> Vec<Match> {
    let numbers: HashMap<&str, usize> = terms.iter().copied().collect();
    // The first bytes of words worth stemming: those of the terms in either case, and all non-ASCII bytes.
    let mut worth = [!analyzer.keeps_beginnings(); 256];
    worth[0x80..].fill(true);
    for first in terms.iter().filter_map(|(term, _)| term.bytes().next()) {
        worth[usize::from(first.to_ascii_lowercase())] = true;
        worth[usize::from(first.to_ascii_uppercase())] = true;
        if !first.is_ascii() {
            worth.fill(true);
        }
    }
    let mut matches = Vec::new();
    let mut term = String::new();
    analyzer.tokens(text, |token| {
        if token.surface.bytes().next().is_some_and(|first| worth[usize::from(first)]) {
            analyzer.term(token.surface, &mut term);
            if let Some(number) = numbers.get(term.as_str()) {
                let bytes = token.start..token.start + token.surface.len();
                matches.push(Match { bytes, term: *number });
            }
        }
    });
    matches
}

/// The span from the first to the last match of the best passage; empty, at the beginning, if nothing
/// matches.
fn best_stretch(text: &str, matches: &[Match], terms: usize) -> Range<usize> {
    let mut best = (0, 0, 0..0);
    let mut counts = vec![0; terms];
    let (mut distinct, mut first) = (0, 0);
    for (last, found) in matches.iter().enumerate() {
        counts[found.term] += 1;
        distinct += usize::from(counts[found.term] == 1);
        while first < last && !fits(text, &(matches[first].bytes.start..found.bytes.end)) {
            let term = matches[first].term;
            counts[term] -= 1;
            distinct -= usize::from(counts[term] == 0);
            first += 1;
        }
        let number = last - first + 1;
        if (distinct, number) > (best.0, best.1) {
            best = (distinct, number, matches[first].bytes.start..found.bytes.end);
        }
    }
    best.2
}

/// Whether a span is at most as long as a passage; characters are counted only if the bytes do not decide.
fn fits(text: &str, stretch: &Range<usize>) -> bool {
    match stretch.len() {
        bytes if bytes <= LONGEST => true,
        bytes if bytes > AROUND => false,
        _ => text[stretch.clone()].chars().count() <= LONGEST,
    }
}

/// The last character boundary at or before `most`.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rfind(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// The span with the surroundings that a passage may show, cut at white space if there is any.
fn neighbourhood(text: &str, stretch: &Range<usize>) -> Range<usize> {
    let mut start = boundary(text, stretch.start.saturating_sub(AROUND));
    if start > 0
        && let Some(space) = text[start..stretch.start].find(char::is_whitespace)
    {
        start += space;
    }
    let mut end = boundary(text, stretch.end + AROUND).max(stretch.end);
    if end < text.len()
        && let Some(space) = text[stretch.end..end].rfind(char::is_whitespace)
    {
        end = stretch.end + space;
    }
    start..end
}

/// The units of a part of a text.
fn units(text: &str, part: Range<usize>, analyzer: &Analyzer) -> Vec<Unit> {
    let mut units = Vec::<Unit>::new();
    // The end of the last unit.
    let (mut byte, mut character) = (part.start, 0);
    analyzer.tokens(&text[part.clone()], |token| {
        let (start, end) = (part.start + token.start, part.start + token.start + token.surface.len());
        if end > byte && (token.parts == 0 || token.surface.len() <= LONGEST_UNIT) {
            let from = start.max(byte);
            let first = character + text[byte..from].chars().count();
            character = first + text[from..end].chars().count();
            byte = end;
            units.push(Unit { bytes: from..byte, characters: first..character });
        }
    });
    units
}

/// The units that a span overlaps; the first unit if the span is empty.
fn units_of(units: &[Unit], stretch: &Range<usize>) -> Range<usize> {
    let first = units.partition_point(|unit| unit.bytes.end <= stretch.start).min(units.len() - 1);
    let end = units.partition_point(|unit| unit.bytes.start < stretch.end);
    first..end.max(first + 1)
}

/// The length of a range of units in characters, including what is between them.
fn length(units: &[Unit], range: &Range<usize>) -> usize {
    units[range.end - 1].characters.end - units[range.start].characters.start
}

/// The range widened by as many units as fit: a few before, then all that fit after, then before.
fn widened(units: &[Unit], stretch: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = stretch;
    let lead = units[start].characters.start.saturating_sub(LEAD);
    let fits = |start: usize, end: usize| length(units, &(start..end)) <= LONGEST;
    while start > 0 && units[start - 1].characters.start >= lead && fits(start - 1, end) {
        start -= 1;
    }
    while end < units.len() && fits(start, end + 1) {
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

/// Fragments under construction: adjacent ones of the same kind are joined, and white space becomes a single
/// space.
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
        let terms: Vec<(&str, usize)> =
            terms.iter().enumerate().map(|(number, term)| (*term, number)).collect();
        let fragments = snippet(body, &Analyzer::new(Language::of(Some("it"))), &terms);
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
    fn marks_what_overlaps_once() {
        assert_eq!(shown("Lo std::vector, ecco.", &["std::vector"]), "Lo [std::vector], ecco.");
        assert_eq!(shown("Lo std::vector, ecco.", &["vector"]), "Lo std::[vector], ecco.");
        assert_eq!(
            shown("Lo std::vector, ecco.", &["std::vector", "vector", "ecco"]),
            "Lo [std::vector], [ecco]."
        );
        assert_eq!(shown("去东京都厅。", &["东京", "京都"]), "去[东京都]厅。");
        assert_eq!(shown("东京 京都", &["东京", "京都"]), "[东京] [京都]");
    }

    #[test]
    fn cuts_a_text_without_spaces() {
        let body = format!("{}东京{}", "中".repeat(500), "国".repeat(500));
        let shown = shown(&body, &["东京"]);
        assert!(shown.contains("中[东京]国") && shown.chars().count() <= LONGEST + TRAIL + 4, "{shown}");
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
        fn is_short_and_of_the_text(body in "([a-cè]{1,9}|[ .,\n]|_|::|x{250}|…|[东京]){0,150}", terms in prop::collection::btree_set("[a-c]{1,2}|[东京]{1,2}|a_b", 0..4)) {
            let terms: Vec<(&str, usize)> = terms.iter().enumerate().map(|(number, term)| (term.as_str(), number)).collect();
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
