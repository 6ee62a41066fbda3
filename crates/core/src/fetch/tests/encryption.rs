//! TLS, and HTTP/2 over it.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::*;

/// An acceptor for `site.example`, and the certificate to trust.
pub fn acceptor(protocols: &[&str]) -> (TlsAcceptor, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["site.example".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    (TlsAcceptor::from(Arc::new(config)), certificate)
}

fn origin(server: &Server, host: &str) -> Origin {
    Origin { scheme: Scheme::Https, host: host.to_owned(), port: server.address.port() }
}

async fn encrypted(answer: (Vec<u8>, Then)) -> (Server, CertificateDer<'static>) {
    let (acceptor, certificate) = acceptor(&["http/1.1"]);
    let accept = async move |stream| acceptor.accept(stream).await.ok();
    (Server::over(move |_| answer.clone(), accept).await, certificate)
}

async fn fetch(client: &Client, origin: &Origin) -> std::result::Result<Response, Failure> {
    let mut connection = client.connect(origin, LOOPBACK).await?;
    connection.get(&Request { url: &format!("{origin}/"), ..Request::default() }).await
}

#[test]
fn trusts_whom_it_is_told_to() {
    run(async {
        let (server, certificate) = encrypted((page("secret"), Then::Listen)).await;
        let anyone = client_with(options());
        assert_eq!(fetch(&anyone, &origin(&server, "site.example")).await.unwrap().body, b"secret");
        assert_eq!(fetch(&anyone, &origin(&server, "127.0.0.1")).await.unwrap().body, b"secret");

        let mut strict = client_with(Options { verify_tls: true, ..options() });
        let failure = fetch(&strict, &origin(&server, "site.example")).await.unwrap_err();
        assert_eq!(failure.class, Class::Tls, "{failure}");

        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        strict.tls = TlsConnector::from(tls::config(Some(roots), true).unwrap());
        assert_eq!(fetch(&strict, &origin(&server, "site.example")).await.unwrap().version, "HTTP/1.1");
        for host in ["other.example", "127.0.0.1", "[::1]"] {
            assert_eq!(class(fetch(&strict, &origin(&server, host)).await), Class::Tls, "{host}");
        }
    });
}

#[test]
fn keeps_encrypted_connections() {
    run(async {
        let (server, _) = encrypted((page("again"), Then::Listen)).await;
        let origin = origin(&server, "site.example");
        let mut connection = client_with(options()).connect(&origin, LOOPBACK).await.unwrap();
        for _ in 0..5 {
            let response =
                connection.get(&Request { url: &format!("{origin}/"), ..Request::default() }).await;
            assert_eq!(response.unwrap().body, b"again");
            assert!(connection.is_open());
        }
        assert_eq!(server.connections.get(), 1);
    });
}

#[test]
fn refuses_servers_that_do_not_encrypt() {
    run(async {
        let server = Server::over(
            |_| (vec![], Then::Close),
            async |mut stream: TcpStream| {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
                Some(stream)
            },
        )
        .await;
        let client = client_with(options());
        assert_eq!(class(fetch(&client, &origin(&server, "site.example")).await), Class::Tls);
        assert_eq!(class(fetch(&client, &origin(&server, "under_score..example")).await), Class::Tls);
    });
}

#[test]
fn lets_servers_leave_without_goodbye() {
    run(async {
        let (acceptor, _) = acceptor(&[]);
        // The listener's stream is dropped without TLS's close_notify.
        let accept = async move |stream: TcpStream| {
            let mut stream = acceptor.accept(stream).await.ok()?;
            let mut head = [0; 10];
            stream.read_exact(&mut head).await.ok()?;
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nall of it").await.ok()?;
            stream.flush().await.ok()?;
            let _ = stream.get_mut().0.shutdown().await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            None::<TcpStream>
        };
        let server = Server::over(|_| (vec![], Then::Close), accept).await;
        let client = client_with(options());
        assert_eq!(fetch(&client, &origin(&server, "site.example")).await.unwrap().body, b"all of it");
    });
}

/// An HTTP/2 server that answers with the path and the headers, or at length, or never.
async fn http2() -> Server {
    let (acceptor, _) = acceptor(&["h2"]);
    let accept = async move |stream| {
        let stream = acceptor.accept(stream).await.ok()?;
        let service = service_fn(async |request: hyper::Request<hyper::body::Incoming>| {
            let body = match request.uri().path() {
                "/large" => "x".repeat(3 << 20),
                "/never" => std::future::pending().await,
                _ => format!("{} {:?}", request.uri(), request.headers()),
            };
            Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from(body))))
        });
        let _ = hyper::server::conn::http2::Builder::new(Local)
            .serve_connection(TokioIo::new(stream), service)
            .await;
        None::<TcpStream>
    };
    Server::over(|_| (vec![], Then::Close), accept).await
}

#[derive(Clone)]
struct Local;

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

#[test]
fn speaks_http2_where_the_server_does() {
    run(async {
        let server = http2().await;
        let origin = origin(&server, "site.example");
        let client = client_with(Options { http2: true, max_bytes: 2 << 20, ..options() });
        let mut connection = client.connect(&origin, LOOPBACK).await.unwrap();
        for number in 0..3 {
            let url = format!("{origin}/{number}?q");
            let request = Request { url: &url, etag: Some("\"e\""), ..Request::default() };
            let response = connection.get(&request).await.unwrap();
            assert_eq!((response.status, response.version, response.reason.as_str()), (200, "HTTP/2", "OK"));
            let body = String::from_utf8(response.body).unwrap();
            assert!(body.starts_with(&url), "{body}");
            assert!(body.contains("if-none-match") && !body.contains("connection"), "{body}");
            assert!(connection.is_open());
        }
        let large = format!("{origin}/large");
        let first = Request { url: &large, first_bytes: Some(100_000), ..Request::default() };
        let response = connection.get(&first).await.unwrap();
        assert!(response.truncated && response.body.len() == 100_000);
        assert_eq!(
            class(connection.get(&Request { url: &large, ..Request::default() }).await),
            Class::TooLarge
        );
        assert_eq!(server.connections.get(), 1);

        let client = client_with(Options { http2: true, max_bytes: 3 << 20, ..options() });
        let mut connection = client.connect(&origin, LOOPBACK).await.unwrap();
        let response = connection.get(&Request { url: &large, ..Request::default() }).await.unwrap();
        assert_eq!(response.body.len(), 3 << 20);
    });
}

#[test]
fn holds_http2_to_the_same_limits() {
    run(async {
        let server = http2().await;
        let origin = origin(&server, "site.example");
        let short = Duration::from_millis(200);
        let client = client_with(Options { http2: true, first_byte_timeout: short, ..options() });
        let mut connection = client.connect(&origin, LOOPBACK).await.unwrap();
        let url = format!("{origin}/never");
        assert_eq!(class(connection.get(&Request { url: &url, ..Request::default() }).await), Class::Timeout);
        assert!(!connection.is_open());

        // A server that negotiates HTTP/2 but does not speak it.
        let (acceptor, _) = acceptor(&["h2"]);
        let accept = async move |stream| {
            let mut stream = acceptor.accept(stream).await.ok()?;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.ok()?;
            stream.flush().await.ok()?;
            Some(stream)
        };
        let server = Server::over(|_| (vec![], Then::Stall), accept).await;
        let client = client_with(Options { http2: true, ..options() });
        let failure = fetch(&client, &self::origin(&server, "site.example")).await.unwrap_err();
        assert_eq!(failure.class, Class::BadResponse, "{failure}");
    });
}
