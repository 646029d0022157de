//! A gateway to talk to, and an HTTP client small enough to see every byte.
#![allow(dead_code, reason = "not every test needs everything")]
#![allow(clippy::format_push_string, reason = "tests are blunt")]

#[path = "building.rs"]
mod building;

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

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer whose body is still to be read.
pub(crate) struct Open {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl Gateway {
    /// With the scripted server behind it.
    pub(crate) fn scripted(options: &[&str]) -> Self {
        let server = scripted_server();
        let mut arguments: Vec<&str> = options.to_vec();
        arguments.extend(["--", server.to_str().unwrap()]);
        Self::start(&arguments)
    }

    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// One that says a lot which nobody wants to read.
    pub(crate) fn quietly(arguments: &[&str]) -> Self {
        Self::launch(arguments, &[], false)
    }

    /// With variables of the environment.
    pub(crate) fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::launch(arguments, variables, true)
    }

    pub(crate) fn launch(arguments: &[&str], variables: &[(&str, &str)], is_shown: bool) -> Self {
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
        let port = port_told(child.stderr.take().unwrap(), is_shown);
        Self { child, port }
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.open("POST", "/mcp", headers, body).finish()
    }

    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Open {
        request(self.port, method, path, headers, body)
    }

    /// How many processes it has started that are still there.
    pub(crate) fn children(&self) -> usize {
        children_of(self.child.id())
    }

    /// Opens a legacy session; gives its name.
    pub(crate) fn session(&self) -> String {
        let answer = self.post(&[], &initialize());
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(&[("mcp-session-id", &session)], ready).status, 202);
        session
    }

    /// Tells the gateway to end, and waits until it has.
    pub(crate) fn end(mut self) -> i32 {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Gently, so that it ends its own children.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The port that a gateway says it listens on. What it says is shown, or not.
fn port_told(stderr: ChildStderr, is_shown: bool) -> u16 {
    let (told, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let place = line.split_once("listening on http://127.0.0.1:").map(|(_, place)| place);
            let port = place.and_then(|place| place.split('/').next()?.parse().ok());
            port.map(|port: u16| told.send(port));
            if is_shown {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
    });
    port.recv_timeout(Duration::from_secs(20)).unwrap()
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
) -> Open {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    let host = format!("127.0.0.1:{port}");
    let usual = [
        ("host", host.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let is_given = |name: &str| headers.iter().any(|(other, _)| *other == name);
    for (name, value) in headers.iter().chain(usual.iter().filter(|(name, _)| !is_given(name))) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // A server that has refused already need not read the rest.
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
    Open { status, headers, reader }
}

/// Sends a POST and goes away without waiting for the answer.
pub(crate) fn send(port: u16, headers: &[(&str, &str)], body: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut head =
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    // Long enough for it to have been read.
    std::thread::sleep(Duration::from_millis(200));
}

impl Open {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The next event of a stream, without its framing.
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

    /// The next line of a stream that begins so.
    pub(crate) fn line(&mut self, beginning: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.starts_with(beginning) {
                return Some(line.trim_end().to_owned());
            }
        }
    }

    /// Whether a stream of which something was read comes to its end without another event.
    pub(crate) fn is_over(&mut self) -> bool {
        let mut rest = Vec::new();
        let is_whole = self.reader.read_to_end(&mut rest).is_ok();
        is_whole && !String::from_utf8_lossy(&rest).contains("data:")
    }

    pub(crate) fn finish(mut self) -> Answer {
        let mut raw = Vec::new();
        self.reader.read_to_end(&mut raw).unwrap();
        let is_chunked = find(&self.headers, "transfer-encoding") == Some("chunked");
        let body = if is_chunked { unchunk(&raw) } else { raw };
        Answer { status: self.status, headers: self.headers, body }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}: {}", self.text()))
    }

    /// The messages of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        // An event without a message only says where the stream can be taken up.
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

/// The example of that name.
pub(crate) fn scripted_server() -> PathBuf {
    static BUILT: Once = Once::new();
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stickler"));
    let folder = binary.parent().unwrap();
    let which = ["--example", "scripted_server"];
    BUILT.call_once(|| building::build_examples("stickler-cli", &which, folder));
    folder.join("examples").join("scripted_server")
}

/// How many processes of a process are there.
pub(crate) fn children_of(pid: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_task = |path: PathBuf| std::fs::read_to_string(path.join("children")).ok();
    let children = tasks.flatten().filter_map(|task| of_task(task.path()));
    children.map(|children| children.split_whitespace().count()).sum()
}
