//! The suffixes of a word, a phrase or a parenthesis: `*`, `~2` and `^1.5`, in this order.
//!
//! Each counts only if it is unambiguous. A `*` ends a word that has no other and that ends in a letter or
//! digit, so that `**bold**`, `foo.*` and `*nix` have none; a `~` between two digits is a range (`10~20`); a
//! `^` is followed by a number (`100^` and `^_^` have none); and a text without letters has no suffix.

/// A text and its suffixes, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suffixed<'a> {
    pub text: &'a str,
    /// Whether there is a star.
    pub star: bool,
    /// The digits after a tilde; may be empty.
    pub tilde: Option<&'a str>,
    /// The number after a caret.
    pub caret: Option<&'a str>,
}

/// The suffixes of a word.
pub fn of_word(word: &str) -> Suffixed<'_> {
    let spelled = |text: &str| text.contains(char::is_alphanumeric);
    let (rest, caret) = before(word, '^', is_number).filter(|(rest, _)| spelled(rest)).unzip();
    let rest = rest.unwrap_or(word);
    let is_range =
        |rest: &str, digits: &str| rest.ends_with(|last: char| last.is_ascii_digit()) && !digits.is_empty();
    let in_words = |(rest, digits): &(&str, &str)| spelled(rest) && !is_range(rest, digits);
    let (untilded, tilde) = before(rest, '~', is_digits).filter(in_words).unzip();
    let rest = untilded.unwrap_or(rest);
    let begins = |rest: &&str| rest.ends_with(char::is_alphanumeric) && !rest.contains('*');
    let unstarred = rest.strip_suffix('*').filter(begins);
    Suffixed { text: unstarred.unwrap_or(rest), star: unstarred.is_some(), tilde, caret }
}

/// The suffixes that make up all of `text`, which follows a quote or a parenthesis; `None` if it is anything
/// else.
pub fn of_quote(text: &str) -> Option<Suffixed<'_>> {
    let (rest, caret) = before(text, '^', is_number).unzip();
    let rest = rest.unwrap_or(text);
    let (rest, tilde) =
        before(rest, '~', is_digits).map_or((rest, None), |(rest, digits)| (rest, Some(digits)));
    (rest.is_empty() && !text.is_empty()).then_some(Suffixed { text: rest, star: false, tilde, caret })
}

/// The text before and after the last `mark`, if `right` accepts the latter.
fn before(text: &str, mark: char, right: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    text.rsplit_once(mark).filter(|(_, after)| right(after))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    is_digits(whole) && is_digits(fraction) && !fraction.is_empty() && !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_in_suffixes_or_not() {
        for (word, text, star, tilde, caret) in [
            ("comp*", "comp", true, None, None),
            ("comp*^2", "comp", true, None, Some("2")),
            ("word~", "word", false, Some(""), None),
            ("word~12", "word", false, Some("12"), None),
            ("word~1^0.5", "word", false, Some("1"), Some("0.5")),
            ("word^.5", "word", false, None, Some(".5")),
            ("comp*~1", "comp", true, Some("1"), None),
            ("a^2^3", "a^2", false, None, Some("3")),
        ] {
            assert_eq!(of_word(word), Suffixed { text, star, tilde, caret }, "{word}");
        }
        for word in [
            "100^",
            "^_^",
            "x^",
            "x^n",
            "x^-1",
            "x^2.",
            "x^1.2.3",
            "^2",
            "~",
            "~/.bashrc",
            "~5",
            "~~5",
            "a~b",
            "10~20",
            "*",
            "*nix",
            "**bold**",
            "*so*",
            "foo.*",
            "int**",
            "2*3",
            "...*",
            "..~",
            "..^2",
        ] {
            assert_eq!(
                of_word(word),
                Suffixed { text: word, star: false, tilde: None, caret: None },
                "{word}"
            );
        }
    }

    #[test]
    fn after_a_quote_stands_nothing_but_suffixes() {
        for (text, tilde, caret) in [
            ("~8", Some("8"), None),
            ("~", Some(""), None),
            ("^2", None, Some("2")),
            ("~8^1.5", Some("8"), Some("1.5")),
        ] {
            assert_eq!(of_quote(text), Some(Suffixed { text: "", star: false, tilde, caret }), "{text}");
        }
        for text in ["", "a", "~a", "~8a", "a~8", "^", "^2~8", "~/.bashrc", "*"] {
            assert_eq!(of_quote(text), None, "{text}");
        }
    }
}
