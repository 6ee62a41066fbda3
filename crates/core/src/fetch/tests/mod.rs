//! The contract of the client, against real servers on the loopback interface.

mod encryption;
mod exchange;
mod failures;
mod names;
mod proxy;
mod speed;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const USER_AGENT: &str = "crivello/0 (+https://crivello.example)";

fn client_with(options: Options) -> Client {
    Client::new(options, USER_AGENT).unwrap()
}

fn options() -> Options {
    Options {
        connect_timeout: Duration::from_secs(5),
        first_byte_timeout: Duration::from_secs(5),
        total_timeout: Duration::from_secs(10),
        max_bytes: 1 << 20,
        allow_private: true,
        proxy: None,
        name_server: Some("127.0.0.1:9".to_owned()),
        hosts_file: None,
        http2: false,
        accept_language: None,
        verify_tls: false,
    }
}

/// Runs a test as the crawler runs, and aborts it if it hangs, by a clock that tests cannot change.
fn run<T>(test: impl Future<Output = T>) -> T {
    let (done, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("a test of the client hangs");
            std::process::abort();
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = tokio::task::LocalSet::new().block_on(&runtime, test);
    drop(done);
    result
}

/// What a server does after sending its bytes.
#[derive(Clone, Copy)]
enum Then {
    Listen,
    Close,
    Stall,
    /// Sends the byte forever, this many times and then a pause.
    Repeat(u8, usize, Duration),
}

/// A server that answers request heads with fixed bytes.
struct Server {
    address: SocketAddr,
    /// The request heads received.
    heads: Rc<RefCell<Vec<String>>>,
    connections: Rc<Cell<usize>>,
}

impl Server {
    async fn answering(answer: impl Fn(&str) -> (Vec<u8>, Then) + 'static) -> Server {
        Server::over(answer, async |stream| Some(stream)).await
    }

    /// A server with one answer to everything.
    async fn saying(bytes: impl Into<Vec<u8>>, then: Then) -> Server {
        let bytes = bytes.into();
        Server::answering(move |_| (bytes.clone(), then)).await
    }

    /// A server that first wraps each connection, such as in TLS.
    async fn over<S: AsyncRead + AsyncWrite + Unpin + 'static>(
        answer: impl Fn(&str) -> (Vec<u8>, Then) + 'static,
        accept: impl AsyncFn(TcpStream) -> Option<S> + 'static,
    ) -> Server {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (heads, connections) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
        let server = Server { address, heads: Rc::clone(&heads), connections: Rc::clone(&connections) };
        let (answer, accept) = (Rc::new(answer), Rc::new(accept));
        tokio::task::spawn_local(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                connections.set(connections.get() + 1);
                let (answer, accept, heads) = (Rc::clone(&answer), Rc::clone(&accept), Rc::clone(&heads));
                tokio::task::spawn_local(async move {
                    if let Some(stream) = accept(stream).await {
                        converse(stream, &*answer, &heads).await;
                    }
                });
            }
        });
        server
    }

    fn origin(&self) -> Origin {
        Origin { scheme: Scheme::Http, host: LOOPBACK.to_string(), port: self.address.port() }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    async fn connect(&self, options: Options) -> Connection {
        client_with(options).connect(&self.origin(), LOOPBACK).await.unwrap()
    }

    /// One request over a new connection.
    async fn fetch(&self, options: Options) -> std::result::Result<Response, Failure> {
        self.connect(options).await.get(&Request { url: &self.url("/"), ..Request::default() }).await
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: &impl Fn(&str) -> (Vec<u8>, Then),
    heads: &RefCell<Vec<String>>,
) {
    let mut read = Vec::new();
    loop {
        while !read.ends_with(b"\r\n\r\n") {
            match stream.read_buf(&mut read).await {
                Ok(1..) => {}
                _ => return,
            }
        }
        let head = String::from_utf8(std::mem::take(&mut read)).unwrap();
        let (bytes, then) = answer(&head);
        heads.borrow_mut().push(head);
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
        let _ = stream.flush().await;
        match then {
            Then::Listen => {}
            Then::Close => {
                let _ = stream.shutdown().await;
                return;
            }
            Then::Stall => std::future::pending().await,
            Then::Repeat(byte, times, pause) => loop {
                if stream.write_all(&vec![byte; times]).await.is_err() {
                    return;
                }
                let _ = stream.flush().await;
                tokio::time::sleep(pause).await;
            },
        }
    }
}

/// A response with a `Content-Length`.
fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn class(result: std::result::Result<impl std::fmt::Debug, Failure>) -> Class {
    result.expect_err("a failure").class
}
