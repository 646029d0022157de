//! Transport to the checked server: a child process or a URL.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stickler::McpValidator;
use stickler_protocol::frame::Frame;
use stickler_transport::http::{ProbeClient, ProbeEvent};
use stickler_transport::{ExitCause, Process, Server, ServerCommand, exit_on_signals};

use super::{SERVER, Setup};
use crate::exit::Failure;
use crate::lines::Lines;

/// Capacity of the event queue; a full queue applies backpressure to the server.
const EVENT_QUEUE_CAPACITY: usize = 1024;

/// Number of the last lines of standard error that are kept for error messages.
const MAX_STDERR_LINES: usize = 12;

/// Longer lines of standard error are split.
const MAX_STDERR_LINE_BYTES: u64 = 64 << 10;

/// Maximum length of a kept line of standard error.
const MAX_STDERR_LINE_CHARS: usize = 400;

/// Interval at which the remaining processes are counted.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time for child processes of the server to exit after it.
const CHILD_EXIT_GRACE: Duration = Duration::from_secs(1);

/// A connection to the checked server.
pub(super) struct Connection {
    transport: Transport,
    events: Receiver<ProbeEvent>,
}

enum Transport {
    Process { process: Process, input: Sender<Vec<u8>>, stderr_tail: StderrTail },
    Url(ProbeClient),
}

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
        let (sender, events) = sync_channel(EVENT_QUEUE_CAPACITY);
        let limit = setup.validator.config().limits.message_bytes;
        let transport = match &setup.server {
            Server::Command(command) => spawn(command, sender, limit)?,
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
        Ok(Self { transport, events })
    }

    /// Sends a message. Errors surface as missing responses.
    pub(super) fn send(&self, message: &[u8]) {
        match &self.transport {
            Transport::Process { input, .. } => drop(input.send(message.to_vec())),
            Transport::Url(client) => client.post(message),
        }
    }

    /// Returns the next event; `None` after `wait`.
    pub(super) fn receive(&self, wait: Duration) -> Option<ProbeEvent> {
        match self.events.recv_timeout(wait) {
            Ok(events) => Some(events),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(ProbeEvent::Ended("the server exited".to_owned()))
            }
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
        let Self { transport, events } = self;
        // Drains the queue, so that a server that is still writing is not blocked until it exits.
        std::thread::spawn(move || events.into_iter().for_each(drop));
        match transport {
            Transport::Url(client) => {
                client.close(grace);
                None
            }
            Transport::Process { mut process, input, .. } => {
                drop(input);
                let (_, ending) = process.shutdown(grace).ok()?;
                let orphans = remaining_processes(&process, ending);
                process.terminate_group();
                Some(ServerExit {
                    is_voluntary: ending == ExitCause::Voluntary,
                    killed: ending == ExitCause::Killed,
                    seconds: grace.as_secs(),
                    orphans,
                })
            }
        }
    }
}

/// Returns how many processes of the group are left after a grace period.
fn remaining_processes(process: &Process, ending: ExitCause) -> usize {
    if ending == ExitCause::Killed {
        return 0;
    }
    let deadline = Instant::now() + CHILD_EXIT_GRACE;
    loop {
        let left = process.other_group_members();
        if left == 0 || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn spawn(
    command: &ServerCommand,
    events: SyncSender<ProbeEvent>,
    limit: usize,
) -> Result<Transport, Failure> {
    let started = command.start_with_stderr().map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot start `{}`: {error}", command.program))
    })?;
    let (process, stdin, stdout, stderr) = started;
    exit_on_signals(process.pid()).map_err(Failure::Output)?;
    let stderr_tail = StderrTail::default();
    let (input, messages) = channel();
    std::thread::spawn(move || write_lines(stdin, &messages));
    std::thread::spawn(move || read_lines(stdout, &events, limit));
    let tail = Arc::clone(&stderr_tail);
    std::thread::spawn(move || collect_stderr(stderr, &tail));
    Ok(Transport::Process { process, input, stderr_tail })
}

fn write_lines(mut stdin: ChildStdin, messages: &Receiver<Vec<u8>>) {
    for mut message in messages {
        message.push(b'\n');
        if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, events: &SyncSender<ProbeEvent>, limit: usize) {
    let mut lines = Lines::new(stdout, limit);
    while lines.fill().unwrap_or(false) {
        while let Some(frame) = lines.next() {
            let event = match frame {
                Frame::Line(line) => ProbeEvent::Message(line.to_vec()),
                Frame::TooLong { partial, .. } => ProbeEvent::TooLong(partial),
            };
            if events.send(event).is_err() {
                return;
            }
        }
    }
}

fn collect_stderr(stderr: ChildStderr, tail: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader
        .by_ref()
        .take(MAX_STDERR_LINE_BYTES)
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        let text = crate::style::printable(
            String::from_utf8_lossy(&line).trim_end(),
            MAX_STDERR_LINE_CHARS,
        );
        let mut lines = tail.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(text);
        if lines.len() > MAX_STDERR_LINES {
            lines.pop_front();
        }
        line.clear();
    }
}
