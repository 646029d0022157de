//! Streams that are being opened: what a client sends after one must not get to the server before it.
//!
//! A server that has something to ask, and no stream to ask it on yet, may ask nobody. Directly the
//! order of the client's own requests keeps it from that; through a gateway a request on a connection
//! that is open already would overtake the stream, whose connection has still to be made.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// A stream that has not been opened for longer than this keeps nobody waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// Since when streams of a client are being opened.
#[derive(Debug)]
pub(super) struct Opening(watch::Sender<Vec<Instant>>);

/// One of them.
pub(super) struct BeingOpened<'o>(&'o Opening, Instant);

impl Opening {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Vec::new()))
    }

    pub(super) fn begin(&self) -> BeingOpened<'_> {
        self.begin_at(Instant::now())
    }

    fn begin_at(&self, moment: Instant) -> BeingOpened<'_> {
        self.0.send_modify(|begun| begun.push(moment));
        BeingOpened(self, moment)
    }

    /// Lets those go first that came first.
    pub(super) async fn done(&self) {
        let Some(last) = self.0.borrow().iter().max().copied() else { return };
        let is_done = |begun: &Vec<Instant>| begun.iter().all(|one| one.elapsed() >= PATIENCE);
        let mut begun = self.0.subscribe();
        let _ = tokio::time::timeout_at(last + PATIENCE, begun.wait_for(is_done)).await;
    }
}

impl Drop for BeingOpened<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|begun| {
            if let Some(index) = begun.iter().position(|one| *one == self.1) {
                begun.swap_remove(index);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Opening, PATIENCE};
    use tokio::time::Instant;

    #[test]
    fn a_stream_that_does_not_open_is_waited_for_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
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
            assert!(opening.0.borrow().is_empty());
        });
    }
}
