//! A server as a child process, connected through its standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

pub(super) struct Server {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    last_id: u64,
}

/// Long enough for a slow start on a busy machine.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

impl Server {
    /// Starts a server and performs the handshake.
    pub(super) fn start(command: &[String]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Some servers print text between their messages.
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
        let mut server = Self { child, input, output: receiver, last_id: 0 };
        let client = json!({ "name": "interop", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        server.request("initialize", &params)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// Sends a request and returns its result; fails on an error response.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self
                .output
                .recv_timeout(RESPONSE_TIMEOUT)
                .map_err(|_| format!("no response to {method}"))?;
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            let result = message.get("result").cloned();
            return result.ok_or_else(|| format!("{method} failed: {message}"));
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let written = writeln!(self.input, "{message}").and_then(|()| self.input.flush());
        written.map_err(|error| format!("cannot write to the server: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
