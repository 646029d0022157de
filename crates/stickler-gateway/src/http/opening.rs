//! Streams that are being opened: what a client sends after one must not get to the server before it.
//!
//! A server that has something to ask, and no stream to ask it on yet, may ask nobody. Directly the
//! order of the client's own requests keeps it from that. Through a gateway a request on a connection
//! that is open already would overtake the stream, whose connection has still to be made. And where
//! both come at nearly the same moment, the gateway may see the request first: so the first one after
//! the handshake waits a moment for the stream that most clients open then.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

/// A stream that has not been opened for longer than this keeps nobody waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a client that opens no stream loses, once a session.
const MOMENT: Duration = Duration::from_millis(20);

/// The streams of a client that are not open yet.
#[derive(Debug)]
pub(super) struct Opening {
    state: Mutex<State>,
    changed: Notify,
    moment: Duration,
}

#[derive(Debug)]
struct State {
    first: First,
    /// Since when streams were asked for that are not open yet.
    under_way: Vec<Instant>,
}

/// The first stream of a session.
#[derive(Debug, PartialEq, Eq)]
enum First {
    /// It is too early for it.
    NotYet,
    /// The handshake is over: it may come now.
    Expected,
    /// It has come, or was waited for in vain.
    Settled,
}

/// A stream under way.
pub(super) struct BeingOpened<'o>(&'o Opening, Instant);

impl Opening {
    pub(super) fn new() -> Self {
        Self::with_moment(MOMENT)
    }

    fn with_moment(moment: Duration) -> Self {
        let state = State { first: First::NotYet, under_way: Vec::new() };
        Self { state: Mutex::new(state), changed: Notify::new(), moment }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client has said that the handshake is over.
    pub(super) fn expect(&self) {
        let mut state = self.state();
        if state.first == First::NotYet {
            state.first = First::Expected;
        }
    }

    pub(super) fn begin(&self) -> BeingOpened<'_> {
        self.begin_at(Instant::now())
    }

    fn begin_at(&self, moment: Instant) -> BeingOpened<'_> {
        let mut state = self.state();
        state.first = First::Settled;
        state.under_way.push(moment);
        drop(state);
        self.changed.notify_waiters();
        BeingOpened(self, moment)
    }

    /// For a request: lets the first stream go ahead, if it comes at once.
    pub(super) async fn first(&self) {
        if self.state().first == First::Expected {
            let settled = self.until(|state| state.first == First::Settled);
            if timeout(self.moment, settled).await.is_err() {
                // Nobody else has to wait for it.
                self.state().first = First::Settled;
                self.changed.notify_waiters();
            }
        }
    }

    /// Lets those go first that came first.
    pub(super) async fn done(&self) {
        let Some(last) = self.state().under_way.iter().max().copied() else { return };
        let is_done = |state: &State| state.under_way.iter().all(|one| one.elapsed() >= PATIENCE);
        let _ = timeout_at(last + PATIENCE, self.until(is_done)).await;
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            // Hears of every change from here on.
            let changed = self.changed.notified();
            if is_so(&self.state()) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for BeingOpened<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if let Some(index) = state.under_way.iter().position(|one| *one == self.1) {
            state.under_way.swap_remove(index);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No test waits as long as this.
    const AGES: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn a_request_after_the_handshake_waits_for_the_stream() {
        let opening = Opening::with_moment(AGES);
        opening.expect();
        let request = async {
            opening.first().await;
            opening.state().under_way.len()
        };
        let stream = async {
            tokio::task::yield_now().await;
            let stream = opening.begin();
            tokio::task::yield_now().await;
            drop(stream);
        };
        let (seen, ()) = tokio::join!(request, stream);
        assert_eq!(seen, 1, "the stream was under way when the request went on");
    }

    #[tokio::test]
    async fn only_the_first_request_waits_and_only_after_the_handshake() {
        let opening = Opening::with_moment(AGES);
        opening.first().await;
        opening.expect();
        drop(opening.begin());
        opening.first().await;
        opening.expect();
        opening.first().await;
    }

    #[tokio::test]
    async fn a_stream_that_does_not_come_is_waited_for_once() {
        let mut opening = Opening::with_moment(Duration::ZERO);
        opening.expect();
        opening.first().await;
        opening.moment = AGES;
        opening.expect();
        opening.first().await;
    }

    #[tokio::test]
    async fn a_stream_that_does_not_open_is_waited_for_once() {
        let opening = Opening::new();
        let is_done = || async {
            tokio::select! {
                biased;
                () = opening.done() => true,
                () = std::future::ready(()) => false,
            }
        };
        assert!(is_done().await, "nothing is being opened");
        let stuck = opening.begin_at(Instant::now().checked_sub(PATIENCE).unwrap());
        assert!(is_done().await, "its time is over, whoever asks");
        let fresh = opening.begin_at(Instant::now() + PATIENCE * 100);
        assert!(!is_done().await, "another has its own time");
        drop(fresh);
        assert!(is_done().await, "which does not count for the first");
        drop(stuck);
        assert!(opening.state().under_way.is_empty());
    }
}
