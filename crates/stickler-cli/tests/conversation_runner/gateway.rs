//! The gateway under test: the built binary, started for one run of one conversation.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::build_examples;
use super::script::{Conversation, Pairing};

/// Settings that make the outcome independent of the speed of the machine: tool lists stay fresh, waits are long,
/// and the shutdown is quick. A conversation can override them.
const TIMING_SETTINGS: [(&str, &str); 4] = [
    ("STICKLER_FRESH_ENOUGH", "3600"),
    ("STICKLER_LONGEST_WAIT", "60"),
    ("STICKLER_GRACE", "1"),
    ("STICKLER_LOG", "debug"),
];

pub(crate) struct Gateway {
    pub(crate) child: Child,
    stderr: Arc<Mutex<String>>,
    port: Receiver<u16>,
}

/// Returns the binary under test: the one that `STICKLER_BIN` names, or the one that Cargo has built.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("STICKLER_BIN")
        .map_or_else(|| env!("CARGO_BIN_EXE_stickler").into(), PathBuf::from)
}

/// Returns the version of the binary, which it also sends to servers.
pub(crate) fn version() -> String {
    let output = Command::new(binary()).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().last().unwrap_or_default().to_owned()
}

fn relay() -> PathBuf {
    static BUILT: Once = Once::new();
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stickler"));
    let folder = binary.parent().unwrap();
    let which = ["--example", "relay_server"];
    BUILT.call_once(|| build_examples::build_examples("stickler-cli", &which, folder));
    folder.join("examples").join("relay_server")
}

impl Gateway {
    /// Starts the gateway in front of a relay process on the socket, or of a URL with the port.
    pub(crate) fn start(
        conversation: &Conversation,
        pairing: Pairing,
        socket: &Path,
        port: u16,
    ) -> Self {
        let mut command = Command::new(binary());
        command.args(["run", "--name", "server"]).args(&conversation.arguments);
        if pairing.is_http() {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        if pairing.is_url() {
            command.arg("--url").arg(format!("http://127.0.0.1:{port}/mcp"));
        } else if conversation.has_no_server {
            command.args(["--", "/no-such-folder/no-such-program"]);
        } else {
            command.arg("--").arg(relay()).arg(socket);
        }
        command.envs(TIMING_SETTINGS).env("NO_COLOR", "1");
        command.envs(conversation.variables.iter().map(|(name, value)| (name, value)));
        let pipe = if pairing.is_http() { Stdio::null } else { Stdio::piped };
        let child = command.stdin(pipe()).stdout(pipe()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", binary().display()));
        let lines = BufReader::new(child.stderr.take().unwrap());
        let stderr = Arc::new(Mutex::new(String::new()));
        let (found, port) = channel();
        let log = Arc::clone(&stderr);
        std::thread::spawn(move || read_log(lines, &log, &found));
        Self { child, stderr, port }
    }

    /// Returns the port that the gateway logs.
    pub(crate) fn port(&self, deadline: Duration) -> Result<u16, String> {
        self.port
            .recv_timeout(deadline)
            .map_err(|_| "the gateway does not log its address".to_owned())
    }

    pub(crate) fn signal(&self, name: &str) {
        let signal = match name {
            "INT" => Signal::INT,
            "HUP" => Signal::HUP,
            _ => Signal::TERM,
        };
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Waits for the gateway to exit.
    pub(crate) fn exit_code(&mut self, deadline: Duration) -> Result<i32, String> {
        let last = Instant::now() + deadline;
        loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => return Ok(status.code().unwrap_or(-1)),
                None if Instant::now() > last => return Err("the gateway does not exit".to_owned()),
                // Nothing wakes this thread when the process exits.
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Returns the last lines of the log.
    pub(crate) fn log(&self) -> String {
        let log = self.stderr.lock().unwrap();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_log(lines: impl std::io::BufRead, log: &Mutex<String>, found: &Sender<u16>) {
    for line in lines.lines().map_while(Result::ok) {
        let address = line.split_once("http://127.0.0.1:").map(|(_, address)| address);
        let port = address
            .and_then(|address| address.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        if let Some(port) = port {
            let _ = found.send(port);
        }
        let mut log = log.lock().unwrap();
        log.push_str(&line);
        log.push('\n');
    }
}
