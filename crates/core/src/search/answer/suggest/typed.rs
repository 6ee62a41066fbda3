//! The plain words of a query as it was typed.

use std::ops::Range;

const OPERATORS: [&str; 6] = ["AND", "OR", "NOT", "CONTAINING", "INSIDE", "ALIGNED"];

/// Where the words are that may be misspelt, in bytes: not operators, nor names and values of fields, nor what a sign or a
/// NOT excludes, nor words with a `*`, `~` or `^`.
pub fn plain_words(query: &str) -> Vec<Range<usize>> {
    let ends = |character: char| character.is_whitespace() || matches!(character, '"' | '(' | ')');
    // Who excludes a whole group knows the language; where the group ends is not looked for.
    if query.contains("-(") || query.contains("NOT (") {
        return Vec::new();
    }
    let mut words = Vec::new();
    let mut excluded = false;
    let mut start = 0;
    for end in query.char_indices().filter(|(_, c)| ends(*c)).map(|(at, _)| at).chain([query.len()]) {
        let word = &query[start..end];
        if !word.is_empty() {
            let plain = !excluded
                && !OPERATORS.contains(&word)
                && !word.starts_with(['-', '+'])
                && !word.contains([':', '*', '~', '^', '<', '[']);
            if plain {
                words.push(start..end);
            }
            excluded = word == "NOT";
        }
        start = end + query[end..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<&str> {
        plain_words(query).into_iter().map(|range| &query[range]).collect()
    }

    #[test]
    fn only_what_is_looked_for_may_be_misspelt() {
        assert_eq!(
            found("pyhton AND \"città è\" site:a.b x* y~1 -no NOT never (ok)"),
            ["pyhton", "città", "è", "ok"]
        );
        assert_eq!(found("a -(b c)"), Vec::<&str>::new());
        assert_eq!(found("  "), Vec::<&str>::new());
    }
}
