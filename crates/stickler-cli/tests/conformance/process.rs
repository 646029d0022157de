//! A `stickler` process on standard input and output, and the server of a case as a command.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Once;

use serde_json::{Value, json};

use crate::support_http::build_examples::build_examples;
use crate::table::{Case, tools};

/// A client of a process, after the handshake of 2025-11-25.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    pub(crate) fn start(arguments: &[&str], variables: &[(String, String)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, stdin, stdout, next_id: 0 };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        });
        client.request("initialize", &params.to_string());
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request with the text of its parameters and returns its response.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"
        ));
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert!(read > 0, "the process closed its output");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Makes the call of a case as often as it says, and returns the last response.
    pub(crate) fn run(&mut self, case: &Case) -> Value {
        let mut response = Value::Null;
        for _ in 0..case.times() {
            response = self.request("tools/call", &case.params());
        }
        response
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Closing the input ends the process.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// The server of a case as a command, with the calls that reached it.
pub(crate) struct TableServer {
    folder: tempfile::TempDir,
}

impl TableServer {
    pub(crate) fn new(case: &Case) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = json!({ "tools": tools(case.tools()), "response": case.server_or_default() });
        std::fs::write(folder.path().join("case.json"), script.to_string()).unwrap();
        Self { folder }
    }

    /// Returns the program and its arguments.
    pub(crate) fn command(&self) -> Vec<String> {
        let paths = [program(), self.folder.path().join("case.json"), self.log()];
        paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns the arguments of the last call that reached the server, or `null`.
    pub(crate) fn last(&self) -> Value {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let last = log.lines().last().map(|line| serde_json::from_str::<Value>(line).unwrap());
        last.map(|params| params["arguments"].clone()).unwrap_or_default()
    }
}

/// Builds the server once and returns its path.
fn program() -> PathBuf {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_stickler")).parent().unwrap();
    BUILT.call_once(|| build_examples("stickler-cli", &["--example", "table_server"], folder));
    folder.join("examples/table_server")
}
