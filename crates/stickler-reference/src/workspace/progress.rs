//! Progress notifications about a running program: how long it runs and its last line of output.

use std::time::{Duration, Instant};

use super::caller::Caller;
use super::process::Output;

/// Minimum time between two notifications.
const INTERVAL: Duration = Duration::from_millis(500);

/// Time after which a program without output is reported, too.
const QUIET_INTERVAL: Duration = Duration::from_secs(5);

/// Reports the progress of one program.
pub(super) struct Progress<'a> {
    caller: &'a Caller,
    outputs: &'a [Output; 2],
    started: Instant,
    reported: Instant,
    bytes: u64,
}

impl<'a> Progress<'a> {
    pub(super) fn new(caller: &'a Caller, outputs: &'a [Output; 2]) -> Self {
        let now = Instant::now();
        Self { caller, outputs, started: now, reported: now, bytes: 0 }
    }

    /// Sends a notification if it is time for one. Its `progress` is the time in seconds.
    pub(super) fn report(&mut self) {
        let quiet = self.reported.elapsed();
        if quiet < INTERVAL {
            return;
        }
        let [(out_bytes, out_line), (err_bytes, err_line)] =
            self.outputs.each_ref().map(Output::so_far);
        let bytes = out_bytes + err_bytes;
        if bytes == self.bytes && quiet < QUIET_INTERVAL {
            return;
        }
        let line = if out_line.is_empty() { err_line } else { out_line };
        let message = if line.is_empty() { "running, no output yet".to_owned() } else { line };
        self.caller.progress(self.started.elapsed().as_secs_f64(), &message);
        (self.reported, self.bytes) = (Instant::now(), bytes);
    }
}
