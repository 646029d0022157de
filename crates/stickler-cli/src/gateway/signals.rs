//! Signals that end us are meant for the server too.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child::signal_group;

/// Whom signals are passed on to: the server's process group, which changes with the server.
#[derive(Debug, Default)]
pub(crate) struct Addressee {
    pid: AtomicU32,
    /// The signal that came; 0 for none.
    signal: AtomicI32,
}

impl Addressee {
    /// Passes ending signals on from now on. The server ends, its output with it, and the relay
    /// comes home with its exit code.
    pub(crate) fn listen() -> io::Result<Arc<Self>> {
        let addressee = Arc::new(Self::default());
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let shared = Arc::clone(&addressee);
        std::thread::spawn(move || {
            for number in signals.forever() {
                shared.signal.store(number, Ordering::SeqCst);
                shared.pass_on();
            }
        });
        Ok(addressee)
    }

    /// A server runs, or none does any more (0).
    pub(crate) fn set(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
        // A signal may have come before there was anybody to be told.
        if pid != 0 && self.was_signalled() {
            self.pass_on();
        }
    }

    /// Whether somebody wants us to end.
    pub(super) fn was_signalled(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// The server that runs.
    pub(super) fn pid(&self) -> u32 {
        self.pid.load(Ordering::SeqCst)
    }

    fn pass_on(&self) {
        let signal = match self.signal.load(Ordering::SeqCst) {
            SIGHUP => Signal::HUP,
            SIGINT => Signal::INT,
            _ => Signal::TERM,
        };
        signal_group(self.pid(), signal);
    }
}
