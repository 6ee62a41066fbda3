//! What can become of a request that got no response: a class for the counts and the rule, a reason for people.

use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio_rustls::rustls;

/// The kinds of failure; the table in [`crate::fetch`] says which are worth another try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The name does not exist, or has no address.
    Dns,
    /// No name server gave an answer, good or bad.
    NameServer,
    /// The address is not on the public internet, and that is not allowed.
    Private,
    /// Nothing listens there.
    Refused,
    /// There is no way to the address.
    Unreachable,
    /// No connection within its time.
    ConnectTimeout,
    /// No head, or not the whole body, within its time.
    Timeout,
    /// The certificate is not trusted, or no encryption was agreed on.
    Tls,
    /// The connection ended before the response did.
    Reset,
    /// The body is longer than allowed.
    TooLarge,
    /// What came is not HTTP, or breaks its rules.
    BadResponse,
    /// The proxy cannot be reached, or will not do it.
    Proxy,
}

impl Class {
    /// Every class, in the order of the table.
    pub const ALL: [Class; 12] = [
        Class::Dns,
        Class::NameServer,
        Class::Private,
        Class::Refused,
        Class::Unreachable,
        Class::ConnectTimeout,
        Class::Timeout,
        Class::Tls,
        Class::Reset,
        Class::TooLarge,
        Class::BadResponse,
        Class::Proxy,
    ];

    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Dns => "no such host",
            Class::NameServer => "no name server",
            Class::Private => "private address",
            Class::Refused => "connection refused",
            Class::Unreachable => "unreachable",
            Class::ConnectTimeout => "connect timeout",
            Class::Timeout => "timeout",
            Class::Tls => "TLS failed",
            Class::Reset => "connection lost",
            Class::TooLarge => "too large",
            Class::BadResponse => "not HTTP",
            Class::Proxy => "proxy failed",
        }
    }

    /// Whether the same request may succeed later.
    pub fn again(self) -> bool {
        match self {
            Class::NameServer
            | Class::Refused
            | Class::Unreachable
            | Class::ConnectTimeout
            | Class::Timeout
            | Class::Reset
            | Class::Proxy => true,
            Class::Dns | Class::Private | Class::Tls | Class::TooLarge | Class::BadResponse => false,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The kind of failure.
    pub class: Class,
    /// A part of a sentence for people: "the name a.example does not exist".
    pub reason: String,
    /// Whether a connection that had answered before was found closed, with not a byte of a response: the
    /// server ended it between two requests, and a new connection may be tried at once.
    pub stale: bool,
}

impl Failure {
    pub(super) fn new(class: Class, reason: impl Into<String>) -> Failure {
        Failure { class, reason: reason.into(), stale: false }
    }

    pub(super) fn late(class: Class, what: &str, limit: Duration) -> Failure {
        Failure::new(class, format!("{what} within {} s", limit.as_secs_f64()))
    }

    /// What went wrong while a connection was made.
    pub(super) fn connecting(error: &io::Error) -> Failure {
        if inner::<rustls::Error>(error).is_some() {
            return Failure::new(Class::Tls, format!("no encrypted connection: {}", said(error)));
        }
        let class = match error.kind() {
            ErrorKind::ConnectionRefused => Class::Refused,
            ErrorKind::TimedOut => Class::ConnectTimeout,
            ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Class::Reset,
            _ => Class::Unreachable,
        };
        Failure::new(class, format!("no connection: {}", said(error)))
    }

    /// What went wrong between the request and the end of the body.
    pub(super) fn exchanging(error: &hyper::Error) -> Failure {
        if error.is_parse() {
            return Failure::new(Class::BadResponse, format!("the response is not HTTP: {}", cause(error)));
        }
        if let Some(broken) = inner::<h2::Error>(error) {
            // The library itself complains where the peer breaks the protocol; all else is the peer's word.
            let class = if broken.is_library() { Class::BadResponse } else { Class::Reset };
            return Failure::new(class, format!("the HTTP/2 exchange ended: {broken}"));
        }
        let Some(broken) = inner::<io::Error>(error) else {
            return Failure::new(Class::Reset, "the connection was closed before the end of the response");
        };
        if inner::<rustls::Error>(broken).is_some() {
            return Failure::new(Class::Tls, format!("the encryption broke: {}", said(broken)));
        }
        match broken.kind() {
            ErrorKind::InvalidData | ErrorKind::InvalidInput => Failure::new(
                Class::BadResponse,
                format!("the body breaks the rules of HTTP: {}", said(broken)),
            ),
            _ => Failure::new(Class::Reset, format!("the connection broke: {}", said(broken))),
        }
    }
}

/// The first error of a type in the chain of causes, also inside an I/O error that only carries it.
fn inner<'a, E: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(carried) => Some(carried),
            None => error.source(),
        };
    }
    None
}

/// The innermost error, which is the plainest.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

/// What the system said, without the number of the error.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut said = text[..end].to_owned();
    if let Some(first) = said.get_mut(..1)
        && end < text.len()
    {
        first.make_ascii_lowercase();
    }
    said
}
