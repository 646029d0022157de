//! A `stickler run` to talk to by standard input and output.
#![allow(dead_code, reason = "not every test needs everything")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) struct Gateway {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<String>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

/// What came of it.
pub(crate) struct End {
    pub(crate) status: i32,
    pub(crate) stderr: String,
}

impl Gateway {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::with_env(arguments, &[])
    }

    pub(crate) fn with_env(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .arg("run")
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr: Arc<Mutex<String>> = Arc::default();
        let (mut pipe, kept) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&stderr));
        let reader = std::thread::spawn(move || {
            let mut line = String::new();
            while pipe.read_line(&mut line).is_ok_and(|read| read > 0) {
                kept.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self { child, stdin, stdout, stderr, reader: Some(reader) }
    }

    /// Opens with the handshake of 2025-11-25.
    pub(crate) fn shake_hands(&mut self) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        } }));
        let answer = self.receive();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line:?}; {}", self.stderr.lock().unwrap()))
    }

    pub(crate) fn call(&mut self, id: u32, tool: &str, arguments: &Value) -> Value {
        self.send_call(id, tool, arguments);
        self.receive()
    }

    pub(crate) fn send_call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    /// Waits until the log says something.
    pub(crate) fn wait_for_log(&self, wanted: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.stderr.lock().unwrap().contains(wanted) {
            assert!(Instant::now() < deadline, "no {wanted:?} in {}", self.stderr.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Closes the pipe and waits for the end.
    pub(crate) fn end(mut self) -> End {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(mut self) -> End {
        let mut rest = String::new();
        let _ = self.stdout.read_to_string(&mut rest);
        let status = self.child.wait().unwrap().code().unwrap_or(-1);
        self.reader.take().unwrap().join().unwrap();
        End { status, stderr: self.stderr.lock().unwrap().clone() }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Its child ends with its input.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
