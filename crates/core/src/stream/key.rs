//! The key of a line: what it is compared by.
//!
//! The line terminator (`
//! ` or `\r
//! `) is not part of the key, so that the same URL in files from different systems is the same. A line may be
//! any bytes.
//!
//! A line of a Common Crawl index (CDXJ) is a sort key, a timestamp and a JSON object, separated by spaces;
//! its key is the object's `url`. The object starts at the first `{` that follows a space or begins the line,
//! so that JSON lines are read as well. A line without such an object, or without a string `url` in it, has
//! no key.
//!
//! The format of a stream is detected from its first lines, never from a name, which a pipe does not have.
//!
//! Source: <https://specs.webrecorder.net/cdxj/0.1.0/>.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Signature;

/// The kind of key of a line.
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

/// How many lines are sampled to detect the format.
const SAMPLE: usize = 16;

impl KeyOf {
    /// Detects the format from the first lines of a stream: an index if most of them look like one. Empty
    /// lines and headers (`!…`) are ignored; `None` if there are no others.
    pub fn of_lines(block: &[u8]) -> Option<KeyOf> {
        let telling =
            block.split(|byte| *byte == b'\n').filter(|line| !matches!(line.trim_ascii(), [] | [b'!', ..]));
        let (mut lines, mut captures) = (0, 0);
        for line in telling.take(SAMPLE) {
            lines += 1;
            captures += usize::from(is_capture(line));
        }
        (lines > 0).then_some(if 2 * captures > lines { KeyOf::Cdxj } else { KeyOf::Line })
    }

    /// The signature of a line's key; `None` if it has none.
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

/// Whether a line is a sort key, a timestamp, and an object with a URL.
fn is_capture(line: &[u8]) -> bool {
    let mut parts = line.splitn(3, |byte| *byte == b' ').skip(1);
    let is_time = parts.next().is_some_and(|time| !time.is_empty() && time.iter().all(u8::is_ascii_digit));
    is_time
        && parts.next().is_some_and(|rest| rest.starts_with(b"{"))
        && KeyOf::Cdxj.signature(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_tell_the_format() {
        let capture = "org,a)/ 20240101000000 {\"url\": \"http://a.org/\"}\n";
        let object = "{\"url\": \"http://a.org/\"}\n";
        for (text, expected) in [
            (capture.to_owned(), Some(KeyOf::Cdxj)),
            (format!("!header {{}}\n\n{capture}damaged\n{capture}"), Some(KeyOf::Cdxj)),
            (format!("a line\n{capture}"), Some(KeyOf::Line)),
            (format!("{}{capture}", "a line\n".repeat(9)), Some(KeyOf::Line)),
            (object.repeat(3), Some(KeyOf::Line)),
            ("http://a.org/ 3 {x}\n".to_owned(), Some(KeyOf::Line)),
            ("\n\r\n!only headers\n".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(KeyOf::of_lines(text.as_bytes()), expected, "{text}");
        }
    }

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
