//! Accent folding: every Latin letter becomes its plain form.
//!
//! A letter whose canonical decomposition begins with an ASCII letter becomes that letter (`à` a, `Ệ` e);
//! the few Latin letters without a decomposition are in a table (`ø` o, `ß` ss). Other scripts keep their
//! marks, which there distinguish letters (Cyrillic `й` is not `и`). Compatibility forms (ligatures, full
//! width) are resolved first, so that `ﬁn` is `fin`, and invisible characters (the soft hyphen, joiners,
//! direction marks) are removed. ASCII costs one lower-casing pass.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Appends `word`, in lower case and without accents, to `folded`.
pub fn fold(word: &str, folded: &mut String) {
    if word.is_ascii() {
        folded.push_str(word);
        folded.make_ascii_lowercase();
        return;
    }
    if word.chars().all(is_plain_east_asian) {
        folded.push_str(word);
        return;
    }
    for letter in word.nfkc().flat_map(char::to_lowercase) {
        push_plain(letter, folded);
    }
}

/// Letters that folding leaves unchanged and that make up most of the scripts without spaces.
fn is_plain_east_asian(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn push_plain(letter: char, folded: &mut String) {
    match letter {
        _ if letter.is_ascii() => folded.push(letter),
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'ł' => folded.push('l'),
        'đ' | 'ð' => folded.push('d'),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        '‘' | '’' | 'ʼ' => folded.push('\''),
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
        // A mark that has no composed form with its letter, such as the dot of a lower-cased İ.
        '\u{300}'..='\u{36f}' if folded.ends_with(|last: char| last.is_ascii()) => {}
        _ => {
            let mut first = None;
            decompose_canonical(letter, |part| {
                first.get_or_insert(part);
            });
            folded.push(first.filter(char::is_ascii).unwrap_or(letter));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(word: &str) -> String {
        let mut folded = String::new();
        fold(word, &mut folded);
        folded
    }

    #[test]
    fn takes_accents_off_latin_letters_only() {
        for (word, plain) in [
            ("CITTÀ", "citta"),
            ("citta\u{300}", "citta"),
            ("Việt", "viet"),
            ("Straße", "strasse"),
            ("smørrebrød", "smorrebrod"),
            ("İstanbul", "istanbul"),
            ("ﬁn", "fin"),
            ("don’t", "don't"),
            ("Silben\u{ad}trennung", "silbentrennung"),
            ("Чайковский", "чайковский"),
            ("東京", "東京"),
        ] {
            assert_eq!(folded(word), plain);
        }
    }

    #[test]
    fn plain_letters_of_east_asia_stay() {
        for letter in ('\u{3000}'..'\u{e000}').filter(|letter| is_plain_east_asian(*letter)) {
            let text = letter.to_string();
            assert_eq!(text.nfkc().flat_map(char::to_lowercase).collect::<String>(), text);
        }
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(word in "[a-zA-ZàèìòùÀÉßøœñüçłİ\u{300}\u{301}]{0,12}") {
            let once = folded(&word);
            prop_assert_eq!(folded(&once), once.clone());
        }
    }
}
