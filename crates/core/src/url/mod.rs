//! URL canonicalisation: the one form in which the rest of Crivello sees URLs.
//!
//! [`Url`] is the result of parsing by the WHATWG URL standard. [`canonical`] goes one step further: two
//! spellings that the standard parses as the same address of a page, or that differ only in the case of
//! escapes, yield the same string, and canonicalisation is idempotent. Parts that are not the address are
//! removed: the fragment, which is never sent, and the credentials, which are not ours to store. Everything
//! else may matter to the server and is kept, unless a [`CleanUp`] is requested. Linear in the length of the
//! URL, a third of a microsecond for a common one.

mod clean;
mod crowd;
mod escape;
mod host;
mod parser;
mod relative;
mod scope;
mod shape;
mod standard;
mod surt;
mod trap;

pub use clean::{CleanUp, clean};
pub use crowd::QueryCounter;
pub(crate) use escape::{escaped_byte, is_escaped_in_path};
pub(crate) use host::{ends_in_number, push_host};
pub use relative::Base;
pub use scope::{Refusal, Scope, ScopeKind, domain, domain_of, host_of, reason, same_site};
pub use shape::same_shape;
pub use standard::Url;
pub use surt::surt;
pub use trap::{Trap, TrapLimits, trap};

/// The maximum length of a canonical URL in bytes. Longer ones are nearly always traps, and the sitemap
/// protocol allows no more.
pub const MAX_LENGTH: usize = 2048;

/// The canonical form of `input`, resolved against `base`; `None` if it is not the address of a page.
pub fn canonical(input: &str, base: Option<&Url>) -> Option<String> {
    canonical_with(input, base, &CleanUp::NONE)
}

/// The canonical form of `input`, cleaned up.
pub fn canonical_with(input: &str, base: Option<&Url>, clean_up: &CleanUp) -> Option<String> {
    let url = Url::parsed(input, base)?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let mut address = url.into_address();
    raise_escapes(&mut address);
    clean(&mut address, clean_up);
    (address.len() <= MAX_LENGTH).then_some(address)
}

/// `%c3` and `%C3` are the same byte (RFC 3986, 6.2.2.1), but the standard keeps the spelling.
fn raise_escapes(url: &mut str) {
    let mut start = 0;
    while let Some(found) = memchr::memchr(b'%', &url.as_bytes()[start..]) {
        let place = start + found;
        if escaped_byte(&url.as_bytes()[place..]).is_some() {
            url[place + 1..place + 3].make_ascii_uppercase();
        }
        start = place + 1;
    }
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
