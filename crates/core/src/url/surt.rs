//! The sort key of a URL in indexes of web archives (CDXJ): the host reversed, and spellings that usually show
//! the same page made equal, so that an archive finds `HTTP://www.Example.org/A/?b=1&a=2` by
//! `org,example)/a?a=2&b=1`.
//!
//! It is coarser than our canonical form: `www.` and digits after it, letter case, the order of arguments,
//! session ids and a slash at the end make no difference. A reader looks a page up by the key that it makes
//! itself, so these are the rules of the tools that read such indexes, to the letter.
//!
//! Source: the Internet Archive's SURT rules (Java in wayback-core, Python in `surt`).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

type Patterns = LazyLock<Vec<Regex>>;

fn compiled(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().filter_map(|pattern| Regex::new(&format!("(?i-u){pattern}")).ok()).collect()
}

static SESSIONS_IN_PATHS: Patterns = LazyLock::new(|| {
    compiled(&[
        r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^\?]+\.aspx.*)$",
        r"^(.*/)(?:\([0-9a-z]{24}\)/)([^\?]+\.aspx.*)$",
    ])
});
static SESSIONS_IN_QUERIES: Patterns = LazyLock::new(|| {
    compiled(&[
        r"^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$",
        r"^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    ])
});

/// The key of a canonical http or https URL; any other text is its own.
pub fn surt(url: &str) -> String {
    let Some((scheme, rest)) =
        url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
    else {
        return url.to_owned();
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let default = if scheme == "http" { ":80" } else { ":443" };
    let host = host.strip_suffix(default).unwrap_or(&host);
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    };
    let mut key = without_www(host.trim_matches('.')).rsplit('.').collect::<Vec<_>>().join(",");
    if let Some(port) = port {
        key.push(':');
        key.push_str(port);
    }
    key.push(')');
    key.push_str(&path_key(path));
    let query = query.map(query_key).unwrap_or_default();
    if !query.is_empty() {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn without_www(host: &str) -> &str {
    let rest =
        host.strip_prefix("www").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

fn path_key(path: &str) -> String {
    let decoded = unescaped(path.as_bytes());
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in decoded.split(|byte| *byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !kept.is_empty() => _ = kept.pop(),
            part => kept.push(part),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let mut path = vec![b'/'];
    for part in kept.iter().filter(|part| !part.is_empty()) {
        path.extend_from_slice(part);
        path.push(b'/');
    }
    path.extend_from_slice(last);
    let mut path = without_sessions(escaped(&path).to_ascii_lowercase().into_bytes(), &SESSIONS_IN_PATHS);
    if path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    String::from_utf8_lossy(&path).into_owned()
}

fn query_key(query: &str) -> String {
    let query = without_sessions(escaped(&unescaped(query.as_bytes())).into_bytes(), &SESSIONS_IN_QUERIES);
    let query = String::from_utf8_lossy(&query).to_ascii_lowercase();
    if query.len() <= 1 {
        return query;
    }
    let mut arguments: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|argument| {
            argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)))
        })
        .collect();
    arguments.sort_unstable();
    let arguments = arguments.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    });
    arguments.collect::<Vec<_>>().join("&")
}

fn without_sessions(mut text: Vec<u8>, patterns: &Patterns) -> Vec<u8> {
    for pattern in patterns.iter() {
        if let Some(found) = pattern.captures(&text) {
            let before = found.get(1).map_or(&b""[..], |part| part.as_bytes());
            let after = found.get(2).map_or(&b""[..], |part| part.as_bytes());
            text = [before, after].concat();
        }
    }
    text
}

/// Undoes percent-encoding until there is none.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    loop {
        let Some(first) = memchr::memchr(b'%', &text) else { return text };
        let mut decoded = text[..first].to_vec();
        let mut rest = &text[first..];
        while let Some((byte, after)) = rest.split_first() {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            let is_code = *byte == b'%' && after.iter().take(2).all(u8::is_ascii_hexdigit);
            let code = digits.filter(|_| is_code).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            decoded.push(code.unwrap_or(*byte));
            rest = if code.is_some() { &after[2..] } else { after };
        }
        if decoded == *text {
            return text;
        }
        text = Cow::Owned(decoded);
    }
}

/// Percent-encodes everything but printable ASCII, and of that `#`, `%` and space.
fn escaped(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'#' | b'%' | ..=b' ' | 0x7f.. => escaped.push_str(&format!("%{byte:02X}")),
            byte => escaped.push(char::from(*byte)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_archives() {
        // Made with the package `surt`.
        for (url, key) in [
            ("http://www.example.org/", "org,example)/"),
            ("http://www2.Example.org:80/A/B/", "org,example)/a/b"),
            ("https://example.org:8443/?b=1&a=2&a", "org,example:8443)/?a&a=2&b=1"),
            ("https://user:word@example.org/a//b/../c#d", "org,example)/a/c"),
            ("http://example.org/%7Ea%2520b?", "org,example)/~a%20b"),
            ("http://192.0.2.1/x", "1,2,0,192)/x"),
            ("http://example.org/?sid=0123456789abcdef0123456789abcdef&x=Y", "org,example)/?x=y"),
            ("http://example.org/caf%C3%A9", "org,example)/caf%c3%a9"),
            ("http://wwwx.example.org", "org,example,wwwx)/"),
            ("urn:x", "urn:x"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }
}
