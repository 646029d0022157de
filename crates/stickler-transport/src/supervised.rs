//! A supervised server process: its pipe, the task that reads its output, and its graceful shutdown.
//!
//! Contract: the process is reaped, and its process group ends with it. Output is read until it ends, or until the
//! process has exited and its output stays idle: a descendant may keep the pipe open.

use std::io;
use std::process::{ChildStdout, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use stickler_protocol::frame::Frame;
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep};
use tracing::{Span, info, warn};

use crate::child::{Process, ServerCommand, signal_group};
use crate::nonblocking::{Input, LineReader, Output};
use crate::pipe::Pipe;
use crate::stderr::StderrOutput;

/// Interval for checking whether the output of a process that has exited is idle.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Interval for checking whether a signalled server has exited.
const SIGNALLED_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Idle polls before the output of an exited process is considered complete.
const MAX_IDLE_POLLS: u32 = 2;

/// A running server process.
pub struct SupervisedProcess {
    /// The standard input of the process.
    pub pipe: Arc<Pipe>,
    /// Taken by the task that shuts the process down.
    server: Mutex<Option<Process>>,
    pid: u32,
    grace: Duration,
    started: Instant,
    ended: watch::Sender<Option<Exit>>,
    /// Counts against the limit of server processes; released at exit.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// How and when a process exited.
#[derive(Debug, Clone, Copy)]
struct Exit {
    /// `None` if the status is not known.
    status: Option<ExitStatus>,
    at: Instant,
}

/// Handles the output of a server process.
pub trait OutputHandler: Send + Sync + 'static {
    /// Handles a line. Reading continues when the future completes, which applies backpressure.
    fn on_frame(self: &Arc<Self>, frame: Frame<'_>) -> impl Future<Output = ()> + Send;
    /// Called after the lines that were read together.
    fn on_chunk_end(&self) {}
    /// Whether an exit now is not a failure.
    fn expects_exit(&self) -> bool {
        false
    }
    /// Handles the exit of the server.
    fn on_exit(self: &Arc<Self>, reason: &str) -> impl Future<Output = ()> + Send;
}

impl SupervisedProcess {
    /// Starts a server. A permit is released when it has exited.
    pub fn start(
        command: &ServerCommand,
        grace: Duration,
        stderr: StderrOutput,
        permit: Option<OwnedSemaphorePermit>,
    ) -> io::Result<(Arc<Self>, ChildStdout)> {
        let (server, stdin, stdout) = command.start(stderr)?;
        let pipe = Pipe::new(Output::new(stdin)?);
        let process = Self {
            pipe,
            pid: server.pid(),
            server: Mutex::new(Some(server)),
            grace,
            started: Instant::now(),
            ended: watch::Sender::new(None),
            permit: Mutex::new(permit),
        };
        Ok((Arc::new(process), stdout))
    }

    fn server(&self) -> MutexGuard<'_, Option<Process>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the process id, which is also the process group id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process is shutting down or has exited.
    pub fn is_ending(&self) -> bool {
        self.server().is_none()
    }

    /// Whether the process has exited. Terminates the rest of its process group if so.
    fn has_ended(&self) -> bool {
        match &*self.server() {
            Some(server) => {
                // A launcher exits successfully and leaves the pipe to the server it started.
                let is_gone = |success: bool| !success || !self.pipe.has_reader();
                let has_ended = server.exit_success().is_some_and(is_gone);
                if has_ended {
                    server.terminate_group();
                }
                has_ended
            }
            None => self.ended.borrow().is_some(),
        }
    }

    /// Whether the process itself has exited or is shutting down, though its output may still be open.
    fn has_exited(&self) -> bool {
        self.server().as_ref().is_none_or(|server| server.exit_success().is_some())
    }

    /// Returns the run time and the exit time if the process failed. A process that is still shutting down
    /// counts as failed.
    pub fn failure(&self) -> Option<(Duration, Instant)> {
        let ended = *self.ended.borrow();
        let Exit { status, at } = ended.unwrap_or(Exit { status: None, at: Instant::now() });
        let is_success = status.is_some_and(|status| status.success());
        (!is_success).then(|| (at - self.started, at))
    }

    /// Waits for the exit and returns the status, if it is known.
    pub async fn exit_status(&self) -> Option<ExitStatus> {
        let mut ended = self.ended.subscribe();
        ended.wait_for(Option::is_some).await.ok().and_then(|exit| exit.and_then(|one| one.status))
    }

    /// Waits until the process itself has exited, though its output may still be open.
    pub async fn exited(&self) {
        let has_exited = || match &*self.server() {
            Some(server) => server.exit_success().is_some(),
            None => self.ended.borrow().is_some(),
        };
        while !has_exited() {
            sleep(SIGNALLED_POLL_INTERVAL).await;
        }
    }

    /// Sends a signal to the server and its descendants, unless it has exited.
    pub fn signal(&self, signal: Signal) {
        if self.ended.borrow().is_none() {
            signal_group(self.pid, signal);
        }
    }

    /// Kills the server and its descendants. The task that reads its output reaps it.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Takes the process from its supervisor; the caller shuts it down. `None` if a shutdown has already started.
    pub fn take(&self) -> Option<Process> {
        let server = self.server().take();
        if server.is_some() {
            self.pipe.close();
        }
        server
    }

    /// Shuts the server down: closes its input, then sends SIGTERM and SIGKILL after a grace period each.
    /// Returns `None` if a shutdown has already started.
    pub async fn end(self: &Arc<Self>) -> Option<String> {
        let mut server = self.take()?;
        let process = Arc::clone(self);
        // In a task, so that the shutdown continues if its caller does not wait for it.
        let status = tokio::spawn(async move {
            let status = server.end(process.grace).await.ok();
            process.pipe.abandon();
            process.ended.send_replace(Some(Exit { status, at: Instant::now() }));
            drop(process.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
            status
        });
        match status.await {
            Ok(Some(status)) => Some(format!("the server ended with {status}")),
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
    if let Ok(output) = Input::new(stdout) {
        read(&process, LineReader::new(output, message_bytes), &handler).await;
    }
    let reason = process.end().await;
    let is_failure = reason.is_some() && process.failure().is_some() && !handler.expects_exit();
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
    mut output: LineReader,
    handler: &Arc<impl OutputHandler>,
) {
    let mut exit = ExitWatch::new(process);
    let mut idle_polls = 0;
    loop {
        let is_open = tokio::select! {
            biased;
            is_open = output.fill() => is_open,
            () = exit.next_poll() => {
                idle_polls = if process.has_ended() { idle_polls + 1 } else { 0 };
                if idle_polls > MAX_IDLE_POLLS {
                    return;
                }
                continue;
            }
        };
        idle_polls = 0;
        while let Some(frame) = output.next_frame() {
            handler.on_frame(frame).await;
        }
        handler.on_chunk_end();
        if !is_open {
            return;
        }
    }
}

/// Notices the exit of a process by SIGCHLD, and polls only after that.
///
/// While the process runs, no timer is set: every wait for a message would arm and disarm it, which costs 4 % of a
/// round trip on stdio, and an idle gateway would wake up for it.
struct ExitWatch<'p> {
    process: &'p SupervisedProcess,
    /// Received when any child exits; `None` if the handler cannot be installed.
    children: Option<unix::Signal>,
    has_exited: bool,
}

impl<'p> ExitWatch<'p> {
    fn new(process: &'p SupervisedProcess) -> Self {
        let children = signal(SignalKind::child()).ok();
        // Checked after the handler is installed, so that no exit is missed.
        let has_exited = children.is_none() || process.has_exited();
        Self { process, children, has_exited }
    }

    /// Waits for the exit, then for the time of the next poll.
    async fn next_poll(&mut self) {
        while !self.has_exited {
            match &mut self.children {
                Some(children) => drop(children.recv().await),
                None => break,
            }
            self.has_exited = self.process.has_exited();
        }
        sleep(EXIT_POLL_INTERVAL).await;
    }
}
