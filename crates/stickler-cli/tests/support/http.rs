//! A gateway process that listens on HTTP, and a minimal HTTP client that exposes every byte.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::format_push_string, reason = "short code matters more than one allocation here")]

#[path = "build_examples.rs"]
pub(crate) mod build_examples;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Once;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A running `stickler run --listen`.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

/// A response with its complete body.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A response with an unread body.
pub(crate) struct StreamingResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl Gateway {
    /// Starts a gateway in front of the scripted server.
    pub(crate) fn scripted(options: &[&str]) -> Self {
        let server = scripted_server();
        let mut arguments: Vec<&str> = options.to_vec();
        arguments.extend(["--", server.to_str().unwrap()]);
        Self::start(&arguments)
    }

    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// Starts a gateway without copying its log to the test output.
    pub(crate) fn start_with_hidden_log(arguments: &[&str]) -> Self {
        Self::launch(arguments, &[], false)
    }

    /// Starts a gateway with environment variables.
    pub(crate) fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::launch(arguments, variables, true)
    }

    pub(crate) fn launch(arguments: &[&str], variables: &[(&str, &str)], shows_log: bool) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .args(["run", "--grace", "1", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("STICKLER_TEST_TOKEN", "secret")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let port = read_listen_port(child.stderr.take().unwrap(), shows_log);
        Self { child, port }
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Response {
        self.open("POST", "/mcp", headers, body).finish()
    }

    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> StreamingResponse {
        request(self.port, method, path, headers, body)
    }

    /// Number of running child processes.
    pub(crate) fn children(&self) -> usize {
        children_of(self.child.id())
    }

    /// Opens a legacy session and returns its id.
    pub(crate) fn session(&self) -> String {
        let response = self.post(&[], &initialize());
        assert_eq!(response.status, 200, "{response:?}");
        let session = response.header("mcp-session-id").unwrap().to_owned();
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(&[("mcp-session-id", &session)], ready).status, 202);
        session
    }

    /// Sends SIGTERM, waits for the exit and returns the exit code.
    pub(crate) fn end(mut self) -> i32 {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // SIGTERM lets the gateway end its child processes.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// Returns the port from the gateway's log; copies the log to the test output if `shows_log` is set.
fn read_listen_port(stderr: ChildStderr, shows_log: bool) -> u16 {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let address = line.split_once("listening on http://127.0.0.1:").map(|(_, rest)| rest);
            let port = address.and_then(|rest| rest.split('/').next()?.parse().ok());
            port.map(|port: u16| sender.send(port));
            if shows_log {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
    });
    receiver.recv_timeout(Duration::from_secs(20)).unwrap()
}

pub(crate) fn initialize() -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
    .to_string()
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params })
        .to_string()
}

pub(crate) fn request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> StreamingResponse {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    let host = format!("127.0.0.1:{port}");
    let defaults = [
        ("host", host.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let is_given = |name: &str| headers.iter().any(|(other, _)| *other == name);
    for (name, value) in headers.iter().chain(defaults.iter().filter(|(name, _)| !is_given(name))) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // A server that has rejected the head need not read the body.
    let _ = stream.write_all(body.as_bytes());
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status in {line:?}"));
    let status = status.parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    StreamingResponse { status, headers, reader }
}

/// Sends a POST and disconnects without reading the response.
pub(crate) fn send(port: u16, headers: &[(&str, &str)], body: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut head =
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    // Leave the server time to read the request.
    std::thread::sleep(Duration::from_millis(200));
}

impl StreamingResponse {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The message of the next event.
    pub(crate) fn event(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data.trim_end()).ok();
            }
        }
    }

    /// The next line that starts with a prefix.
    pub(crate) fn line(&mut self, prefix: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.starts_with(prefix) {
                return Some(line.trim_end().to_owned());
            }
        }
    }

    /// Reads to the end of the stream, and returns whether it ends without another event.
    pub(crate) fn ends_without_event(&mut self) -> bool {
        let mut rest = Vec::new();
        let is_whole = self.reader.read_to_end(&mut rest).is_ok();
        is_whole && !String::from_utf8_lossy(&rest).contains("data:")
    }

    pub(crate) fn finish(mut self) -> Response {
        let mut raw = Vec::new();
        self.reader.read_to_end(&mut raw).unwrap();
        let is_chunked = find(&self.headers, "transfer-encoding") == Some("chunked");
        let body = if is_chunked { unchunk(&raw) } else { raw };
        Response { status: self.status, headers: self.headers, body }
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}: {}", self.text()))
    }

    /// The messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        // An event with empty data only carries an id to resume from.
        let messages = data.filter(|data| !data.is_empty());
        messages.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn unchunk(mut raw: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|pair| pair == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&raw[..end]).unwrap(), 16).unwrap();
        body.extend_from_slice(&raw[end + 2..end + 2 + size]);
        raw = &raw[end + 2 + size + 2..];
        if size == 0 {
            break;
        }
    }
    body
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Builds the scripted server once and returns its path.
pub(crate) fn scripted_server() -> PathBuf {
    static BUILT: Once = Once::new();
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stickler"));
    let folder = binary.parent().unwrap();
    let options = ["--example", "scripted_server"];
    BUILT.call_once(|| build_examples::build_examples("stickler-cli", &options, folder));
    folder.join("examples").join("scripted_server")
}

/// Number of running child processes of a process.
pub(crate) fn children_of(pid: u32) -> usize {
    child_pids(pid).len()
}

/// Process ids of the running children of a process.
pub(crate) fn child_pids(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_task = |path: PathBuf| std::fs::read_to_string(path.join("children")).ok();
    let children = tasks.flatten().filter_map(|task| of_task(task.path()));
    let pids = |children: String| -> Vec<u32> {
        children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    };
    children.flat_map(pids).collect()
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}
