//! A stdio client of a reference server, with or without a gateway in between.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u32,
    pub(crate) capabilities: Value,
    /// The user's answer to `elicitation/create`.
    pub(crate) user_answer: Value,
    /// The requests and notifications of the server that arrived during a request.
    pub(crate) received: Vec<Value>,
}

impl Session {
    /// Starts a server behind `stickler run`.
    pub(crate) fn gateway(suite: &str, root: &Path, options: &[&str]) -> Self {
        Self::start(&mut behind_gateway(&serve(suite, root, options)))
    }

    /// Starts a server behind `stickler run` with another `PATH`.
    pub(crate) fn with_path(suite: &str, root: &Path, options: &[&str], path: &str) -> Self {
        let mut command = behind_gateway(&serve(suite, root, options));
        Self::start(command.env("PATH", path))
    }

    /// Starts a server without a gateway.
    pub(crate) fn direct(suite: &str, root: &Path, options: &[&str]) -> Self {
        Self::start(&mut serve(suite, root, options))
    }

    /// Starts a server with a command.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_with(command, json!({}))
    }

    /// Starts a server behind `stickler run` for a client that can ask its user.
    pub(crate) fn gateway_with_user(suite: &str, root: &Path, options: &[&str]) -> Self {
        let mut command = behind_gateway(&serve(suite, root, options));
        Self::start_with(&mut command, json!({ "elicitation": {} }))
    }

    fn start_with(command: &mut Command, client_capabilities: Value) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self {
            child,
            stdin,
            stdout,
            next_id: 0,
            capabilities: Value::Null,
            user_answer: Value::Null,
            received: Vec::new(),
        };
        let response = session.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": client_capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        session.capabilities = response["result"]["capabilities"].clone();
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u32 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and returns its response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            if message["method"] == "elicitation/create" {
                let answer = self.user_answer.clone();
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
            }
            self.received.push(message);
        }
    }

    /// Receives the next message.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server closed its stdout");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let response = self.request("tools/list", json!({}));
        response["result"]["tools"].as_array().unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// Makes a call and returns the response.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Makes a call that must succeed, and returns its result.
    pub(crate) fn succeeds(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.call(tool, arguments.clone());
        let result = &response["result"];
        assert!(result.is_object() && result["isError"] != true, "{tool} {arguments}: {response}");
        result.clone()
    }

    /// Makes a call that must fail, and returns the error text.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let response = self.call(tool, arguments.clone());
        assert_eq!(response["result"]["isError"], true, "{tool} {arguments}: {response}");
        text(&response["result"])
    }

    /// Kills the server process without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
    }

    /// Closes stdin, waits for the exit and returns the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

fn serve(suite: &str, root: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.args(["serve", "--suite", suite, "--root"]).arg(root).args(options);
    command
}

fn behind_gateway(server: &Command) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.args(["run", "--log", "off", "--"]).arg(server.get_program()).args(server.get_args());
    command
}

pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
