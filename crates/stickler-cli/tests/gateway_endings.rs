//! Servers that end, gateways that are ended, answers that cannot be passed on: whoever waits is told.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod upstream;
}

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::http::Gateway;
use support::upstream::Upstream;

/// What a shell says to agree on a session.
const AGREE: &str = r#"read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; read -r line"#;

/// More than two of them are too much for a server that does not read.
const LONG: usize = 3 << 20;

fn with_shell(script: &str) -> Gateway {
    Gateway::quietly(&["--", "sh", "-c", script])
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

/// A file whose being there tells a server to go, or tells of a server that it has come so far.
struct Sign(PathBuf);

impl Sign {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("stickler-{name}-{}", std::process::id())))
    }

    fn wait_for_it(&self) -> String {
        format!("while [ ! -e '{}' ]; do sleep 0.05; done", self.0.display())
    }

    /// Waits until a server has given it.
    fn appear(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.0.exists() {
            assert!(Instant::now() < deadline, "the server gives no sign");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Posts more than a server reads, lets it go, and sees that every request is answered.
fn all_are_answered(gateway: &Gateway, sign: &Sign, headers: &[(&str, &str)], legacy: bool) {
    let padding = "x".repeat(LONG);
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
        // So that some of them wait for the server to read; the others are answered anyway.
        std::thread::sleep(Duration::from_secs(2));
        std::fs::write(&sign.0, "").unwrap();
        for (id, post) in (1..).zip(posts) {
            let answer = post.join().unwrap().json();
            assert_eq!(answer["id"], id, "{answer}");
            assert!(answer["error"]["message"].is_string(), "{answer}");
        }
    });
}

#[test]
fn requests_that_wait_for_a_server_to_read_are_answered_when_it_goes() {
    let sign = Sign::new("legacy-sign");
    let gateway = with_shell(&format!("{AGREE}; {}", sign.wait_for_it()));
    let session = gateway.session();
    all_are_answered(&gateway, &sign, &[("mcp-session-id", &session)], true);
}

#[test]
fn modern_requests_that_wait_for_a_server_to_read_are_answered_when_it_goes() {
    let sign = Sign::new("modern-sign");
    let gateway = with_shell(&sign.wait_for_it());
    all_are_answered(&gateway, &sign, &modern_headers("tools/list"), false);
}

#[test]
fn an_answer_that_is_too_long_is_an_error_though_its_id_comes_last() {
    let gateway = with_shell(
        r#"read -r line
        printf '{"jsonrpc":"2.0","result":{"tools":[],"padding":"'
        head -c 17000000 /dev/zero | tr '\0' x
        printf '"},"id":1}\n'
        cat >/dev/null"#,
    );
    let body = modern_request("a", "tools/list", "");
    let answer = gateway.post(&modern_headers("tools/list"), &body).json();
    assert_eq!(answer["id"], "a", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("too large"), "{answer}");
}

#[test]
fn a_reader_that_has_stopped_does_not_keep_the_gateway_from_ending() {
    let flood = r#"read -r line; exec yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"XX"}}'"#;
    let flood = flood.replace("XX", &"x".repeat(16 << 10));
    let mut gateway = with_shell(&format!("{AGREE}; {flood}"));
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
fn what_waits_for_a_server_elsewhere_is_told_that_the_gateway_ends() {
    // One request gets nothing, another the beginning of an answer, then the server hangs.
    let upstream = Upstream::start(|message| {
        if message["id"] == "nothing" {
            std::thread::sleep(Duration::from_secs(60));
        }
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n";
        format!("{head}{{\"jsonrpc\"").into_bytes()
    });
    let gateway = Gateway::quietly(&["--url", &upstream.url()]);
    let port = gateway.port;
    let waiting = ["nothing", "half"].map(|id| {
        std::thread::spawn(move || {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
            let headers = [("mcp-protocol-version", "2025-11-25")];
            support::http::request(port, "POST", "/mcp", &headers, &body).finish().json()
        })
    });
    upstream.wait_for("\"nothing\"");
    upstream.wait_for("\"half\"");
    assert_eq!(gateway.end(), 0);
    let [nothing, half] = waiting.map(|one| one.join().unwrap());
    for (answer, id) in [(nothing, "nothing"), (half, "half")] {
        assert_eq!(answer["id"], id, "{answer}");
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains("the gateway is shutting down"), "{told}");
    }
}

#[test]
fn an_id_that_a_batch_has_twice_or_that_is_in_use_leaves_nobody_waiting() {
    let sign = Sign::new("batch-sign");
    // Answers the first request when it has seen the batch, and then what is left of the batch.
    let answers = r#"read -r batch
        echo '{"jsonrpc":"2.0","id":7,"result":{}}'
        echo '[{"jsonrpc":"2.0","id":8,"result":{}}]'; cat >/dev/null"#;
    let path = sign.0.display();
    let gateway = with_shell(&format!("{AGREE}; read -r first; : > '{path}'; {answers}"));
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-03-26")];
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &ping(7).to_string()).json());
        sign.appear();
        let batch = json!([ping(7), ping(8), ping(8)]).to_string();
        let batch = gateway.post(&headers, &batch).events();
        assert_eq!(first.join().unwrap()["id"], 7);
        assert_eq!(batch.last().unwrap()[0]["id"], 8, "{batch:?}");
    });
}

#[test]
fn a_batch_that_answers_two_posts_answers_both() {
    let answers = r#"read -r one; read -r other
        echo '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]'
        cat >/dev/null"#;
    let gateway = with_shell(&format!("{AGREE}; {answers}"));
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
