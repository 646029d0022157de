//! The way to a server that may be replaced by another.
//!
//! Servers are counted. A message belongs to the server that was there when it was judged: if that
//! one has gone, whoever sent the message has been told so, and it is not for the next one. A message
//! for a server that is not ready yet waits.

use std::io;
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::child::is_read;
use super::wire::Lines;

/// The pipe to the server, if there is one.
#[derive(Debug)]
pub struct Way {
    place: Mutex<Place>,
    changed: Condvar,
}

#[derive(Debug)]
struct Place {
    /// Which server it is.
    number: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(ChildStdin),
    /// The server is being given the client's handshake.
    Shaking(ChildStdin),
    /// There is no server; another may come.
    Away,
    /// The client has nothing more to say.
    Closed,
}

impl Way {
    /// To the first server, which is ready.
    pub fn new(stdin: ChildStdin) -> Self {
        let place = Place { number: 0, state: State::Open(stdin) };
        Self { place: Mutex::new(place), changed: Condvar::new() }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to the server of that number, once it is ready. If it has gone, there is nobody to
    /// write to, and what was gathered for it is dropped. A server that is gone without our knowing
    /// is noticed where its output ends.
    pub fn write(
        &self,
        number: u64,
        lines: &mut Lines,
        write: impl FnOnce(&mut Lines, &mut ChildStdin) -> io::Result<()>,
    ) {
        let mut place = self.place();
        loop {
            let current = place.number;
            match &mut place.state {
                State::Closed => return lines.clear(),
                _ if current > number => return lines.clear(),
                State::Open(stdin) if current == number => {
                    let _ = write(lines, stdin);
                    return;
                }
                _ => {}
            }
            place = self.changed.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The server has gone, and one with the next number may come.
    pub fn lose(&self) {
        let mut place = self.place();
        place.number += 1;
        if !matches!(place.state, State::Closed) {
            place.state = State::Away;
        }
        self.changed.notify_all();
    }

    /// A new server is there, and is told this before anything else.
    pub fn shake(&self, mut stdin: ChildStdin, greeting: Option<&[u8]>) {
        let mut place = self.place();
        if matches!(place.state, State::Closed) {
            return;
        }
        place.state = match greeting {
            Some(greeting) => {
                let _ = say(greeting, &mut stdin);
                State::Shaking(stdin)
            }
            None => State::Open(stdin),
        };
        self.changed.notify_all();
    }

    /// The handshake is over: this is the last of it, then everybody may write.
    pub fn open(&self, last: Option<&[u8]>) {
        let mut place = self.place();
        match std::mem::replace(&mut place.state, State::Away) {
            State::Shaking(mut stdin) => {
                if let Some(last) = last {
                    let _ = say(last, &mut stdin);
                }
                place.state = State::Open(stdin);
            }
            other => place.state = other,
        }
        self.changed.notify_all();
    }

    /// Whether the server of that number is not ready after a while.
    pub fn is_stuck(&self, number: u64, after: Duration) -> bool {
        let is_shaking =
            |place: &mut Place| place.number == number && matches!(place.state, State::Shaking(_));
        let waited = self.changed.wait_timeout_while(self.place(), after, is_shaking);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Whether somebody reads what is written. Whoever is writing just now is being read.
    pub fn is_read(&self) -> bool {
        let Ok(place) = self.place.try_lock() else { return true };
        match &place.state {
            State::Open(stdin) | State::Shaking(stdin) => is_read(stdin),
            State::Away | State::Closed => false,
        }
    }

    /// Closing the pipe is what tells a server that nothing more will come.
    pub fn close(&self) {
        self.place().state = State::Closed;
        self.changed.notify_all();
    }
}

fn say(message: &[u8], stdin: &mut ChildStdin) -> io::Result<()> {
    let mut lines = Lines::default();
    lines.push(message, stdin)?;
    lines.flush(stdin)
}
