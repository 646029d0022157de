//! Processes of the soak test: servers and gateways that listen on a port, and their child processes.

use std::fs::{self, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a slow start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A process that is killed on drop.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    /// Starts a program that listens on a port, and waits until it does. Its log is appended to a file.
    pub(super) fn listening(words: &[String], port: u16, log: &Path) -> Result<Self, String> {
        let mut command = command(words)?;
        let log = OpenOptions::new().create(true).append(true).open(log);
        let log = log.map_err(|error| error.to_string())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(|error| format!("{words:?}: {error}"))?;
        let mut process = Self(child);
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = process.0.try_wait() {
                return Err(format!("{words:?} exited with {status}"));
            }
            if Instant::now() > deadline {
                return Err(format!("{words:?} does not listen on its port"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether the process has not exited by itself.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Sends SIGTERM, and waits.
    pub(super) fn terminate(mut self) {
        signal("-TERM", self.id());
        let deadline = Instant::now() + Duration::from_secs(15);
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn command(words: &[String]) -> Result<Command, String> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    // A gateway never gives a server up, and restarts it at once.
    command
        .args(arguments)
        .env("STICKLER_RESTART_PAUSE", "0")
        .env("STICKLER_RESTART_LIMIT", "1000000000");
    Ok(command)
}

pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

pub(super) fn kill(pid: u32) {
    signal("-KILL", pid);
}

fn signal(signal: &str, pid: u32) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Returns the child processes of a process.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|child| parent(*child) == Some(pid)).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may contain spaces.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
