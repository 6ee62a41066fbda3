//! Joints: the characters that join several words into one identifier, a compound token.
//!
//! `_`, `.`, `:`, `::`, `@` and `&` between words, without white space, join them into a *whole*
//! (`std::vector`, `java.util.List`, `snake_case`, `me@example.com`, `AT&T`); underscores around a word
//! (`__init__`) and `++` after it (`libstdc++`) make a whole of that word. A whole is indexed verbatim, and
//! its parts as words; hyphens and slashes only separate words. A dot between digits is not a joint: `3.14`
//! is a word.

/// Whether two neighbouring words separated by `between` belong to one whole. `before` and `after` are the
/// characters adjacent to it.
pub fn joined(between: &str, before: char, after: char) -> bool {
    let letters = before.is_alphabetic() && after.is_alphabetic();
    match between.trim_matches('_') {
        "" => !between.is_empty(),
        "." | "::" | "@" => true,
        ":" | "&" => letters,
        _ => false,
    }
}

/// Whether the character of `word` (a word by Unicode's rules) at `index` is a joint.
pub fn is_joint(word: &str, index: usize, character: char) -> bool {
    match character {
        '_' | ':' | '@' | '&' | '+' | '#' => true,
        '.' => !between_digits(word, index, character),
        _ => false,
    }
}

/// Whether a surface contains a joint: it is then a whole, or a word such as `C++`, and is not stemmed.
pub fn has_joint(surface: &str) -> bool {
    let may_join = |byte: &u8| matches!(byte, b'_' | b':' | b'@' | b'&' | b'+' | b'#' | b'.');
    surface.as_bytes().iter().any(may_join)
        && surface.char_indices().any(|(index, character)| is_joint(surface, index, character))
}

/// Whether the character of `word` at `index` is between two digits.
pub fn between_digits(word: &str, index: usize, character: char) -> bool {
    let digit = |character: Option<char>| character.is_some_and(char::is_numeric);
    digit(word[..index].chars().next_back()) && digit(word[index + character.len_utf8()..].chars().next())
}

/// The length in bytes of the suffix of `word` at the start of `rest`, the text after it: `++` after a
/// letter, and `#` after a single letter if nothing follows it (`C#`, but not `a#b`).
pub fn suffix(word: &str, rest: &str) -> usize {
    if rest.starts_with("++") && !rest.starts_with("+++") && word.ends_with(char::is_alphabetic) {
        return 2;
    }
    let ends =
        |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '#'));
    let sharp = is_one_letter(word) && rest.strip_prefix('#').is_some_and(ends);
    usize::from(sharp)
}

/// Whether a word is one ASCII letter, which absorbs a suffix: `C++` and `C#` are not also indexed as `C`.
pub fn is_one_letter(word: &str) -> bool {
    word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_whole_by_its_surface() {
        for whole in
            ["a_b", "std::vector", "e.g", "libc.so.6", "c++", "C#", "a@b", "AT&T", "__init__", "EU:s"]
        {
            assert!(has_joint(whole), "{whole}");
        }
        for word in ["word", "3.14", "1,000", "10.0.0.1", "v1.2", "don't", "١.٢", "l·l", "東京"] {
            assert!(!has_joint(word), "{word}");
        }
    }

    #[test]
    fn joins_and_suffixes() {
        for between in [".", "::", "@", "_", "__", "._", "_::__", ":", "&"] {
            assert!(joined(between, 'a', 'b'), "{between}");
        }
        for between in ["", "-", "/", "..", ":::", "._.", " ", "'"] {
            assert!(!joined(between, 'a', 'b'), "{between}");
        }
        assert!(joined(".", 'a', '1') && !joined(":", '1', 'b') && !joined("&", 'a', '1'));
        let lengths = [
            ("C", "++ is"),
            ("C", "++11"),
            ("C", "+++"),
            ("C", "# is"),
            ("C", "#x"),
            ("ab", "#"),
            ("1", "++"),
        ]
        .map(|(word, rest)| suffix(word, rest));
        assert_eq!(lengths, [2, 2, 0, 1, 0, 0, 0]);
    }
}
