//! Support for clients that half-close the connection right after a request.
//!
//! hyper treats the end of the client's input as a disconnect and drops the pending request. That is correct
//! for a client that disconnects while it waits, which is how modern requests are cancelled. It is wrong for a
//! client that shuts down its write side after the request: a notification or DELETE would be lost, and a
//! request would not be answered. [`HalfCloseStream`] therefore withholds an EOF that arrives together with a
//! request until the response is written, and an EOF behind a message that expects no response until the
//! message is processed.
//!
//! After a short read, tokio waits for the next event before it reads again, which takes long on a busy machine.
//! The socket is therefore checked for an EOF as soon as a request was received.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::downstream::http::body::OnDrop;
use crate::downstream::http::reply::HttpResponse;

/// Number of times that an EOF is retried while a request body is read, so that hyper delivers all of it.
const MAX_EOF_RETRIES: u8 = 3;

/// An EOF within this time after the last byte of a request is a half-close, not a cancellation.
const HALF_CLOSE_WINDOW: Duration = Duration::from_millis(10);

/// The half-close state of one connection.
#[derive(Debug, Default)]
pub(crate) struct HalfClose(Mutex<Stage>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No request is active: an EOF is reported.
    #[default]
    Open,
    /// A request is being received; contains the number of retried EOFs.
    Receiving(u8),
    /// The client waits for the response; contains the time since when no input arrived. A later EOF is a
    /// cancellation.
    Waiting(Option<Instant>),
    /// The request expects no response and is processed completely.
    OneWay,
    /// The client has half-closed the connection.
    HalfClosed,
}

impl HalfClose {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a request has started.
    pub(crate) fn request_started(&self) {
        *self.stage() = Stage::Receiving(0);
    }

    /// Records that the request was received completely.
    pub(crate) fn request_received(&self, expects_response: bool) {
        let mut stage = self.stage();
        *stage = match *stage {
            Stage::Receiving(0) if expects_response => Stage::Waiting(None),
            Stage::Receiving(0) => Stage::OneWay,
            _ => Stage::HalfClosed,
        };
    }

    /// Records that the response is ready; its body may still be written.
    pub(crate) fn response_ready(self: &Arc<Self>, response: &mut HttpResponse) {
        if *self.stage() != Stage::HalfClosed {
            *self.stage() = Stage::Open;
            return;
        }
        let half_close = Arc::clone(self);
        let open = move || *half_close.stage() = Stage::Open;
        response.body_mut().hold(OnDrop(Some(Box::new(open))));
    }

    /// Records that a read returned neither data nor EOF. Returns whether an EOF that the socket has already
    /// received is withheld.
    fn read_pending(&self, socket: &impl AsFd) -> bool {
        let mut stage = self.stage();
        if *stage != Stage::Waiting(None) {
            return false;
        }
        let is_half_closed = has_received_eof(socket);
        *stage =
            if is_half_closed { Stage::HalfClosed } else { Stage::Waiting(Some(Instant::now())) };
        is_half_closed
    }

    /// Decides whether hyper sees an EOF.
    fn on_eof(&self) -> EofAction {
        let mut stage = self.stage();
        match *stage {
            Stage::Receiving(MAX_EOF_RETRIES) | Stage::Open => EofAction::Report,
            Stage::Waiting(Some(quiet_since)) if quiet_since.elapsed() >= HALF_CLOSE_WINDOW => {
                EofAction::Report
            }
            Stage::Receiving(rounds) => {
                *stage = Stage::Receiving(rounds + 1);
                EofAction::Retry
            }
            Stage::Waiting(_) | Stage::OneWay | Stage::HalfClosed => {
                *stage = Stage::HalfClosed;
                EofAction::Withhold
            }
        }
    }
}

/// Returns whether the peer has closed its write side and all data was read.
fn has_received_eof(socket: &impl AsFd) -> bool {
    let mut byte = [MaybeUninit::uninit()];
    let peeked = recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    peeked.is_ok_and(|(_, length)| length == 0)
}

/// How to handle an EOF.
enum EofAction {
    /// Report the EOF to hyper.
    Report,
    /// Wake hyper to read again.
    Retry,
    /// Withhold the EOF until the response is written.
    Withhold,
}

/// A client connection that withholds the EOF of a half-close.
pub(crate) struct HalfCloseStream<S> {
    stream: S,
    half_close: Arc<HalfClose>,
    /// An EOF was withheld; it must not be reported before all output is flushed.
    eof_withheld: bool,
    is_flushed: bool,
}

impl<S> HalfCloseStream<S> {
    pub(crate) fn new(stream: S, half_close: Arc<HalfClose>) -> Self {
        Self { stream, half_close, eof_withheld: false, is_flushed: true }
    }
}

impl<S: AsyncRead + AsFd + Unpin> AsyncRead for HalfCloseStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        match read {
            Poll::Ready(Ok(())) if buffer.filled().len() == before => {}
            Poll::Ready(_) => return read,
            Poll::Pending => {
                this.eof_withheld |= this.half_close.read_pending(&this.stream);
                return read;
            }
        }
        match this.half_close.on_eof() {
            EofAction::Report if this.eof_withheld && !this.is_flushed => Poll::Pending,
            EofAction::Report => read,
            EofAction::Retry => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            EofAction::Withhold => {
                this.eof_withheld = true;
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HalfCloseStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.is_flushed = false;
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.is_flushed = false;
        Pin::new(&mut this.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        if flushed.is_ready() && !std::mem::replace(&mut this.is_flushed, true) && this.eof_withheld
        {
            // A withheld EOF can be reported now.
            context.waker().wake_by_ref();
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Write as _;
    use std::net::Shutdown;
    use std::time::Duration;

    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Returns whether a read is pending after a request, and after the time in which a client may half-close.
    async fn reads_after_request(half_closes: bool) -> (bool, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let half_close = Arc::new(HalfClose::default());
        let mut stream = HalfCloseStream::new(stream, Arc::clone(&half_close));
        half_close.request_started();
        client.write_all(b"request").unwrap();
        if half_closes {
            client.shutdown(Shutdown::Write).unwrap();
        }
        assert_eq!(read(&mut stream).await, b"request");
        half_close.request_received(true);
        let is_pending = is_pending(&mut stream).await;
        // Blocks the runtime, as other work does on a busy machine.
        std::thread::sleep(HALF_CLOSE_WINDOW * 2);
        client.shutdown(Shutdown::Write).unwrap();
        let wait = tokio::time::timeout(Duration::from_millis(200), read(&mut stream));
        (is_pending, wait.await.is_err())
    }

    async fn read(stream: &mut HalfCloseStream<TcpStream>) -> Vec<u8> {
        let mut bytes = [0; 100];
        let mut buffer = ReadBuf::new(&mut bytes);
        poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut buffer)).await.unwrap();
        buffer.filled().to_vec()
    }

    async fn is_pending(stream: &mut HalfCloseStream<TcpStream>) -> bool {
        let mut bytes = [0; 100];
        let mut buffer = ReadBuf::new(&mut bytes);
        poll_fn(|context| {
            Poll::Ready(Pin::new(&mut *stream).poll_read(context, &mut buffer).is_pending())
        })
        .await
    }

    #[tokio::test]
    async fn half_close_behind_a_request_is_withheld_however_late_it_is_read() {
        assert_eq!(reads_after_request(true).await, (true, true));
    }

    #[tokio::test]
    async fn later_disconnect_is_reported() {
        assert_eq!(reads_after_request(false).await, (true, false));
    }
}
