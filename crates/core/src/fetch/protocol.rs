//! HTTP/1.1 or HTTP/2 on an open stream, driven by the task that waits for a response.
//!
//! hyper splits a connection into a handle that sends requests and a future that moves the bytes. For
//! HTTP/1.1 the task that waits for a response polls that future itself: no second task, no wake-ups between
//! two, and dropping it closes the connection. HTTP/2 needs its own tasks; they end with the connection.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Waker};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::stream::Stream;
use super::wire::{HeaderFields, Wire};

/// The maximum size of a response head in bytes.
const LONGEST_HEAD: usize = 1 << 16;
/// The maximum number of response headers.
const MOST_HEADERS: usize = 200;
/// The HTTP/2 flow-control window: how much of a body a server may send before we have consumed it.
const WINDOW: u32 = 1 << 20;

type Body = Empty<Bytes>;
type Driver = Pin<Box<http1::Connection<TokioIo<Stream>, Body>>>;

/// The state of a connection.
pub enum Protocol {
    /// One request after the other.
    Http1 {
        /// Takes the requests.
        sender: http1::SendRequest<Body>,
        /// Moves the bytes, until the connection is closed.
        driver: Option<Driver>,
        /// What has been received.
        wire: Rc<Wire>,
    },
    /// Multiplexed; here used sequentially.
    Http2 {
        /// Takes the requests.
        sender: http2::SendRequest<Body>,
        /// Move the bytes, until they are dropped.
        _tasks: Tasks,
    },
}

impl Protocol {
    /// HTTP/1.1 on a stream; nothing is sent yet.
    pub async fn http1(stream: Stream, wire: Rc<Wire>) -> hyper::Result<Protocol> {
        let (sender, driver) = http1::Builder::new()
            .title_case_headers(true)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .max_header_size(LONGEST_HEAD)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await?;
        Ok(Protocol::Http1 { sender, driver: Some(Box::pin(driver)), wire })
    }

    /// HTTP/2 on a stream; the settings have been exchanged.
    pub async fn http2(stream: Stream) -> hyper::Result<Protocol> {
        let tasks = Tasks::default();
        let (sender, driver) = http2::Builder::new(tasks.spawner())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_header_list_size(LONGEST_HEAD as u32)
            .handshake(TokioIo::new(stream))
            .await?;
        hyper::rt::Executor::execute(&tasks.spawner(), async {
            // The error is reported to the task that waits for a response.
            let _ = driver.await;
        });
        Ok(Protocol::Http2 { sender, _tasks: tasks })
    }

    /// Sends a request, which is noted if that is wanted, and waits for the head of its response.
    pub async fn send(
        &mut self,
        request: hyper::Request<Body>,
        is_noted: bool,
    ) -> hyper::Result<hyper::Response<Incoming>> {
        match self {
            Protocol::Http1 { sender, driver, wire } => {
                drive(driver, sender.ready()).await?;
                wire.expect(is_noted);
                let response = sender.send_request(request);
                drive(driver, response).await
            }
            Protocol::Http2 { sender, .. } => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    /// The next frame of a body, or `None` at its end.
    pub async fn frame(&mut self, body: &mut Incoming) -> Option<hyper::Result<Frame<Bytes>>> {
        match self {
            Protocol::Http1 { driver, .. } => drive(driver, body.frame()).await,
            Protocol::Http2 { .. } => body.frame().await,
        }
    }

    /// How many bytes have been received, for telling whether a response began.
    pub fn received(&self) -> u64 {
        match self {
            Protocol::Http1 { wire, .. } => wire.received(),
            Protocol::Http2 { .. } => 0,
        }
    }

    /// The header fields of the last response as received; `None` if the protocol changes them anyway.
    pub fn fields(&self) -> Option<HeaderFields> {
        match self {
            Protocol::Http1 { wire, .. } => wire.fields(),
            Protocol::Http2 { .. } => None,
        }
    }

    /// The header of the last request as sent; `None` if it was not noted, or is not text in this protocol.
    pub fn take_request(&self) -> Option<Vec<u8>> {
        match self {
            Protocol::Http1 { wire, .. } => wire.take_request(),
            Protocol::Http2 { .. } => None,
        }
    }

    /// Whether another request can be sent, as far as the system has reported.
    pub fn is_open(&mut self) -> bool {
        match self {
            Protocol::Http1 { sender, driver, .. } => {
                // No wake-up is needed: the next request polls the driver again in any case.
                poll_driver(driver, &mut Context::from_waker(Waker::noop()));
                driver.is_some() && sender.is_ready()
            }
            Protocol::Http2 { sender, .. } => sender.is_ready(),
        }
    }
}

fn poll_driver(driver: &mut Option<Driver>, context: &mut Context<'_>) {
    if let Some(running) = driver
        && running.as_mut().poll(context).is_ready()
    {
        *driver = None;
    }
}

/// Awaits a future that depends on the driver.
async fn drive<F: Future>(driver: &mut Option<Driver>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        poll_driver(driver, context);
        future.as_mut().poll(context)
    })
    .await
}

/// The tasks of a connection; they end with it.
#[derive(Default)]
pub struct Tasks(Rc<RefCell<JoinSet<()>>>);

/// Adds tasks to a connection.
#[derive(Clone)]
pub struct Spawner(Rc<RefCell<JoinSet<()>>>);

impl Tasks {
    fn spawner(&self) -> Spawner {
        Spawner(Rc::clone(&self.0))
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // A task holds a spawner, and a spawner holds the tasks: aborting breaks the cycle.
        self.0.borrow_mut().abort_all();
    }
}

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, future: F) {
        let mut tasks = self.0.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(future);
    }
}
