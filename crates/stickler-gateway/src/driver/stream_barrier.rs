//! Orders requests behind the SSE streams that a client opened before them.
//!
//! A server may have no stream for its messages to the client if a request overtakes the GET that opens the
//! stream. Without a gateway the client prevents that by the order of its requests. Through a gateway, a
//! request on a pooled connection can overtake a GET whose connection is still being established, so requests
//! wait for streams that are being opened. If both arrive almost simultaneously, the request may even be
//! received first, so the first request after the handshake waits briefly for the stream.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

/// Maximum time that requests wait for a stream that is being opened.
const OPENING_TIMEOUT: Duration = Duration::from_secs(2);

/// Time that the first request after the handshake waits for the first stream, once per session.
const FIRST_STREAM_WAIT: Duration = Duration::from_millis(20);

/// The streams of a client that are being opened.
#[derive(Debug)]
pub(crate) struct StreamBarrier {
    state: Mutex<State>,
    changed: Notify,
    first_stream_wait: Duration,
}

#[derive(Debug)]
struct State {
    first: First,
    /// The start times of the streams that are being opened.
    opening_since: Vec<Instant>,
}

/// The first stream of a session.
#[derive(Debug, PartialEq, Eq)]
enum First {
    /// The handshake is not complete.
    NotYet,
    /// The handshake is complete; the stream may be opened now.
    Expected,
    /// The stream was opened, or the wait has timed out.
    Settled,
}

/// Marks a stream as being opened until it is dropped.
pub(crate) struct OpeningStream<'o>(&'o StreamBarrier, Instant);

impl StreamBarrier {
    pub(crate) fn new() -> Self {
        Self::with_first_stream_wait(FIRST_STREAM_WAIT)
    }

    fn with_first_stream_wait(first_stream_wait: Duration) -> Self {
        let state = State { first: First::NotYet, opening_since: Vec::new() };
        Self { state: Mutex::new(state), changed: Notify::new(), first_stream_wait }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the client has completed the handshake.
    pub(crate) fn expect_first_stream(&self) {
        let mut state = self.state();
        if state.first == First::NotYet {
            state.first = First::Expected;
        }
    }

    pub(crate) fn begin_stream(&self) -> OpeningStream<'_> {
        self.begin_at(Instant::now())
    }

    fn begin_at(&self, moment: Instant) -> OpeningStream<'_> {
        let mut state = self.state();
        state.first = First::Settled;
        state.opening_since.push(moment);
        drop(state);
        self.changed.notify_waiters();
        OpeningStream(self, moment)
    }

    /// Waits briefly for the first stream if the handshake has just completed.
    pub(crate) async fn wait_for_first_stream(&self) {
        if self.state().first == First::Expected {
            let settled = self.until(|state| state.first == First::Settled);
            if timeout(self.first_stream_wait, settled).await.is_err() {
                // Later requests do not wait again.
                self.state().first = First::Settled;
                self.changed.notify_waiters();
            }
        }
    }

    /// Waits until the streams that are being opened now are open, or have timed out.
    pub(crate) async fn wait_for_opening_streams(&self) {
        let Some(last) = self.state().opening_since.iter().max().copied() else { return };
        let is_done =
            |state: &State| state.opening_since.iter().all(|one| one.elapsed() >= OPENING_TIMEOUT);
        let _ = timeout_at(last + OPENING_TIMEOUT, self.until(is_done)).await;
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            // Registered before the check, so that no change is missed.
            let changed = self.changed.notified();
            if condition(&self.state()) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for OpeningStream<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if let Some(index) = state.opening_since.iter().position(|one| *one == self.1) {
            state.opening_since.swap_remove(index);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test waits.
    const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn request_after_the_handshake_waits_for_the_stream() {
        let barrier = StreamBarrier::with_first_stream_wait(LONGER_THAN_ANY_TEST);
        barrier.expect_first_stream();
        let request = async {
            barrier.wait_for_first_stream().await;
            barrier.state().opening_since.len()
        };
        let stream = async {
            tokio::task::yield_now().await;
            let stream = barrier.begin_stream();
            tokio::task::yield_now().await;
            drop(stream);
        };
        let (seen, ()) = tokio::join!(request, stream);
        assert_eq!(seen, 1, "the stream was being opened when the request was forwarded");
    }

    #[tokio::test]
    async fn only_the_first_request_waits_and_only_after_the_handshake() {
        let barrier = StreamBarrier::with_first_stream_wait(LONGER_THAN_ANY_TEST);
        barrier.wait_for_first_stream().await;
        barrier.expect_first_stream();
        drop(barrier.begin_stream());
        barrier.wait_for_first_stream().await;
        barrier.expect_first_stream();
        barrier.wait_for_first_stream().await;
    }

    #[tokio::test]
    async fn missing_first_stream_delays_only_one_request() {
        let mut barrier = StreamBarrier::with_first_stream_wait(Duration::ZERO);
        barrier.expect_first_stream();
        barrier.wait_for_first_stream().await;
        barrier.first_stream_wait = LONGER_THAN_ANY_TEST;
        barrier.expect_first_stream();
        barrier.wait_for_first_stream().await;
    }

    #[tokio::test]
    async fn stream_that_does_not_open_stops_blocking_after_the_timeout() {
        let barrier = StreamBarrier::new();
        let is_done = || async {
            tokio::select! {
                biased;
                () = barrier.wait_for_opening_streams() => true,
                () = std::future::ready(()) => false,
            }
        };
        assert!(is_done().await, "no stream is being opened");
        let stuck = barrier.begin_at(Instant::now().checked_sub(OPENING_TIMEOUT).unwrap());
        assert!(is_done().await, "the stuck stream has timed out");
        let fresh = barrier.begin_at(Instant::now() + OPENING_TIMEOUT * 100);
        assert!(!is_done().await, "the fresh stream has a separate timeout");
        drop(fresh);
        assert!(is_done().await, "only the stuck stream is left");
        drop(stuck);
        assert!(barrier.state().opening_since.is_empty());
    }
}
