//! Proxying: absolute URLs for http, a tunnel (CONNECT, RFC 9110, 9.3.6) for https.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::failure::{Class, Failure};
use super::origin::Origin;
use crate::url::Url;
use crate::{Error, Result};

/// The maximum size of the response head to CONNECT.
const LONGEST_HEAD: usize = 1 << 13;

/// A proxy, and our credentials for it.
pub struct Proxy {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`.
    pub credentials: Option<HeaderValue>,
}

impl Proxy {
    /// A proxy from `http://[user:password@]host:port`.
    pub fn parse(text: &str) -> Result<Proxy> {
        // The text may contain a password, so the error does not repeat it.
        let wrong = || Error::Invalid("a proxy is written http://[user:password@]host:port".to_owned());
        let url = Url::parse(text).ok().filter(|url| url.scheme() == "http").ok_or_else(wrong)?;
        let host = url.host_str().ok_or_else(wrong)?.to_owned();
        let port = url.port_or_known_default().ok_or_else(wrong)?;
        let mut pair = unescaped(url.username());
        pair.push(b':');
        pair.extend(unescaped(url.password()));
        let credentials = match pair.as_slice() {
            b":" => None,
            pair => {
                let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
                let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Proxy { host, port, credentials })
    }

    /// Turns a fresh connection to the proxy into a tunnel to the origin.
    pub async fn tunnel(&self, stream: &mut TcpStream, origin: &Origin) -> std::result::Result<(), Failure> {
        let target = format!("{}:{}", origin.host, origin.port);
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
        if let Some(credentials) = &self.credentials {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(credentials.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        let broke = |error| Failure::new(Class::Proxy, format!("the proxy broke off: {error}"));
        stream.write_all(&request).await.map_err(broke)?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            // The server speaks only after we do, so what the proxy sends ends with its head.
            if head.len() >= LONGEST_HEAD || stream.read_buf(&mut head).await.map_err(broke)? == 0 {
                return Err(Failure::new(Class::Proxy, "the proxy gave no answer that is HTTP"));
            }
        }
        let line = String::from_utf8_lossy(head.split(|&byte| byte == b'\r').next().unwrap_or_default());
        match line.split(' ').nth(1) {
            Some(status) if line.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2') => {
                Ok(())
            }
            _ => Err(Failure::new(Class::Proxy, format!("the proxy will not connect to {target}: {line}"))),
        }
    }
}

/// Percent-decodes a part of a URL.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = (*first == b'%').then(|| after.get(..2)).flatten();
        let digits = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_address_and_the_credentials() {
        let proxy = Proxy::parse("http://Aladdin:open%20sesame@proxy.example:3128").unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.credentials.unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(Proxy::parse("http://proxy.example").unwrap().credentials.is_none());
        for wrong in
            ["", "proxy.example:3128", "socks5://proxy.example:1080", "https://user:secret@proxy.example"]
        {
            let error = Proxy::parse(wrong).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
