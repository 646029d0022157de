//! The server as a child process: started, told, and never left behind.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tracing::Span;

use crate::stderr::Stderr;

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct ServerCommand {
    /// The program, by its path or its name.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables beside those that we have ourselves.
    pub environment: Vec<(String, String)>,
    /// Where it is started; `None` for where we are.
    pub folder: Option<PathBuf>,
}

/// A running server.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Where it is logged.
    stderr: Option<Stderr>,
}

/// How a server came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Without a signal from this side.
    ByItself,
    /// By a signal that asked it to.
    Told,
    /// By a signal that leaves no choice.
    Killed,
}

/// Looked at again after this long while waiting for an end.
const PATIENCE: Duration = Duration::from_millis(10);

/// How long the standard error of a server that has ended may take to be read. A process that it left
/// behind may keep it open.
const STDERR_DRAIN: Duration = Duration::from_millis(200);

impl ServerCommand {
    /// A name for people: the package or program rather than what runs it.
    pub fn name(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let mut names = words.filter(|word| !word.starts_with('-'));
        let first = names.next().map(String::as_str).unwrap_or_default();
        let runner = matches!(
            base_name(first),
            "npx" | "uvx" | "node" | "python" | "python3" | "docker" | "deno" | "bunx"
        );
        // What is given as code has no name.
        let is_option = |word: &&String| word.starts_with('-');
        let mut options = self.arguments.iter().take_while(is_option);
        let mut is_code = || options.any(|one| matches!(one.as_str(), "-c" | "-e" | "--eval"));
        let package = names.next().filter(|_| runner && !is_code());
        let chosen = package.map_or(first, String::as_str);
        let name = base_name(chosen);
        // `pkg@1.2.3` is `pkg`.
        name.rsplit_once('@').map_or(name, |(name, _)| name).to_owned()
    }

    /// Whether there is no program of that name, as far as it can be told without starting it.
    pub fn is_missing(&self) -> bool {
        let folder = self.folder.clone().unwrap_or_default();
        if self.program.contains('/') {
            return !folder.join(&self.program).exists();
        }
        let own = self.environment.iter().rev().find(|(name, _)| name == "PATH");
        let paths = own.map(|(_, paths)| paths.into()).or_else(|| std::env::var_os("PATH"));
        let Some(paths) = paths else { return false };
        let is_there = |path: PathBuf| folder.join(path).join(&self.program).exists();
        !std::env::split_paths(&paths).any(is_there)
    }

    /// Starts the server in a process group of its own, so that whatever it starts ends with it. What it
    /// writes to its standard error is logged within `span`.
    pub fn start(&self, span: &Span) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        if !Stderr::is_logged() {
            return self.spawn(Stdio::null());
        }
        let (mut server, stdin, stdout) = self.spawn(Stdio::piped())?;
        let stderr = server.child.stderr.take().ok_or_else(no_pipes)?;
        server.stderr = Some(Stderr::read(stderr, span.clone())?);
        Ok((server, stdin, stdout))
    }

    /// The same with its standard error in our hands.
    pub fn start_with_stderr(&self) -> io::Result<(Process, ChildStdin, ChildStdout, ChildStderr)> {
        let (mut server, stdin, stdout) = self.spawn(Stdio::piped())?;
        let stderr = server.child.stderr.take().ok_or_else(no_pipes)?;
        Ok((server, stdin, stdout, stderr))
    }

    fn spawn(&self, stderr: Stdio) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let mut command = Command::new(&self.program);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(|error| self.blame(error))?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or_else(no_pipes)?;
        Ok((Process { child, stderr: None }, stdin, stdout))
    }

    /// The system does not say whether it is the program or the folder that is missing.
    fn blame(&self, error: io::Error) -> io::Error {
        let Some(folder) = self.folder.as_deref().filter(|folder| !folder.is_dir()) else {
            return error;
        };
        let reason = if folder.exists() { "is no folder" } else { "does not exist" };
        io::Error::new(error.kind(), format!("its `cwd` `{}` {reason}", folder.display()))
    }
}

impl Process {
    /// The id of its process, which is that of its process group too.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the server to end by itself for a while, then asks it to, then makes it.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        let (status, ending) = self.see_off(grace)?;
        if ending != Ending::Killed {
            self.clean_up();
        }
        if let Some(stderr) = &self.stderr {
            stderr.wait(STDERR_DRAIN);
        }
        Ok(status)
    }

    /// The same, with how it came to its end, and with what it started left as it is.
    pub fn see_off(&mut self, grace: Duration) -> io::Result<(ExitStatus, Ending)> {
        for ending in [Ending::ByItself, Ending::Told] {
            if ending == Ending::Told {
                signal_group(self.pid(), Signal::TERM);
            }
            let deadline = Instant::now() + grace;
            while Instant::now() < deadline {
                if let Some(status) = self.child.try_wait()? {
                    return Ok((status, ending));
                }
                std::thread::sleep(PATIENCE);
            }
        }
        signal_group(self.pid(), Signal::KILL);
        Ok((self.child.wait()?, Ending::Killed))
    }

    /// Whether its process has ended, whoever may still hold its output; then whether as it should.
    pub fn ending(&self) -> Option<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(pid_of(self.pid())?), options) {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.exit_status() == Some(0)),
            Err(_) => Some(false),
        }
    }

    /// What the server started and left behind is told to end.
    pub fn clean_up(&self) {
        signal_group(self.pid(), Signal::TERM);
    }

    /// How many other processes of the server's group there are, where the system tells.
    pub fn companions(&self) -> usize {
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let group = self.pid().to_string();
        let is_companion = |entry: &std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The name, in brackets, may have anything in it; then come state, parent and group.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let (state, of_group) = (fields.next(), fields.nth(1));
            of_group == Some(&group)
                && !matches!(state, Some("Z" | "X"))
                && entry.file_name().to_str() != Some(&group)
        };
        processes.flatten().filter(is_companion).count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        signal_group(self.pid(), Signal::KILL);
    }
}

/// Sends a signal to the server and all it has started. Nobody there is what is wanted.
pub fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = pid_of(pid) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Waits until a process of ours has ended, and leaves it to others to see it out; whether it ended as it
/// should.
pub fn await_end(pid: u32) -> bool {
    let Some(pid) = pid_of(pid) else { return false };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some(status)) => return status.exit_status() == Some(0),
            _ => return false,
        }
    }
}

/// Whether somebody reads what is written to a pipe. A program that only starts the server, and goes,
/// leaves it the pipe.
pub fn is_read(pipe: &impl AsFd) -> bool {
    let mut watched = [PollFd::new(pipe, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_told = poll(&mut watched, Some(&at_once)).is_ok();
    is_told && watched.iter().all(|one| !one.revents().contains(PollFlags::ERR))
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The exit code as shells give it: 128 and the signal for a process that one has ended.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn no_pipes() -> io::Error {
    io::Error::other("the pipes are missing")
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::ServerCommand;

    #[test]
    fn servers_are_called_by_what_they_are() {
        for (line, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem /data", "server-filesystem"),
            ("uvx mcp-server-git", "mcp-server-git"),
            ("/usr/local/bin/my-server --stdio", "my-server"),
            ("node build/index.js", "index.js"),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let command = ServerCommand {
                program: words.next().unwrap(),
                arguments: words.collect(),
                ..ServerCommand::default()
            };
            assert_eq!(command.name(), name);
        }
    }
}
