//! Requests and responses.

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
    /// How many bytes of the body are enough: reading stops there, without an error, and no other size limit
    /// applies.
    pub first_bytes: Option<usize>,
    /// Whether the response has the request as it was sent.
    pub noted: bool,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The reason phrase; the standard one if the protocol sends none.
    pub reason: String,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub version: &'static str,
    /// Header fields as received; the names are in lower case in HTTP/2.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without its transfer coding (chunked), but with its content coding (gzip …).
    pub body: Vec<u8>,
    /// Whether the body is longer than the first bytes that were requested.
    pub truncated: bool,
    /// The header of the request as sent, without credentials for a proxy; empty unless it was asked for.
    pub request: Vec<u8>,
    /// From sending the request to the complete head.
    pub first_byte: Duration,
    /// From sending the request to the end of the body.
    pub took: Duration,
}

impl Response {
    /// The first header with a name (case-insensitive), if it is text.
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
