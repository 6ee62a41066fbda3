//! The scanner against the rules of Unicode, applied to the entire text.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::super::bigrams::Run;
use super::super::joint::{between_digits, joined};
use super::*;

fn tokens(text: &str, elides: bool) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    scan(text, elides, |token| tokens.push(token));
    tokens
}

/// Each token with its position; a whole is followed by its parts in parentheses.
fn shown(text: &str) -> String {
    let mut shown = Vec::new();
    let mut parts = 0;
    for token in tokens(text, false) {
        let mut word = format!("{}@{}", token.surface, token.position);
        if parts == 1 {
            word += ")";
        }
        parts = if token.parts > 0 { token.parts + 1 } else { parts };
        if token.parts > 0 {
            word += " (";
        }
        parts = u32::saturating_sub(parts, 1);
        shown.push(word);
    }
    shown.join(" ").replace("( ", "(")
}

#[test]
fn identifiers_are_whole_and_in_parts() {
    for (text, expected) in [
        ("a std::vector<int>", "a@0 std::vector@1 (std@1 vector@2) int@3"),
        ("java.util.List!", "java.util.List@0 (java@0 util@1 List@2)"),
        ("foo_bar(x)", "foo_bar@0 (foo@0 bar@1) x@2"),
        ("obj.__init__()", "obj.__init__@0 (obj@0 init@1)"),
        ("_a __b__ ___", "_a@0 (a@0) __b__@1 (b@1)"),
        ("std::_Foo::x::", "std::_Foo::x@0 (std@0 Foo@1 x@2)"),
        ("libc.so.6 v1.2.3 mp3.com", "libc.so.6@0 (libc@0 so@1 6@2) v1.2.3@3 mp3.com@4 (mp3@4 com@5)"),
        ("me@git-scm.com.", "me@git@0 (me@0 git@1) scm.com@2 (scm@2 com@3)"),
        ("AT&T R&D a & b 1&b", "AT&T@0 (AT@0 T@1) R&D@2 (R@2 D@3) a@4 b@5 1@6 b@7"),
        ("EU:s 12:30 a: b", "EU:s@0 (EU@0 s@1) 12@2 30@3 a@4 b@5"),
        ("foo.naïve_æ", "foo.naïve_æ@0 (foo@0 naïve@1 æ@2)"),
        ("имя_файла.txt", "имя_файла.txt@0 (имя@0 файла@1 txt@2)"),
        ("“a.b”—c_d★", "a.b@0 (a@0 b@1) c_d@2 (c@2 d@3)"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn words_numbers_and_languages_with_signs() {
    for (text, expected) in [
        ("Don't go, the dogs' o’clock.", "Don't@0 go@1 the@2 dogs@3 o’clock@4"),
        ("3.14 1,000 10.0.0.1 2026-11-16 4×5", "3.14@0 1,000@1 10.0.0.1@2 2026@3 11@4 16@5 4@6 5@7"),
        ("C++, C# C++11 F#.", "C++@0 C#@1 C++@2 11@3 F#@4"),
        ("i++ n+++ a+b a#b ab# #c", "i++@0 n@1 a@2 b@3 a@4 b@5 ab@6 c@7"),
        ("libstdc++ count++;", "libstdc++@0 (libstdc@0) count++@1 (count@1)"),
        ("git --no-verify x/y", "git@0 no@1 verify@2 x@3 y@4"),
        ("l\u{ad}ong 10\u{202f}000\u{202f}!", "l\u{ad}ong@0 10@1 000@2"),
        ("東京tower 人。API를", "東京@0 tower@2 人@3 API@4 를@5"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

/// Unicode's words over the entire text, split at joints, eliding apostrophes and narrow spaces, and without
/// leading punctuation that carries a combining mark.
fn model(text: &str, elides: bool) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    for (offset, word) in text.unicode_word_indices() {
        let mut start = 0;
        let mut push = |start: usize, end: usize| {
            if let Some(first) = word[start..end].find(char::is_alphanumeric) {
                words.push((offset + start + first, &word[start + first..end]));
            }
        };
        for (index, character) in word.char_indices() {
            let parts = match character {
                '_' | ':' | '\u{202f}' => true,
                '.' => !between_digits(word, index, character),
                '\'' | '‘' | '’' => elides && !between_digits(word, index, character),
                _ => false,
            };
            if parts {
                push(start, index);
                start = index + character.len_utf8();
            }
        }
        push(start, word.len());
    }
    words
}

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-cA1-3 '.,;:_@&+#-]{0,40}",
        "([a-c]{1,3}|[1-3]{1,2}| |['’‘.,;:_@&]|::|\\+\\+|#|é|×|Я|—|“|…|\u{a0}|\u{ad}|\u{202f}|\u{301}|·|ß|α|א|ب|\"|²|½|١|😀|क|Ⅷ|\u{200d}){0,40}",
        "\\PC{0,40}",
        ".{0,40}",
    ]
}

/// The tokens that are not wholes, without the signs of `C++` and `C#`.
fn bare_words(text: &str, elides: bool) -> Vec<(usize, &str)> {
    let words = tokens(text, elides).into_iter().filter(|token| token.parts == 0);
    words.map(|token| (token.start, token.surface.trim_end_matches(['+', '#']))).collect()
}

#[test]
fn every_character_parts_or_joins_as_unicode_says() {
    for character in ('\0'..'\u{3000}').filter(|character| !has_script(*character)) {
        for around in ["a b", "1 2", " a", "a ", "1 a"] {
            let text = around.replace(' ', character.encode_utf8(&mut [0; 4]));
            assert_eq!(bare_words(&text, false), model(&text, false), "{text:?}");
        }
    }
}

fn has_script(character: char) -> bool {
    Run::first(character.encode_utf8(&mut [0; 4])).script.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn words_are_those_of_unicode(text in some_text(), elides in any::<bool>()) {
        // Scripts without spaces have separate rules.
        let text: String = text.chars().filter(|character| !has_script(*character)).collect();
        prop_assert_eq!(bare_words(&text, elides), model(&text, elides));
    }

    #[test]
    fn eight_bytes_at_once_are_as_one_by_one(bytes in prop_oneof![any::<[u8; 8]>(), prop::array::uniform8(32..127u8), prop::array::uniform8(b'x'..=b'{')]) {
        let expected = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        prop_assert_eq!(plain_bytes(u64::from_le_bytes(bytes)), expected);
    }

    #[test]
    fn tokens_are_where_they_say(text in prop_oneof![some_text(), "([a-c]|[._:]|東|京|ไ|ท|ย|한| ){0,40}"], elides in any::<bool>()) {
        let mut position = 0;
        let mut expected = None;
        let mut parts = Vec::new();
        let mut whole: Option<Token<'_>> = None;
        let positions = scan(&text, elides, |token: Token<'_>| {
            assert_eq!(&text[token.start..][..token.surface.len()], token.surface);
            assert!(token.surface.contains(char::is_alphanumeric) && !token.surface.contains(char::is_whitespace));
            // After a run of bigrams one position is empty.
            assert!((position..=position + 2).contains(&token.position));
            position = token.position;
            assert!(expected.is_none_or(|expected| expected == position));
            expected = None;
            if token.parts > 0 {
                assert!(whole.is_none());
                expected = Some(position);
                whole = Some(token);
            } else if let Some(outer) = whole {
                parts.push(token);
                expected = Some(position + 1);
                if parts.len() == outer.parts as usize {
                    check_whole(&text, outer, &parts);
                    parts.clear();
                    (whole, expected) = (None, None);
                }
            }
        });
        prop_assert!(whole.is_none());
        prop_assert!(positions <= position + 2);
    }
}

/// A whole consists of exactly its parts and the joints between and around them.
fn check_whole(text: &str, whole: Token<'_>, parts: &[Token<'_>]) {
    let end_of = |token: &Token<'_>| token.start + token.surface.len();
    let (first, last) = (&parts[0], &parts[parts.len() - 1]);
    assert!(text[whole.start..first.start].chars().all(|character| character == '_'));
    let rest = &text[end_of(last)..end_of(&whole)];
    assert!(rest == "++" || rest.chars().all(|character| character == '_'));
    assert!(!text[..whole.start].ends_with('_'));
    assert!(rest == "++" || !text[end_of(&whole)..].starts_with('_'));
    for pair in parts.windows(2) {
        let before = pair[0].surface.chars().next_back().unwrap();
        let after = pair[1].surface.chars().next().unwrap();
        assert!(joined(&text[end_of(&pair[0])..pair[1].start], before, after));
    }
}
