//! Signals that end us are meant for the server too.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::child::signal_group;

/// How long a server has that is told to end with us.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Passes ending signals on to the server's process group. The server ends, its output with it, and
/// the relay comes home with its exit code.
pub(crate) fn pass_signals_on(server: u32) -> io::Result<()> {
    on_signals(move |signal| signal_group(server, named(signal)))
}

/// Ends us on an ending signal, and the server with us.
pub(crate) fn end_on_signals(server: u32) -> io::Result<()> {
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
