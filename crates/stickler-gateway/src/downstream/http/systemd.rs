//! Notifies systemd of the state of a service with `Type=notify`.
//!
//! The protocol is one datagram per change to the socket that `NOTIFY_SOCKET` names. Without it, nothing happens.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// A change of the service's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceState {
    Ready,
    Reloading,
    Stopping,
}

/// Sends a change of the state. Failures are ignored: the service runs without a supervisor too.
pub(crate) fn notify(state: ServiceState) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let message = match state {
        ServiceState::Ready => "READY=1".to_owned(),
        ServiceState::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_micros()),
        ServiceState::Stopping => "STOPPING=1".to_owned(),
    };
    let _ = address(path.as_encoded_bytes())
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address));
}

/// Returns the address of a socket; a leading `@` is that of an abstract one.
fn address(path: &[u8]) -> std::io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = path.strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt as _;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))
}

fn monotonic_micros() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}
