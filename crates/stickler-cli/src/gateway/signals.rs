//! Signals that end us are meant for the server too.

use std::io;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child::signal_group;

/// Passes ending signals on to the server's process group. The server ends, its output with it, and
/// the relay comes home with its exit code.
pub(crate) fn pass_signals_on(server: u32) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = match signal {
                SIGHUP => Signal::HUP,
                SIGINT => Signal::INT,
                _ => Signal::TERM,
            };
            signal_group(server, signal);
        }
    });
    Ok(())
}
