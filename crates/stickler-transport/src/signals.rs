//! Forwards termination signals (SIGHUP, SIGINT, SIGTERM) to the process group of the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::child::signal_group;

/// Delay between forwarding a signal and SIGKILL in [`exit_on_signals`].
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Forwards signals to the process group of the current server, which changes when the server restarts.
#[derive(Debug, Default)]
pub struct SignalForwarder {
    pid: AtomicU32,
    /// The last signal received; 0 for none.
    signal: AtomicI32,
}

impl SignalForwarder {
    /// Installs the signal handlers. A forwarded signal ends the server and closes its output, after
    /// which the relay returns the server's exit code.
    ///
    /// A server that ignores the signal is killed after the grace period.
    pub fn install(grace: Duration) -> io::Result<Arc<Self>> {
        let forwarder = Arc::new(Self::default());
        let shared = Arc::clone(&forwarder);
        on_signals(move |number| {
            let is_first = shared.signal.swap(number, Ordering::SeqCst) == 0;
            shared.forward();
            if is_first {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    std::thread::sleep(grace);
                    signal_group(shared.pid(), Signal::KILL);
                });
            }
        })?;
        Ok(forwarder)
    }

    /// Sets the process id of the running server; 0 if none is running.
    pub fn set(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
        // The signal may have arrived before the server was started.
        if pid != 0 && self.was_signalled() {
            self.forward();
        }
    }

    /// Whether a termination signal was received.
    pub fn was_signalled(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// Returns the process id of the running server; 0 if none is running.
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::SeqCst)
    }

    fn forward(&self) {
        signal_group(self.pid(), named(self.signal.load(Ordering::SeqCst)));
    }
}

/// Forwards a termination signal to the server, kills the server after a short delay and exits this process.
pub fn exit_on_signals(server: u32) -> io::Result<()> {
    on_signals(move |signal| {
        signal_group(server, named(signal));
        std::thread::sleep(KILL_DELAY);
        signal_group(server, Signal::KILL);
        std::process::exit(128 + signal);
    })
}

/// Calls a function on its own thread whenever the process receives SIGUSR1.
pub fn on_user_signal(act: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGUSR1])?;
    std::thread::spawn(move || signals.forever().for_each(|_| act()));
    Ok(())
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
