//! Fetching over HTTP: a request over a persistent connection returns a response or a classified failure,
//! within all limits.
//!
//! [`Client::resolve`] returns the pinned address of a host, [`Client::connect`] a connection to exactly that
//! address, and [`Connection::get`] a response. Nothing is resolved again between the check of an address and
//! its use (no DNS rebinding), no redirect is followed and nothing is retried: those decisions are the
//! caller's. No call exceeds its time limit. All of it runs in one thread, on a current-thread tokio runtime
//! inside a `LocalSet`.
//!
//! A visit to a host uses one connection: HTTP/1.1 with keep-alive, or HTTP/2 if negotiated by TLS (ALPN). If
//! a [proxy](Options::proxy) is set, every connection goes to it, and `resolve` returns the proxy's own
//! address for every host: resolving hosts is then up to the proxy, so politeness per address has no meaning,
//! and a private address can be refused only if it is in the URL itself.
//!
//! The classes of failure, and whether the same request may succeed later ([`Class::again`]):
//!
//! | class | when | again |
//! | --- | --- | --- |
//! | `Dns` | the name does not exist or has no address | no |
//! | `NameServer` | no name server answered, or it failed itself | yes |
//! | `Private` | the address is not on the public internet | no |
//! | `Refused` | nothing listens at the port | yes |
//! | `Unreachable` | there is no way to the address | yes |
//! | `ConnectTimeout` | TCP, the proxy and TLS took longer than `connect_timeout` together | yes |
//! | `Timeout` | no head within `first_byte_timeout`, or no end within `total_timeout` | yes |
//! | `Tls` | untrusted, expired or for another name; or no TLS at all | no |
//! | `Reset` | closed before the end: also a body shorter than its `Content-Length` | yes |
//! | `TooLarge` | the body is longer than `max_bytes`, by its `Content-Length` or as it comes | no |
//! | `BadResponse` | not HTTP, invalid headers or chunks, a head over 64 KiB or 200 headers | no |
//! | `Proxy` | the proxy is away, refuses, or wants other credentials | yes |
//!
//! A request over a persistent connection takes about 25 µs of one core, measured over the loopback interface
//! including system calls (`tests/speed.rs`).

mod address;
mod connection;
mod failure;
mod message;
mod names;
mod origin;
mod private;
mod protocol;
mod proxy;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

pub use address::is_public;
pub use connection::Connection;
pub use failure::{Class, Failure};
pub use message::{Request, Response};
pub use origin::{Origin, Scheme};
pub use private::any_is_private;
pub use wire::header_fields;

use crate::Error;
use crate::settings::{seconds, text};
use connection::Form;
use names::Names;
use protocol::Protocol;
use proxy::Proxy;
use stream::{Stream, Transport};

/// The maximum of all time limits: beyond this, clock arithmetic may overflow.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Fetch options, named as in the section `[crawl]` of the settings.
#[derive(Clone, Debug, Deserialize)]
pub struct Options {
    /// The time limit for establishing a connection.
    #[serde(deserialize_with = "seconds")]
    pub(crate) connect_timeout: Duration,
    /// The time limit from a request to the complete head of its response.
    #[serde(deserialize_with = "seconds")]
    pub(crate) first_byte_timeout: Duration,
    /// The time limit from a request to the end of its response; also for a DNS lookup.
    #[serde(rename = "timeout", deserialize_with = "seconds")]
    pub(crate) total_timeout: Duration,
    /// The maximum size of a body, both as transferred and decoded.
    pub(crate) max_bytes: usize,
    /// Whether addresses outside the public internet may be used.
    pub(crate) allow_private: bool,
    /// `http://[user:password@]host:port`
    #[serde(deserialize_with = "text")]
    pub(crate) proxy: Option<String>,
    /// The name server to use instead of the system's.
    #[serde(deserialize_with = "text")]
    pub(crate) name_server: Option<String>,
    /// A file like `/etc/hosts`, whose entries take precedence over everything else.
    #[serde(deserialize_with = "text")]
    pub(crate) hosts_file: Option<String>,
    /// Whether to offer HTTP/2 on encrypted connections.
    pub(crate) http2: bool,
    /// The value of `Accept-Language`.
    #[serde(deserialize_with = "text")]
    pub(crate) accept_language: Option<String>,
    /// Whether a server must prove its name by a certificate.
    pub(crate) verify_tls: bool,
}

/// State shared by all connections.
struct Shared {
    options: Options,
    user_agent: HeaderValue,
    accept_language: Option<HeaderValue>,
    proxy: Option<Proxy>,
}

/// Opens connections, for all visits of a runtime.
pub struct Client {
    shared: Rc<Shared>,
    names: Names,
    tls: TlsConnector,
}

/// The parsed and validated parts of the options.
struct Checked {
    user_agent: HeaderValue,
    accept_language: Option<HeaderValue>,
    proxy: Option<Proxy>,
    name_server: Option<SocketAddr>,
}

impl Checked {
    fn of(options: &Options, user_agent: &str) -> crate::Result<Checked> {
        let header = |what: &str, value: &str| {
            HeaderValue::try_from(value).map_err(|_| Error::Invalid(format!("{what} cannot be {value:?}")))
        };
        let user_agent = header("the user agent", user_agent)?;
        let accept_language =
            options.accept_language.as_deref().map(|value| header("the language", value)).transpose()?;
        let proxy = options.proxy.as_deref().map(Proxy::parse).transpose()?;
        let address = |text: &str| {
            let wrong = || format!("the name server {text:?} is not an address with a port");
            text.parse().map_err(|_| Error::Invalid(wrong()))
        };
        let name_server = options.name_server.as_deref().map(address).transpose()?;
        Ok(Checked { user_agent, accept_language, proxy, name_server })
    }
}

/// Checks that the options are valid.
pub fn check(options: &Options, user_agent: &str) -> crate::Result<()> {
    Checked::of(options, user_agent).map(drop)
}

impl Client {
    /// A client; the files of host names and certificates are read here, and nothing is sent yet.
    /// `user_agent` identifies the crawler: name, version and a contact.
    pub fn new(mut options: Options, user_agent: &str) -> crate::Result<Client> {
        for limit in
            [&mut options.connect_timeout, &mut options.first_byte_timeout, &mut options.total_timeout]
        {
            *limit = (*limit).min(LONGEST_WAIT);
        }
        let Checked { user_agent, accept_language, proxy, name_server } = Checked::of(&options, user_agent)?;
        let names = Names::new(
            options.hosts_file.as_deref().map(Path::new),
            name_server,
            // With a proxy, the only name resolved is its own, which the user chose.
            options.allow_private || proxy.is_some(),
            options.total_timeout,
        )?;
        let tls = TlsConnector::from(tls::config(options.verify_tls.then(tls::roots), options.http2)?);
        Ok(Client { shared: Rc::new(Shared { options, user_agent, accept_language, proxy }), names, tls })
    }

    /// The address that a host is pinned to: from the cache if known, checked, IPv4 before IPv6.
    pub async fn resolve(&self, host: &str) -> Result<IpAddr, Failure> {
        self.check_literal(host)?;
        match &self.shared.proxy {
            None => self.names.resolve(host).await,
            Some(proxy) => self.names.resolve(&proxy.host).await.map_err(by_proxy),
        }
    }

    /// A connection to that address, which is checked again but not resolved.
    pub async fn connect(&self, origin: &Origin, address: IpAddr) -> Result<Connection, Failure> {
        self.check_literal(&origin.host)?;
        if self.shared.proxy.is_none() && !self.shared.options.allow_private && !is_public(address) {
            return Err(names::refusal(&origin.host, address));
        }
        let limit = self.shared.options.connect_timeout;
        match timeout(limit, self.open(origin, address)).await {
            Ok(opened) => opened,
            Err(_) => Err(Failure::late(Class::ConnectTimeout, "no connection", limit)),
        }
    }

    async fn open(&self, origin: &Origin, address: IpAddr) -> Result<Connection, Failure> {
        let stream = self.reach(origin, address).await?;
        let (form, transport) = match (origin.scheme, &self.shared.proxy) {
            (Scheme::Http, None) => (Form::Path, Transport::Plain(stream)),
            (Scheme::Http, Some(_)) => (Form::Proxied, Transport::Plain(stream)),
            (Scheme::Https, _) => {
                let host = origin.host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let name = ServerName::try_from(host).map_err(|_| {
                    Failure::new(Class::Tls, format!("no certificate can name {}", origin.host))
                })?;
                let stream =
                    self.tls.connect(name, stream).await.map_err(|error| Failure::connecting(&error))?;
                let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                (if http2 { Form::Url } else { Form::Path }, Transport::Encrypted(Box::new(stream)))
            }
        };
        let (stream, wire) = Stream::new(transport);
        let protocol = match form {
            Form::Url => Protocol::http2(stream).await,
            Form::Path | Form::Proxied => Protocol::http1(stream, wire).await,
        };
        let protocol = protocol.map_err(|error| Failure::exchanging(&error))?;
        Connection::new(Rc::clone(&self.shared), origin, address, form, protocol)
    }

    /// The TCP stream to the origin, through a tunnel of the proxy if needed.
    async fn reach(&self, origin: &Origin, address: IpAddr) -> Result<TcpStream, Failure> {
        let connect = async |port: u16| {
            let stream = TcpStream::connect((address, port)).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let Some(proxy) = &self.shared.proxy else {
            return connect(origin.port).await.map_err(|error: std::io::Error| Failure::connecting(&error));
        };
        let mut stream = connect(proxy.port)
            .await
            .map_err(|error: std::io::Error| by_proxy(Failure::connecting(&error)))?;
        if origin.scheme == Scheme::Https {
            proxy.tunnel(&mut stream, origin).await?;
        }
        Ok(stream)
    }

    /// An IP address in the URL itself is checked here, even if a proxy resolves the names.
    fn check_literal(&self, host: &str) -> Result<(), Failure> {
        match address::literal(host) {
            Some(address) if !self.shared.options.allow_private && !is_public(address) => {
                Err(names::refusal(host, address))
            }
            _ => Ok(()),
        }
    }
}

fn by_proxy(failure: Failure) -> Failure {
    Failure::new(Class::Proxy, format!("the proxy cannot be used: {}", failure.reason))
}
