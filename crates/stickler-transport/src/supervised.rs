//! A supervised server process on tokio: its pipe, the task that reads its output, and its graceful shutdown.
//!
//! Contract: the process is reaped, and its process group ends with it. Output is read until it ends, or until the
//! process has exited and its output stays idle: a descendant may keep the pipe open.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use stickler_protocol::frame::{Frame, LineFramer};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior};
use tracing::{Span, info, warn};

use crate::child::{Process, ServerCommand, signal_group};
use crate::pipe::Pipe;

/// Size of the read buffer in bytes.
const READ_CHUNK_BYTES: usize = 64 << 10;

/// Interval for checking whether an idle server has exited.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Idle polls before the output of an exited process is considered complete.
const MAX_IDLE_POLLS: u32 = 2;

/// A running server process.
pub struct SupervisedProcess {
    /// The standard input of the process.
    pub pipe: Arc<Pipe>,
    /// Taken by the task that shuts the process down.
    server: Mutex<Option<Process>>,
    grace: Duration,
    started: Instant,
    /// Whether the process exited successfully, and when.
    ended: Mutex<Option<(bool, Instant)>>,
    /// Counts against the limit of server processes; released at exit.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Handles the output of a server process.
pub trait OutputHandler: Send + Sync + 'static {
    /// Handles a line. Reading continues when the future completes, which applies backpressure.
    fn on_frame(self: &Arc<Self>, frame: Frame<'_>) -> impl Future<Output = ()> + Send;
    /// Handles the exit of the server.
    fn on_exit(self: &Arc<Self>, reason: &str) -> impl Future<Output = ()> + Send;
}

impl SupervisedProcess {
    /// Starts a server and logs its standard error within `span`. The permit is released when it has exited.
    pub fn start(
        command: &ServerCommand,
        grace: Duration,
        permit: OwnedSemaphorePermit,
        span: &Span,
    ) -> io::Result<(Arc<Self>, ChildStdout)> {
        Self::supervise(command.start(span)?, grace, Some(permit))
    }

    /// Starts a server that inherits standard error.
    pub fn start_with_inherited_stderr(
        command: &ServerCommand,
        grace: Duration,
    ) -> io::Result<(Arc<Self>, ChildStdout)> {
        Self::supervise(command.start_with_inherited_stderr()?, grace, None)
    }

    fn supervise(
        (server, stdin, stdout): (Process, ChildStdin, ChildStdout),
        grace: Duration,
        permit: Option<OwnedSemaphorePermit>,
    ) -> io::Result<(Arc<Self>, ChildStdout)> {
        let pipe = Pipe::new(stdin)?;
        let process = Self {
            pipe,
            server: Mutex::new(Some(server)),
            grace,
            started: Instant::now(),
            ended: Mutex::default(),
            permit: Mutex::new(permit),
        };
        Ok((Arc::new(process), stdout))
    }

    /// Whether the process is shutting down or has exited.
    pub fn is_ending(&self) -> bool {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Whether the process has exited. Terminates the rest of its process group if so.
    fn has_ended(&self) -> bool {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        match &*server {
            Some(server) => {
                // A launcher exits successfully and leaves the pipe to the server it started.
                let is_gone = |success: bool| !success || !self.pipe.has_reader();
                let has_ended = server.exit_success().is_some_and(is_gone);
                if has_ended {
                    server.terminate_group();
                }
                has_ended
            }
            None => self.ended.lock().unwrap_or_else(PoisonError::into_inner).is_some(),
        }
    }

    /// Returns the run time and the exit time if the process failed. A process that is still shutting down
    /// counts as failed.
    pub fn failure(&self) -> Option<(Duration, Instant)> {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let (success, exited_at) = ended.unwrap_or_else(|| (false, Instant::now()));
        (!success).then(|| (exited_at - self.started, exited_at))
    }

    /// Kills the server and its descendants. The task that reads its output reaps it.
    pub fn kill(&self) {
        if let Some(server) = &*self.server.lock().unwrap_or_else(PoisonError::into_inner) {
            signal_group(server.pid(), Signal::KILL);
        }
    }

    /// Shuts the server down: closes its input, then sends SIGTERM and SIGKILL after a grace period each.
    /// Returns `None` if a shutdown has already started.
    pub async fn end(&self) -> Option<String> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut server = server?;
        self.pipe.close();
        let grace = self.grace;
        let status = tokio::task::spawn_blocking(move || server.end(grace)).await;
        self.pipe.abandon();
        let success = matches!(&status, Ok(Ok(status)) if status.success());
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((success, Instant::now()));
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        match status {
            Ok(Ok(status)) => Some(format!("the server ended with {status}")),
            _ => Some("the server ended".to_owned()),
        }
    }
}

/// Reads the output of a server until it ends, then shuts the process down and reports the exit.
pub async fn read_output(
    process: Arc<SupervisedProcess>,
    stdout: ChildStdout,
    handler: Arc<impl OutputHandler>,
    (message_bytes, span): (usize, Span),
) {
    if let Ok(output) = Receiver::from_owned_fd(OwnedFd::from(stdout)) {
        read(&process, &output, &handler, message_bytes).await;
    }
    let reason = process.end().await;
    let is_failure = reason.is_some() && process.failure().is_some();
    let reason = reason.as_deref().unwrap_or("the server was shut down");
    if is_failure {
        warn!(parent: &span, "{reason}");
    } else {
        info!(parent: &span, "{reason}");
    }
    handler.on_exit(reason).await;
}

/// Reads until the output ends or the process exits: a descendant may keep the output open after the exit.
async fn read(
    process: &SupervisedProcess,
    output: &Receiver,
    handler: &Arc<impl OutputHandler>,
    message_bytes: usize,
) {
    let mut framer = LineFramer::new(message_bytes);
    let mut chunk = vec![0; READ_CHUNK_BYTES];
    let mut exit_poll = tokio::time::interval(EXIT_POLL_INTERVAL);
    exit_poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut idle_polls = 0;
    loop {
        let read = match output.try_read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tokio::select! {
                    biased;
                    ready = output.readable() => match ready {
                        Ok(()) => idle_polls = 0,
                        Err(_) => return,
                    },
                    _ = exit_poll.tick() => {
                        idle_polls = if process.has_ended() { idle_polls + 1 } else { 0 };
                        if idle_polls > MAX_IDLE_POLLS {
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
            handler.on_frame(frame).await;
        }
        if read == 0 {
            return;
        }
    }
}
