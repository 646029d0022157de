//! Ends the relay between a stdio client and a server process: at the end of the client's input, when the client
//! stops reading, and after a termination signal.
//!
//! Contract: every wait is bounded. A server or client that does not read delays the end by a constant time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::Signal;
use stickler_transport::{LineReader, TerminationSignals};
use tokio::time::{Instant, sleep, timeout};

use crate::downstream::stdio::DRAIN_GRACE_FACTOR;
use crate::downstream::stdio::to_command::Relay;

/// Poll interval while waiting for a condition.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum time to deliver the last messages after a termination signal.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// Why the relay is ending.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ending {
    /// The client has closed its output or stopped reading.
    client_is_done: bool,
    signal: Option<Signal>,
}

impl Ending {
    pub(super) fn is_set(self) -> bool {
        self.client_is_done || self.signal.is_some()
    }
}

impl Relay {
    /// Whether the relay is ending, so that no server is needed.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.borrow().is_set()
    }

    /// Waits until the server reads. If the client disconnects meanwhile and neither side makes progress for too
    /// long, terminates the server.
    pub(super) async fn wait_for_capacity(&self, input: &LineReader) {
        let drain_timeout = self.limits.grace * DRAIN_GRACE_FACTOR;
        let progress = || self.progress.load(Ordering::Relaxed);
        let (mut seen, mut since) = (progress(), Instant::now());
        while timeout(POLL_INTERVAL, self.slot.wait_for_capacity()).await.is_err() {
            if seen != progress() || !input.is_hung_up() {
                (seen, since) = (progress(), Instant::now());
            } else if since.elapsed() > drain_timeout {
                return self.terminate().await;
            }
        }
    }

    /// After the end of the client's input: waits for held calls, closes the server's input, waits for pending
    /// responses and terminates the server.
    pub(super) async fn drain(&self) {
        self.ending.send_modify(|ending| ending.client_is_done = true);
        // Held calls must reach the server.
        self.poll(|| !self.driver.has_held_calls()).await;
        self.slot.close();
        self.poll(|| self.driver.pending_requests() == 0 || !self.output.has_reader()).await;
        sleep(self.limits.grace).await;
        self.terminate().await;
    }

    /// Waits until the condition holds, at most for the drain time.
    async fn poll(&self, condition: impl Fn() -> bool) {
        let latest = Instant::now() + self.limits.grace * DRAIN_GRACE_FACTOR;
        while Instant::now() < latest && !condition() {
            sleep(POLL_INTERVAL).await;
        }
    }

    async fn terminate(&self) {
        self.signal(Signal::TERM);
        sleep(self.limits.grace).await;
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(process) = self.slot.process() {
            process.signal(signal);
        }
    }

    /// Ends the server when the client no longer reads.
    pub(super) async fn watch_output(self: Arc<Self>) {
        self.output.closed().await;
        self.ending.send_modify(|ending| ending.client_is_done = true);
        if let Some(process) = self.slot.process() {
            process.end().await;
        }
    }

    /// Forwards termination signals to the server and kills it if it does not exit within the grace period.
    pub(super) async fn handle_signals(self: Arc<Self>, mut signals: TerminationSignals) {
        loop {
            let signal = signals.receive().await;
            let is_first = self.ending.borrow().signal.is_none();
            self.ending.send_modify(|ending| ending.signal = Some(signal));
            self.signal(signal);
            if is_first {
                tokio::spawn(Arc::clone(&self).end_signalled());
            }
        }
    }

    async fn end_signalled(self: Arc<Self>) {
        if let Some(process) = self.slot.process()
            && timeout(self.limits.grace, process.exited()).await.is_err()
        {
            process.kill();
            process.exited().await;
        }
        // The client may not read, which blocks the task that reads the server's output.
        sleep(FINAL_OUTPUT_TIMEOUT).await;
        self.output.abandon();
    }

    /// Waits until the client has read the last messages. After a termination signal, `end_signalled` limits the wait.
    pub(super) async fn deliver_final(&self) {
        self.output.flush();
        self.output.flushed().await;
    }
}
