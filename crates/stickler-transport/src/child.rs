//! Server processes: starts them with piped standard streams, shuts them down gracefully and reports how
//! they exited.
//!
//! Every server runs in a separate process group, so signals reach its descendants too. Dropping a
//! [`Process`] kills the group.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::time::{Instant, sleep};

use crate::stderr::{Stderr, StderrOutput};

/// The command that starts a server.
#[derive(Debug, Clone, Default)]
pub struct ServerCommand {
    /// The program: a path, or a name to look up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Environment variables that are added to the inherited ones.
    pub environment: Vec<(String, String)>,
    /// The working directory; `None` for the current one.
    pub folder: Option<PathBuf>,
}

/// A running server process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The reader that logs the standard error of the process.
    stderr: Option<Stderr>,
}

/// How a server process was made to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCause {
    /// It exited without a signal from this process.
    Voluntary,
    /// It exited after SIGTERM.
    Terminated,
    /// It exited after SIGKILL.
    Killed,
}

/// Poll interval while waiting for the process to exit.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum time to read the remaining standard error of an exited server. A descendant may keep the pipe
/// open.
const STDERR_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

impl ServerCommand {
    /// Returns a display name: the package or program rather than its runner.
    pub fn name(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let mut names = words.filter(|word| !word.starts_with('-'));
        let first = names.next().map(String::as_str).unwrap_or_default();
        let runner = matches!(
            base_name(first),
            "npx" | "uvx" | "node" | "python" | "python3" | "docker" | "deno" | "bunx"
        );
        // Inline code has no name.
        let is_option = |word: &&String| word.starts_with('-');
        let mut options = self.arguments.iter().take_while(is_option);
        let mut is_code = || options.any(|one| matches!(one.as_str(), "-c" | "-e" | "--eval"));
        let package = names.next().filter(|_| runner && !is_code());
        let chosen = package.map_or(first, String::as_str);
        let name = base_name(chosen);
        // Strip the version: `pkg@1.2.3` becomes `pkg`.
        name.rsplit_once('@').map_or(name, |(name, _)| name).to_owned()
    }

    /// Whether the program cannot be found. Checked without starting it.
    pub fn is_missing(&self) -> bool {
        let folder = self.folder.clone().unwrap_or_default();
        if self.program.contains('/') {
            return !folder.join(&self.program).exists();
        }
        let configured = self.environment.iter().rev().find(|(name, _)| name == "PATH");
        let paths = configured.map(|(_, paths)| paths.into()).or_else(|| std::env::var_os("PATH"));
        let Some(paths) = paths else { return false };
        let is_there = |path: PathBuf| folder.join(path).join(&self.program).exists();
        !std::env::split_paths(&paths).any(is_there)
    }

    /// Describes why the program cannot be found. A whole command line in place of the program is a common
    /// mistake, which the system error does not explain.
    pub fn missing_reason(&self) -> String {
        match self.program.split_once(char::is_whitespace) {
            Some((program, arguments)) if !program.is_empty() => format!(
                "program not found; `{program}` is the program and `{}` are arguments: give them \
                 separately, in a configuration file as `args`",
                arguments.trim()
            ),
            _ => "program not found".to_owned(),
        }
    }

    /// Starts the server in a new process group, so that its descendants end with it.
    pub fn start(&self, stderr: StderrOutput) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let (mut server, stdin, stdout) = self.spawn(stderr.stdio())?;
        if let Some(pipe) = server.child.stderr.take() {
            server.stderr = Some(Stderr::read(pipe, stderr)?);
        }
        Ok((server, stdin, stdout))
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
            .map_err(|error| self.explain_spawn_error(error))?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or_else(no_pipes)?;
        Ok((Process { child, stderr: None }, stdin, stdout))
    }

    /// Explains a spawn error: the system error does not distinguish a missing program from a missing working
    /// directory or a missing interpreter of a script.
    fn explain_spawn_error(&self, error: io::Error) -> io::Error {
        let Some(folder) = self.folder.as_deref().filter(|folder| !folder.is_dir()) else {
            return match error.kind() {
                io::ErrorKind::NotFound if self.is_missing() => {
                    io::Error::new(error.kind(), self.missing_reason())
                }
                io::ErrorKind::NotFound => {
                    io::Error::new(error.kind(), "the interpreter in its first line was not found")
                }
                _ => error,
            };
        };
        let reason = if folder.exists() { "is not a directory" } else { "does not exist" };
        io::Error::new(error.kind(), format!("its `cwd` `{}` {reason}", folder.display()))
    }
}

impl Process {
    /// Returns the process id, which is also the process group id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Shuts the server down like [`Self::shutdown`], then terminates its descendants and drains its
    /// standard error.
    pub async fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        let (status, cause) = self.shutdown(grace).await?;
        if cause != ExitCause::Killed {
            self.terminate_group();
        }
        if let Some(stderr) = self.stderr.take() {
            stderr.wait(STDERR_DRAIN_TIMEOUT).await;
        }
        Ok(status)
    }

    /// Waits `grace` for the server to exit, sends SIGTERM, waits `grace` again, then sends SIGKILL.
    /// Descendants of the server that outlive it are not signalled after its exit.
    pub async fn shutdown(&mut self, grace: Duration) -> io::Result<(ExitStatus, ExitCause)> {
        for cause in [ExitCause::Voluntary, ExitCause::Terminated] {
            if cause == ExitCause::Terminated {
                signal_group(self.pid(), Signal::TERM);
            }
            let deadline = Instant::now() + grace;
            while Instant::now() < deadline {
                if let Some(status) = self.child.try_wait()? {
                    return Ok((status, cause));
                }
                sleep(EXIT_POLL_INTERVAL).await;
            }
        }
        signal_group(self.pid(), Signal::KILL);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok((status, ExitCause::Killed));
            }
            sleep(EXIT_POLL_INTERVAL).await;
        }
    }

    /// Returns `Some(success)` once the process has exited, even if its output pipe is still open.
    pub fn exit_success(&self) -> Option<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(pid_of(self.pid())?), options) {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.exit_status() == Some(0)),
            Err(_) => Some(false),
        }
    }

    /// Sends SIGTERM to the remaining processes of the server's group.
    pub fn terminate_group(&self) {
        signal_group(self.pid(), Signal::TERM);
    }

    /// Counts the other live processes of the server's group. Returns 0 if `/proc` is not available.
    pub fn other_group_members(&self) -> usize {
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let group = self.pid().to_string();
        let is_member = |entry: &std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The parenthesized name may contain any character; state, parent and group follow it.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let (state, member_of) = (fields.next(), fields.nth(1));
            member_of == Some(&group)
                && !matches!(state, Some("Z" | "X"))
                && entry.file_name().to_str() != Some(&group)
        };
        processes.flatten().filter(is_member).count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        signal_group(self.pid(), Signal::KILL);
    }
}

/// Sends a signal to the server and its descendants. A group that no longer exists is not an error.
pub fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = pid_of(pid) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Whether the other end of a pipe or socket is closed. A launcher that starts the server and exits leaves the pipe
/// to the server.
pub(crate) fn has_error_or_hangup(fd: &impl AsFd) -> bool {
    let mut watched = [PollFd::new(fd, PollFlags::empty())];
    let is_polled = poll(&mut watched, Some(&Timespec::default())).is_ok();
    let is_gone = PollFlags::ERR | PollFlags::HUP;
    is_polled && watched.iter().any(|one| one.revents().intersects(is_gone))
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Returns the exit code by shell convention: 128 plus the signal number for a process killed by a signal.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn no_pipes() -> io::Error {
    io::Error::other("the process was started without pipes")
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::ServerCommand;

    #[test]
    fn server_name_is_the_package_or_program() {
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
