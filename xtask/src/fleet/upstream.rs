//! An MCP server over HTTP that counts how often each call reaches it.
//!
//! Its only tool, `echo`, requires an integer `nonce` and answers with it: as JSON, and for every third nonce as an event
//! stream. Arguments without a `nonce` are answered as `unchecked`.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::http::{Reader, text_of};

/// The text of the answer to an invalid call that arrived.
pub(super) const UNCHECKED: &str = "unchecked";

/// A running server.
#[derive(Clone)]
pub(super) struct Upstream {
    pub(super) port: u16,
    calls: Arc<Mutex<HashMap<u64, u32>>>,
}

impl Upstream {
    /// Starts the server on a free port.
    pub(super) fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(text_of)?;
        let port = listener.local_addr().map_err(text_of)?.port();
        let upstream = Self { port, calls: Arc::default() };
        let serving = upstream.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        Ok(upstream)
    }

    /// Returns the number of calls that arrived more than once.
    pub(super) fn doubled(&self) -> usize {
        self.calls().values().filter(|count| **count > 1).count()
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) {
        let Ok(mut reader) = Reader::new(&stream) else { return };
        while let Ok((_, body)) = reader.message() {
            let request: Value = serde_json::from_slice(&body).unwrap_or_default();
            if stream.write_all(&self.answer(&request)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Value) -> Vec<u8> {
        let result = if request["method"] == "tools/list" {
            json!({ "tools": [{
                "name": "echo",
                "inputSchema": {
                    "type": "object",
                    "properties": { "nonce": { "type": "integer" } },
                    "required": ["nonce"],
                },
            }] })
        } else {
            let nonce = request["params"]["arguments"]["nonce"].as_u64();
            let text = nonce.map_or(UNCHECKED.to_owned(), |nonce| nonce.to_string());
            if let Some(nonce) = nonce {
                *self.calls().entry(nonce).or_default() += 1;
            }
            json!({ "content": [{ "type": "text", "text": text }], "isError": nonce.is_none() })
        };
        let mut message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        if request["params"]["_meta"].is_object() {
            message["result"]["resultType"] = "complete".into();
        }
        let streams = request["id"].as_u64().is_some_and(|id| id % 3 == 0);
        let (kind, body) = if streams {
            ("text/event-stream", format!("data: {message}\n\n"))
        } else {
            ("application/json", message.to_string())
        };
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes()
    }
}
