//! Runs programs in their own process groups, with limits on time and output. A program is
//! terminated when its call is cancelled or the server exits.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use stickler_transport::signal_group;

use super::caller::Caller;
use super::capture::Captured;
use super::progress::Progress;
use super::stop::Stop;

/// Interval for polling a process or its output.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long to wait for the end of the output after the program has exited.
const OUTPUT_DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// Grace period between SIGTERM and SIGKILL, in which git removes its lock files.
const TERMINATION_GRACE: Duration = Duration::from_secs(2);

/// The process groups that are running. Clones share the list.
#[derive(Clone, Default)]
pub(crate) struct Running {
    groups: Arc<Mutex<BTreeSet<u32>>>,
    stop: Stop,
    /// The client that is notified of the progress of a program.
    caller: Option<Caller>,
    /// Number of bytes kept of each half of an output; the default if 0.
    half_bytes: usize,
}

/// Why waiting for a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Exited,
    TimedOut,
    Cancelled,
}

/// The outcome of a program.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if the program was terminated by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// Returns a clone for a call of a client, which can be cancelled.
    pub(super) fn for_call(&self, caller: Caller, stop: Stop) -> Self {
        Self { groups: Arc::clone(&self.groups), stop, caller: Some(caller), half_bytes: 0 }
    }

    /// Returns a clone for programs that are not part of a call.
    pub(super) fn for_server(&self) -> Self {
        Self { groups: Arc::clone(&self.groups), ..Self::default() }
    }

    /// Returns a clone that keeps more of the output of programs.
    pub(super) fn capturing(&self, half_bytes: usize) -> Self {
        Self { half_bytes, ..self.clone() }
    }

    /// Returns the cancellation flag of the call.
    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Runs a program until it exits, exceeds its time limit, or the call is cancelled.
    pub(crate) fn run(&self, command: &mut Command, limit: Duration) -> io::Result<Finished> {
        if self.stop.is_set() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the call was cancelled"));
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = child.id();
        self.groups().insert(group);
        let half = self.half_bytes;
        let outputs = [collect(child.stdout.take(), half), collect(child.stderr.take(), half)];
        let caller = self.caller.as_ref().filter(|caller| caller.wants_progress());
        let mut progress = caller.map(|caller| Progress::new(caller, &outputs));
        let ending = wait(&mut child, limit, &self.stop, progress.as_mut());
        if !matches!(ending, Ok(Ending::Exited)) {
            signal_group(group, Signal::TERM);
            let _ = wait(&mut child, TERMINATION_GRACE, &Stop::default(), None);
        }
        // Terminates child processes that the program has left running.
        signal_group(group, Signal::KILL);
        let code = child.wait();
        self.groups().remove(&group);
        let [stdout, stderr] = outputs.map(Output::finish);
        Ok(Finished { code: code?.code(), timed_out: ending? == Ending::TimedOut, stdout, stderr })
    }

    /// Kills all running process groups.
    pub(crate) fn kill_all(&self) {
        for group in self.groups().iter() {
            signal_group(*group, Signal::KILL);
        }
    }

    fn groups(&self) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Finished {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0) && !self.timed_out
    }

    pub(crate) fn data(&self) -> Value {
        json!({
            "exit_code": self.code,
            "timed_out": self.timed_out,
            "stdout": self.stdout,
            "stderr": self.stderr,
        })
    }

    /// Returns the outcome as text.
    pub(crate) fn text(&self) -> String {
        let mut text = match (self.timed_out, self.code) {
            (true, _) => "exceeded the time limit and was terminated".to_owned(),
            (false, Some(code)) => format!("exit code {code}"),
            (false, None) => "terminated by a signal".to_owned(),
        };
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !output.is_empty() {
                text.extend(["\n--- ", name, "\n", output.trim_end()]);
            }
        }
        text
    }
}

/// Waits until the program exits, its time limit expires, or the call is cancelled.
fn wait(
    child: &mut Child,
    limit: Duration,
    stop: &Stop,
    mut progress: Option<&mut Progress<'_>>,
) -> io::Result<Ending> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(progress) = &mut progress {
            progress.report();
        }
        if child.try_wait()?.is_some() {
            return Ok(Ending::Exited);
        }
        if stop.is_set() {
            return Ok(Ending::Cancelled);
        }
        if Instant::now() >= deadline {
            return Ok(Ending::TimedOut);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// One output stream of a program.
pub(super) struct Output {
    captured: Arc<Mutex<Captured>>,
    reader: JoinHandle<()>,
}

fn collect(stream: Option<impl Read + Send + 'static>, half_bytes: usize) -> Output {
    let captured =
        if half_bytes == 0 { Captured::default() } else { Captured::keeping(half_bytes) };
    let captured = Arc::new(Mutex::new(captured));
    let shared = Arc::clone(&captured);
    let reader = std::thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 16 << 10];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            shared.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..read]);
        }
    });
    Output { captured, reader }
}

impl Output {
    /// Returns the number of bytes so far, and the last line that is not empty.
    pub(super) fn so_far(&self) -> (u64, String) {
        let captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        (captured.total(), captured.last_line())
    }

    /// Returns the output. The wait is limited, because a process that left the group may keep the
    /// stream open.
    fn finish(self) -> String {
        let deadline = Instant::now() + OUTPUT_DRAIN_LIMIT;
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}
