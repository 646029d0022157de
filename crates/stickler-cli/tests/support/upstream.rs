//! An HTTP server with scripted responses.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Answers each request with the bytes that a script returns for its body.
pub(crate) struct Upstream {
    pub(crate) port: u16,
    /// Heads and bodies of the received requests.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    /// Streams of `subscriptions/listen` requests with their ids.
    subscribers: Arc<Mutex<Vec<(Value, TcpStream)>>>,
    /// Streams opened by GET.
    listeners: Arc<Mutex<Vec<TcpStream>>>,
}

impl Upstream {
    /// Waits for a request with a text in its body.
    pub(crate) fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.seen.lock().unwrap().iter().any(|(_, body)| body.contains(text)) {
            assert!(Instant::now() < deadline, "no request with {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn start(script: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start_with_heads(move |_, message| script(message))
    }

    /// Like [`start`](Self::start), for a script that also reads the head of the request, in lower case.
    pub(crate) fn start_with_heads(
        script: impl Fn(&str, &Value) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
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
                        let lower_case = head.to_ascii_lowercase();
                        log.lock().unwrap().push((head, body));
                        let response = script(&lower_case, &message);
                        if (&stream).write_all(&response).is_err() || response.is_empty() {
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

    /// Sends a message on every open GET stream.
    pub(crate) fn send_to_streams(&self, message: &Value) {
        for stream in self.listeners.lock().unwrap().iter() {
            let _ = (&*stream).write_all(format!("data: {message}\n\n").as_bytes());
        }
    }

    /// Sends `notifications/tools/list_changed` to all subscribers.
    pub(crate) fn notify_list_changed(&self) {
        for (id, stream) in self.subscribers.lock().unwrap().iter() {
            let event = notification("notifications/tools/list_changed", id, json!({}));
            let _ = (&*stream).write_all(event.as_bytes());
        }
    }

    /// Number of open subscriptions.
    pub(crate) fn subscriber_count(&self) -> usize {
        self.subscribers.lock().unwrap().len()
    }

    /// Closes all subscription streams without a final message.
    pub(crate) fn close_subscriptions(&self) {
        for (_, stream) in self.subscribers.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp?x=1", self.port)
    }

    pub(crate) fn heads(&self, method: &str) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let text = format!("\"method\":\"{method}\"");
        let found = seen.iter().filter(|(_, body)| body.contains(&text));
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
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nx-upstream: kept\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn json_response(body: &Value) -> Vec<u8> {
    http("application/json", &body.to_string())
}

/// An endless stream that starts with the acknowledgement of a subscription.
pub(crate) fn subscription_response(listen: &Value) -> Vec<u8> {
    let granted = json!({ "notifications": listen["params"]["notifications"] });
    let method = "notifications/subscriptions/acknowledged";
    let event = notification(method, &listen["id"], granted);
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{event}").into_bytes()
}

/// An event for the subscription with this id.
fn notification(method: &str, id: &Value, mut params: Value) -> String {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

pub(crate) fn accepted() -> Vec<u8> {
    b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec()
}

/// The response to `initialize`, `tools/list` and notifications; `None` for other requests.
pub(crate) fn default_response(message: &Value) -> Option<Vec<u8>> {
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
    Some(json_response(&json!({ "jsonrpc": "2.0", "id": id, "result": result })))
}
