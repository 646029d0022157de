//! A server process, and the task that listens to it.

use std::io;
use std::os::fd::OwnedFd;
use std::process::ChildStdout;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stickler_protocol::frame::{Frame, LineFramer};
use stickler_transport::{Process as Server, ServerCommand};
use tokio::net::unix::pipe;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior};
use tracing::{Span, info, warn};

use super::conversation::{Conversation, Link};
use super::pipe::Pipe;
use crate::log::Log;

/// Bytes asked for at once.
const CHUNK: usize = 64 << 10;

/// How often it is looked whether a server that says nothing is still there.
const LOOK: Duration = Duration::from_millis(500);

/// So often output is waited for that may still come when it is not.
const QUIET_LOOKS: u32 = 2;

/// A running server.
pub(super) struct Process {
    pub(super) pipe: Arc<Pipe>,
    /// Taken by whoever sees it out.
    server: Mutex<Option<Server>>,
    grace: Duration,
    began: Instant,
    /// Once it has ended: whether as it should, and when.
    ended: Mutex<Option<(bool, Instant)>>,
    /// One of the children that there may be.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Who listens to a server.
pub(super) trait Listener: Send + Sync + 'static {
    /// Takes a line in; ready when there is room for the next.
    fn line(&self, frame: Frame<'_>) -> impl Future<Output = ()> + Send;
    /// The server has gone.
    fn gone(&self, reason: &str) -> impl Future<Output = ()> + Send;
}

impl Process {
    pub(super) fn start(
        command: &ServerCommand,
        grace: Duration,
        permit: OwnedSemaphorePermit,
        span: &Span,
    ) -> io::Result<(Arc<Self>, ChildStdout)> {
        let (server, stdin, stdout) = command.start(span)?;
        let pipe = Pipe::new(stdin)?;
        let process = Self {
            pipe,
            server: Mutex::new(Some(server)),
            grace,
            began: Instant::now(),
            ended: Mutex::default(),
            permit: Mutex::new(Some(permit)),
        };
        Ok((Arc::new(process), stdout))
    }

    /// Whether it has been told to end, or has ended.
    pub(super) fn is_ending(&self) -> bool {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Whether its process has ended. What it left behind in its group is told to end, too.
    fn has_ended(&self) -> bool {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        match &*server {
            Some(server) => {
                // A program that only starts the server ends well, and leaves it the pipe.
                let is_gone = |is_good: bool| !is_good || !self.pipe.is_read();
                let has_ended = server.ending().is_some_and(is_gone);
                if has_ended {
                    server.clean_up();
                }
                has_ended
            }
            None => self.ended.lock().unwrap_or_else(PoisonError::into_inner).is_some(),
        }
    }

    /// How long it ran, and when it ended, if it ended as it should not or is still about to end.
    pub(super) fn failure(&self) -> Option<(Duration, Instant)> {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_good, moment) = ended.unwrap_or_else(|| (false, Instant::now()));
        (!is_good).then(|| (moment - self.began, moment))
    }

    /// Ends the server: its input is closed, then it is told to go, then it is made to.
    pub(super) async fn end(&self) -> Option<String> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut server = server?;
        self.pipe.close();
        let grace = self.grace;
        let status = tokio::task::spawn_blocking(move || server.end(grace)).await;
        self.pipe.abandon();
        let is_good = matches!(&status, Ok(Ok(status)) if status.success());
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((is_good, Instant::now()));
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        match status {
            Ok(Ok(status)) => Some(format!("the server ended with {status}")),
            _ => Some("the server ended".to_owned()),
        }
    }
}

/// Everything a server says, until it says no more.
pub(super) async fn listen(
    process: Arc<Process>,
    stdout: ChildStdout,
    listener: impl Listener,
    (message_bytes, log): (usize, Log),
) {
    if let Ok(output) = pipe::Receiver::from_owned_fd(OwnedFd::from(stdout)) {
        read(&process, &output, &listener, message_bytes).await;
    }
    let reason = process.end().await;
    let is_failure = reason.is_some() && process.failure().is_some();
    let reason = reason.as_deref().unwrap_or("the server was ended");
    if is_failure {
        warn!(parent: log.span(), "{reason}");
    } else {
        info!(parent: log.span(), "{reason}");
    }
    listener.gone(reason).await;
}

/// To the end of the output, or of the process: what a server has started may hold its output open when
/// it is gone.
async fn read(
    process: &Process,
    output: &pipe::Receiver,
    listener: &impl Listener,
    message_bytes: usize,
) {
    let mut framer = LineFramer::new(message_bytes);
    let mut chunk = vec![0; CHUNK];
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut quiet_looks = 0;
    loop {
        let read = match output.try_read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tokio::select! {
                    biased;
                    ready = output.readable() => match ready {
                        Ok(()) => quiet_looks = 0,
                        Err(_) => return,
                    },
                    _ = looks.tick() => {
                        quiet_looks = if process.has_ended() { quiet_looks + 1 } else { 0 };
                        if quiet_looks > QUIET_LOOKS {
                            return;
                        }
                    }
                }
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        framer.push(chunk.get(..read).unwrap_or_default());
        loop {
            let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
            let Some(frame) = frame else { break };
            listener.line(frame).await;
        }
        if read == 0 {
            return;
        }
    }
}

/// A conversation has its server for itself.
impl Listener for Arc<Conversation> {
    async fn line(&self, frame: Frame<'_>) {
        let heard = self.hear(frame);
        self.pass(heard).await;
    }

    async fn gone(&self, reason: &str) {
        self.server_gone(reason).await;
    }
}

/// Straight into the pipe.
pub(super) struct ToPipe(pub(super) Arc<Pipe>);

impl Link for ToPipe {
    fn send(&self, conversation: &Arc<Conversation>, message: Bytes) {
        if conversation.mail().is_busy() {
            self.0.send_along(message);
        } else {
            self.0.send(message);
        }
    }
}
