//! Bodies that are sent: whole or a stream.

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

use super::mail::Parcel;
use super::reading::Reading;

/// A stream says that it is still there after this long without anything else, unless told otherwise.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The body of an answer.
pub(super) enum Body {
    Whole(Option<Bytes>),
    Stream(Box<Stream>),
}

/// Server-sent events, as they come.
pub(super) struct Stream {
    ready: VecDeque<Bytes>,
    source: Source,
    beat: Interval,
    /// Dropped with the stream: whoever must know that its reader has gone, or that it has ended.
    guards: Vec<OnDrop>,
}

/// Where events come from.
pub(super) enum Source {
    /// Messages, to be made into events.
    Mail(mpsc::Receiver<Parcel>),
    /// A stream that can be taken up again.
    Reading(Reading),
    /// Events as they are.
    Raw(mpsc::Receiver<Bytes>),
    /// Nothing more.
    Ended,
}

/// What happens when something is dropped.
pub(super) struct OnDrop(pub(super) Option<Box<dyn FnOnce() + Send + Sync>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}

impl Body {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    pub(super) fn empty() -> Self {
        Self::Whole(None)
    }

    /// Events: those that are there already, then those that come.
    pub(super) fn stream(ready: VecDeque<Bytes>, source: Source, guard: Option<OnDrop>) -> Self {
        let beat = beat_every(KEEP_ALIVE);
        Self::Stream(Box::new(Stream { ready, source, beat, guards: guard.into_iter().collect() }))
    }

    /// Keeps something until all of it has been handed on.
    pub(super) fn hold(&mut self, guard: OnDrop) {
        match self {
            // hyper takes that at once.
            Self::Whole(_) => drop(guard),
            Self::Stream(stream) => stream.guards.push(guard),
        }
    }

    /// How often a quiet stream says that it is still there.
    pub(super) fn keep_alive(&mut self, every: Duration) {
        if let Self::Stream(stream) = self {
            stream.beat = beat_every(every);
        }
    }
}

fn beat_every(period: Duration) -> Interval {
    let mut beat = interval_at(Instant::now() + period, period);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
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
            Source::Reading(reading) => reading.poll(context),
            Source::Mail(mail) => match mail.poll_recv(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Some(Parcel::Message(message))) => {
                    Poll::Ready(Some(sse_event(&message).into()))
                }
                Poll::Ready(Some(Parcel::Last(message))) => {
                    self.source = Source::Ended;
                    Poll::Ready(Some(sse_event(&message).into()))
                }
                Poll::Ready(Some(Parcel::Forward(_) | Parcel::End) | None) => Poll::Ready(None),
            },
        };
        match next {
            Poll::Ready(event) => {
                self.beat.reset();
                if event.is_none() {
                    self.source = Source::Ended;
                }
                Poll::Ready(event)
            }
            Poll::Pending => {
                self.beat.poll_tick(context).map(|_| Some(Bytes::from_static(b": keep-alive\n\n")))
            }
        }
    }
}
