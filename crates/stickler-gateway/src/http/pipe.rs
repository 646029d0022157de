//! Writing to a server's standard input without ever waiting for it.
//!
//! A message is written where it is handed over, in the hope that the pipe has room; what does not
//! fit is queued for a task of its own. So the usual case needs no change of task or thread. Where
//! many have something to say at once, that task writes it all together.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use stickler_transport::is_read;
use tokio::net::unix::pipe;
use tokio::sync::Notify;

/// Bytes that may wait for a server that does not read; then whoever has more to say waits.
const UNREAD: usize = 8 << 20;

/// Messages and line breaks that are written at once.
const PARTS: usize = 64;

/// How often it is looked whether the server has read.
const BEAT: Duration = Duration::from_millis(5);

/// The writing end.
pub(super) struct Pipe {
    state: Mutex<State>,
    queued: Notify,
}

struct State {
    /// Gone once the server has been told that nothing more will come.
    sender: Option<Arc<pipe::Sender>>,
    queue: VecDeque<Bytes>,
    bytes: usize,
    is_closing: bool,
}

impl Pipe {
    pub(super) fn new(stdin: ChildStdin) -> io::Result<Arc<Self>> {
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

    /// Sends a message as a line. A server that is gone is noticed where its output ends.
    pub(super) fn send(&self, message: Bytes) {
        let mut message = on_one_line(message);
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

    /// Sends a message as a line, together with those that others have to send now.
    pub(super) fn send_along(&self, message: Bytes) {
        let message = on_one_line(message);
        let mut state = self.state();
        if state.sender.is_some() {
            state.bytes += message.len() + 1;
            state.queue.extend([message, Bytes::from_static(b"\n")]);
            self.queued.notify_one();
        }
    }

    /// Waits until the server has read enough for more to be said.
    pub(super) async fn room(&self) {
        while self.state().bytes > UNREAD {
            tokio::time::sleep(BEAT).await;
        }
    }

    /// Whether somebody reads what is written.
    pub(super) fn is_read(&self) -> bool {
        self.state().sender.as_ref().is_some_and(|sender| is_read(&**sender))
    }

    /// Closes the pipe, which is what tells a server that nothing more will come.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closing = true;
        if state.queue.is_empty() {
            state.sender = None;
        }
        self.queued.notify_one();
    }

    /// Drops everything: nobody reads any more.
    pub(super) fn abandon(&self) {
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
            // Whoever is ready to say something says it first.
            tokio::task::yield_now().await;
            while let Some(sender) = self.write_some() {
                if sender.writable().await.is_err() {
                    self.abandon();
                }
            }
            if self.state().sender.is_none() {
                return;
            }
        }
    }

    /// Writes as much as the pipe takes; gives it when it takes no more.
    fn write_some(&self) -> Option<Arc<pipe::Sender>> {
        let mut state = self.state();
        loop {
            let sender = state.sender.clone()?;
            if state.queue.is_empty() {
                if state.is_closing {
                    state.sender = None;
                }
                return None;
            }
            let mut parts = [IoSlice::new(&[]); PARTS];
            for (part, message) in parts.iter_mut().zip(&state.queue) {
                *part = IoSlice::new(message);
            }
            let count = state.queue.len().min(PARTS);
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
    /// So much of the queue has been written.
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

/// A line break in JSON means nothing outside of strings, and inside of them it is not allowed; on
/// stdio it would end the message.
pub(super) fn on_one_line(message: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    let spaced =
        message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
    spaced.collect()
}
