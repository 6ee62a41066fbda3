//! URLs in the one form in which the rest of Crivello knows them.
//!
//! [`canonical`] promises that two spellings which the WHATWG URL standard reads as the same address of a
//! page, or which differ only in the case of escapes, come out as the same string, and that canonicalising twice changes nothing. What is not part of
//! the address goes: the fragment, which is never sent, and the credentials, which are not ours to store.
//! Everything else, such as the order of the parameters, may matter to the server and stays.
//! Linear in the length of the URL, about half a microsecond for a common one.

mod relative;
mod shape;

use std::borrow::Cow;

pub use ::url::Url;
pub use relative::Base;
pub use shape::same_shape;

/// The longest canonical URL, in bytes. Longer ones are nearly always traps, and the sitemap protocol
/// allows no more.
pub const MAX_LENGTH: usize = 2048;

/// The canonical form of `input`, resolved against `base`; nothing if it is not the address of a page.
pub fn canonical(input: &str, base: Option<&Url>) -> Option<String> {
    let mut url = Url::options().base_url(base).parse(&with_two_slashes(input.trim())).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    (url.as_str().len() <= MAX_LENGTH).then(|| with_upper_case_escapes(url.into()))
}

/// `%c3` and `%C3` are the same byte (RFC 3986, 6.2.2.1), though the standard keeps the spelling.
fn with_upper_case_escapes(url: String) -> String {
    if !url.contains('%') {
        return url;
    }
    let mut parts = url.split('%');
    let mut escaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take(2).filter(u8::is_ascii_hexdigit).count();
        let (escape, rest) = part.split_at(if digits == 2 { 2 } else { 0 });
        escaped.push('%');
        escaped.push_str(&escape.to_ascii_uppercase());
        escaped.push_str(rest);
    }
    escaped
}

/// The standard reads any number of slashes before a host as two; the `url` crate does so only after a
/// scheme.
fn with_two_slashes(input: &str) -> Cow<'_, str> {
    let host = input.trim_start_matches(['/', '\\']);
    if input.len() - host.len() > 2 { format!("//{host}").into() } else { input.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn drops_what_is_not_the_address() {
        let cases = [
            ("http://example.com", Some("http://example.com/")),
            (" HTTP://Example.COM:80/a/../b#c \n", Some("http://example.com/b")),
            ("https://user:pass@example.com:443/?q=1#", Some("https://example.com/?q=1")),
            ("https://example.com:8443/", Some("https://example.com:8443/")),
            ("http://bücher.example/ä", Some("http://xn--bcher-kva.example/%C3%A4")),
            ("mailto:someone@example.com", None),
            ("javascript:void(0)", None),
            ("ftp://example.com/", None),
            ("/relative", None),
            ("http://", None),
            ("", None),
        ];
        for (input, expected) in cases {
            assert_eq!(canonical(input, None).as_deref(), expected, "{input:?}");
        }
    }

    #[test]
    fn resolves_against_the_base() {
        let base = Url::parse("https://example.com/a/b?c#d").unwrap();
        let cases = [
            ("", "https://example.com/a/b?c"),
            ("#top", "https://example.com/a/b?c"),
            ("?e", "https://example.com/a/b?e"),
            ("../f", "https://example.com/f"),
            ("//other.example", "https://other.example/"),
            ("/\\//other.example", "https://other.example/"),
        ];
        for (input, expected) in cases {
            assert_eq!(canonical(input, Some(&base)).as_deref(), Some(expected), "{input:?}");
        }
    }

    #[test]
    fn counts_the_length_of_the_canonical_form() {
        let longest = format!("http://a.example/{}", "x".repeat(MAX_LENGTH - 17));
        assert_eq!(canonical(&format!("{longest}#fragment"), None), Some(longest.clone()));
        assert_eq!(canonical(&format!("{longest}x"), None), None);
    }

    proptest! {
        #[test]
        fn is_stable(input in "(https?:)?[/\\\\]{0,2}[ -~é漢\\t]{0,30}") {
            let base = Url::parse("http://example.com/a/").unwrap();
            if let Some(once) = canonical(&input, Some(&base)) {
                prop_assert_eq!(canonical(&once, None), Some(once));
            }
        }
    }
}
