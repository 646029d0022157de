//! Non-blocking writer for a server's standard input.
//!
//! A message is written directly if the pipe has capacity; the rest is queued for a background task. The common
//! case therefore needs no task or thread switch, and messages that are queued concurrently are written
//! together.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use tokio::net::unix::pipe;
use tokio::sync::Notify;

use crate::child::has_reader;

/// Number of queued bytes above which senders wait for the server to read.
const MAX_QUEUED_BYTES: usize = 8 << 20;

/// Maximum number of messages and line breaks per vectored write.
const MAX_IO_SLICES: usize = 64;

/// Poll interval for pipe capacity.
const CAPACITY_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The write end of the pipe and its queue.
pub struct Pipe {
    state: Mutex<State>,
    queued: Notify,
}

struct State {
    /// `None` once the pipe is closed.
    sender: Option<Arc<pipe::Sender>>,
    queue: VecDeque<Bytes>,
    bytes: usize,
    is_closing: bool,
}

impl Pipe {
    /// Creates the writer and starts its task on the current runtime.
    pub fn new(stdin: ChildStdin) -> io::Result<Arc<Self>> {
        let sender = pipe::Sender::from_owned_fd(OwnedFd::from(stdin))?;
        let state = State {
            sender: Some(Arc::new(sender)),
            queue: VecDeque::new(),
            bytes: 0,
            is_closing: false,
        };
        let pipe = Arc::new(Self { state: Mutex::new(state), queued: Notify::new() });
        tokio::spawn(Arc::clone(&pipe).flush());
        Ok(pipe)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message as a line. Write errors are ignored: an exited server is detected at the end of
    /// its output.
    pub fn send(&self, message: Bytes) {
        let mut message = without_line_breaks(message);
        let mut end = Bytes::from_static(b"\n");
        let mut state = self.state();
        let Some(sender) = &state.sender else { return };
        if state.queue.is_empty() {
            let parts = [IoSlice::new(&message), IoSlice::new(&end)];
            match sender.try_write_vectored(&parts) {
                Ok(written) => {
                    let of_message = written.min(message.len());
                    message.advance(of_message);
                    end.advance(written - of_message);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
        let left = message.len() + end.len();
        if left > 0 {
            state.bytes += left;
            state.queue.extend([message, end].into_iter().filter(|part| !part.is_empty()));
            self.queued.notify_one();
        }
    }

    /// Queues a message, so that it is written together with those of other senders.
    pub fn enqueue(&self, message: Bytes) {
        let message = without_line_breaks(message);
        let mut state = self.state();
        if state.sender.is_some() {
            state.bytes += message.len() + 1;
            state.queue.extend([message, Bytes::from_static(b"\n")]);
            self.queued.notify_one();
        }
    }

    /// Waits until the queue is below its limit.
    pub async fn wait_for_capacity(&self) {
        while self.state().bytes > MAX_QUEUED_BYTES {
            tokio::time::sleep(CAPACITY_POLL_INTERVAL).await;
        }
    }

    /// Whether the pipe accepts messages.
    pub fn is_open(&self) -> bool {
        let state = self.state();
        state.sender.is_some() && !state.is_closing
    }

    /// Whether the read end of the pipe is open.
    pub fn has_reader(&self) -> bool {
        self.state().sender.as_ref().is_some_and(|sender| has_reader(&**sender))
    }

    /// Closes the pipe after the queue is written, which signals the end of input to the server.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closing = true;
        if state.queue.is_empty() {
            state.sender = None;
        }
        self.queued.notify_one();
    }

    /// Discards the queue and closes the pipe.
    pub fn abandon(&self) {
        let mut state = self.state();
        state.queue.clear();
        state.bytes = 0;
        state.is_closing = true;
        state.sender = None;
        self.queued.notify_one();
    }

    async fn flush(self: Arc<Self>) {
        loop {
            self.queued.notified().await;
            // Let other ready tasks queue their messages first.
            tokio::task::yield_now().await;
            while let Some(sender) = self.write_queued() {
                if sender.writable().await.is_err() {
                    self.abandon();
                }
            }
            if self.state().sender.is_none() {
                return;
            }
        }
    }

    /// Writes queued data until the pipe is full. Returns the sender if data is left.
    fn write_queued(&self) -> Option<Arc<pipe::Sender>> {
        let mut state = self.state();
        loop {
            let sender = state.sender.clone()?;
            if state.queue.is_empty() {
                if state.is_closing {
                    state.sender = None;
                }
                return None;
            }
            let mut parts = [IoSlice::new(&[]); MAX_IO_SLICES];
            for (part, message) in parts.iter_mut().zip(&state.queue) {
                *part = IoSlice::new(message);
            }
            let count = state.queue.len().min(MAX_IO_SLICES);
            match sender.try_write_vectored(parts.get(..count).unwrap_or_default()) {
                Ok(written) => state.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(sender),
                Err(_) => {
                    state.queue.clear();
                    state.bytes = 0;
                    state.sender = None;
                }
            }
        }
    }
}

impl State {
    /// Removes written bytes from the queue.
    fn advance(&mut self, mut written: usize) {
        self.bytes = self.bytes.saturating_sub(written);
        while let Some(front) = self.queue.front_mut().filter(|_| written > 0) {
            let part = written.min(front.len());
            front.advance(part);
            written -= part;
            if front.is_empty() {
                self.queue.pop_front();
            }
        }
    }
}

/// Replaces line breaks by spaces. In valid JSON they occur only between tokens; on stdio they would end the
/// message.
pub fn without_line_breaks(message: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    let spaced =
        message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
    spaced.collect()
}
