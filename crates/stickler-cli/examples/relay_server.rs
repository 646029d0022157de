//! A server command that a test controls through a Unix socket.
//!
//! `relay_server SOCKET` copies its standard input to the socket and half-closes the socket at the end of its input.
//! From the socket it reads frames: one byte for the kind and four bytes (big-endian) for a length or an exit code.
//! `o` is followed by that many bytes for standard output; `x` exits with that code; `k` makes the process kill itself
//! with SIGKILL. At the end of the socket it exits with code 0.
#![allow(clippy::unwrap_used, reason = "a test program may panic")]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use rustix::process::{Signal, getpid, kill_process};

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut socket = UnixStream::connect(path).unwrap();
    let mut to_test = socket.try_clone().unwrap();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut to_test);
        let _ = to_test.shutdown(Shutdown::Write);
    });
    let mut head = [0; 5];
    while socket.read_exact(&mut head).is_ok() {
        let [kind, number @ ..] = head;
        let number = u32::from_be_bytes(number);
        match kind {
            b'o' => {
                let mut bytes = vec![0; usize::try_from(number).unwrap()];
                socket.read_exact(&mut bytes).unwrap();
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
            }
            b'k' => kill_process(getpid(), Signal::KILL).unwrap(),
            _ => std::process::exit(i32::try_from(number).unwrap()),
        }
    }
}
