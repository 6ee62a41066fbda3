//! One connection to one origin: sequential requests, each within its limits.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::http::uri::PathAndQuery;
use hyper::{StatusCode, Uri, Version};
use tokio::time::{Instant, timeout_at};

use super::Shared;
use super::failure::{Class, Failure};
use super::message::{Request, Response};
use super::origin::Origin;
use super::protocol::Protocol;

const ACCEPTED_TYPES: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
const ACCEPTED_ENCODINGS: HeaderValue = HeaderValue::from_static(crate::encoding::ACCEPTED);

/// The form of the request target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The path alone: HTTP/1.1.
    Path,
    /// The whole URL: HTTP/2.
    Url,
    /// The whole URL, to a proxy that fetches it.
    Proxied,
}

/// An open connection, from [`Client::connect`](super::Client::connect). After a failure it is closed.
pub struct Connection {
    shared: Rc<Shared>,
    origin: String,
    address: IpAddr,
    form: Form,
    headers: HeaderMap,
    /// `None` after a failure; in a `RefCell` because checking whether it is open polls the socket.
    protocol: RefCell<Option<Protocol>>,
    answered: bool,
}

impl Connection {
    pub(super) fn new(
        shared: Rc<Shared>,
        origin: &Origin,
        address: IpAddr,
        form: Form,
        protocol: Protocol,
    ) -> Result<Connection, Failure> {
        let mut headers = HeaderMap::with_capacity(12);
        if form != Form::Url {
            let host = HeaderValue::try_from(origin.authority());
            headers.insert(HOST, host.map_err(|_| unsendable(&origin.host))?);
            headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
        }
        headers.insert(USER_AGENT, shared.user_agent.clone());
        headers.insert(ACCEPT, ACCEPTED_TYPES);
        headers.insert(ACCEPT_ENCODING, ACCEPTED_ENCODINGS);
        if let Some(language) = &shared.accept_language {
            headers.insert(ACCEPT_LANGUAGE, language.clone());
        }
        let credentials = shared.proxy.as_ref().and_then(|proxy| proxy.credentials.as_ref());
        if let (Form::Proxied, Some(credentials)) = (form, credentials) {
            headers.insert(PROXY_AUTHORIZATION, credentials.clone());
        }
        let origin = origin.to_string();
        Ok(Connection {
            shared,
            origin,
            address,
            form,
            headers,
            protocol: RefCell::new(Some(protocol)),
            answered: false,
        })
    }

    /// The peer address: the server's, or the proxy's.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether another request can be sent. The server may still close the connection at that moment: then
    /// [`get`](Self::get) fails as [stale](Failure::stale).
    pub fn is_open(&self) -> bool {
        self.protocol.borrow_mut().as_mut().is_some_and(Protocol::is_open)
    }

    /// Sends one request and reads the whole response, or as much as requested. Redirects are returned, not
    /// followed.
    pub async fn get(&mut self, request: &Request<'_>) -> Result<Response, Failure> {
        let message = self.message(request)?;
        let Some(mut protocol) = self.protocol.get_mut().take() else {
            let closed = Failure::new(Class::Reset, "the connection is closed");
            return Err(Failure { stale: self.answered, ..closed });
        };
        let response = self.exchange(&mut protocol, message, request).await?;
        *self.protocol.get_mut() = Some(protocol);
        self.answered = true;
        Ok(response)
    }

    async fn exchange(
        &self,
        protocol: &mut Protocol,
        message: hyper::Request<Empty<hyper::body::Bytes>>,
        request: &Request<'_>,
    ) -> Result<Response, Failure> {
        let written = if request.noted { as_text(&message) } else { Vec::new() };
        let limits = &self.shared.options;
        let start = Instant::now();
        let total = start + limits.total_timeout;
        let before = protocol.received();
        let head =
            timeout_at(total.min(start + limits.first_byte_timeout), protocol.send(message, request.noted))
                .await;
        let head = match head {
            Ok(Ok(head)) => head,
            Ok(Err(error)) => {
                let unsent = error.is_canceled() || error.is_closed();
                let failure = Failure::exchanging(&error);
                let silent = failure.class == Class::Reset && (unsent || protocol.received() == before);
                return Err(Failure { stale: self.answered && silent, ..failure });
            }
            Err(_) => {
                return Err(Failure::late(
                    Class::Timeout,
                    "no response",
                    limits.first_byte_timeout.min(limits.total_timeout),
                ));
            }
        };
        let first_byte = start.elapsed();
        if head.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED && self.form == Form::Proxied {
            return Err(Failure::new(Class::Proxy, "the proxy wants other credentials"));
        }
        if head.status().is_informational() {
            return Err(Failure::new(Class::BadResponse, format!("the response is only {}", head.status())));
        }
        let (head, body) = head.into_parts();
        let headers = protocol.fields().unwrap_or_else(|| {
            let fields = head.headers.iter();
            fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
        });
        let (body, truncated) = timeout_at(total, self.body(protocol, body, request.first_bytes))
            .await
            .map_err(|_| Failure::late(Class::Timeout, "the body did not end", limits.total_timeout))??;
        // Polls the connection, so that data after the end of a body is noticed immediately.
        protocol.is_open();
        Ok(Response {
            status: head.status.as_u16(),
            reason: reason(&head),
            version: version(head.version),
            headers,
            body,
            truncated,
            request: protocol.take_request().unwrap_or(written),
            first_byte,
            took: start.elapsed(),
        })
    }

    /// The body, and whether it is longer than requested.
    async fn body(
        &self,
        protocol: &mut Protocol,
        mut body: Incoming,
        first_bytes: Option<usize>,
    ) -> Result<(Vec<u8>, bool), Failure> {
        let limit = first_bytes.unwrap_or(self.shared.options.max_bytes);
        let too_large = || Failure::new(Class::TooLarge, format!("the body is longer than {limit} bytes"));
        let stated = body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if first_bytes.is_none() && stated.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(stated.unwrap_or(0).min(limit));
        while let Some(frame) = protocol.frame(&mut body).await {
            let Ok(data) = frame.map_err(|error| Failure::exchanging(&error))?.into_data() else { continue };
            if data.len() > limit - bytes.len() {
                if first_bytes.is_none() {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&data[..limit - bytes.len()]);
                return Ok((bytes, true));
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, false))
    }

    fn message(&self, request: &Request<'_>) -> Result<hyper::Request<Empty<hyper::body::Bytes>>, Failure> {
        let path = request.url.strip_prefix(&self.origin).filter(|path| path.starts_with('/'));
        let path = path.ok_or_else(|| {
            Failure::new(Class::BadResponse, format!("{} is not on {}", request.url, self.origin))
        })?;
        let uri = match self.form {
            Form::Path => PathAndQuery::try_from(path).ok().map(Uri::from),
            Form::Url | Form::Proxied => Uri::try_from(request.url).ok(),
        };
        let mut message = hyper::Request::new(Empty::new());
        *message.uri_mut() = uri.ok_or_else(|| unsendable(request.url))?;
        *message.headers_mut() = self.headers.clone();
        let mut add = |name: HeaderName, value: Option<&str>| {
            // A validator or cookie that is not a valid header value is omitted.
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_bytes(value.as_bytes())) {
                message.headers_mut().insert(name, value);
            }
        };
        add(IF_NONE_MATCH, request.etag);
        add(IF_MODIFIED_SINCE, request.last_modified);
        add(COOKIE, request.cookie);
        Ok(message)
    }
}

/// A request of HTTP/2 as one of HTTP/1.1, which is how archives have them.
fn as_text(message: &hyper::Request<Empty<hyper::body::Bytes>>) -> Vec<u8> {
    let uri = message.uri();
    let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let mut text = format!("GET {path} HTTP/1.1\r\n").into_bytes();
    let host = uri.authority().map(|authority| (HOST, authority.as_str().as_bytes()));
    let fields = message.headers().iter().map(|(name, value)| (name.clone(), value.as_bytes()));
    for (name, value) in host.into_iter().chain(fields) {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}

fn unsendable(what: &str) -> Failure {
    Failure::new(Class::BadResponse, format!("HTTP has no way to ask for {what}"))
}

fn reason(head: &hyper::http::response::Parts) -> String {
    match head.extensions.get::<ReasonPhrase>() {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None => head.status.canonical_reason().unwrap_or_default().to_owned(),
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}
