//! Termination signals (SIGHUP, SIGINT, SIGTERM).
//!
//! The gateway receives them as events ([`TerminationSignals`]). A command that blocks forwards them from a thread:
//! [`exit_on_signals`], [`forward_signals`].

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use tokio::signal::unix::{self, SignalKind, signal};

use super::child::signal_group;

/// Delay between forwarding a signal and SIGKILL in [`exit_on_signals`].
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Receives termination signals instead of their default action.
#[derive(Debug)]
pub struct TerminationSignals {
    hangup: unix::Signal,
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl TerminationSignals {
    /// Installs the handlers. Signals are received from now on.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub async fn receive(&mut self) -> Signal {
        tokio::select! {
            _ = self.hangup.recv() => Signal::HUP,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.terminate.recv() => Signal::TERM,
        }
    }
}

/// Forwards termination signals to a process group. A process that ignores one is killed after `grace`.
pub fn forward_signals(pid: u32, grace: Duration) -> io::Result<()> {
    on_signals(move |signal| {
        signal_group(pid, named(signal));
        std::thread::sleep(grace);
        signal_group(pid, Signal::KILL);
    })
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
