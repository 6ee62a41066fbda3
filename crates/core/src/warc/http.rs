//! The HTTP response in a block, as received: forgiving about line ends and folded lines, and with the
//! chunks of its body undone.

use crate::fetch::header_fields;

/// A response as it was archived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// `HTTP/1.0`, `HTTP/1.1`, `HTTP/2` …
    pub version: String,
    /// The status code.
    pub status: u16,
    /// The reason phrase.
    pub reason: String,
    /// Names and values as received.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without its transfer coding.
    pub body: Vec<u8>,
}

impl Http {
    /// Reads the block of a response; `None` if it does not begin with a status line.
    pub fn read(block: &[u8]) -> Option<Http> {
        let (head, body) = split(block);
        let first = memchr::memchr(b'\n', head).map_or(head.len(), |end| end + 1);
        let mut http = Http::status_line(head[..first].trim_ascii_end())?;
        http.headers = header_fields(&head[first..]);
        http.body = match http.is_chunked().then(|| unchunk(body)).flatten() {
            Some(whole) => whole,
            None => body.to_vec(),
        };
        Some(http)
    }

    fn status_line(line: &[u8]) -> Option<Http> {
        let line = String::from_utf8_lossy(line);
        let mut words = line.splitn(3, ' ');
        let version = words.next().filter(|version| version.starts_with("HTTP/"))?.to_owned();
        let status = words.next()?.trim().parse().ok()?;
        Some(Http {
            version,
            status,
            reason: words.next().unwrap_or_default().trim().to_owned(),
            ..Http::default()
        })
    }

    /// The first header field with this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    fn is_chunked(&self) -> bool {
        let coding = self.header("transfer-encoding").unwrap_or_default();
        coding.split(',').any(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
    }
}

/// Splits a block at the first empty line.
fn split(block: &[u8]) -> (&[u8], &[u8]) {
    for end in memchr::memchr_iter(b'\n', block) {
        match &block[end + 1..] {
            [b'\r', b'\n', body @ ..] | [b'\n', body @ ..] => return (&block[..=end], body),
            _ => {}
        }
    }
    (block, &[])
}

/// The body without its chunks (RFC 9112, section 7.1); `None` if it is not in chunks. Archives often have
/// the header of a chunked body and not its chunks.
fn unchunk(body: &[u8]) -> Option<Vec<u8>> {
    let (mut rest, mut whole) = (body, Vec::new());
    loop {
        let end = memchr::memchr(b'\n', &rest[..rest.len().min(4096)])?;
        let line = rest[..end].split(|byte| *byte == b';').next()?.trim_ascii();
        let size = usize::from_str_radix(std::str::from_utf8(line).ok().filter(|line| !line.is_empty())?, 16)
            .ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(whole);
        }
        // The last chunk may have been cut off.
        let chunk = &rest[..size.min(rest.len())];
        whole.extend_from_slice(chunk);
        rest = &rest[chunk.len()..];
        rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
        if rest.is_empty() {
            return Some(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_as_received() {
        let http = Http::read(b"HTTP/1.0 404 Not Found\r\nX-A: 1\r\n folded\r\nx-a:2\n\n<p>").unwrap();
        assert_eq!(
            (http.version.as_str(), http.status, http.reason.as_str()),
            ("HTTP/1.0", 404, "Not Found")
        );
        assert_eq!(http.headers, [("X-A".into(), b"1 folded".to_vec()), ("x-a".into(), b"2".to_vec())]);
        assert_eq!(http.body, b"<p>");
        assert_eq!(Http::read(b"HTTP/1.1 200\r\n\r\n").unwrap().reason, "");
        assert_eq!(Http::read(b"HTTP/1.1 204 No\r\nA: b").unwrap().headers.len(), 1);
        for wrong in [&b""[..], b"<html>", b"HTTP/1.1", b"HTTP/1.1 ok\r\n\r\n"] {
            assert_eq!(Http::read(wrong), None);
        }
    }

    #[test]
    fn chunks_are_undone_where_there_are_any() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
        for (body, expected) in [
            ("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde"),
            ("3\r\nabc\r\nff\r\nde", "abcde"),
            ("<p>not in chunks", "<p>not in chunks"),
            ("", ""),
            ("3\r\nabc\r\nzz\r\n", "3\r\nabc\r\nzz\r\n"),
        ] {
            let http = Http::read(format!("{head}{body}").as_bytes()).unwrap();
            assert_eq!(String::from_utf8(http.body).unwrap(), expected);
        }
    }
}
