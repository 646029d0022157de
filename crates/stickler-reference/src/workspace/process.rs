//! Programs: started in a group of their own, bounded in time and output, ended with the call that
//! wants them, and never left behind.

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

use super::capture::Captured;
use super::stop::Stop;

/// Looked at again after this long.
const PATIENCE: Duration = Duration::from_millis(10);

/// Output that is not at its end this long after the program's is not waited for any more.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A program that is to end may put its things in order for this long: git takes its locks away.
const LAST_ACTS: Duration = Duration::from_secs(2);

/// The process groups that are running now. A copy knows the same ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running {
    groups: Arc<Mutex<BTreeSet<u32>>>,
    stop: Stop,
}

/// Why a program is waited for no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    ByItself,
    OutOfTime,
    Cancelled,
}

/// A program that has ended, or was made to.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` for one that a signal has ended.
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// The same, for a call that may be cancelled.
    pub(super) fn until(&self, stop: Stop) -> Self {
        Self { groups: Arc::clone(&self.groups), stop }
    }

    /// Runs a program to its end, until its time is over, or until nobody wants it any more.
    pub(crate) fn run(&self, command: &mut Command, limit: Duration) -> io::Result<Finished> {
        if self.stop.is_wanted() {
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
        let outputs = [collect(child.stdout.take()), collect(child.stderr.take())];
        let ending = wait(&mut child, limit, &self.stop);
        if !matches!(ending, Ok(Ending::ByItself)) {
            signal_group(group, Signal::TERM);
            let _ = wait(&mut child, LAST_ACTS, &Stop::default());
        }
        // Whatever the program started and left behind ends with it.
        signal_group(group, Signal::KILL);
        let code = child.wait();
        self.groups().remove(&group);
        let [stdout, stderr] = outputs.map(Output::finish);
        Ok(Finished { code: code?.code(), timed_out: ending? == Ending::OutOfTime, stdout, stderr })
    }

    /// Ends everything that runs.
    pub(crate) fn end_all(&self) {
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

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = match (self.timed_out, self.code) {
            (true, _) => "ran out of time and was ended".to_owned(),
            (false, Some(code)) => format!("exit code {code}"),
            (false, None) => "ended by a signal".to_owned(),
        };
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !output.is_empty() {
                text.extend(["\n--- ", name, "\n", output.trim_end()]);
            }
        }
        text
    }
}

/// Waits for whatever comes first.
fn wait(child: &mut Child, limit: Duration, stop: &Stop) -> io::Result<Ending> {
    let deadline = Instant::now() + limit;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(Ending::ByItself);
        }
        if stop.is_wanted() {
            return Ok(Ending::Cancelled);
        }
        if Instant::now() >= deadline {
            return Ok(Ending::OutOfTime);
        }
        std::thread::sleep(PATIENCE);
    }
}

/// One stream of a program.
struct Output {
    captured: Arc<Mutex<Captured>>,
    reader: JoinHandle<()>,
}

fn collect(stream: Option<impl Read + Send + 'static>) -> Output {
    let captured = Arc::<Mutex<Captured>>::default();
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
    /// A process that left the group may hold the stream open for ever.
    fn finish(self) -> String {
        let deadline = Instant::now() + LAST_OUTPUT;
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(PATIENCE);
        }
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}
