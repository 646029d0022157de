//! Signals that end us are meant for the server too.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child::signal_group;

/// How long a server has that is told to end with us.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Whom signals are passed on to: the server's process group, which changes with the server.
#[derive(Debug, Default)]
pub struct Addressee {
    pid: AtomicU32,
    /// The signal that came; 0 for none.
    signal: AtomicI32,
}

impl Addressee {
    /// Passes ending signals on from now on. The server ends, its output with it, and the relay
    /// comes home with its exit code.
    ///
    /// A server that does not mind is killed after a grace.
    pub fn listen(grace: Duration) -> io::Result<Arc<Self>> {
        let addressee = Arc::new(Self::default());
        let shared = Arc::clone(&addressee);
        on_signals(move |number| {
            let is_first = shared.signal.swap(number, Ordering::SeqCst) == 0;
            shared.pass_on();
            if is_first {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    std::thread::sleep(grace);
                    signal_group(shared.pid(), Signal::KILL);
                });
            }
        })?;
        Ok(addressee)
    }

    /// A server runs, or none does any more (0).
    pub fn set(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
        // A signal may have come before there was anybody to be told.
        if pid != 0 && self.was_signalled() {
            self.pass_on();
        }
    }

    /// Whether somebody wants us to end.
    pub fn was_signalled(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// The server that runs.
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::SeqCst)
    }

    fn pass_on(&self) {
        signal_group(self.pid(), named(self.signal.load(Ordering::SeqCst)));
    }
}

/// Ends us on an ending signal, and the server with us.
pub fn end_on_signals(server: u32) -> io::Result<()> {
    on_signals(move |signal| {
        signal_group(server, named(signal));
        std::thread::sleep(LAST_MOMENT);
        signal_group(server, Signal::KILL);
        std::process::exit(128 + signal);
    })
}

fn on_signals(act: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || signals.forever().for_each(act));
    Ok(())
}

fn named(signal: i32) -> Signal {
    match signal {
        SIGHUP => Signal::HUP,
        SIGINT => Signal::INT,
        _ => Signal::TERM,
    }
}
