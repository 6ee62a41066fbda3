//! The byte stream of a connection, clear text or encrypted, with a note of what passes.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::wire::Wire;

/// A connection to a server or a proxy.
pub enum Transport {
    /// Clear text.
    Plain(TcpStream),
    /// Encrypted.
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// A [`Transport`] that notes what passes. Many servers end an encrypted connection without a TLS
/// `close_notify`; here that is an ordinary end of stream, and HTTP framing shows whether something is
/// missing.
pub struct Stream {
    transport: Transport,
    wire: Rc<Wire>,
}

impl Stream {
    /// A stream over a transport, and the note of what passes.
    pub fn new(transport: Transport) -> (Stream, Rc<Wire>) {
        let wire = Rc::new(Wire::default());
        (Stream { transport, wire: Rc::clone(&wire) }, wire)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Transport::Encrypted(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        self.wire.note(&buffer.filled()[before..]);
        match read {
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            read => read,
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Transport::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        };
        if let Poll::Ready(Ok(count)) = written {
            self.wire.note_sent(&bytes[..count]);
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Transport::Encrypted(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        };
        if let Poll::Ready(Ok(mut count)) = written {
            for slice in slices {
                let taken = count.min(slice.len());
                self.wire.note_sent(&slice[..taken]);
                count -= taken;
            }
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(context),
            Transport::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Transport::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
