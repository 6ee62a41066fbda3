//! The order of nodes by name: numbers by value, then other names, then URLs and hosts with the host reversed.
//!
//! Pages link mostly within their site, so an order that keeps a site together makes the gaps between
//! successors small, and pages of a folder, which have similar links, neighbours. A name has a *key*, and
//! names are ordered as the bytes of their keys:
//!
//! | name | key |
//! | --- | --- |
//! | `30` | `0`, a byte with the number of digits, the digits |
//! | `alice` | `1alice` |
//! | `https://www.example.org:8443/a?b` | `2org,example,www)https:8443/a?b` |
//! | `www.example.org` | `3org,example,www` |
//!
//! In a reversed host `)` and `,` are less than every byte of a label, so a site (one host, all schemes and ports)
//! is a contiguous range, and so is a domain with all its subdomains: `org,example)…`, `org,example,…`, and
//! only then `org,example-shop)…`. IP addresses are not reversed. The key determines the name ([`name`]).
//!
//! Source: the sort-friendly URI reordering transform (SURT) of the Internet Archive.

use std::ops::Range;

const NUMBER: u8 = b'0';
const TEXT: u8 = b'1';
const URL: u8 = b'2';
const HOST: u8 = b'3';

/// The key of a name.
pub fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 2);
    push_key(name, &mut key);
    key
}

/// Appends the key of a name.
pub fn push_key(name: &str, key: &mut Vec<u8>) {
    if is_number(name.as_bytes()) {
        key.extend([NUMBER, name.len() as u8]);
        key.extend_from_slice(name.as_bytes());
    } else if let Some(parts) = Parts::of(name) {
        key.push(URL);
        push_reversed(parts.host, key);
        key.push(b')');
        key.extend_from_slice(parts.scheme.as_bytes());
        key.extend_from_slice(parts.rest.as_bytes());
    } else if is_host(name) {
        key.push(HOST);
        push_reversed(name, key);
    } else {
        key.push(TEXT);
        key.extend_from_slice(name.as_bytes());
    }
}

/// The order of names: the places of the least, the next, …
pub fn sorted(names: &[String]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by_cached_key(|place| key(&names[*place as usize]));
    order
}

/// The name with a key; `None` if it is the key of none.
pub fn name(key: &[u8]) -> Option<String> {
    let (kind, rest) = key.split_first()?;
    let text = std::str::from_utf8(rest).ok()?;
    match *kind {
        NUMBER => {
            let number = text.get(1..)?;
            (is_number(number.as_bytes()) && rest[0] as usize == number.len()).then(|| number.to_owned())
        }
        TEXT => Some(text.to_owned()),
        URL => {
            let (host, rest) = text.split_once(')')?;
            let scheme = rest.bytes().take_while(|byte| is_of_scheme(*byte)).count();
            let (scheme, rest) = rest.split_at(scheme);
            Some(format!("{scheme}://{}{rest}", host.rsplit(',').collect::<Vec<_>>().join(".")))
        }
        HOST => Some(text.rsplit(',').collect::<Vec<_>>().join(".")),
        _ => None,
    }
}

/// The keys of a host's pages, or of the host itself among `hosts`.
pub fn site(host: &str, hosts: bool) -> Range<Vec<u8>> {
    let start = reversed(host, hosts);
    match hosts {
        false => [&start[..], b")"].concat()..[&start[..], b","].concat(),
        true => start.clone()..[&start[..], b"\0"].concat(),
    }
}

/// The keys of the pages of a domain and its subdomains, or of those hosts themselves among `hosts`.
pub fn domain(domain: &str, hosts: bool) -> Range<Vec<u8>> {
    let start = reversed(domain, hosts);
    let end = [&start[..], b"-"].concat();
    if hosts { start..end } else { [&start[..], b")"].concat()..end }
}

/// The keys of the names that begin with `text`: for URLs, the whole host and the start of a path.
pub fn prefix(text: &str) -> Range<Vec<u8>> {
    let start = if Parts::of(text).is_some() { key(text) } else { [&[TEXT], text.as_bytes()].concat() };
    start.clone()..successor(start)
}

/// Whether a key is that of a host.
pub fn is_key_of_host(key: &[u8]) -> bool {
    key.first() == Some(&HOST)
}

/// The least byte string that is greater than all those that begin with `prefix`.
fn successor(mut prefix: Vec<u8>) -> Vec<u8> {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            break;
        }
    }
    prefix
}

fn reversed(host: &str, hosts: bool) -> Vec<u8> {
    let mut key = vec![if hosts { HOST } else { URL }];
    push_reversed(host, &mut key);
    key
}

/// Whether a name is a number as it is written: digits, without leading zeros.
#[inline]
pub fn is_number(name: &[u8]) -> bool {
    (1..=255).contains(&name.len())
        && name.iter().all(u8::is_ascii_digit)
        && (name[0] != b'0' || name.len() == 1)
}

/// Whether a name is that of a host: labels of letters, digits and hyphens, at least two, the last not a number.
fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii())
    };
    name.contains('.') && name.split('.').all(is_label) && !ends_in_number(name)
}

fn ends_in_number(host: &str) -> bool {
    host.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The parts of a URL: `scheme://host`, and the rest, with the port.
struct Parts<'a> {
    scheme: &'a str,
    host: &'a str,
    rest: &'a str,
}

impl Parts<'_> {
    /// `None` for what is not a URL, or has parts that the form above cannot hold (credentials, say).
    fn of(name: &str) -> Option<Parts<'_>> {
        let (scheme, after) = name.split_once("://")?;
        let plain = scheme.bytes().all(is_of_scheme) && !scheme.is_empty();
        let bracket = if after.starts_with('[') { after.find(']')? + 1 } else { 0 };
        let end = after[bracket..].find(['/', '?', '#', ':']).map_or(after.len(), |at| bracket + at);
        let (host, rest) = after.split_at(end);
        let fits = !host.is_empty()
            && host.bytes().all(|byte| byte > b',' && byte != b'@' && byte != b'/' && byte != 0x7f);
        (plain && fits).then_some(Parts { scheme, host, rest })
    }
}

/// Of a scheme: letters and digits, so that it ends where the port, the path or the query begins.
fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn push_reversed(host: &str, key: &mut Vec<u8>) {
    if host.starts_with('[') || ends_in_number(host) {
        return key.extend_from_slice(host.as_bytes());
    }
    for (number, label) in host.rsplit('.').enumerate() {
        if number > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_as_described() {
        let cases = [
            ("30", "0\u{2}30"),
            ("alice", "1alice"),
            ("007", "1007"),
            ("https://www.example.org:8443/a?b", "2org,example,www)https:8443/a?b"),
            ("http://10.0.0.1/", "210.0.0.1)http/"),
            ("http://[::1]:80/", "2[::1])http:80/"),
            ("http://example.org", "2org,example)http"),
            ("http://me@example.org/", "1http://me@example.org/"),
            ("http://a,b.example/", "1http://a,b.example/"),
            ("//example.org/", "1//example.org/"),
            ("www.example.org", "3org,example,www"),
            ("10.0.0.1", "110.0.0.1"),
        ];
        for (name, expected) in cases {
            assert_eq!(String::from_utf8(key(name)).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_are_in_order_of_value_and_a_domain_is_a_range() {
        let ordered = [
            "9",
            "10",
            "4294967296",
            "zebra",
            "http://example.org/",
            "http://example.org/z",
            "http://example.org:8080/",
            "https://example.org/",
            "http://a.example.org/",
            "https://www.example.org/",
            "http://example-shop.org/",
            "example.org",
            "a.example.org",
            "example-shop.org",
        ];
        let keys: Vec<_> = ordered.iter().map(|name| key(name)).collect();
        assert!(keys.is_sorted());
        let inside = |range: Range<Vec<u8>>| keys.iter().filter(|key| range.contains(*key)).count();
        assert_eq!([inside(site("example.org", false)), inside(domain("example.org", false))], [4, 6]);
        assert_eq!([inside(site("example.org", true)), inside(domain("example.org", true))], [1, 2]);
        assert_eq!([inside(prefix("http://example.org/")), inside(prefix("zeb"))], [2, 1]);
    }

    proptest! {
        #[test]
        fn a_key_determines_its_name(text in prop_oneof![
            ".{0,12}", "[a-z0-9.-]{0,12}", "[0-9]{1,24}", "[0-2][ -~]{0,9}",
            "https?://[a-zA-Z0-9.,()@:é\\[\\]-]{0,16}(:[0-9]{1,5})?([/?#][ -~é]{0,9})?",
        ]) {
            prop_assert_eq!(name(&key(&text)), Some(text));
        }

        #[test]
        fn any_bytes_have_a_name_or_none(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            name(&bytes);
        }
    }
}
