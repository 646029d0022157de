//! Transport to the checked server: a child process or a URL.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stickler::McpValidator;
use stickler_protocol::frame::Frame;
use stickler_transport::http::{ProbeClient, ProbeEvent};
use stickler_transport::{
    ExitCause, OutputHandler, Process, Server, ServerCommand, StderrOutput, SupervisedProcess,
    exit_on_signals, read_output,
};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{sleep, timeout};
use tracing::Span;

use super::{SERVER, Setup};
use crate::exit::Failure;

/// Capacity of the event queue; a full queue applies backpressure to the server.
const EVENT_QUEUE_CAPACITY: usize = 1024;

/// Number of the last lines of standard error that are kept for error messages.
const MAX_STDERR_LINES: usize = 12;

/// Maximum length of a kept line of standard error.
const MAX_STDERR_LINE_CHARS: usize = 400;

/// Interval at which the remaining processes are counted.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time for child processes of the server to exit after it.
const CHILD_EXIT_GRACE: Duration = Duration::from_secs(1);

/// A connection to the checked server. Its runtime reads and writes in the background.
pub(super) struct Connection {
    runtime: Runtime,
    transport: Transport,
    events: Receiver<ProbeEvent>,
}

enum Transport {
    Process { process: Arc<SupervisedProcess>, stderr_tail: StderrTail },
    Url(ProbeClient),
}

/// Passes the output of the server on as events.
struct EventSender(Sender<ProbeEvent>);

type StderrTail = Arc<Mutex<VecDeque<String>>>;

/// How a server process exited.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerExit {
    pub(super) is_voluntary: bool,
    pub(super) killed: bool,
    pub(super) seconds: u64,
    /// Processes in its group that were still running.
    pub(super) orphans: usize,
}

impl Connection {
    pub(super) fn open(setup: &Setup) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(Failure::Output)?;
        let (sender, events) = channel(EVENT_QUEUE_CAPACITY);
        let limit = setup.validator.config().limits.message_bytes;
        let entered = runtime.enter();
        let transport = match &setup.server {
            Server::Command(command) => start(command, setup.timeout, sender, limit)?,
            Server::Url(url, _) => {
                let validator: Arc<McpValidator> = Arc::clone(&setup.validator);
                let schema = move |tool: &str| {
                    validator.cache().get(SERVER, tool).map(|cached| cached.raw.clone())
                };
                let client =
                    ProbeClient::new(url.clone(), setup.token.as_deref(), limit, schema, sender);
                Transport::Url(client.map_err(|error| {
                    Failure::Unreachable(format!("[STK-101] cannot reach `{url}`: {error}"))
                })?)
            }
        };
        drop(entered);
        Ok(Self { runtime, transport, events })
    }

    /// Sends a message. Errors surface as missing responses.
    pub(super) fn send(&self, message: &[u8]) {
        match &self.transport {
            Transport::Process { process, .. } => process.pipe.send(message.to_vec().into()),
            Transport::Url(client) => {
                self.runtime.spawn(client.post(message));
            }
        }
    }

    /// Returns the next event; `None` after `wait`.
    pub(super) fn receive(&mut self, wait: Duration) -> Option<ProbeEvent> {
        match self.runtime.block_on(async { timeout(wait, self.events.recv()).await }) {
            Ok(Some(event)) => Some(event),
            Ok(None) => Some(ProbeEvent::Ended("the server exited".to_owned())),
            Err(_) => None,
        }
    }

    pub(super) fn is_stdio(&self) -> bool {
        matches!(self.transport, Transport::Process { .. })
    }

    /// Sets the negotiated revision, which is a header of every HTTP request.
    pub(super) fn set_revision(&self, revision: Option<stickler::Revision>) {
        if let Transport::Url(client) = &self.transport {
            client.set_revision(revision);
        }
    }

    /// Returns the last lines of the standard error of the server.
    pub(super) fn stderr_tail(&self) -> String {
        match &self.transport {
            Transport::Process { stderr_tail, .. } => {
                let lines = stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
                lines.iter().fold(String::new(), |text, line| text + "\n  | " + line)
            }
            Transport::Url(_) => String::new(),
        }
    }

    /// Closes the connection and returns how the process exited, if there is one.
    pub(super) fn shutdown(self, grace: Duration) -> Option<ServerExit> {
        let Self { runtime, transport, mut events } = self;
        // Drains the queue, so that a server that is still writing is not blocked until it exits.
        runtime.spawn(async move { while events.recv().await.is_some() {} });
        let exit = runtime.block_on(async {
            match transport {
                Transport::Url(client) => {
                    let _ = timeout(grace, client.close()).await;
                    None
                }
                Transport::Process { process, .. } => {
                    let mut process = process.take()?;
                    let (_, ending) = process.shutdown(grace).await.ok()?;
                    let orphans = remaining_processes(&process, ending).await;
                    process.terminate_group();
                    Some(ServerExit {
                        is_voluntary: ending == ExitCause::Voluntary,
                        killed: ending == ExitCause::Killed,
                        seconds: grace.as_secs(),
                        orphans,
                    })
                }
            }
        });
        runtime.shutdown_background();
        exit
    }
}

/// Returns how many processes of the group are left after a grace period.
async fn remaining_processes(process: &Process, ending: ExitCause) -> usize {
    if ending == ExitCause::Killed {
        return 0;
    }
    let deadline = Instant::now() + CHILD_EXIT_GRACE;
    loop {
        let left = process.other_group_members();
        if left == 0 || Instant::now() > deadline {
            return left;
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Starts the server on the current runtime.
fn start(
    command: &ServerCommand,
    grace: Duration,
    events: Sender<ProbeEvent>,
    limit: usize,
) -> Result<Transport, Failure> {
    let stderr_tail = StderrTail::default();
    let tail = Arc::clone(&stderr_tail);
    let stderr = StderrOutput::Lines(Box::new(move |line| keep_line(&tail, line)));
    let started = SupervisedProcess::start(command, grace, stderr, None);
    let (process, stdout) = started.map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot start `{}`: {error}", command.program))
    })?;
    exit_on_signals(process.pid()).map_err(Failure::Output)?;
    let handler = Arc::new(EventSender(events));
    tokio::spawn(read_output(Arc::clone(&process), stdout, handler, (limit, Span::none())));
    Ok(Transport::Process { process, stderr_tail })
}

impl OutputHandler for EventSender {
    async fn on_frame(self: &Arc<Self>, frame: Frame<'_>) {
        let event = match frame {
            Frame::Line(line) => ProbeEvent::Message(line.to_vec()),
            Frame::TooLong { partial, .. } => ProbeEvent::TooLong(partial),
        };
        // The receiver is closed after the check.
        let _ = self.0.send(event).await;
    }

    fn expects_exit(&self) -> bool {
        true
    }

    async fn on_exit(self: &Arc<Self>, _: &str) {}
}

fn keep_line(tail: &Mutex<VecDeque<String>>, line: &str) {
    let text = crate::style::printable(line, MAX_STDERR_LINE_CHARS);
    let mut lines = tail.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push_back(text);
    if lines.len() > MAX_STDERR_LINES {
        lines.pop_front();
    }
}
