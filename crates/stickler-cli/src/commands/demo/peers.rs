//! The gateways of the demo: this program again, as processes.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use stickler_transport::http::post;
use stickler_transport::{Addressee, signal_group};

use crate::exit::Failure;

/// How long an answer may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer is not longer than this.
const LONGEST_ANSWER: usize = 1 << 20;

/// A gateway over standard input and output.
pub(super) struct StdioGateway {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    next_id: u32,
}

impl StdioGateway {
    /// Starts it, with the files suite behind it, and shakes hands.
    pub(super) fn start(root: &Path) -> Result<Self, Failure> {
        let mut child = gateway(&["--log", "off"], root)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unreachable(&error))?;
        let stdin = child.stdin.take();
        let answers = lines(child.stdout.take());
        let mut gateway = Self { child, stdin, answers, next_id: 0 };
        gateway.ask("initialize", &hello())?;
        gateway.send(&ready())?;
        Ok(gateway)
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = next(&self.answers)?;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Closes the pipe, as a client does that is done.
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
    /// Starts it, with the files suite behind it, and shakes hands.
    pub(super) fn start(root: &Path) -> Result<Self, Failure> {
        let options = ["--listen", "127.0.0.1:0", "--log", "warn", "--log-format", "text"];
        // In a group of its own: an interrupt reaches it through us, and only once.
        let mut child = gateway(&options, root)?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| unreachable(&error))?;
        Addressee::listen(PATIENCE).map_err(|error| unreachable(&error))?.set(child.id());
        let log = lines(child.stderr.take());
        let mut gateway = Self { child, url: String::new(), session: None, next_id: 0 };
        while gateway.url.is_empty() {
            let line = next(&log)?;
            if let Some((_, url)) = line.split_once("listening on ") {
                url.clone_into(&mut gateway.url);
            }
        }
        gateway.ask("initialize", &hello())?;
        gateway.post(&ready())?;
        Ok(gateway)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Until a signal ends it.
    pub(super) fn wait(mut self) -> Result<(), Failure> {
        self.child.wait().map(drop).map_err(|error| unreachable(&error))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next_id += 1;
        let id = self.next_id;
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn post(&mut self, message: &Value) -> Result<Value, Failure> {
        let (url, session) = (&self.url, self.session.as_deref());
        let answered = post(url, session, message.to_string(), LONGEST_ANSWER, PATIENCE);
        let answered = answered.map_err(|reason| unreachable(&reason))?;
        if answered.session.is_some() {
            self.session = answered.session;
        }
        Ok(answer(&String::from_utf8_lossy(&answered.body)))
    }
}

impl Drop for HttpGateway {
    fn drop(&mut self) {
        signal_group(self.child.id(), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// A whole message, or the last of a stream of events.
fn answer(body: &str) -> Value {
    let mut data = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = data.rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(body)).unwrap_or_default()
}

/// `stickler run OPTIONS -- stickler serve …`
fn gateway(options: &[&str], root: &Path) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(|error| unreachable(&error))?;
    let mut command = Command::new(&program);
    command.arg("run").args(options).arg("--").arg(&program);
    command.args(["serve", "--suite", "files", "--root"]).arg(root);
    Ok(command)
}

/// The lines of a stream, as they come.
fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = stream.into_iter().flat_map(|stream| BufReader::new(stream).lines());
        for line in lines.map_while(Result::ok) {
            // Whoever does not listen any more still wants the stream read to its end.
            let _ = sender.send(line);
        }
    });
    receiver
}

fn next(lines: &Receiver<String>) -> Result<String, Failure> {
    lines.recv_timeout(PATIENCE).map_err(|_| unreachable(&"there is no answer"))
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "stickler-demo", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn ready() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn unreachable(reason: &dyn std::fmt::Display) -> Failure {
    Failure::Unreachable(format!("the demo's gateway cannot be used: {reason}"))
}
