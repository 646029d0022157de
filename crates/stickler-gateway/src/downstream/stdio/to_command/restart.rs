//! Handles the exit of a server and restarts it.

use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stickler::{Code, Era};
use stickler_transport::{Backoff, Process, RestartWhen, ServerCommand, signal_group};

use crate::downstream::stdio::to_command::{POLL_INTERVAL, Shared};
use crate::upstream::process::handshake::Reply;
use tracing::{error, info, warn};

/// Maximum time for the replayed handshake of a restarted server.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

impl Shared {
    pub(crate) fn may_restart(&self) -> bool {
        self.limits.restart.when != RestartWhen::Never
    }

    /// Whether the relay is ending, so that no server is needed.
    pub(crate) fn is_ending(&self) -> bool {
        self.signal_forwarder.was_signalled() || self.client_is_done.load(Ordering::SeqCst)
    }

    /// Answers all pending requests with errors. Later messages are for the next generation.
    pub(crate) fn server_exited(&self, is_failure: bool, reason: &str) {
        if is_failure {
            warn!(parent: self.log.span(), "{reason}");
        } else {
            info!(parent: self.log.span(), "{reason}");
        }
        self.signal_forwarder.set(0);
        self.handshake_is_pending.store(false, Ordering::SeqCst);
        let actions = {
            let mut connection = self.connection();
            let now = self.started.elapsed();
            let actions = connection.server_gone(Code::ServerGone, reason, now);
            connection.server_replaced();
            self.generation.fetch_add(1, Ordering::SeqCst);
            actions
        };
        self.deliver_final(actions);
    }

    /// Restarts the server after a delay. Returns `None` if the relay is ending or the backoff gives up.
    pub(crate) fn restart(
        &self,
        command: &ServerCommand,
        mut pause: Duration,
        backoff: &mut Backoff,
    ) -> Option<(Process, ChildStdout)> {
        loop {
            let seconds = pause.as_secs_f64();
            let failures = backoff.failures();
            warn!(
                parent: self.log.span(),
                "server failed; restart attempt {failures} in {seconds} s"
            );
            let end = Instant::now() + pause;
            while Instant::now() < end {
                if self.is_ending() {
                    return None;
                }
                std::thread::sleep(
                    POLL_INTERVAL.min(end.saturating_duration_since(Instant::now())),
                );
            }
            if self.is_ending() {
                return None;
            }
            match command.start(self.log.span()) {
                Ok((server, stdin, stdout)) => {
                    self.log.server_restarted();
                    self.signal_forwarder.set(server.pid());
                    self.replay_handshake(stdin);
                    return Some((server, stdout));
                }
                Err(error) => {
                    error!(parent: self.log.span(), rule = "STK-101", "[STK-101] cannot restart the server: {error}");
                    pause = backoff.next(Duration::ZERO)?;
                }
            }
        }
    }

    /// Replays the client's handshake to a restarted server.
    fn replay_handshake(&self, stdin: ChildStdin) {
        let is_legacy =
            self.connection().agreed_revision().is_some_and(|one| one.era() == Era::Legacy);
        let initialize = self.handshake().replay().filter(|_| is_legacy);
        self.handshake_is_pending.store(initialize.is_some(), Ordering::SeqCst);
        self.server.begin_handshake(stdin, initialize.as_deref());
        if initialize.is_none() {
            return;
        }
        let (generation, pid) =
            (self.generation.load(Ordering::SeqCst), self.signal_forwarder.pid());
        if let Some(shared) = self.weak_self.upgrade() {
            std::thread::spawn(move || {
                if shared.server.handshake_timed_out(generation, HANDSHAKE_TIMEOUT) {
                    warn!(parent: shared.log.span(), "the restarted server does not respond to the handshake");
                    signal_group(pid, Signal::KILL);
                }
            });
        }
    }

    /// Handles the response to the replayed handshake. Returns false if the line is another message.
    pub(crate) fn is_handshake_response(&self, line: &[u8]) -> bool {
        let handshake = self.handshake();
        let Some(reply) = handshake.response(line) else { return false };
        self.handshake_is_pending.store(false, Ordering::SeqCst);
        match reply {
            Reply::Accepted(version) => {
                let agreed = self.connection().agreed_revision();
                if agreed.is_some_and(|agreed| agreed.as_str() != version) {
                    warn!(
                        parent: self.log.span(),
                        "the restarted server uses protocol version `{version}`, unlike the previous one"
                    );
                }
                info!(parent: self.log.span(), "the restarted server is ready");
                self.server.complete_handshake(handshake.confirmation());
            }
            Reply::Rejected(reason) => {
                warn!(
                    parent: self.log.span(),
                    "the restarted server rejected the handshake: {reason}"
                );
                signal_group(self.signal_forwarder.pid(), Signal::KILL);
            }
        }
        true
    }
}
