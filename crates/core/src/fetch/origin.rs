//! The origin of a URL: scheme, host and port.

use std::fmt;

use crate::url::Url;

/// The scheme of an HTTP URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Clear text.
    Http,
    /// Encrypted.
    Https,
}

impl Scheme {
    /// The port of URLs without one.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// As in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// The origin of a URL. Its text form is the prefix of every canonical URL on it: `https://host:port`,
/// without a default port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Clear text or encrypted.
    pub scheme: Scheme,
    /// The host name or IP address, as in the URL: an IPv6 address is in brackets.
    pub host: String,
    /// The port, even if it is the default.
    pub port: u16,
}

impl Origin {
    /// The origin of a canonical URL; `None` if it is not an HTTP URL.
    pub fn of(url: &str) -> Option<Origin> {
        let url = Url::parse(url).ok()?;
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let port = url.port().unwrap_or(scheme.default_port());
        Some(Origin { scheme, host: url.host_str()?.to_owned(), port })
    }

    /// `host:port`, without a default port: the `Host` header.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::url::canonical;

    #[test]
    fn names_the_server() {
        let cases = [
            ("http://a.example/b?c", Some("http://a.example")),
            ("https://a.example/", Some("https://a.example")),
            ("https://a.example:80/", Some("https://a.example:80")),
            ("http://[::1]:8080/", Some("http://[::1]:8080")),
            ("http://127.0.0.1/", Some("http://127.0.0.1")),
            ("ftp://a.example/", None),
            ("no URL", None),
        ];
        for (url, expected) in cases {
            assert_eq!(Origin::of(url).map(|origin| origin.to_string()).as_deref(), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn begins_every_canonical_url_of_it(input in "https?://[a-z0-9_.!$*-]{1,12}(:[0-9]{1,4})?[/?][!-~é]{0,30}") {
            if let Some(url) = canonical(&input, None) {
                let origin = Origin::of(&url).unwrap().to_string();
                let rest = url.strip_prefix(&origin);
                prop_assert!(rest.is_some_and(|rest| rest.starts_with('/')), "{} {}", url, origin);
            }
        }
    }
}
