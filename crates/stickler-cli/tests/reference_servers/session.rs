//! A client of a server behind the gateway, over standard input and output.

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
}

impl Session {
    /// Behind `stickler run`.
    pub(crate) fn gateway(suite: &str, root: &Path, options: &[&str]) -> Self {
        Self::start(behind_gateway(&serve(suite, root, options)))
    }

    /// Behind `stickler run`, with another `PATH` to find programs by.
    pub(crate) fn with_path(suite: &str, root: &Path, options: &[&str], path: &str) -> Self {
        let mut command = behind_gateway(&serve(suite, root, options));
        command.env("PATH", path);
        Self::start(command)
    }

    /// Without anything in between.
    pub(crate) fn direct(suite: &str, root: &Path, options: &[&str]) -> Self {
        Self::start(serve(suite, root, options))
    }

    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self { child, stdin, stdout, next_id: 0, capabilities: Value::Null };
        let answer = session.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        session.capabilities = answer["result"]["capabilities"].clone();
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request; its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u32 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Whatever comes next.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server went away");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The whole answer to a call.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The result of a call that works.
    pub(crate) fn works(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments.clone());
        let result = &answer["result"];
        assert!(result.is_object() && result["isError"] != true, "{tool} {arguments}: {answer}");
        result.clone()
    }

    /// The text of a call that does not.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments.clone());
        assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
        text(&answer["result"])
    }

    /// Closes the pipe and waits for the end.
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
