//! The way to a server and back: a child process or a URL.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stickler::McpValidator;
use stickler_protocol::frame::Frame;
use stickler_transport::http::{Asker, Heard};
use stickler_transport::{Ending, Process, Server, ServerCommand, end_on_signals};

use super::{SERVER, Setup};
use crate::exit::Failure;
use crate::lines::Lines;

/// Messages of the server's that may wait to be looked at.
const UNHEARD: usize = 1024;

/// Lines of the server's standard error that are kept, for when it cannot be talked to.
const KEPT: usize = 12;

/// Longer lines are taken in parts.
const LONGEST_LINE: u64 = 64 << 10;

/// Characters of such a line that are kept.
const KEPT_BYTES: usize = 400;

/// How often it is looked whether something of the server's is left.
const BEAT: Duration = Duration::from_millis(20);

/// How long whatever the server started has to end after it.
const LINGER: Duration = Duration::from_secs(1);

/// A server that can be talked to.
pub(super) struct Connection {
    way: Way,
    heard: Receiver<Heard>,
}

enum Way {
    Process { process: Process, input: Sender<Vec<u8>>, complaints: Complaints },
    Url(Asker),
}

type Complaints = Arc<Mutex<VecDeque<String>>>;

/// How a server process ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Farewell {
    pub(super) ended_by_itself: bool,
    pub(super) killed: bool,
    pub(super) seconds: u64,
    /// Processes that it left.
    pub(super) left_behind: usize,
}

impl Connection {
    pub(super) fn open(setup: &Setup) -> Result<Self, Failure> {
        let (sender, heard) = sync_channel(UNHEARD);
        let limit = setup.validator.config().limits.message_bytes;
        let way = match &setup.server {
            Server::Command(command) => start(command, sender, limit)?,
            Server::Url(url, _) => {
                let validator: Arc<McpValidator> = Arc::clone(&setup.validator);
                let schema = move |tool: &str| {
                    validator.cache().get(SERVER, tool).map(|cached| cached.raw.clone())
                };
                let asker = Asker::new(url.clone(), setup.token.as_deref(), limit, schema, sender);
                Way::Url(asker.map_err(|error| {
                    Failure::Unreachable(format!("[STK-101] cannot reach `{url}`: {error}"))
                })?)
            }
        };
        Ok(Self { way, heard })
    }

    /// Sends a message. Whether it arrived is seen by what comes back.
    pub(super) fn send(&self, message: &[u8]) {
        match &self.way {
            Way::Process { input, .. } => drop(input.send(message.to_vec())),
            Way::Url(asker) => asker.post(message),
        }
    }

    /// What the server says next; `None` when it says nothing for that long.
    pub(super) fn receive(&self, wait: Duration) -> Option<Heard> {
        match self.heard.recv_timeout(wait) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Heard::Ended("the server ended".to_owned()))
            }
        }
    }

    pub(super) fn is_stdio(&self) -> bool {
        matches!(self.way, Way::Process { .. })
    }

    /// Says which revision was agreed on, where that is part of every message.
    pub(super) fn agree(&self, revision: Option<stickler::Revision>) {
        if let Way::Url(asker) = &self.way {
            asker.agree(revision);
        }
    }

    /// The last that the server wrote to its standard error.
    pub(super) fn complaints(&self) -> String {
        match &self.way {
            Way::Process { complaints, .. } => {
                let lines = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                lines.iter().fold(String::new(), |text, line| text + "\n  | " + line)
            }
            Way::Url(_) => String::new(),
        }
    }

    /// Says goodbye; how a process took it.
    pub(super) fn end(self, grace: Duration) -> Option<Farewell> {
        let Self { way, heard } = self;
        // A server that is still talking must be able to go on until it notices the end.
        std::thread::spawn(move || heard.into_iter().for_each(drop));
        match way {
            Way::Url(asker) => {
                asker.say_goodbye(grace);
                None
            }
            Way::Process { mut process, input, .. } => {
                drop(input);
                let (_, ending) = process.see_off(grace).ok()?;
                let left_behind = linger(&process, ending);
                process.clean_up();
                Some(Farewell {
                    ended_by_itself: ending == Ending::ByItself,
                    killed: ending == Ending::Killed,
                    seconds: grace.as_secs(),
                    left_behind,
                })
            }
        }
    }
}

/// How many processes are left once they had a moment to end.
fn linger(process: &Process, ending: Ending) -> usize {
    if ending == Ending::Killed {
        return 0;
    }
    let deadline = Instant::now() + LINGER;
    loop {
        let left = process.companions();
        if left == 0 || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(BEAT);
    }
}

fn start(command: &ServerCommand, heard: SyncSender<Heard>, limit: usize) -> Result<Way, Failure> {
    let started = command.start_with_stderr().map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot start `{}`: {error}", command.program))
    })?;
    let (process, stdin, stdout, stderr) = started;
    end_on_signals(process.pid()).map_err(Failure::Output)?;
    let complaints = Complaints::default();
    let (input, messages) = channel();
    std::thread::spawn(move || write_lines(stdin, &messages));
    std::thread::spawn(move || read_lines(stdout, &heard, limit));
    let kept = Arc::clone(&complaints);
    std::thread::spawn(move || keep_lines(stderr, &kept));
    Ok(Way::Process { process, input, complaints })
}

fn write_lines(mut stdin: ChildStdin, messages: &Receiver<Vec<u8>>) {
    for mut message in messages {
        message.push(b'\n');
        if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, heard: &SyncSender<Heard>, limit: usize) {
    let mut lines = Lines::new(stdout, limit);
    while lines.fill().unwrap_or(false) {
        while let Some(frame) = lines.next() {
            let said = match frame {
                Frame::Line(line) => Heard::Message(line.to_vec()),
                Frame::TooLong { glimpse, .. } => Heard::TooLong(glimpse),
            };
            if heard.send(said).is_err() {
                return;
            }
        }
    }
}

fn keep_lines(stderr: ChildStderr, kept: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0)
    {
        let text = crate::style::printable(String::from_utf8_lossy(&line).trim_end(), KEPT_BYTES);
        let mut lines = kept.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(text);
        if lines.len() > KEPT {
            lines.pop_front();
        }
        line.clear();
    }
}
