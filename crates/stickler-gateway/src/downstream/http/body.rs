//! HTTP response bodies: complete messages and server-sent event streams with keep-alive comments.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use stickler_protocol::frame::sse_event;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::downstream::http::stream_response::StreamReader;
use crate::driver::pending_responses::Delivery;

/// Default interval between keep-alive comments on an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The body of an HTTP response.
pub(crate) enum Body {
    Whole(Option<Bytes>),
    Stream(Box<Stream>),
}

/// A stream of server-sent events.
pub(crate) struct Stream {
    ready: VecDeque<Bytes>,
    source: Source,
    keep_alive: Interval,
    /// Dropped with the stream: callbacks to run when the client disconnects or the stream ends.
    guards: Vec<OnDrop>,
}

/// Where a stream gets its events from.
pub(crate) enum Source {
    /// Messages that are encoded as events.
    Responses(mpsc::Receiver<Delivery>),
    /// A resumable stream.
    StreamReader(StreamReader),
    /// Encoded events.
    Raw(mpsc::Receiver<Bytes>),
    /// No further events.
    Ended,
}

/// Runs a closure when dropped.
pub(crate) struct OnDrop(pub(crate) Option<Box<dyn FnOnce() + Send + Sync>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(action) = self.0.take() {
            action();
        }
    }
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    /// Returns the bytes that need no waiting: all of them unless a stream has a source.
    pub(crate) fn into_ready(self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes.unwrap_or_default(),
            Self::Stream(stream) => stream.ready.iter().flatten().copied().collect(),
        }
    }

    pub(crate) fn empty() -> Self {
        Self::Whole(None)
    }

    /// Creates a stream of the `ready` events followed by those of `source`.
    pub(crate) fn stream(ready: VecDeque<Bytes>, source: Source, guard: Option<OnDrop>) -> Self {
        let keep_alive = keep_alive_interval(KEEP_ALIVE);
        Self::Stream(Box::new(Stream {
            ready,
            source,
            keep_alive,
            guards: guard.into_iter().collect(),
        }))
    }

    /// Keeps a guard until the body is fully sent.
    pub(crate) fn hold(&mut self, guard: OnDrop) {
        match self {
            // hyper takes a complete body immediately.
            Self::Whole(_) => drop(guard),
            Self::Stream(stream) => stream.guards.push(guard),
        }
    }

    /// Sets the interval between keep-alive comments on an idle stream.
    pub(crate) fn keep_alive(&mut self, every: Duration) {
        if let Self::Stream(stream) = self {
            stream.keep_alive = keep_alive_interval(every);
        }
    }
}

fn keep_alive_interval(period: Duration) -> Interval {
    let mut keep_alive = interval_at(Instant::now() + period, period);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    keep_alive
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(stream) => {
                stream.poll(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

impl Stream {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(event) = self.ready.pop_front() {
            return Poll::Ready(Some(event));
        }
        let next = match &mut self.source {
            Source::Ended => return Poll::Ready(None),
            Source::Raw(raw) => raw.poll_recv(context),
            Source::StreamReader(reading) => reading.poll(context),
            Source::Responses(responses) => match responses.poll_recv(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Some(Delivery::Message(message))) => {
                    Poll::Ready(Some(sse_event(&message.bytes).into()))
                }
                Poll::Ready(Some(Delivery::Last(message))) => {
                    self.source = Source::Ended;
                    Poll::Ready(Some(sse_event(&message.bytes).into()))
                }
                Poll::Ready(Some(Delivery::Forward(_) | Delivery::End) | None) => Poll::Ready(None),
            },
        };
        match next {
            Poll::Ready(event) => {
                self.keep_alive.reset();
                if event.is_none() {
                    self.source = Source::Ended;
                }
                Poll::Ready(event)
            }
            Poll::Pending => self
                .keep_alive
                .poll_tick(context)
                .map(|_| Some(Bytes::from_static(b": keep-alive\n\n"))),
        }
    }
}
