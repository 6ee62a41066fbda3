//! What goes over a connection, noted as it passes: hyper keeps the names of header fields in lower case, and
//! an archive should have the header as the server sent it.
//!
//! The bytes of one header are kept, at most [`LONGEST`]; those of bodies are only counted. What is sent is kept
//! where somebody asks for it.

use std::cell::{Cell, RefCell};

/// The longest header that is noted; longer responses are rejected.
const LONGEST: usize = 1 << 16;

/// The header fields of a message, names and values as received.
pub type HeaderFields = Vec<(String, Vec<u8>)>;

/// Credentials for a proxy are not for an archive.
const SECRET: &[u8] = b"proxy-authorization:";

/// What was received and sent on a connection.
#[derive(Default)]
pub struct Wire {
    received: Cell<u64>,
    is_noting: Cell<bool>,
    head: RefCell<Vec<u8>>,
    sent: RefCell<Option<Vec<u8>>>,
}

impl Wire {
    /// The number of bytes received.
    pub fn received(&self) -> u64 {
        self.received.get()
    }

    /// Expects the header of a response, and notes the request if it is wanted.
    pub fn expect(&self, notes_request: bool) {
        self.head.borrow_mut().clear();
        self.is_noting.set(true);
        *self.sent.borrow_mut() = notes_request.then(Vec::new);
    }

    /// Notes sent bytes.
    pub fn note_sent(&self, bytes: &[u8]) {
        if let Some(sent) = self.sent.borrow_mut().as_mut() {
            sent.extend_from_slice(bytes);
        }
    }

    /// The header of the last request as sent, if it was noted.
    pub fn take_request(&self) -> Option<Vec<u8>> {
        let sent = self.sent.borrow_mut().take()?;
        let is_secret =
            |line: &&[u8]| line.get(..SECRET.len()).is_some_and(|name| name.eq_ignore_ascii_case(SECRET));
        let lines = sent.split_inclusive(|byte| *byte == b'\n');
        Some(lines.filter(|line| !is_secret(line)).collect::<Vec<_>>().concat())
    }

    /// Notes received bytes.
    pub fn note(&self, bytes: &[u8]) {
        self.received.set(self.received.get() + bytes.len() as u64);
        if !self.is_noting.get() {
            return;
        }
        let mut head = self.head.borrow_mut();
        head.extend_from_slice(bytes);
        while let Some(end) = end_of_head(&head) {
            // An interim response (100 to 199) is followed by the one that was asked for.
            let interim = head.iter().skip_while(|byte| **byte != b' ').nth(1) == Some(&b'1');
            if !interim {
                head.truncate(end);
                self.is_noting.set(false);
                return;
            }
            head.drain(..end);
        }
        if head.len() > LONGEST {
            head.clear();
            self.is_noting.set(false);
        }
    }

    /// The header fields of the response as received; `None` if the header was not noted.
    pub fn fields(&self) -> Option<HeaderFields> {
        let head = self.head.borrow();
        let lines = head.split_inclusive(|byte| *byte == b'\n').next().map(<[u8]>::len)?;
        (!self.is_noting.get()).then(|| header_fields(&head[lines..]))
    }
}

/// Where the first empty line ends.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find_map(|end| match &bytes[end + 1..] {
        [b'\r', b'\n', ..] => Some(end + 3),
        [b'\n', ..] => Some(end + 2),
        _ => None,
    })
}

/// The fields in the lines of a header, after its first; folded lines are joined, and lines without a colon
/// left out.
pub fn header_fields(lines: &[u8]) -> HeaderFields {
    let mut fields: HeaderFields = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let folded = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        if let (true, Some((_, value))) = (folded, fields.last_mut()) {
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii());
        } else if let Some(colon) = memchr::memchr(b':', line) {
            let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
            fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(parts: &[&[u8]]) -> Option<Vec<String>> {
        let wire = Wire::default();
        wire.note(b"before");
        wire.expect(false);
        parts.iter().for_each(|part| wire.note(part));
        assert_eq!(wire.received(), 6 + parts.iter().map(|part| part.len() as u64).sum::<u64>());
        wire.fields().map(|fields| fields.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn a_header_is_noted_in_any_pieces() {
        let response = b"HTTP/1.1 200 OK\r\nX-Odd: a\r\netag: b\r\nX-Odd: c\r\n\r\nBody: no\r\n\r\n";
        let expected = Some(vec!["X-Odd".to_owned(), "etag".to_owned(), "X-Odd".to_owned()]);
        for cut in 0..response.len() {
            assert_eq!(names(&[&response[..cut], &response[cut..]]), expected, "{cut}");
        }
        let bytes: Vec<&[u8]> = response.chunks(1).collect();
        assert_eq!(names(&bytes), expected);
        let interim = [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", &response[..]].concat();
        assert_eq!(names(&[&interim]), expected);
        assert_eq!(names(&[&response[..30]]), None);
        assert_eq!(names(&[b"HTTP/1.1 200 OK\nA: b\n c\n\n"]), Some(vec!["A".to_owned()]));
        assert_eq!(names(&[&[b'a'; 1 << 17]]), None);
    }

    #[test]
    fn a_request_is_noted_without_secrets() {
        let wire = Wire::default();
        wire.note_sent(b"before");
        wire.expect(true);
        wire.note_sent(b"GET / HTTP/1.1\r\nHost: a\r\nProxy-");
        wire.note_sent(b"Authorization: Basic eA==\r\nX-Odd: b\r\n\r\n");
        assert_eq!(wire.take_request(), Some(b"GET / HTTP/1.1\r\nHost: a\r\nX-Odd: b\r\n\r\n".to_vec()));
        wire.expect(false);
        wire.note_sent(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(wire.take_request(), None);
    }
}
