//! Fields: the names before a colon that restrict a word to a zone, or filter by a fact of the document.

use super::tree::Filter;
use crate::calendar::day;
use crate::index::format::zone::Zone;
use crate::url::Url;

/// The meaning of a name before a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Zone(Zone),
    Known(Known),
}

/// The facts that can be filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Site,
    Language,
    Kind,
    Before,
    After,
}

const KINDS: [&str; 6] = ["html", "text", "pdf", "feed", "office", "other"];

/// All names; the first of each field is its canonical one.
pub const FIELDS: [(&str, Field); 13] = [
    ("title", Field::Zone(Zone::Title)),
    ("url", Field::Zone(Zone::Url)),
    ("body", Field::Zone(Zone::Body)),
    ("headings", Field::Zone(Zone::Headings)),
    ("heading", Field::Zone(Zone::Headings)),
    ("anchors", Field::Zone(Zone::Anchors)),
    ("anchor", Field::Zone(Zone::Anchors)),
    ("site", Field::Known(Known::Site)),
    ("lang", Field::Known(Known::Language)),
    ("language", Field::Known(Known::Language)),
    ("type", Field::Known(Known::Kind)),
    ("before", Field::Known(Known::Before)),
    ("after", Field::Known(Known::After)),
];

/// The field that `text` begins with, and its name. A name before two colons is part of an identifier, such
/// as `url::parse`.
pub fn field(text: &str) -> Option<(Field, &str)> {
    let (name, rest) = text.split_once(':')?;
    let (_, field) = FIELDS.iter().find(|(known, _)| *known == name)?;
    (!rest.starts_with(':')).then_some((*field, name))
}

impl Field {
    /// The canonical name of the field.
    pub fn name(self) -> &'static str {
        FIELDS.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }
}

impl Known {
    /// The filter for a value; `None` if the value is invalid for the field.
    pub fn filter(self, value: &str) -> Option<Filter> {
        match self {
            Known::Site => host(value).map(Filter::Site),
            Known::Language => language(value).map(Filter::Language),
            Known::Kind => {
                let kind = value.to_ascii_lowercase();
                KINDS.contains(&kind.as_str()).then_some(Filter::Kind(kind))
            }
            Known::Before => day(value).map(Filter::Before),
            Known::After => day(value).map(Filter::After),
        }
    }

    /// A value in canonical form: a host, a code, a type, a full date; `None` if it is invalid for the field.
    pub fn canonical(self, value: &str) -> Option<String> {
        match self.filter(value)? {
            Filter::Site(name) | Filter::Language(name) | Filter::Kind(name) => Some(name),
            Filter::Before(_) | Filter::After(_) => {
                let first = ["-01-01", "-01", ""];
                Some(format!("{value}{}", first[value.matches('-').count()]))
            }
        }
    }

    /// The error message for an invalid value.
    pub fn needs(self) -> String {
        match self {
            Known::Site => "site: needs a host after it, such as example.org".into(),
            Known::Language => "lang: needs a language after it, such as en".into(),
            Known::Kind => format!("type: needs one of these after it: {}", KINDS.join(", ")),
            Known::Before => "before: needs a day after it, such as 2024-05-01, 2024-05 or 2024".into(),
            Known::After => "after: needs a day after it, such as 2024-05-01, 2024-05 or 2024".into(),
        }
    }
}

/// The host of a URL, or a domain with an optional leading `*.`.
fn host(value: &str) -> Option<String> {
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let rest = rest.trim_start_matches(['*', '.', '/']);
    let url = Url::parse(&format!("{scheme}://{rest}")).ok()?;
    let host = url.host_str()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The code of a tag such as `it` or `pt-BR`.
fn language(value: &str) -> Option<String> {
    let code = value.split(['-', '_']).next()?;
    let is_code = matches!(code.len(), 2 | 3) && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| code.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_the_host_of_whatever_names_it() {
        for (value, expected) in [
            ("Example.org", Some("example.org")),
            ("www.example.org", Some("www.example.org")),
            ("https://example.org/docs?a#b", Some("example.org")),
            ("example.org/docs", Some("example.org")),
            ("//example.org:8080", Some("example.org")),
            ("http://someone@example.org:80/", Some("example.org")),
            ("*.example.org.", Some("example.org")),
            (".gov", Some("gov")),
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("127.0.0.1:8090", Some("127.0.0.1")),
            ("[::1]:80", Some("[::1]")),
            ("", None),
            (".", None),
            ("https://", None),
            ("a:b", None),
            ("a^2", None),
        ] {
            assert_eq!(host(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn a_language_is_the_code_of_its_tag() {
        for (value, expected) in [
            ("IT", Some("it")),
            ("pt-BR", Some("pt")),
            ("zh_TW", Some("zh")),
            ("nds", Some("nds")),
            ("italian", None),
            ("è", None),
            ("", None),
        ] {
            assert_eq!(language(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn a_canonical_value_means_the_same() {
        for (known, value, canonical) in [
            (Known::Site, "https://Example.org/docs", "example.org"),
            (Known::Language, "pt-BR", "pt"),
            (Known::Kind, "PDF", "pdf"),
            (Known::After, "2024", "2024-01-01"),
            (Known::Before, "2024-05", "2024-05-01"),
            (Known::Before, "2024-05-06", "2024-05-06"),
        ] {
            assert_eq!(known.canonical(value).as_deref(), Some(canonical));
            assert_eq!(known.filter(value), known.filter(canonical));
        }
        assert_eq!(Known::After.canonical("never"), None);
    }

    #[test]
    fn a_field_is_called_by_its_first_name() {
        for (name, canonical) in
            [("lang", "lang"), ("language", "lang"), ("anchor", "anchors"), ("type", "type")]
        {
            assert_eq!(field(&format!("{name}:x")).unwrap().0.name(), canonical);
        }
        for zone in Zone::ALL {
            assert_eq!(Field::Zone(zone).name(), zone.name());
        }
    }

    #[test]
    fn a_field_is_a_name_before_one_colon() {
        assert_eq!(field("title:"), Some((Field::Zone(Zone::Title), "title")));
        assert_eq!(field("headings:a:b"), Some((Field::Zone(Zone::Headings), "headings")));
        assert_eq!(field("language:it"), Some((Field::Known(Known::Language), "language")));
        for text in
            ["Title:a", "url::parse", "std::vector", "http://x.org", "10:30", "foo:bar", "title", ":a"]
        {
            assert_eq!(field(text), None, "{text}");
        }
    }
}
