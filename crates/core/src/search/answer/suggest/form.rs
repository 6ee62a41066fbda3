//! Surface forms: from a term, which is a stem, to a word as it is written.
//!
//! Among the words of a text that have the term, the one nearest by edit distance to what was typed wins,
//! then the most frequent, then the first alphabetically: so `recieved` becomes `received` if the text has
//! it, otherwise `receive`.

use std::collections::BTreeMap;

use crate::analysis::Analyzer;
use crate::search::answer::snippet::EXAMINED;
use crate::search::matching::expand::distance;

/// The lower-case word of `text` nearest to `typed` whose term is `term` for both the analyzer of the text
/// and that of the query. The first 64 KiB of the text are examined.
pub fn form(text: &str, of_text: &Analyzer, of_query: &Analyzer, term: &str, typed: &str) -> Option<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let examined = (0..=EXAMINED.min(text.len())).rfind(|end| text.is_char_boundary(*end)).unwrap_or(0);
    of_text.words(&text[..examined], |word| {
        if word.parts == 0 && word.term == term && word.surface.chars().all(char::is_alphabetic) {
            *times.entry(word.surface.to_lowercase()).or_default() += 1;
        }
    });
    let mut again = String::new();
    times.retain(|form, _| {
        of_query.term(form, &mut again);
        again == term
    });
    let nearest = times.into_iter().min_by_key(|(form, times)| (distance(form, typed), usize::MAX - times));
    nearest.map(|(form, _)| form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;

    fn found(text: &str, languages: [&str; 2], term: &str, typed: &str) -> Option<String> {
        let [of_text, of_query] = languages.map(|tag| Analyzer::new(Language::of(Some(tag))));
        form(text, &of_text, &of_query, term, typed)
    }

    #[test]
    fn is_a_word_of_the_text() {
        let text = "Receive! He received, and received; RECEIVE is_received. We receive's";
        assert_eq!(found(text, ["en", "en"], "receiv", "recieve").as_deref(), Some("receive"));
        assert_eq!(found(text, ["en", "en"], "receiv", "recieved").as_deref(), Some("received"));
        assert_eq!(
            found("databases Database", ["en", "en"], "databas", "databsae").as_deref(),
            Some("database")
        );
        assert_eq!(found("Le Città", ["it", "it"], "citt", "cittá").as_deref(), Some("città"));
        assert_eq!(found(text, ["en", "en"], "deceiv", "decieve"), None);
    }

    #[test]
    fn is_found_by_the_query_too() {
        assert_eq!(found("le correnti", ["it", "en"], "corrent", "correnti"), None);
        assert_eq!(found("le correnti", ["it", "it"], "corrent", "correnti").as_deref(), Some("correnti"));
    }

    #[test]
    fn the_commonest_of_equals_wins() {
        assert_eq!(
            found("connect connects connected", ["en", "en"], "connect", "xyz").as_deref(),
            Some("connect")
        );
        assert_eq!(found("cats cat cats", ["en", "en"], "cat", "catx").as_deref(), Some("cats"));
    }
}
