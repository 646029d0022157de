//! A client that closes its side right behind a request is still heard.
//!
//! To hyper, the end of what a client sends is the end of the client: whatever it asked for is dropped.
//! That is right for one that leaves while it waits, which is how modern requests are cancelled. It is
//! wrong for one that has said all it has to say before anybody has listened: its notification or DELETE
//! would be lost, and so would the answer for whoever closes only his own side. So an end that comes
//! together with a request is kept from hyper until that request is done, and so is one behind something
//! that wants no answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::body::OnDrop;
use super::reply::Answer;

/// So often hyper is asked to come back for an end, so that whoever reads a body has seen all of it.
const ROUNDS: u8 = 3;

/// An end that comes within this time after nothing more had come was on its way together with the request:
/// nobody thinks better of one so soon.
const BEHIND: Duration = Duration::from_millis(10);

/// What is known of a client's goodbye, on one connection.
#[derive(Debug, Default)]
pub(super) struct Parting(Mutex<Stage>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// An end is the end.
    #[default]
    Open,
    /// A request is being read; the end of its connection has been seen so often.
    Arriving(u8),
    /// Its client waits for the answer, and has said no more since then; who closes his side later leaves.
    Waiting(Option<Instant>),
    /// What has come is to be done to its end.
    Held,
    /// The same, and its client has closed its side.
    Parted,
}

impl Parting {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request begins.
    pub(super) fn begin(&self) {
        *self.stage() = Stage::Arriving(0);
    }

    /// It has been read.
    pub(super) fn has_come(&self, wants_answer: bool) {
        let mut stage = self.stage();
        *stage = match *stage {
            Stage::Arriving(0) if wants_answer => Stage::Waiting(None),
            Stage::Arriving(0) => Stage::Held,
            _ => Stage::Parted,
        };
    }

    /// It has its answer, which may still be on its way.
    pub(super) fn end(self: &Arc<Self>, answer: &mut Answer) {
        if *self.stage() != Stage::Parted {
            *self.stage() = Stage::Open;
            return;
        }
        let parting = Arc::clone(self);
        let open = move || *parting.stage() = Stage::Open;
        answer.body_mut().hold(OnDrop(Some(Box::new(open))));
    }

    /// Nothing has come, not even an end.
    fn is_quiet(&self) {
        let mut stage = self.stage();
        if *stage == Stage::Waiting(None) {
            *stage = Stage::Waiting(Some(Instant::now()));
        }
    }

    /// Whether an end of the connection may be seen now.
    fn may_end(&self) -> Seen {
        let mut stage = self.stage();
        match *stage {
            Stage::Arriving(ROUNDS) | Stage::Open => Seen::End,
            Stage::Waiting(Some(since)) if since.elapsed() >= BEHIND => Seen::End,
            Stage::Arriving(rounds) => {
                *stage = Stage::Arriving(rounds + 1);
                Seen::Again
            }
            Stage::Waiting(_) | Stage::Held | Stage::Parted => {
                *stage = Stage::Parted;
                Seen::Nothing
            }
        }
    }
}

/// What hyper sees of an end.
enum Seen {
    End,
    /// It is to look again.
    Again,
    Nothing,
}

/// The connection to a client.
pub(super) struct Line<S> {
    stream: S,
    parting: Arc<Parting>,
    /// An end was kept back: it must not be seen before all that is to be written is.
    has_parted: bool,
    is_flushed: bool,
}

impl<S> Line<S> {
    pub(super) fn new(stream: S, parting: Arc<Parting>) -> Self {
        Self { stream, parting, has_parted: false, is_flushed: true }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut line.stream).poll_read(context, buffer);
        match read {
            Poll::Ready(Ok(())) if buffer.filled().len() == before => {}
            Poll::Ready(_) => return read,
            Poll::Pending => {
                line.parting.is_quiet();
                return read;
            }
        }
        match line.parting.may_end() {
            Seen::End if line.has_parted && !line.is_flushed => Poll::Pending,
            Seen::End => read,
            Seen::Again => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Seen::Nothing => {
                line.has_parted = true;
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        line.is_flushed = false;
        Pin::new(&mut line.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        line.is_flushed = false;
        Pin::new(&mut line.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let flushed = Pin::new(&mut line.stream).poll_flush(context);
        if flushed.is_ready() && !std::mem::replace(&mut line.is_flushed, true) && line.has_parted {
            // Now an end that was kept back can be seen.
            context.waker().wake_by_ref();
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
