//! Writes log lines to standard error from one thread, so that no other thread waits for a reader.
//!
//! `Writer::push` appends a line to a queue that is bounded in lines and bytes, and never blocks. A line that
//! does not fit into the queue or cannot be written is lost and counted; as soon as lines can be written
//! again, one line reports how many were lost. `Writer::flush` waits for the queue to be written, for a
//! bounded time.
//!
//! `tracing-appender` has a similar writer, but its queue is bounded in lines only (128,000 lines of 8 KiB are
//! 1 GiB), it does not report lost lines, and its guard waits up to 1.1 s at exit.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// Maximum number of queued lines.
const MAX_QUEUED_LINES: usize = 4096;

/// Maximum number of queued bytes.
const MAX_QUEUED_BYTES: usize = 1 << 20;

/// A queue of lines and the thread that writes them.
#[derive(Clone)]
pub(crate) struct Writer(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Renders the line that reports lost lines.
    report: fn(u64) -> String,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Entry>,
    bytes: usize,
    lost: u64,
    is_writing: bool,
    /// The last write failed; the next line shows whether standard error has recovered.
    is_broken: bool,
}

struct Entry {
    line: String,
    /// Lines that are lost with this one: for a report, those that it reports.
    lost_lines: u64,
}

impl Queue {
    fn has_room_for(&self, line: &str) -> bool {
        self.lines.len() < MAX_QUEUED_LINES && self.bytes + line.len() <= MAX_QUEUED_BYTES
    }

    fn add(&mut self, line: String, lost_lines: u64) {
        self.bytes += line.len();
        self.lines.push_back(Entry { line, lost_lines });
    }

    fn add_report(&mut self, report: fn(u64) -> String) {
        let lost = std::mem::take(&mut self.lost);
        self.add(report(lost), lost);
    }

    fn is_idle(&self) -> bool {
        self.lines.is_empty() && !self.is_writing && (self.lost == 0 || self.is_broken)
    }
}

impl Writer {
    pub(crate) fn new(report: fn(u64) -> String) -> Self {
        Self(Arc::new(Shared { queue: Mutex::default(), changed: Condvar::new(), report }))
    }

    /// Starts the thread. `tick` runs before each wait and returns the maximum time to wait.
    pub(crate) fn start(
        &self,
        tick: impl Fn() -> Option<Duration> + Send + 'static,
    ) -> io::Result<()> {
        // A duplicate handle: a blocked write would hold the lock of `io::stderr`.
        let mut output = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("log".to_owned());
        thread.spawn(move || {
            loop {
                let Entry { line, lost_lines } = shared.next(&tick);
                let is_written = write(&mut output, line.as_bytes()).is_ok();
                shared.written(if is_written { 0 } else { lost_lines });
            }
        })?;
        Ok(())
    }

    /// Queues a line, or counts it as lost.
    pub(crate) fn push(&self, line: String) {
        let mut queue = self.0.queue();
        if queue.lost > 0 && queue.has_room_for(&line) {
            // The report comes before the lines that follow the lost ones.
            queue.add_report(self.0.report);
        }
        if queue.has_room_for(&line) {
            queue.add(line, 1);
        } else {
            queue.lost += 1;
        }
        self.0.changed.notify_all();
    }

    /// Wakes the thread so that it runs `tick`.
    pub(crate) fn wake(&self) {
        drop(self.0.queue());
        self.0.changed.notify_all();
    }

    /// Waits until all lines are written, but not longer than `timeout`.
    pub(crate) fn flush(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let mut queue = self.0.queue();
        while !queue.is_idle() {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            let waited = self.0.changed.wait_timeout(queue, rest);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next line to write.
    fn next(&self, tick: &impl Fn() -> Option<Duration>) -> Entry {
        loop {
            // Runs without the lock, because it may push lines.
            let timeout = tick();
            let mut queue = self.queue();
            if queue.lines.is_empty() && queue.lost > 0 && !queue.is_broken {
                queue.add_report(self.report);
            }
            if let Some(entry) = queue.lines.pop_front() {
                queue.bytes -= entry.line.len();
                queue.is_writing = true;
                return entry;
            }
            match timeout {
                Some(timeout) => drop(self.changed.wait_timeout(queue, timeout)),
                None => drop(self.changed.wait(queue)),
            }
        }
    }

    /// Records the end of a write and the number of lines lost with it.
    fn written(&self, lost: u64) {
        let mut queue = self.queue();
        queue.is_writing = false;
        queue.is_broken = lost > 0;
        queue.lost += lost;
        self.changed.notify_all();
    }
}

/// Writes all bytes. If another process has made the pipe non-blocking, the thread waits until it is writable.
fn write(output: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut watched = [PollFd::new(output, PollFlags::OUT)];
                let _ = poll(&mut watched, None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MAX_QUEUED_BYTES, MAX_QUEUED_LINES, Writer};
    use std::time::Duration;

    fn report(lost: u64) -> String {
        format!("{lost} lost")
    }

    fn waiting(writer: &Writer) -> Vec<String> {
        let mut queue = writer.0.queue();
        queue.bytes = 0;
        queue.lines.drain(..).map(|entry| entry.line).collect()
    }

    /// No thread writes, as if standard error were not read.
    #[test]
    fn full_queue_drops_lines_and_reports_their_number_later() {
        let writer = Writer::new(report);
        for _ in 0..MAX_QUEUED_LINES + 7 {
            writer.push("x".to_owned());
        }
        assert_eq!(waiting(&writer).len(), MAX_QUEUED_LINES);
        writer.push("later".to_owned());
        assert_eq!(waiting(&writer), ["7 lost", "later"]);
    }

    #[test]
    fn queue_is_bounded_in_bytes() {
        let writer = Writer::new(report);
        for _ in 0..5 {
            writer.push("x".repeat(MAX_QUEUED_BYTES / 3));
        }
        assert_eq!(waiting(&writer).len(), 3);
        writer.push(String::new());
        assert_eq!(waiting(&writer)[0], "2 lost");
    }

    #[test]
    fn failed_writes_are_reported_with_the_next_line() {
        let writer = Writer::new(report);
        writer.push("x".to_owned());
        waiting(&writer);
        writer.0.written(1);
        writer.flush(Duration::from_secs(1));
        writer.push("later".to_owned());
        assert_eq!(waiting(&writer), ["1 lost", "later"]);
        // The report cannot be written either.
        writer.0.written(1);
        writer.push("last".to_owned());
        assert_eq!(waiting(&writer), ["1 lost", "last"]);
    }

    #[test]
    fn flush_returns_although_no_line_can_be_written() {
        let writer = Writer::new(report);
        writer.push("x".to_owned());
        writer.flush(Duration::from_millis(1));
        assert_eq!(waiting(&writer).len(), 1);
    }
}
