//! Clients that call through Envoy and compare every answer with the call.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Reader;
use super::upstream::UNCHECKED;

/// Longer than any time limit on the way.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// What became of the calls.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Calls with a response.
    pub(super) answered: AtomicU64,
    /// Calls without a response.
    pub(super) lost: AtomicU64,
    /// Responses to another call.
    pub(super) crossed: AtomicU64,
    /// Valid calls that were rejected.
    pub(super) wrong: AtomicU64,
    /// Invalid calls that were rejected.
    pub(super) rejected: AtomicU64,
    /// Invalid calls that reached the upstream.
    pub(super) unchecked: AtomicU64,
    /// Calls that Envoy answered with an error because no processor did.
    pub(super) failed: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Makes one call after another until `next` reaches `calls`. Odd clients speak the modern revision; every fourth call
/// is invalid.
pub(super) fn run(client: u64, port: u16, (next, calls): (&AtomicU64, u64), tally: &Tally) {
    let mut connection = None;
    loop {
        let nonce = next.fetch_add(1, Ordering::Relaxed);
        if nonce >= calls {
            return;
        }
        let is_valid = nonce % 4 != 0;
        let request = request(client, nonce, is_valid);
        if let Some((status, body)) = exchange(&mut connection, port, &request) {
            judge(tally, nonce, is_valid, status, &body);
        } else {
            count(&tally.lost);
            connection = None;
        }
    }
}

fn exchange(
    connection: &mut Option<(TcpStream, Reader)>,
    port: u16,
    request: &[u8],
) -> Option<(u16, Vec<u8>)> {
    if connection.is_none() {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(READ_TIMEOUT)).ok()?;
        stream.set_nodelay(true).ok()?;
        let reader = Reader::new(&stream).ok()?;
        *connection = Some((stream, reader));
    }
    let (stream, reader) = connection.as_mut()?;
    stream.write_all(request).ok()?;
    let (status, body) = reader.message().ok()?;
    let status = status.split(' ').nth(1)?.parse().ok()?;
    Some((status, body))
}

/// Classifies an answer.
fn judge(tally: &Tally, nonce: u64, is_valid: bool, status: u16, body: &[u8]) {
    count(&tally.answered);
    let text = String::from_utf8_lossy(body);
    let json = text.trim().strip_prefix("data:").unwrap_or(&text);
    let message: Value = serde_json::from_str(json).unwrap_or_default();
    if status >= 500 && message.is_null() {
        return count(&tally.failed);
    }
    let answer = &message["result"]["content"][0]["text"];
    let is_error = message["result"]["isError"] == true;
    if message["id"].as_u64() != Some(nonce) {
        count(&tally.crossed);
    } else if is_valid && is_error {
        count(&tally.wrong);
    } else if is_valid && answer.as_str() != Some(&nonce.to_string()) {
        count(&tally.crossed);
    } else if !is_valid {
        count(if answer == UNCHECKED { &tally.unchecked } else { &tally.rejected });
    }
}

fn request(client: u64, nonce: u64, is_valid: bool) -> Vec<u8> {
    let arguments = if is_valid { json!({ "nonce": nonce }) } else { json!({ "nonse": nonce }) };
    let mut params = json!({ "name": "echo", "arguments": arguments });
    let headers = if client % 2 == 1 {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n"
            .to_owned()
    } else {
        format!("mcp-protocol-version: 2025-11-25\r\nmcp-session-id: session-{client}\r\n")
    };
    let body = json!({ "jsonrpc": "2.0", "id": nonce, "method": "tools/call", "params": params });
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: mcp.example\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
