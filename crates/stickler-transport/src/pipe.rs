//! Non-blocking writer of lines: a server's standard input, or the standard output of this process.
//!
//! A message is written directly if the pipe has capacity; the rest is queued for a background task. The common
//! case therefore needs no task or thread switch, and messages that are queued concurrently are written
//! together. The queue is not limited; senders call [`Pipe::wait_for_capacity`] before or after they send.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, Bytes};
use tokio::sync::Notify;

use crate::nonblocking::Output;

/// Number of queued bytes above which senders wait for the server to read.
const MAX_QUEUED_BYTES: usize = 1 << 20;

/// Maximum number of messages and line breaks per vectored write.
const MAX_IO_SLICES: usize = 64;

/// Number of pushed bytes above which the background task writes without [`Pipe::flush`].
const MAX_PUSHED_BYTES: usize = 128 << 10;

/// The write end of the pipe and its queue.
pub struct Pipe {
    state: Mutex<State>,
    queued: Notify,
    /// Notified when queued data was written and when the pipe is closed.
    changed: Notify,
}

struct State {
    /// `None` once the pipe is closed.
    sender: Option<Arc<Output>>,
    queue: VecDeque<Bytes>,
    bytes: usize,
    is_closing: bool,
}

impl Pipe {
    /// Creates the writer and starts its task on the current runtime.
    pub fn new(sender: Output) -> Arc<Self> {
        let state = State {
            sender: Some(Arc::new(sender)),
            queue: VecDeque::new(),
            bytes: 0,
            is_closing: false,
        };
        let pipe = Self { state: Mutex::new(state), queued: Notify::new(), changed: Notify::new() };
        let pipe = Arc::new(pipe);
        tokio::spawn(Arc::clone(&pipe).write_in_background());
        pipe
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message as a line: writes what the pipe has capacity for and queues the rest. Line breaks in the
    /// message become spaces. Write errors are ignored: an exited server is detected at the end of its output.
    pub fn send(&self, message: Bytes) {
        if self.append(without_line_breaks(message)) {
            self.flush();
        }
    }

    /// Queues a message, so that it is written together with those of other senders. Line breaks become spaces.
    pub fn enqueue(&self, message: Bytes) {
        self.append(without_line_breaks(message));
        self.queued.notify_one();
    }

    /// Queues a line, unchanged, until [`Self::flush`].
    pub fn push(&self, line: Bytes) {
        self.append(line);
        if self.state().bytes > MAX_PUSHED_BYTES {
            self.queued.notify_one();
        }
    }

    /// Queues a line. Returns whether the queue was empty.
    fn append(&self, line: Bytes) -> bool {
        let mut state = self.state();
        let was_empty = state.queue.is_empty();
        if state.sender.is_some() {
            state.bytes += line.len() + 1;
            state.queue.extend([line, Bytes::from_static(b"\n")]);
        }
        was_empty
    }

    /// Writes what the pipe has capacity for and leaves the rest to the background task.
    pub fn flush(&self) {
        if self.write_queued().is_some() {
            self.queued.notify_one();
        }
    }

    /// Whether the queue is over its limit.
    pub fn is_full(&self) -> bool {
        self.state().bytes > MAX_QUEUED_BYTES
    }

    /// Waits until the queue is below its limit.
    pub async fn wait_for_capacity(&self) {
        self.until(|state| state.bytes <= MAX_QUEUED_BYTES).await;
    }

    /// Waits until everything is written or cannot be written any more.
    pub async fn flushed(&self) {
        self.until(|state| state.queue.is_empty()).await;
    }

    /// Waits until the pipe is closed: by its owner, or because its reader is gone.
    pub async fn closed(&self) {
        self.until(|state| state.sender.is_none()).await;
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

    /// Whether the pipe accepts messages.
    pub fn is_open(&self) -> bool {
        let state = self.state();
        state.sender.is_some() && !state.is_closing
    }

    /// Whether the read end of the pipe is open.
    pub fn has_reader(&self) -> bool {
        self.state().sender.as_ref().is_some_and(|sender| sender.has_reader())
    }

    /// Closes the pipe after the queue is written, which signals the end of input to the server.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closing = true;
        if state.queue.is_empty() {
            state.sender = None;
        }
        self.queued.notify_one();
        self.changed.notify_waiters();
    }

    /// Discards the queue and closes the pipe.
    pub fn abandon(&self) {
        self.state().abandon();
        self.queued.notify_one();
        self.changed.notify_waiters();
    }

    async fn write_in_background(self: Arc<Self>) {
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
    fn write_queued(&self) -> Option<Arc<Output>> {
        let mut state = self.state();
        let left = state.write();
        drop(state);
        self.changed.notify_waiters();
        left
    }
}

impl State {
    fn write(&mut self) -> Option<Arc<Output>> {
        loop {
            let sender = self.sender.clone()?;
            if self.queue.is_empty() {
                if self.is_closing {
                    self.sender = None;
                }
                return None;
            }
            let mut parts = [IoSlice::new(&[]); MAX_IO_SLICES];
            for (part, message) in parts.iter_mut().zip(&self.queue) {
                *part = IoSlice::new(message);
            }
            let count = self.queue.len().min(MAX_IO_SLICES);
            match sender.try_write(parts.get(..count).unwrap_or_default()) {
                Ok(written) => self.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(sender),
                Err(_) => self.abandon(),
            }
        }
    }

    fn abandon(&mut self) {
        self.queue.clear();
        self.bytes = 0;
        self.is_closing = true;
        self.sender = None;
    }

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

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use bytes::Bytes;

    use super::{MAX_QUEUED_BYTES, Pipe};
    use crate::nonblocking::Output;

    #[tokio::test]
    async fn lines_keep_their_order_across_partial_writes() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let pipe = Pipe::new(Output::new(writer).unwrap());
        let mut expected = Vec::new();
        for (number, letter) in (0..60).zip(b"abcdefgh".iter().cycle()) {
            // More than the pipe holds, and less than the queue.
            let line = vec![*letter; 1 + number * 400];
            expected.extend([line.as_slice(), b"\n"].concat());
            match number % 3 {
                0 => pipe.send(line.into()),
                1 => pipe.push(line.into()),
                _ => pipe.enqueue(line.into()),
            }
        }
        pipe.flush();
        pipe.close();
        let read = tokio::task::spawn_blocking(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        assert_eq!(read.await.unwrap().unwrap(), expected);
    }

    #[tokio::test]
    async fn senders_wait_for_a_reader_and_not_for_one_that_is_gone() {
        let (reader, writer) = std::io::pipe().unwrap();
        let pipe = Pipe::new(Output::new(writer).unwrap());
        pipe.send(Bytes::from(vec![b'x'; 2 * MAX_QUEUED_BYTES]));
        assert!(pipe.is_full() && pipe.is_open() && pipe.has_reader());
        drop(reader);
        pipe.wait_for_capacity().await;
        pipe.closed().await;
        assert!(!pipe.is_open() && !pipe.has_reader());
    }
}
