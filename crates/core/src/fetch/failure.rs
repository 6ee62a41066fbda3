//! Why a request got no response: a class for counters and the retry rule, a reason for people.

use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio_rustls::rustls;

/// The classes of failure; the table in [`crate::fetch`] says which may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The name does not exist, or has no address.
    Dns,
    /// No name server answered, or it failed.
    NameServer,
    /// The address is not on the public internet, and private addresses are not allowed.
    Private,
    /// The connection was refused.
    Refused,
    /// There is no route to the address.
    Unreachable,
    /// No connection within the time limit.
    ConnectTimeout,
    /// No response head, or an incomplete body, within the time limit.
    Timeout,
    /// The certificate is not trusted, or the TLS handshake failed.
    Tls,
    /// The connection ended before the response did.
    Reset,
    /// The body exceeds the size limit.
    TooLarge,
    /// The response is not valid HTTP.
    BadResponse,
    /// The proxy is unreachable, or refuses.
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

    /// Its user-facing name.
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

    /// Whether there was no connection: the failure is the host's, whatever the page.
    pub fn is_of_host(self) -> bool {
        matches!(
            self,
            Class::NameServer | Class::Refused | Class::Unreachable | Class::ConnectTimeout | Class::Proxy
        )
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
    /// A clause for people: "the name a.example does not exist".
    pub reason: String,
    /// Whether a connection that had answered before was found closed, without a byte of a response: the
    /// server closed it between two requests, and the request may be retried on a new connection immediately.
    pub stale: bool,
}

impl Failure {
    pub(super) fn new(class: Class, reason: impl Into<String>) -> Failure {
        Failure { class, reason: reason.into(), stale: false }
    }

    pub(super) fn late(class: Class, what: &str, limit: Duration) -> Failure {
        Failure::new(class, format!("{what} within {} s", limit.as_secs_f64()))
    }

    /// The failure of opening a connection.
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

    /// The failure of an exchange, between the request and the end of the body.
    pub(super) fn exchanging(error: &hyper::Error) -> Failure {
        if error.is_parse() {
            return Failure::new(Class::BadResponse, format!("the response is not HTTP: {}", cause(error)));
        }
        if let Some(broken) = inner::<h2::Error>(error) {
            // An error raised by the library means that the peer broke the protocol; all others were sent by
            // the peer.
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

/// The first error of a type in the chain of causes, including one wrapped in an I/O error.
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

/// The root cause, which is the most readable.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

/// The message of the system, without the error number.
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
