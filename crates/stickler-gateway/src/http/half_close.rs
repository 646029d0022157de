//! Support for clients that half-close the connection right after a request.
//!
//! hyper treats the end of the client's input as a disconnect and drops the pending request. That is correct
//! for a client that disconnects while it waits, which is how modern requests are cancelled. It is wrong for a
//! client that shuts down its write side after the request: a notification or DELETE would be lost, and a
//! request would not be answered. [`HalfCloseStream`] therefore withholds an EOF that arrives together with a
//! request until the response is written, and an EOF behind a message that expects no response until the
//! message is processed.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::body::OnDrop;
use super::reply::HttpResponse;

/// Number of times that an EOF is retried while a request body is read, so that hyper delivers all of it.
const MAX_EOF_RETRIES: u8 = 3;

/// An EOF within this time after the last byte of a request is a half-close, not a cancellation.
const HALF_CLOSE_WINDOW: Duration = Duration::from_millis(10);

/// The half-close state of one connection.
#[derive(Debug, Default)]
pub(super) struct HalfClose(Mutex<Stage>);

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
    pub(super) fn request_started(&self) {
        *self.stage() = Stage::Receiving(0);
    }

    /// Records that the request was received completely.
    pub(super) fn request_received(&self, expects_response: bool) {
        let mut stage = self.stage();
        *stage = match *stage {
            Stage::Receiving(0) if expects_response => Stage::Waiting(None),
            Stage::Receiving(0) => Stage::OneWay,
            _ => Stage::HalfClosed,
        };
    }

    /// Records that the response is ready; its body may still be written.
    pub(super) fn response_ready(self: &Arc<Self>, response: &mut HttpResponse) {
        if *self.stage() != Stage::HalfClosed {
            *self.stage() = Stage::Open;
            return;
        }
        let half_close = Arc::clone(self);
        let open = move || *half_close.stage() = Stage::Open;
        response.body_mut().hold(OnDrop(Some(Box::new(open))));
    }

    /// Records that a read returned neither data nor EOF.
    fn read_pending(&self) {
        let mut stage = self.stage();
        if *stage == Stage::Waiting(None) {
            *stage = Stage::Waiting(Some(Instant::now()));
        }
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
pub(super) struct HalfCloseStream<S> {
    stream: S,
    half_close: Arc<HalfClose>,
    /// An EOF was withheld; it must not be reported before all output is flushed.
    eof_withheld: bool,
    is_flushed: bool,
}

impl<S> HalfCloseStream<S> {
    pub(super) fn new(stream: S, half_close: Arc<HalfClose>) -> Self {
        Self { stream, half_close, eof_withheld: false, is_flushed: true }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HalfCloseStream<S> {
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
                this.half_close.read_pending();
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
