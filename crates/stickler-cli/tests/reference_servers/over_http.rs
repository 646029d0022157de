//! The reference servers over HTTP.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::root::Root;
use crate::support_http::{Gateway, Response, call, initialize, request};

/// A reference server that listens on HTTP.
struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    fn start(suite: &str, root: &Root) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .args(["serve", "--suite", suite, "--listen", "127.0.0.1:0", "--root"])
            .arg(root.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_suffix("/mcp").unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// The message of a JSON response, or of the last event of a stream.
fn message(response: &Response) -> Value {
    let text = response.text();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = data.rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(&text)).unwrap_or_else(|_| panic!("{text}"))
}

fn assert_calls_are_validated(call_tool: impl Fn(&str, Value) -> Value) {
    let invalid = call_tool("read_file", json!({ "pth": "README.md" }));
    assert_eq!(invalid["result"]["isError"], true, "{invalid}");
    let help = invalid["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("did you mean `path` (string, required)?"), "{help}");
    let valid = call_tool("read_file", json!({ "path": "README.md" }));
    let text = valid["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{valid}"));
    assert!(text.starts_with("# A project"), "{text}");
}

#[test]
fn stdio_server_works_behind_an_http_gateway() {
    let root = Root::new();
    let binary = env!("CARGO_BIN_EXE_stickler");
    let path = root.path();
    let gateway = Gateway::start(&[
        "--",
        binary,
        "serve",
        "--suite",
        "files",
        "--root",
        path.to_str().unwrap(),
    ]);
    let session = gateway.session();
    assert_calls_are_validated(|tool, arguments| {
        message(&gateway.post(&[("mcp-session-id", &session)], &call(1, tool, &arguments)))
    });
}

#[test]
fn http_server_works_with_and_without_a_gateway() {
    let root = Root::new();
    let server = Listening::start("files", &root);
    let open = request(server.port, "POST", "/mcp", &[], &initialize()).finish();
    let session = open.header("mcp-session-id").unwrap().to_owned();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(request(server.port, "POST", "/mcp", &headers, ready).finish().status, 202);
    assert_calls_are_validated(|tool, arguments| {
        let body = call(1, tool, &arguments);
        message(&request(server.port, "POST", "/mcp", &headers, &body).finish())
    });
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let gateway = Gateway::start(&["--url", &url]);
    let session = gateway.session();
    assert_calls_are_validated(|tool, arguments| {
        message(&gateway.post(&[("mcp-session-id", &session)], &call(1, tool, &arguments)))
    });
}
