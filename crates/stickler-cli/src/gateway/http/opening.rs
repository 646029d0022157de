//! Streams that are being opened: what a client sends after one must not get to the server before it.
//!
//! A server that has something to ask, and no stream to ask it on yet, may ask nobody. Directly the
//! order of the client's own requests keeps it from that; through a gateway a request on a connection
//! that is open already would overtake the stream, whose connection has still to be made.

use std::time::Duration;

use tokio::sync::watch;

/// A server that does not open its stream keeps nobody waiting for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many streams of a client are being opened.
#[derive(Debug)]
pub(super) struct Opening(watch::Sender<usize>);

/// One of them.
pub(super) struct BeingOpened<'o>(&'o Opening);

impl Opening {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(super) fn begin(&self) -> BeingOpened<'_> {
        self.0.send_modify(|count| *count += 1);
        BeingOpened(self)
    }

    /// Lets those go first that came first.
    pub(super) async fn done(&self) {
        if *self.0.borrow() > 0 {
            let mut count = self.0.subscribe();
            let _ = tokio::time::timeout(PATIENCE, count.wait_for(|count| *count == 0)).await;
        }
    }
}

impl Drop for BeingOpened<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
