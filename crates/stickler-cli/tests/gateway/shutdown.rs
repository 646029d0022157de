//! Server exit, gateway shutdown and responses that cannot be forwarded: every pending request is answered.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::support::http::Gateway;
use crate::support::upstream::Upstream;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Shell commands that perform the handshake of 2025-03-26.
const HANDSHAKE: &str = r#"read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; read -r line"#;

/// Padding per request: more than two requests exceed the write buffer of a server that does not read.
const PADDING_BYTES: usize = 3 << 20;

fn with_shell(script: &str) -> Gateway {
    Gateway::start_with_hidden_log(&["--", "sh", "-c", script])
}

fn modern_headers(method: &str) -> [(&str, &str); 2] {
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]
}

fn modern_request(id: impl Into<Value>, method: &str, padding: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "example/padding": padding,
    });
    let params = json!({ "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

/// A marker file: the test creates it to let a server exit, or a server creates it to report progress.
struct Marker(PathBuf);

impl Marker {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("stickler-{name}-{}", std::process::id())))
    }

    /// Shell command that waits for the file.
    fn wait_command(&self) -> String {
        format!("while [ ! -e '{}' ]; do sleep 0.05; done", self.0.display())
    }

    /// Waits until a server has created the file.
    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.0.exists() {
            assert!(Instant::now() < deadline, "the server has not created the marker");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Posts more than the server reads, lets it exit, and asserts that every request gets an error.
fn assert_all_get_errors(
    gateway: &Gateway,
    marker: &Marker,
    headers: &[(&str, &str)],
    legacy: bool,
) {
    let padding = "x".repeat(PADDING_BYTES);
    std::thread::scope(|scope| {
        let posts: Vec<_> = (1..=6)
            .map(|id| {
                let body = if legacy {
                    let params = json!({ "_meta": { "padding": padding } });
                    json!({ "jsonrpc": "2.0", "id": id, "method": "ping", "params": params })
                        .to_string()
                } else {
                    modern_request(id, "tools/list", &padding)
                };
                scope.spawn(move || gateway.post(headers, &body))
            })
            .collect();
        // Leave the requests time to block on the pipe; requests that arrive later get an error too.
        std::thread::sleep(Duration::from_secs(2));
        std::fs::write(&marker.0, "").unwrap();
        for (id, post) in (1..).zip(posts) {
            let response = post.join().unwrap().json();
            assert_eq!(response["id"], id, "{response}");
            assert!(response["error"]["message"].is_string(), "{response}");
        }
    });
}

#[test]
fn requests_blocked_on_a_full_pipe_are_answered_when_the_server_exits() {
    let marker = Marker::new("legacy-marker");
    let gateway = with_shell(&format!("{HANDSHAKE}; {}", marker.wait_command()));
    let session = gateway.session();
    assert_all_get_errors(&gateway, &marker, &[("mcp-session-id", &session)], true);
}

#[test]
fn modern_requests_blocked_on_a_full_pipe_are_answered_when_the_server_exits() {
    let marker = Marker::new("modern-marker");
    let gateway = with_shell(&marker.wait_command());
    assert_all_get_errors(&gateway, &marker, &modern_headers("tools/list"), false);
}

#[test]
fn oversized_response_with_a_trailing_id_becomes_an_error() {
    let gateway = with_shell(
        r#"read -r line
        printf '{"jsonrpc":"2.0","result":{"tools":[],"padding":"'
        head -c 17000000 /dev/zero | tr '\0' x
        printf '"},"id":1}\n'
        cat >/dev/null"#,
    );
    let body = modern_request("a", "tools/list", "");
    let response = gateway.post(&modern_headers("tools/list"), &body).json();
    assert_eq!(response["id"], "a", "{response}");
    assert!(response["error"]["message"].as_str().unwrap().contains("too large"), "{response}");
}

#[test]
fn stalled_http_reader_does_not_block_shutdown() {
    let flood = r#"read -r line; exec yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"XX"}}'"#;
    let flood = flood.replace("XX", &"x".repeat(16 << 10));
    let mut gateway = with_shell(&format!("{HANDSHAKE}; {flood}"));
    let session = gateway.session();
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-session-id: {session}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.read_exact(&mut [0; 1024]).unwrap();
    kill_process(Pid::from_child(&gateway.child), Signal::TERM).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = gateway.child.try_wait().unwrap() {
            break Some(status);
        }
        if Instant::now() > deadline {
            gateway.child.kill().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(stream);
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}

#[test]
fn requests_pending_at_a_url_get_an_error_on_shutdown() {
    // One request gets no bytes, the other the beginning of a response; then the server stalls.
    let upstream = Upstream::start(|message| {
        if message["id"] == "nothing" {
            std::thread::sleep(Duration::from_secs(60));
        }
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n";
        format!("{head}{{\"jsonrpc\"").into_bytes()
    });
    let gateway = Gateway::start_with_hidden_log(&["--url", &upstream.url()]);
    let port = gateway.port;
    let waiting = ["nothing", "half"].map(|id| {
        std::thread::spawn(move || {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
            let headers = [("mcp-protocol-version", "2025-11-25")];
            crate::support::http::request(port, "POST", "/mcp", &headers, &body).finish().json()
        })
    });
    upstream.wait_for("\"nothing\"");
    upstream.wait_for("\"half\"");
    assert_eq!(gateway.end(), 0);
    let [nothing, half] = waiting.map(|one| one.join().unwrap());
    for (response, id) in [(nothing, "nothing"), (half, "half")] {
        assert_eq!(response["id"], id, "{response}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains("the gateway is shutting down"), "{message}");
    }
}

#[test]
fn batch_with_duplicate_or_pending_ids_leaves_no_request_unanswered() {
    let marker = Marker::new("batch-marker");
    // The server answers the first request after it has read the batch, then the rest of the batch.
    let responses = r#"read -r batch
        echo '{"jsonrpc":"2.0","id":7,"result":{}}'
        echo '[{"jsonrpc":"2.0","id":8,"result":{}}]'; cat >/dev/null"#;
    let path = marker.0.display();
    let gateway = with_shell(&format!("{HANDSHAKE}; read -r first; : > '{path}'; {responses}"));
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-03-26")];
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &ping(7).to_string()).json());
        marker.wait();
        let batch = json!([ping(7), ping(8), ping(8)]).to_string();
        let batch = gateway.post(&headers, &batch).events();
        assert_eq!(first.join().unwrap()["id"], 7);
        assert_eq!(batch.last().unwrap()[0]["id"], 8, "{batch:?}");
    });
}

#[test]
fn response_batch_for_two_posts_answers_both() {
    let responses = r#"read -r one; read -r other
        echo '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]'
        cat >/dev/null"#;
    let gateway = with_shell(&format!("{HANDSHAKE}; {responses}"));
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    std::thread::scope(|scope| {
        let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
        let posts = [1, 2].map(|id| {
            let (gateway, headers, body) = (&gateway, &headers, ping(id));
            scope.spawn(move || gateway.post(headers, &body).json())
        });
        for (id, post) in (1..).zip(posts) {
            assert_eq!(post.join().unwrap()["id"], id);
        }
    });
}
