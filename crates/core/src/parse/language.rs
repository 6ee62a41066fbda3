//! Language identification of a page, as an ISO 639-1 code of two letters.
//!
//! The page's declaration takes precedence, since its author knows; without one, the language is guessed, and
//! only a reliable guess counts. The guess is based on the first 4 KB: more text changes few answers. It uses
//! the trigrams of the text (whatlang), which takes several times as long as all the rest of the parsing; but
//! most pages without a declaration are in English, and those are recognised by their function words
//! (Grefenstette, *Comparing two language identification schemes*, 1995), in a fraction of the time.

use whatlang::{Lang, Script, detect, detect_script};

use super::flow::prefix;

/// The number of bytes of text that the guess is based on.
const GUESS: usize = 4096;

/// Every code of ISO 639-1.
const CODES: &str = "\
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de \
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id \
    ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu \
    lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu \
    rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr \
    ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// The language of the text of a page that declares `declared`.
pub fn language(declared: Option<&str>, text: &str) -> Option<String> {
    let start = prefix(text, GUESS);
    declared.and_then(primary).filter(|code| is_plausible(code, start)).or_else(|| guess(start))
}

/// The primary subtag of a language tag: `pt` of `pt-BR`.
fn primary(tag: &str) -> Option<String> {
    let subtag = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    (subtag.len() == 2 && CODES.split(' ').any(|code| code == subtag)).then_some(subtag)
}

/// Templates declare English and are then filled in any language; this is detected if the script differs.
fn is_plausible(code: &str, text: &str) -> bool {
    code != "en" || is_mostly_ascii(text) || is_latin(text)
}

fn is_latin(text: &str) -> bool {
    detect_script(text).is_none_or(|script| script == Script::Latin)
}

/// Whether ASCII letters outnumber what any other script can have, so that no further check is needed.
fn is_mostly_ascii(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    letters > text.bytes().filter(|byte| !byte.is_ascii()).count()
}

fn guess(text: &str) -> Option<String> {
    if is_english(text) {
        return Some("en".to_owned());
    }
    let found = detect(text).filter(|found| found.is_reliable())?;
    Some(code(found.lang()).to_owned())
}

/// The most frequent English word, which no other language has.
const THE: u64 = word(b"the");
/// Frequent English words, few of which are words of another language.
const ENGLISH: [u64; 24] = [
    THE,
    word(b"and"),
    word(b"this"),
    word(b"that"),
    word(b"with"),
    word(b"from"),
    word(b"which"),
    word(b"are"),
    word(b"you"),
    word(b"your"),
    word(b"be"),
    word(b"by"),
    word(b"have"),
    word(b"has"),
    word(b"not"),
    word(b"if"),
    word(b"or"),
    word(b"can"),
    word(b"when"),
    word(b"of"),
    word(b"to"),
    word(b"for"),
    word(b"it"),
    word(b"is"),
];
const LONGEST: usize = 5;
/// How many of them a text must have; the most words for each of them, and the most of them for each `the`.
const ENOUGH: usize = 8;
const WORDS: usize = 10;
const OTHERS: usize = 16;

/// A word of at most eight lower-case letters, packed into an integer.
const fn word(letters: &[u8]) -> u64 {
    let (mut word, mut at) = (0, 0);
    while at < letters.len() {
        word = word << 8 | letters[at].to_ascii_lowercase() as u64;
        at += 1;
    }
    word
}

/// Whether a text is certainly English.
fn is_english(text: &str) -> bool {
    let words = text.as_bytes().split(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
    let (mut all, mut english, mut the) = (0, 0, 0);
    for letters in words.filter(|letters| !letters.is_empty()) {
        all += 1;
        if (2..=LONGEST).contains(&letters.len()) {
            let word = word(letters);
            english += usize::from(ENGLISH.contains(&word));
            the += usize::from(word == THE);
        }
    }
    english >= ENOUGH && english * WORDS >= all && the * OTHERS >= english
}

fn code(language: Lang) -> &'static str {
    match language {
        Lang::Afr => "af",
        Lang::Aka => "ak",
        Lang::Amh => "am",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Cym => "cy",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jav => "jv",
        Lang::Jpn => "ja",
        Lang::Kan => "kn",
        Lang::Kat => "ka",
        Lang::Khm => "km",
        Lang::Kor => "ko",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mal => "ml",
        Lang::Mar => "mr",
        Lang::Mkd => "mk",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Ori => "or",
        Lang::Pan => "pa",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Sin => "si",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Sna => "sn",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tel => "te",
        Lang::Tgl => "tl",
        Lang::Tha => "th",
        Lang::Tuk => "tk",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Yid => "yi",
        Lang::Zul => "zu",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ITALIAN: &str = "Il crivello prende gli indirizzi ogni volta che si presentano e li restituisce \
        una volta sola, nell'ordine in cui sono stati visti per la prima volta.";
    const RUSSIAN: &str = "Это страница на русском языке, написанная для проверки.";

    #[test]
    fn believes_what_is_declared() {
        assert_eq!(language(Some("pt-BR"), ITALIAN).as_deref(), Some("pt"));
        assert_eq!(language(Some(" EN_us "), "").as_deref(), Some("en"));
    }

    #[test]
    fn guesses_where_the_declaration_is_nonsense() {
        for declared in [None, Some(""), Some("xx"), Some("*"), Some("italiano"), Some("{{ lang }}")] {
            assert_eq!(language(declared, ITALIAN).as_deref(), Some("it"), "{declared:?}");
        }
        assert_eq!(language(Some("en"), RUSSIAN).as_deref(), Some("ru"));
    }

    #[test]
    fn english_is_known_by_its_words() {
        let english = "The sieve takes the addresses as often as they turn up, and it gives each of them out \
            once, in the order in which it was first seen. It is not to be mistaken for a filter, which can \
            err: you have to know that this is exact, if it has the memory.";
        assert!(is_english(english) && is_english(&english.to_uppercase()));
        assert_eq!(guess(english).as_deref(), Some("en"));
        assert!(
            !is_english(ITALIAN) && !is_english(RUSSIAN) && !is_english("the the the") && !is_english("")
        );
        assert!(!is_english("Hij is de man van het huis of de straat. ".repeat(20).as_str()));
    }

    #[test]
    fn says_nothing_when_unsure() {
        assert_eq!(language(None, "ok"), None);
        assert_eq!(language(None, ""), None);
    }

    proptest! {
        #[test]
        fn mostly_ascii_is_latin(text in "[a-c 1дאあ漢é]{0,30}") {
            prop_assert!(!is_mostly_ascii(&text) || is_latin(&text));
        }
    }

    #[test]
    fn every_guess_is_a_code() {
        assert!(Lang::all().iter().all(|language| primary(code(*language)).is_some()));
    }
}
