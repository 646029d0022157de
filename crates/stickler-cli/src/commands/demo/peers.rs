//! Client side of the demo: starts gateways as child processes of this program and sends requests to them.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use stickler_transport::http::post;
use stickler_transport::{forward_signals, signal_group};

use crate::exit::Failure;

/// Maximum time to wait for a response, generous for slow machines.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// A gateway over standard input and output.
pub(super) struct StdioGateway {
    child: Child,
    stdin: Option<ChildStdin>,
    responses: Receiver<String>,
    next_id: u32,
}

impl StdioGateway {
    /// Starts the gateway with the files suite and performs the handshake.
    pub(super) fn start(root: &Path) -> Result<Self, Failure> {
        let mut child = gateway(&["--log", "off"], root)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unreachable(&error))?;
        let stdin = child.stdin.take();
        let responses = lines(child.stdout.take());
        let mut gateway = Self { child, stdin, responses, next_id: 0 };
        gateway.request("initialize", &initialize_params())?;
        gateway.send(&initialized_notification())?;
        Ok(gateway)
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = next(&self.responses)?;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Closes standard input and waits for the gateway to exit.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        drop(self.stdin.take());
        self.child.wait().map(drop).map_err(|error| unreachable(&error))
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let Some(stdin) = &mut self.stdin else { return Ok(()) };
        writeln!(stdin, "{message}").map_err(|error| unreachable(&error))
    }
}

/// A gateway over HTTP, with a session.
pub(super) struct HttpGateway {
    child: Child,
    url: String,
    session: Option<String>,
    next_id: u32,
}

impl HttpGateway {
    /// Starts the gateway with the files suite and performs the handshake.
    pub(super) fn start(root: &Path) -> Result<Self, Failure> {
        let options = ["--listen", "127.0.0.1:0", "--log", "warn", "--log-format", "text"];
        // A separate process group: `forward_signals` delivers an interrupt exactly once.
        let mut child = gateway(&options, root)?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| unreachable(&error))?;
        forward_signals(child.id(), RESPONSE_TIMEOUT).map_err(|error| unreachable(&error))?;
        let log = lines(child.stderr.take());
        let mut gateway = Self { child, url: String::new(), session: None, next_id: 0 };
        while gateway.url.is_empty() {
            let line = next(&log)?;
            if let Some((_, url)) = line.split_once("listening on ") {
                url.clone_into(&mut gateway.url);
            }
        }
        gateway.request("initialize", &initialize_params())?;
        gateway.post(&initialized_notification())?;
        Ok(gateway)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits until a signal ends the gateway.
    pub(super) fn wait(mut self) -> Result<(), Failure> {
        self.child.wait().map(drop).map_err(|error| unreachable(&error))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next_id += 1;
        let id = self.next_id;
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn post(&mut self, message: &Value) -> Result<Value, Failure> {
        let (url, session) = (&self.url, self.session.as_deref());
        let response =
            post(url, session, message.to_string(), MAX_RESPONSE_BYTES, RESPONSE_TIMEOUT);
        let response = response.map_err(|reason| unreachable(&reason))?;
        if response.session.is_some() {
            self.session = response.session;
        }
        Ok(parse_response(&String::from_utf8_lossy(&response.body)))
    }
}

impl Drop for HttpGateway {
    fn drop(&mut self) {
        signal_group(self.child.id(), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// Parses the body: a JSON message, or the last message of an event stream.
fn parse_response(body: &str) -> Value {
    let mut data = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = data.rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(body)).unwrap_or_default()
}

/// Builds the command `stickler run OPTIONS -- stickler serve …`.
fn gateway(options: &[&str], root: &Path) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(|error| unreachable(&error))?;
    let mut command = Command::new(&program);
    command.arg("run").args(options).arg("--").arg(&program);
    command.args(["serve", "--suite", "files", "--root"]).arg(root);
    Ok(command)
}

/// Sends the lines of a stream over a channel.
fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = stream.into_iter().flat_map(|stream| BufReader::new(stream).lines());
        for line in lines.map_while(Result::ok) {
            // Without a receiver the stream is still read to its end, so that the writer is not blocked.
            let _ = sender.send(line);
        }
    });
    receiver
}

fn next(lines: &Receiver<String>) -> Result<String, Failure> {
    lines.recv_timeout(RESPONSE_TIMEOUT).map_err(|_| unreachable(&"no response"))
}

fn initialize_params() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "stickler-demo", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn initialized_notification() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn unreachable(reason: &dyn std::fmt::Display) -> Failure {
    Failure::Unreachable(format!("the gateway of the demo failed: {reason}"))
}
