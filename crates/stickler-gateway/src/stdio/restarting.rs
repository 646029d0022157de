//! What happens when a server ends, and how another takes its place.

use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stickler::{Code, Era};
use stickler_transport::{Backoff, Process, RestartWhen, ServerCommand, signal_group};

use super::{BEAT, Shared};
use crate::handshake::Reply;
use tracing::{error, info, warn};

/// How long a server that was started again has for the handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);

impl Shared {
    pub(super) fn may_restart(&self) -> bool {
        self.keeping.restart.when != RestartWhen::Never
    }

    /// Nobody wants a server any more.
    pub(super) fn is_over(&self) -> bool {
        self.addressee.was_signalled() || self.is_alone.load(Ordering::SeqCst)
    }

    /// Every request in flight is answered; what comes from now on is for the next server.
    pub(super) fn lose_server(&self, is_failure: bool, reason: &str) {
        if is_failure {
            warn!(parent: self.log.span(), "{reason}");
        } else {
            info!(parent: self.log.span(), "{reason}");
        }
        self.addressee.set(0);
        self.is_shaking.store(false, Ordering::SeqCst);
        let outbox = {
            let mut gatekeeper = self.gatekeeper();
            let now = self.started.elapsed();
            let outbox = gatekeeper.server_gone(Code::ServerGone, reason, now);
            gatekeeper.server_replaced();
            self.number.fetch_add(1, Ordering::SeqCst);
            outbox
        };
        self.say_last(outbox);
    }

    /// Starts the server again after a pause; `None` when nobody wants it any more, or it will not.
    pub(super) fn start_again(
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
                "the server failed; start {failures} of a new one in {seconds} s"
            );
            let end = Instant::now() + pause;
            while Instant::now() < end {
                if self.is_over() {
                    return None;
                }
                std::thread::sleep(BEAT.min(end.saturating_duration_since(Instant::now())));
            }
            if self.is_over() {
                return None;
            }
            match command.start(self.log.span()) {
                Ok((server, stdin, stdout)) => {
                    self.addressee.set(server.pid());
                    self.greet(stdin);
                    return Some((server, stdout));
                }
                Err(error) => {
                    error!(parent: self.log.span(), rule = "STK-101", "[STK-101] cannot start it: {error}");
                    pause = backoff.next(Duration::ZERO)?;
                }
            }
        }
    }

    /// A new server is given the handshake that the client had with the old one.
    fn greet(&self, stdin: ChildStdin) {
        let is_legacy =
            self.gatekeeper().agreed_revision().is_some_and(|one| one.era() == Era::Legacy);
        let greeting = self.handshake().replay().filter(|_| is_legacy);
        self.is_shaking.store(greeting.is_some(), Ordering::SeqCst);
        self.server.shake(stdin, greeting.as_deref());
        if greeting.is_none() {
            return;
        }
        let (number, pid) = (self.number.load(Ordering::SeqCst), self.addressee.pid());
        if let Some(shared) = self.me.upgrade() {
            std::thread::spawn(move || {
                if shared.server.is_stuck(number, HANDSHAKE) {
                    warn!(parent: shared.log.span(), "the new server does not answer the handshake");
                    signal_group(pid, Signal::KILL);
                }
            });
        }
    }

    /// Whether a line of the server's was the answer to the handshake that it was given again.
    pub(super) fn is_greeted(&self, line: &[u8]) -> bool {
        let handshake = self.handshake();
        let Some(reply) = handshake.answer(line) else { return false };
        self.is_shaking.store(false, Ordering::SeqCst);
        match reply {
            Reply::Agreed(version) => {
                let agreed = self.gatekeeper().agreed_revision();
                if agreed.is_some_and(|agreed| agreed.as_str() != version) {
                    warn!(
                        parent: self.log.span(),
                        "the new server speaks `{version}`, the old one did not"
                    );
                }
                info!(parent: self.log.span(), "the new server is ready");
                self.server.open(handshake.confirmation());
            }
            Reply::Refused(reason) => {
                warn!(
                    parent: self.log.span(),
                    "the new server rejects the client's handshake: {reason}"
                );
                signal_group(self.addressee.pid(), Signal::KILL);
            }
        }
        true
    }
}
