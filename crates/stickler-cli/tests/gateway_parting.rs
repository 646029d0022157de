//! Clients that close their side right behind a request: what they said is done, and what they asked for
//! is answered.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod heard;
    pub(crate) mod http;
    pub(crate) mod stdio;
    pub(crate) mod upstream;
}

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::net::{SendFlags, send};
use serde_json::{Value, json};
use support::heard::Heard;
use support::http::{Gateway, call};
use support::stdio::until;
use support::upstream::{Upstream, json_answer, usual};

/// How often each is tried: whether the end is seen at once is a matter of luck.
const TIMES: usize = 40;

/// Sends a request and the end right behind it.
fn send_and_part(port: u16, method: &str, session: Option<&str>, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let session = session.map(|name| format!("mcp-session-id: {name}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n",
        body.len()
    );
    // What is sent so waits for more, and leaves together with the end.
    let request = format!("{head}{body}");
    let (most, last) = request.split_at(request.len().saturating_sub(1000));
    stream.write_all(most.as_bytes()).unwrap();
    let sent = send(&stream, last.as_bytes(), SendFlags::MORE).unwrap();
    assert_eq!(sent, last.len());
    stream.shutdown(Shutdown::Write).unwrap();
    stream
}

/// All that comes back.
fn rest(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn notifications_arrive_though_their_clients_have_gone() {
    let (gateway, heard) = Heard::behind_a_gateway();
    let session = gateway.session();
    for number in 0..TIMES {
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "n": number } });
        drop(send_and_part(gateway.port, "POST", Some(&session), &message.to_string()));
    }
    until("all have arrived", || heard.all("notifications/x").len() == TIMES);
}

#[test]
fn sessions_end_though_their_clients_have_gone() {
    let gateway = Gateway::scripted(&[]);
    let sessions: Vec<String> = (0..8).map(|_| gateway.session()).collect();
    assert_eq!(gateway.children(), sessions.len());
    for session in &sessions {
        drop(send_and_part(gateway.port, "DELETE", Some(session), ""));
    }
    until("all have ended", || gateway.children() == 0);
}

#[test]
fn whoever_closes_only_his_own_side_gets_his_answer() {
    let gateway = Gateway::scripted(&["--keep-alive", "1"]);
    let session = gateway.session();
    let ask = |tool: &str, arguments: Value| {
        let call = call(1, tool, &arguments);
        rest(send_and_part(gateway.port, "POST", Some(&session), &call))
    };
    for number in 0..TIMES {
        let answer = ask("echo", json!({ "text": format!("number {number}") }));
        assert!(answer.contains(&format!("number {number}")), "{answer}");
    }
    // As a stream, too, and if there is more of it than fits into a socket.
    let answer = ask("slow", json!({ "text": "at last", "millis": 2500 }));
    assert!(answer.contains("text/event-stream") && answer.contains("at last"), "{answer}");
    let long = "x".repeat(8 << 20);
    let answer = ask("echo", json!({ "text": long }));
    assert!(answer.contains(&long), "{} bytes came", answer.len());
}

#[test]
fn and_so_does_he_in_front_of_a_url() {
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| {
            std::thread::sleep(Duration::from_millis(20));
            let result = json!({ "content": [], "n": message["id"] });
            json_answer(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    for number in 0..TIMES {
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/x" }).to_string();
        drop(send_and_part(gateway.port, "POST", None, &notification));
        let call = call(number, "echo", &json!({ "text": "x" }));
        let answer = rest(send_and_part(gateway.port, "POST", None, &call));
        assert!(answer.contains(&format!("\"n\":{number}")), "{answer}");
    }
    until("all have arrived", || {
        let seen = upstream.seen.lock().unwrap();
        seen.iter().filter(|(_, body)| body.contains("notifications/x")).count() == TIMES
    });
}

#[test]
fn half_a_request_is_not_waited_for() {
    let gateway = Gateway::scripted(&[]);
    let whole = call(1, "echo", &json!({ "text": "x" }));
    for head in ["content-length: 1000\r\n\r\n", "transfer-encoding: chunked\r\n\r\nff\r\n", ""] {
        let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let body = if head.is_empty() { "" } else { &whole };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{head}{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = rest(stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
}
