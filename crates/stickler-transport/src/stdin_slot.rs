//! The standard input of a server that may be restarted.
//!
//! Each server process has a generation. A message is written only to the generation for which it was
//! validated: its sender has already received an error if that server has exited, so the message is dropped
//! and not sent to the next one. A write to a server that is not ready yet blocks until it is.

use std::io;
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::child::has_reader;
use super::wire::LineWriter;

/// The pipe to the current server, if there is one.
#[derive(Debug)]
pub struct StdinSlot {
    slot: Mutex<Slot>,
    changed: Condvar,
}

#[derive(Debug)]
struct Slot {
    /// The generation of the current or next server.
    generation: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(ChildStdin),
    /// The client's handshake is being replayed to the server.
    Handshaking(ChildStdin),
    /// No server is running; another may be started.
    Vacant,
    /// The client has closed its output; nothing more will be written.
    Closed,
}

impl StdinSlot {
    /// Creates a slot for the first server, which is ready.
    pub fn new(stdin: ChildStdin) -> Self {
        let slot = Slot { generation: 0, state: State::Open(stdin) };
        Self { slot: Mutex::new(slot), changed: Condvar::new() }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to the server of `generation` once it is ready. If that server has exited, the buffered
    /// lines are dropped. Write errors are ignored: an exited server is detected at the end of its
    /// output.
    pub fn write(
        &self,
        generation: u64,
        lines: &mut LineWriter,
        write: impl FnOnce(&mut LineWriter, &mut ChildStdin) -> io::Result<()>,
    ) {
        let mut slot = self.slot();
        loop {
            let current = slot.generation;
            match &mut slot.state {
                State::Closed => return lines.clear(),
                _ if current > generation => return lines.clear(),
                State::Open(stdin) if current == generation => {
                    let _ = write(lines, stdin);
                    return;
                }
                _ => {}
            }
            slot = self.changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Vacates the slot after the server has exited and advances the generation.
    pub fn clear(&self) {
        let mut slot = self.slot();
        slot.generation += 1;
        if !matches!(slot.state, State::Closed) {
            slot.state = State::Vacant;
        }
        self.changed.notify_all();
    }

    /// Installs the pipe of a new server. If `first` is given, it is written and all other writes wait
    /// for [`Self::complete_handshake`].
    pub fn begin_handshake(&self, mut stdin: ChildStdin, first: Option<&[u8]>) {
        let mut slot = self.slot();
        if matches!(slot.state, State::Closed) {
            return;
        }
        slot.state = match first {
            Some(first) => {
                let _ = write_message(first, &mut stdin);
                State::Handshaking(stdin)
            }
            None => State::Open(stdin),
        };
        self.changed.notify_all();
    }

    /// Writes the last message of the handshake, if any, and opens the slot for writes.
    pub fn complete_handshake(&self, last: Option<&[u8]>) {
        let mut slot = self.slot();
        match std::mem::replace(&mut slot.state, State::Vacant) {
            State::Handshaking(mut stdin) => {
                if let Some(last) = last {
                    let _ = write_message(last, &mut stdin);
                }
                slot.state = State::Open(stdin);
            }
            other => slot.state = other,
        }
        self.changed.notify_all();
    }

    /// Whether the server of `generation` is still in the handshake after `after`. Blocks until then.
    pub fn handshake_timed_out(&self, generation: u64, after: Duration) -> bool {
        let is_handshaking = |slot: &mut Slot| {
            slot.generation == generation && matches!(slot.state, State::Handshaking(_))
        };
        let waited = self.changed.wait_timeout_while(self.slot(), after, is_handshaking);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Whether the pipe has a reader. A locked slot is being written to and counts as read.
    pub fn has_reader(&self) -> bool {
        let Ok(slot) = self.slot.try_lock() else { return true };
        match &slot.state {
            State::Open(stdin) | State::Handshaking(stdin) => has_reader(stdin),
            State::Vacant | State::Closed => false,
        }
    }

    /// Closes the pipe, which signals the end of input to the server.
    pub fn close(&self) {
        self.slot().state = State::Closed;
        self.changed.notify_all();
    }
}

fn write_message(message: &[u8], stdin: &mut ChildStdin) -> io::Result<()> {
    let mut lines = LineWriter::default();
    lines.push(message, stdin)?;
    lines.flush(stdin)
}
