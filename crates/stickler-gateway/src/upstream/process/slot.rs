//! The process of a server that may be restarted.
//!
//! A message is written only to the process for which it was validated: its sender has already received an error if
//! that process has exited, so the message is dropped and not sent to the next one. Messages for a process that is
//! not ready yet wait for it: until it is started, and until it has accepted the replayed handshake.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stickler::{Era, Revision};
use stickler_protocol::frame::Frame;
use stickler_transport::{Pipe, SupervisedProcess};
use tokio::sync::Notify;
use tracing::{Span, info, warn};

use crate::driver::message::Message;
use crate::driver::{Driver, Link};
use crate::upstream::process::handshake::{Handshake, Reply};
use crate::upstream::process::write;

/// Maximum time for the replayed handshake of a restarted server.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// The current process, if there is one, and the messages that wait for the next one.
pub(crate) struct ServerSlot {
    state: Mutex<State>,
    changed: Notify,
    handshake: Mutex<Handshake>,
    /// Whether the client's handshake is recorded for another process.
    is_restarted: bool,
    span: Span,
}

enum State {
    Ready(Arc<SupervisedProcess>),
    /// The client's handshake is being replayed to the process.
    Handshaking(Replay),
    /// No process is running; another may be started.
    Vacant(Vec<Bytes>),
    /// The client has closed its output; nothing more is written.
    Closed(Option<Arc<SupervisedProcess>>),
}

/// A handshake that is being replayed.
struct Replay {
    process: Arc<SupervisedProcess>,
    /// Messages for the process once it has accepted the handshake.
    waiting: Vec<Bytes>,
    /// The client has closed its output; the input of the process is closed after the waiting messages.
    is_closing: bool,
}

impl ServerSlot {
    /// Creates the slot of a server that is restarted after a failure, or not.
    pub(crate) fn new(is_restarted: bool, span: Span) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Vacant(Vec::new())),
            changed: Notify::new(),
            handshake: Mutex::default(),
            is_restarted,
            span,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handshake(&self) -> MutexGuard<'_, Handshake> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Installs a started process and replays the handshake to it, if the client has performed one.
    pub(crate) fn occupy(
        self: &Arc<Self>,
        process: &Arc<SupervisedProcess>,
        agreed: Option<Revision>,
    ) {
        let is_legacy = agreed.is_some_and(|one| one.era() == Era::Legacy);
        let initialize = self.handshake().replay().filter(|_| is_legacy);
        let mut state = self.state();
        let waiting = match &mut *state {
            State::Vacant(waiting) => std::mem::take(waiting),
            _ => return process.pipe.close(),
        };
        match initialize {
            None => self.make_ready(&mut state, Arc::clone(process), waiting),
            Some(initialize) => {
                process.pipe.send(initialize.into());
                let limited = Arc::clone(process);
                let process = Arc::clone(process);
                *state = State::Handshaking(Replay { process, waiting, is_closing: false });
                drop(state);
                tokio::spawn(Arc::clone(self).limit_handshake(limited));
            }
        }
    }

    fn make_ready(&self, state: &mut State, process: Arc<SupervisedProcess>, waiting: Vec<Bytes>) {
        for message in waiting {
            process.pipe.push(message);
        }
        process.pipe.flush();
        *state = State::Ready(process);
        self.changed.notify_waiters();
    }

    /// Kills a process that does not answer the replayed handshake.
    async fn limit_handshake(self: Arc<Self>, process: Arc<SupervisedProcess>) {
        tokio::time::sleep(HANDSHAKE_TIMEOUT).await;
        if matches!(&*self.state(), State::Handshaking(one) if Arc::ptr_eq(&one.process, &process))
        {
            warn!(parent: &self.span, "the restarted server does not respond to the handshake");
            process.kill();
        }
    }

    /// Removes an exited process. Messages that wait for it are dropped: their senders get an error.
    pub(crate) fn vacate(&self) {
        let mut state = self.state();
        *state = match &*state {
            State::Closed(_) | State::Handshaking(Replay { is_closing: true, .. }) => {
                State::Closed(None)
            }
            _ => State::Vacant(Vec::new()),
        };
        self.changed.notify_waiters();
    }

    /// Closes the input of the process after the queued messages, which signals the end of input. A process that has
    /// not accepted the replayed handshake gets the messages that wait for it first.
    pub(crate) fn close(&self) {
        if let State::Handshaking(replay) = &mut *self.state() {
            replay.is_closing = true;
            return;
        }
        let process = self.process();
        if let Some(process) = &process {
            process.pipe.close();
        }
        *self.state() = State::Closed(process);
        self.changed.notify_waiters();
    }

    /// Returns the running process.
    pub(crate) fn process(&self) -> Option<Arc<SupervisedProcess>> {
        match &*self.state() {
            State::Ready(process) | State::Handshaking(Replay { process, .. }) => {
                Some(Arc::clone(process))
            }
            State::Closed(process) => process.clone(),
            State::Vacant(_) => None,
        }
    }

    /// Returns the pipe of the process, if it accepts messages now.
    fn pipe(&self) -> Option<Arc<Pipe>> {
        match &*self.state() {
            State::Ready(process) => Some(Arc::clone(&process.pipe)),
            _ => None,
        }
    }

    /// Whether a message would neither wait for the process nor exceed the limit of its queue.
    pub(crate) fn has_capacity(&self) -> bool {
        match &*self.state() {
            State::Ready(process) => !process.pipe.is_full(),
            State::Handshaking(_) | State::Vacant(_) => false,
            State::Closed(_) => true,
        }
    }

    /// Waits until [`Self::has_capacity`].
    pub(crate) async fn wait_for_capacity(&self) {
        loop {
            let changed = self.changed.notified();
            if self.has_capacity() {
                return;
            }
            match self.pipe() {
                Some(pipe) => pipe.wait_for_capacity().await,
                None => changed.await,
            }
        }
    }

    /// Handles the response to the replayed handshake. Returns false if the frame is another message.
    pub(crate) fn is_handshake_response(
        &self,
        frame: &Frame<'_>,
        agreed: impl FnOnce() -> Option<Revision>,
    ) -> bool {
        let mut state = self.state();
        let (State::Handshaking(restarted), Frame::Line(line)) = (&mut *state, frame) else {
            return false;
        };
        let handshake = self.handshake();
        let Some(reply) = handshake.response(line) else { return false };
        match reply {
            Reply::Accepted(version) => {
                if agreed().is_some_and(|agreed| agreed.as_str() != version) {
                    warn!(
                        parent: &self.span,
                        "the restarted server uses protocol version `{version}`, unlike the previous one"
                    );
                }
                info!(parent: &self.span, "the restarted server is ready");
                let (process, waiting) =
                    (Arc::clone(&restarted.process), std::mem::take(&mut restarted.waiting));
                let is_closing = restarted.is_closing;
                if let Some(confirmation) = handshake.confirmation() {
                    process.pipe.send(Bytes::from_static(confirmation));
                }
                self.make_ready(&mut state, Arc::clone(&process), waiting);
                if is_closing {
                    process.pipe.close();
                    *state = State::Closed(Some(process));
                }
            }
            Reply::Rejected(reason) => {
                warn!(parent: &self.span, "the restarted server rejected the handshake: {reason}");
                restarted.process.kill();
            }
        }
        true
    }
}

/// Link that writes to the process in a slot.
pub(crate) struct SlotLink(pub(crate) Arc<ServerSlot>);

impl Link for SlotLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        if self.0.is_restarted {
            self.0.handshake().watch(&message.header, &message.bytes);
        }
        match &mut *self.0.state() {
            State::Ready(process) => write(driver, &process.pipe, message, Pipe::push),
            State::Handshaking(Replay { waiting, .. }) | State::Vacant(waiting) => {
                waiting.push(message.bytes);
            }
            State::Closed(_) => {}
        }
    }

    fn flush(&self) {
        if let Some(pipe) = self.0.pipe() {
            pipe.flush();
        }
    }
}
