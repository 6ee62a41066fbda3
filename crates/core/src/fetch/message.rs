//! What is asked for, and what is answered.

use std::time::Duration;

/// One GET.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The canonical URL, on the origin of the connection.
    pub url: &'a str,
    /// The `ETag` of the copy we have: the answer may be 304.
    pub etag: Option<&'a str>,
    /// The `Last-Modified` of the copy we have: the answer may be 304.
    pub last_modified: Option<&'a str>,
    /// The value of `Cookie`.
    pub cookie: Option<&'a str>,
    /// How much of the body is enough: reading stops there, without an error, and no other limit of size holds.
    pub first_bytes: Option<usize>,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The number of the status.
    pub status: u16,
    /// The words after the number; the usual ones where the protocol sends none.
    pub reason: String,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub version: &'static str,
    /// Names in lower case, values as they were sent.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without its transfer coding (chunks), but with its content coding (gzip …).
    pub body: Vec<u8>,
    /// Whether there is more of the body than the first bytes that were asked for.
    pub truncated: bool,
    /// From sending the request to the whole head.
    pub first_byte: Duration,
    /// From sending the request to the end of the body.
    pub took: Duration,
}

impl Response {
    /// The first header of a name (in any case), if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    /// The values of all header fields with this name that are text.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.headers.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        named.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }
}
