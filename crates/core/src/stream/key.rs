//! The key of a line: by what it is compared with others.
//!
//! The end of a line (`\n` or `\r\n`) belongs to no key, so that the same URL in files from different systems
//! is the same. A line may be any bytes.
//!
//! A line of a Common Crawl index (CDXJ) is a sort key, a timestamp and a JSON object, with spaces between;
//! its key is the object's `url`. The object starts at the first `{` that follows a space or begins the line, so
//! that JSON lines are read as well. What is no such object, or has no `url` that is a string, has no key.
//!
//! Source: <https://specs.webrecorder.net/cdxj/0.1.0/>.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Signature;

/// What is the key of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOf {
    /// The line itself.
    Line,
    /// The URL of the JSON object at its end.
    Cdxj,
}

#[derive(Deserialize)]
struct Capture<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
}

impl KeyOf {
    /// The signature of a line's key; `None`: it has none.
    #[inline]
    pub fn signature(self, line: &[u8]) -> Option<Signature> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self {
            KeyOf::Line => Some(Signature::of(line)),
            KeyOf::Cdxj => {
                let mut braces = memchr::memchr_iter(b'{', line);
                let start = braces.find(|at| *at == 0 || line[at - 1] == b' ')?;
                let capture: Capture = serde_json::from_slice(&line[start..]).ok()?;
                Some(Signature::of(capture.url.as_bytes()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_the_one_of_the_object() {
        let url = Some(Signature::of(b"http://a.example/?x&y"));
        for line in [
            r#"example,a)/?x&y 20240101000000 {"url": "http://a.example/?x&y", "mime": "text/html"}"#,
            r#"example,a)/{b} 20240101000000 {"mime": {"url": "no"}, "url":"http:\/\/a.example/?x\u0026y"}"#,
            r#"{"title": "\"url\": \"no\"", "url": "http://a.example/?x&y"}"#,
        ] {
            assert_eq!(KeyOf::Cdxj.signature(line.as_bytes()), url, "{line}");
            assert_eq!(KeyOf::Cdxj.signature(format!("{line}\r\n").as_bytes()), url);
        }
        for line in ["", "a b", "a b {", r#"a b {"url": 1}"#, r#"a b {"urn": "x"}"#, r#"a {"url": "x"} b"#] {
            assert_eq!(KeyOf::Cdxj.signature(line.as_bytes()), None, "{line}");
        }
        assert_eq!(KeyOf::Cdxj.signature(b"a b {\"url\": \"\xff\"}"), None);
    }

    #[test]
    fn ends_of_lines_are_no_part_of_them() {
        let expected = Some(Signature::of(b"a"));
        for line in ["a", "a\n", "a\r\n"] {
            assert_eq!(KeyOf::Line.signature(line.as_bytes()), expected);
        }
        assert_ne!(KeyOf::Line.signature(b"a\r\r\n"), expected);
    }
}
