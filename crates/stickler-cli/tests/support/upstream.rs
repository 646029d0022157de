//! A server that is reached by HTTP, and says what a test tells it to say.
#![allow(dead_code, reason = "not every test needs everything")]

use std::io::{BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server that gives each POST the answer that a script makes for its body, byte by byte.
pub(crate) struct Upstream {
    pub(crate) port: u16,
    /// The heads and bodies that came.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    /// Those who have subscribed to something, with the ids of their subscriptions.
    subscribers: Arc<Mutex<Vec<(Value, TcpStream)>>>,
    /// Those who have asked for a stream.
    listeners: Arc<Mutex<Vec<TcpStream>>>,
}

impl Upstream {
    /// Waits for a request that is about this.
    pub(crate) fn wait_for(&self, wanted: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.seen.lock().unwrap().iter().any(|(_, body)| body.contains(wanted)) {
            assert!(Instant::now() < deadline, "no {wanted} came");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn start(script: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let subscribers: Arc<Mutex<Vec<(Value, TcpStream)>>> = Arc::default();
        let (script, log) = (Arc::new(script), Arc::clone(&seen));
        let kept = Arc::clone(&subscribers);
        let listeners: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let listening = Arc::clone(&listeners);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                let (kept, listening) = (Arc::clone(&kept), Arc::clone(&listening));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Some((head, body)) = read_request(&mut reader) {
                        let message: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
                        log.lock().unwrap().push((head, body));
                        let answer = script(&message);
                        if (&stream).write_all(&answer).is_err() || answer.is_empty() {
                            return;
                        }
                        if message["method"] == "subscriptions/listen" {
                            let stream = stream.try_clone().unwrap();
                            kept.lock().unwrap().push((message["id"].clone(), stream));
                        } else if message.is_null() {
                            listening.lock().unwrap().push(stream.try_clone().unwrap());
                        }
                    }
                });
            }
        });
        Self { port, seen, subscribers, listeners }
    }

    /// Says something on every stream that was asked for and is still open.
    pub(crate) fn say(&self, message: &Value) {
        for stream in self.listeners.lock().unwrap().iter() {
            let _ = (&*stream).write_all(format!("data: {message}\n\n").as_bytes());
        }
    }

    /// Tells all subscribers that the tools have changed.
    pub(crate) fn tell_of_change(&self) {
        for (id, stream) in self.subscribers.lock().unwrap().iter() {
            let event = notification("notifications/tools/list_changed", id, json!({}));
            let _ = (&*stream).write_all(event.as_bytes());
        }
    }

    /// How many have subscribed.
    pub(crate) fn subscribers(&self) -> usize {
        self.subscribers.lock().unwrap().len()
    }

    /// Ends all subscriptions without a word.
    pub(crate) fn hang_up(&self) {
        for (_, stream) in self.subscribers.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp?x=1", self.port)
    }

    pub(crate) fn heads(&self, method: &str) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let wanted = format!("\"method\":\"{method}\"");
        let found = seen.iter().filter(|(_, body)| body.contains(&wanted));
        found.map(|(head, _)| head.to_ascii_lowercase()).collect()
    }
}

fn read_request(reader: &mut impl std::io::BufRead) -> Option<(String, String)> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
    });
    let mut body = vec![0; length.and_then(|one| one.trim().parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

pub(crate) fn http(kind: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nx-own: kept\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn json_answer(body: &Value) -> Vec<u8> {
    http("application/json", &body.to_string())
}

/// A stream that has no end, with the acknowledgement of a subscription.
pub(crate) fn subscribed(listen: &Value) -> Vec<u8> {
    let granted = json!({ "notifications": listen["params"]["notifications"] });
    let method = "notifications/subscriptions/acknowledged";
    let event = notification(method, &listen["id"], granted);
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{event}").into_bytes()
}

/// An event for the subscription of that id.
fn notification(method: &str, id: &Value, mut params: Value) -> String {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

pub(crate) fn accepted() -> Vec<u8> {
    b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec()
}

/// Answers what every client asks; the rest is for the script.
pub(crate) fn usual(message: &Value) -> Option<Vec<u8>> {
    let id = message.get("id").cloned();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "upstream", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{
            "name": "echo",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } },
                             "required": ["text"] },
        }] }),
        _ if id.is_none() => return Some(accepted()),
        _ => return None,
    };
    Some(json_answer(&json!({ "jsonrpc": "2.0", "id": id, "result": result })))
}
