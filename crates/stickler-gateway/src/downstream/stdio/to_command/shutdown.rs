//! Detects the exit of a server and bounds every wait during shutdown.
//!
//! A server has exited when its process has, because a descendant may keep its output open. Writes to a server
//! or client that does not read block forever, so no shutdown step waits for them without a timeout.

use std::fs::File;
use std::io;
use std::process::{ChildStdout, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, sync_channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use stickler_protocol::Actions;
use stickler_transport::{Process, signal_group, wait_for_exit};

use crate::downstream::stdio::to_command::{
    DRAIN_GRACE_FACTOR, POLL_INTERVAL, ServerWrite, Shared,
};

/// Maximum time to read the remaining output of an exited server, and to deliver the last messages.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// Poll interval for a server that was daemonized by its launcher.
const DAEMON_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The part of a server that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Output,
    /// The process has exited, successfully or not.
    Process(bool),
}

/// The output of a server that is being read.
pub(crate) struct ServerOutput {
    ends: Receiver<Ended>,
    /// The reader is waiting for output and not for the client.
    is_waiting: Arc<AtomicBool>,
}

impl Shared {
    /// Starts the threads that read a server's output and wait for its exit.
    pub(crate) fn start_reading(
        &self,
        server: &Process,
        output: ChildStdout,
        server_queue: &Sender<ServerWrite>,
    ) -> Option<ServerOutput> {
        let (ended, ends) = sync_channel(2);
        let is_waiting = Arc::new(AtomicBool::new(false));
        let (generation, pid) = (self.generation.load(Ordering::SeqCst), server.pid());
        let (shared, server_queue, waits) =
            (self.weak_self.upgrade()?, server_queue.clone(), Arc::clone(&is_waiting));
        let watched = ended.clone();
        std::thread::spawn(move || {
            shared.read_server(output, &server_queue, generation, &waits);
            let _ = ended.send(Ended::Output);
        });
        std::thread::spawn(move || {
            let success = wait_for_exit(pid);
            let _ = watched.send(Ended::Process(success));
        });
        Some(ServerOutput { ends, is_waiting })
    }

    /// Waits for a server to end and shuts it down.
    pub(crate) fn wait_for_exit(
        &self,
        server: &mut Process,
        output: &ServerOutput,
    ) -> io::Result<ExitStatus> {
        let first = output.ends.recv();
        let output_ended = match first {
            Ok(Ended::Process(true)) => self.await_daemonized_child(output),
            Ok(Ended::Process(false)) => false,
            Ok(Ended::Output) | Err(_) => true,
        };
        let status = server.end(self.limits.grace)?;
        if !output_ended {
            self.drain_output(output);
        }
        Ok(status)
    }

    /// Waits for a server whose launcher exited successfully and left it both pipes. Returns whether the
    /// output has ended.
    fn await_daemonized_child(&self, output: &ServerOutput) -> bool {
        while self.server.has_reader() && !self.is_ending() {
            match output.ends.recv_timeout(DAEMON_POLL_INTERVAL) {
                Ok(Ended::Process(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Ended::Output) | Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }

    /// Waits until the output of an exited server is read. A descendant may keep it open forever, and the
    /// client may not read, so the wait is limited.
    fn drain_output(&self, output: &ServerOutput) {
        let started_at = Instant::now();
        let mut quiet_since = None;
        loop {
            match output.ends.recv_timeout(POLL_INTERVAL) {
                Ok(Ended::Process(_)) => {}
                Ok(Ended::Output) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let is_quiet = output.is_waiting.load(Ordering::SeqCst);
                    quiet_since = is_quiet.then(|| quiet_since.unwrap_or_else(Instant::now));
                    let is_long = |since: Instant| since.elapsed() > FINAL_OUTPUT_TIMEOUT;
                    if quiet_since.is_some_and(is_long)
                        || self.signal_forwarder.was_signalled() && is_long(started_at)
                    {
                        return;
                    }
                }
            }
        }
    }

    /// Delivers the last messages to the client. After a termination signal the wait is limited.
    pub(crate) fn deliver_final(&self, actions: Actions<'static>) {
        if !self.signal_forwarder.was_signalled() {
            let _ = self.deliver_to_client(&actions);
        } else if let Some(shared) = self.weak_self.upgrade() {
            let (delivered, delivery_done) = sync_channel(1);
            std::thread::spawn(move || {
                let _ = shared.deliver_to_client(&actions);
                let _ = delivered.send(());
            });
            let _ = delivery_done.recv_timeout(FINAL_OUTPUT_TIMEOUT);
        }
    }

    /// Watches for a disconnect of the client while its input is not read because the server does not
    /// read. Terminates a server that makes no progress for too long after that.
    pub(crate) fn watch_client(&self, input: &File) {
        let mut watched = [PollFd::new(input, PollFlags::empty())];
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        let drain_timeout = self.limits.grace * DRAIN_GRACE_FACTOR;
        let (mut seen, mut since) = (self.progress.load(Ordering::Relaxed), Instant::now());
        while !self.client_is_done.load(Ordering::SeqCst) {
            std::thread::sleep(POLL_INTERVAL);
            let now = self.progress.load(Ordering::Relaxed);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > drain_timeout {
                signal_group(self.signal_forwarder.pid(), Signal::TERM);
                std::thread::sleep(self.limits.grace);
                return signal_group(self.signal_forwarder.pid(), Signal::KILL);
            }
        }
    }
}

/// Whether the client has closed its end of our standard output.
pub(crate) fn client_output_is_closed() -> bool {
    let output = io::stdout();
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    let is_gone = PollFlags::ERR | PollFlags::HUP;
    poll(&mut watched, Some(&Timespec::default())).is_ok()
        && watched.iter().any(|one| one.revents().intersects(is_gone))
}
