//! What analysis needs to know about a text's language: its stemmer, its stop words, and whether articles
//! are elided.
//!
//! The stemmers are Snowball's (Porter, *Snowball: a language for stemming algorithms*, 2001). A text of
//! unknown language is treated as English, which is also the default for queries; a known language without a
//! stemmer is not stemmed.

use snowball_stemmers_rs::Algorithm;

use super::stop;

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    pub(super) algorithm: Option<Algorithm>,
    /// Whether an apostrophe ends a word (`l'acqua`, `d'accord`), as in the Romance languages with elision.
    pub(super) elides: bool,
    /// Its stop word list, if there is one.
    pub(super) stop_words: Option<&'static str>,
}

impl Language {
    /// The language of a tag such as `it`, `pt-BR` or `zh_TW`; `None`, the empty tag and `und` mean unknown.
    pub fn of(tag: Option<&str>) -> Language {
        let tag = tag.unwrap_or_default();
        let primary = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let elides = matches!(primary.as_str(), "it" | "fr" | "ca");
        Language { algorithm: algorithm(&primary), elides, stop_words: stop::list_of(&primary) }
    }
}

impl Language {
    /// Whether its stemmer only strips suffixes.
    pub(super) fn keeps_beginnings(&self) -> bool {
        use Algorithm::*;
        self.algorithm.is_none_or(|algorithm| {
            matches!(
                algorithm,
                English
                    | Catalan
                    | Danish
                    | German
                    | Spanish
                    | Finnish
                    | French
                    | Hungarian
                    | Italian
                    | Norwegian
                    | Portuguese
                    | Romanian
                    | Russian
                    | Swedish
                    | Turkish
            )
        })
    }
}

fn algorithm(primary: &str) -> Option<Algorithm> {
    Some(match primary {
        "" | "und" | "en" => Algorithm::English,
        "ar" => Algorithm::Arabic,
        "ca" => Algorithm::Catalan,
        "cs" => Algorithm::Czech,
        "da" => Algorithm::Danish,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "eo" => Algorithm::Esperanto,
        "es" => Algorithm::Spanish,
        "et" => Algorithm::Estonian,
        "eu" => Algorithm::Basque,
        "fa" => Algorithm::Persian,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "ga" => Algorithm::Irish,
        "hi" => Algorithm::Hindi,
        "hu" => Algorithm::Hungarian,
        "hy" => Algorithm::Armenian,
        "id" => Algorithm::Indonesian,
        "it" => Algorithm::Italian,
        "lt" => Algorithm::Lithuanian,
        "ne" => Algorithm::Nepali,
        "nl" => Algorithm::Dutch,
        "nb" | "nn" | "no" => Algorithm::Norwegian,
        "pl" => Algorithm::Polish,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "sr" => Algorithm::Serbian,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        "uk" => Algorithm::Ukrainian,
        "yi" => Algorithm::Yiddish,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_primary_subtag() {
        assert_eq!(Language::of(Some("pt-BR")), Language::of(Some("PT")));
        assert_eq!(Language::of(None), Language::of(Some("en_GB")));
        assert_eq!(Language::of(Some("ja")).algorithm, None);
        assert!(Language::of(Some("it-IT")).elides);
    }
}
