//! A URL and its components, as the WHATWG URL standard defines them.
//!
//! [`Url`] is one ASCII string with offsets into it, so every component is a slice. The parser is in
//! `parser.rs`.

use crate::{Error, Result};

use super::host::ends_in_number;

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub(super) href: String,
    /// The end of the scheme, where the colon is.
    pub(super) scheme_end: usize,
    pub(super) username_end: usize,
    pub(super) host_start: usize,
    pub(super) host_end: usize,
    /// The end of the authority; without one, a path that begins with two slashes has `/.` before it.
    pub(super) authority_end: usize,
    pub(super) path_start: usize,
    /// The offset of the question mark.
    pub(super) query_start: Option<usize>,
    /// The offset of the number sign.
    pub(super) fragment_start: Option<usize>,
    pub(super) port: Option<u16>,
    pub(super) has_host: bool,
    pub(super) kind: Kind,
}

/// The class of a scheme, which determines how the rest is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// http, https, ws, wss, ftp, with the default port.
    Special(u16),
    File,
    Other,
    /// Another scheme, with an opaque path: `mailto:a@b`.
    Opaque,
}

impl Kind {
    pub fn of(scheme: &str) -> Kind {
        match scheme {
            "http" | "ws" => Kind::Special(80),
            "https" | "wss" => Kind::Special(443),
            "ftp" => Kind::Special(21),
            "file" => Kind::File,
            _ => Kind::Other,
        }
    }

    pub fn is_special(self) -> bool {
        matches!(self, Kind::Special(_) | Kind::File)
    }

    /// Whether a byte separates segments.
    pub fn is_slash(self, byte: u8) -> bool {
        byte == b'/' || (byte == b'\\' && self.is_special())
    }
}

impl Url {
    /// Parses an absolute URL.
    pub fn parse(input: &str) -> Result<Url> {
        Url::parse_with(input, None)
    }

    /// Parses a URL that may be relative to this one.
    pub fn join(&self, input: &str) -> Result<Url> {
        Url::parse_with(input, Some(self))
    }

    /// Parses a URL that may be relative to `base`.
    pub fn parse_with(input: &str, base: Option<&Url>) -> Result<Url> {
        Url::parsed(input, base).ok_or_else(|| Error::Invalid(format!("not a URL: {input}")))
    }

    /// The serialised URL.
    pub fn as_str(&self) -> &str {
        &self.href
    }

    /// The scheme, without the colon.
    pub fn scheme(&self) -> &str {
        &self.href[..self.scheme_end]
    }

    /// The user name, escaped; empty if there is none.
    pub fn username(&self) -> &str {
        if !self.has_host {
            return "";
        }
        &self.href[self.scheme_end + 3..self.username_end]
    }

    /// The password, escaped; empty if there is none.
    pub fn password(&self) -> &str {
        let password = self.href.get(self.username_end + 1..self.host_start.saturating_sub(1));
        password.unwrap_or_default()
    }

    /// The host, if there is one; it may be empty.
    pub fn host_str(&self) -> Option<&str> {
        self.has_host.then(|| &self.href[self.host_start..self.host_end])
    }

    /// The host with its port; empty if there is none.
    pub fn host_and_port(&self) -> &str {
        &self.href[self.host_start..self.authority_end]
    }

    /// The host, if it is a name and not an IP address.
    pub fn domain(&self) -> Option<&str> {
        let is_name = |host: &&str| !(host.is_empty() || host.starts_with('[') || ends_in_number(host));
        self.host_str().filter(|_| self.kind.is_special()).filter(is_name)
    }

    /// The port, if it is not the scheme's default.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The port to connect to.
    pub fn port_or_known_default(&self) -> Option<u16> {
        match self.kind {
            Kind::Special(default) => self.port.or(Some(default)),
            _ => self.port,
        }
    }

    /// The path, escaped.
    pub fn path(&self) -> &str {
        &self.href[self.path_start..self.query_start.or(self.fragment_start).unwrap_or(self.href.len())]
    }

    /// The query, escaped, without the question mark.
    pub fn query(&self) -> Option<&str> {
        let end = self.fragment_start.unwrap_or(self.href.len());
        self.query_start.map(|start| &self.href[start + 1..end])
    }

    /// The fragment, escaped, without the number sign.
    pub fn fragment(&self) -> Option<&str> {
        self.fragment_start.map(|start| &self.href[start + 1..])
    }

    /// The origin as scripts see it; `null` if it is opaque.
    pub fn origin(&self) -> String {
        match self.kind {
            Kind::Special(_) => format!("{}://{}", self.scheme(), self.host_and_port()),
            Kind::Opaque if self.scheme() == "blob" => match Url::parse(self.path()) {
                Ok(inner) if matches!(inner.scheme(), "http" | "https") => inner.origin(),
                _ => "null".to_owned(),
            },
            _ => "null".to_owned(),
        }
    }

    /// The URL without the parts that are not sent to a server: the credentials and the fragment.
    pub(super) fn into_address(self) -> String {
        let mut address = self.href;
        if let Some(start) = self.fragment_start {
            address.truncate(start);
        }
        if self.has_host && self.host_start > self.scheme_end + 3 {
            address.replace_range(self.scheme_end + 3..self.host_start, "");
        }
        address
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.href)
    }
}
