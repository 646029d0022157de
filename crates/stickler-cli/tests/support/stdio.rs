//! A `stickler run` process, driven over standard input and output.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

pub(crate) struct Gateway {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<String>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

/// Exit code and remaining output of a gateway.
pub(crate) struct Exit {
    pub(crate) status: i32,
    pub(crate) stderr: String,
    /// Output that the test has not read.
    pub(crate) stdout: String,
}

impl Gateway {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::with_env(arguments, &[])
    }

    pub(crate) fn with_env(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
        command.arg("run").args(arguments).envs(variables.iter().copied());
        Self::of(command)
    }

    /// Starts a command that becomes a gateway.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
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

    /// Performs the handshake of 2025-11-25 and returns the response to `initialize`.
    pub(crate) fn handshake(&mut self) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        } }));
        let response = self.receive();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        response
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

    /// Waits until the log contains a text.
    pub(crate) fn wait_for_log(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.stderr.lock().unwrap().contains(text) {
            assert!(Instant::now() < deadline, "no {text:?} in {}", self.stderr.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes bytes as they are, without a newline.
    pub(crate) fn write_raw(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Writes messages in a separate thread, which blocks while the pipe is full.
    pub(crate) fn write_in_background(
        &mut self,
        messages: impl Iterator<Item = String> + Send + 'static,
    ) -> Writer {
        let mut stdin = self.stdin.take().unwrap();
        let written: Arc<Mutex<usize>> = Arc::default();
        let count = Arc::clone(&written);
        let thread = std::thread::spawn(move || {
            for message in messages {
                writeln!(stdin, "{message}").unwrap();
                *count.lock().unwrap() += 1;
            }
            stdin
        });
        Writer { thread, written, seen: Mutex::default() }
    }

    /// Resident memory of the gateway process.
    pub(crate) fn resident_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes stdin.
    pub(crate) fn half_close(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes stdin and waits for the exit.
    pub(crate) fn end(mut self) -> Exit {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the exit with stdin open.
    pub(crate) fn wait(mut self) -> Exit {
        let mut rest = String::new();
        let _ = self.stdout.read_to_string(&mut rest);
        let status = self.child.wait().unwrap().code().unwrap_or(-1);
        self.reader.take().unwrap().join().unwrap();
        Exit { status, stderr: self.stderr.lock().unwrap().clone(), stdout: rest }
    }
}

/// A thread that writes to the gateway.
pub(crate) struct Writer {
    thread: std::thread::JoinHandle<ChildStdin>,
    written: Arc<Mutex<usize>>,
    /// The last observed count, and how often in a row it was observed.
    seen: Mutex<(usize, usize)>,
}

impl Writer {
    /// Whether the count was positive and unchanged for more than 50 calls in a row.
    pub(crate) fn is_blocked(&self) -> bool {
        let written = *self.written.lock().unwrap();
        let mut seen = self.seen.lock().unwrap();
        *seen = if seen.0 == written { (written, seen.1 + 1) } else { (written, 0) };
        written > 0 && seen.1 > 50
    }

    /// Waits for the thread and returns stdin to the gateway.
    pub(crate) fn finish(self, gateway: &mut Gateway) {
        gateway.stdin = Some(self.thread.join().unwrap());
    }
}

/// Polls a condition until it holds; panics after 30 seconds.
pub(crate) fn wait_until(condition: &str, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_true() {
        assert!(Instant::now() < deadline, "timed out waiting until {condition}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Closing stdin ends the gateway.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
