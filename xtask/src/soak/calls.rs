//! The requests that clients send, as random calls of the two servers.

use serde_json::{Value, json};

use crate::random::Random;

/// The server behind a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    /// The scripted server, whose tools return their `text`.
    Scripted,
    /// `stickler serve --suite files` with the files that [`file_content`] describes.
    Files,
}

/// A `tools/call` request or another one.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// The text that the response contains if it is a success.
    pub(super) expected: Option<String>,
}

/// Number of files in the folder of [`Served::Files`].
pub(super) const FILES: usize = 40;

pub(super) fn file_name(number: usize) -> String {
    format!("file-{number}.txt")
}

pub(super) fn file_content(number: usize) -> String {
    format!("the content of file <{number}>")
}

impl Served {
    /// Returns a random request. `token` is unique.
    pub(super) fn request(self, random: &mut Random, token: &str) -> Request {
        match random.below(20) {
            0 => other("ping"),
            1 => other("tools/list"),
            2 => self.invalid(random),
            _ => match self {
                Self::Scripted => scripted(random, token),
                Self::Files => {
                    let number = random.below(FILES);
                    let arguments = json!({ "path": file_name(number) });
                    call("read_file", arguments, Some(file_content(number)))
                }
            },
        }
    }

    /// A call with wrong arguments, a misspelt tool, or an unknown method.
    fn invalid(self, random: &mut Random) -> Request {
        let tool = if self == Self::Scripted { "slow" } else { "read_file" };
        match random.below(4) {
            0 => call(tool, json!({ "txt": 1, "path ": [] }), None),
            1 => call(tool, json!([1]), None),
            2 => call(&format!("{tool}_"), json!({}), None),
            _ => other("no/such/method"),
        }
    }
}

fn scripted(random: &mut Random, token: &str) -> Request {
    let expected = Some(token.to_owned());
    match random.below(200) {
        // The process exits without a response.
        0 => call("die", json!({ "text": token }), None),
        // From now on, `echo` requires `words`.
        1..4 => call("change", json!({ "text": token }), expected),
        4..60 => {
            let text = format!("{token}{}", "x".repeat(random.below(3000)));
            call("echo", json!({ "text": text }), Some(text))
        }
        60..70 => call("echo", json!({ "words": token }), None),
        70..110 => {
            let millis = random.below(200);
            call("slow", json!({ "text": token, "millis": millis }), expected)
        }
        110..150 => {
            let mut notify = call("notify", json!({ "text": token }), expected);
            notify.params["_meta"]["progressToken"] = token.into();
            notify
        }
        150..175 => call("later", json!({ "text": token }), expected),
        175..190 => call("ask", json!({ "text": token }), expected),
        _ => call("region", json!({ "text": token }), expected),
    }
}

fn call(tool: &str, arguments: Value, expected: Option<String>) -> Request {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    Request { method: "tools/call", params, expected }
}

fn other(method: &'static str) -> Request {
    Request { method, params: json!({}), expected: None }
}

impl Request {
    /// Returns the message; a modern one has the metadata of its revision.
    pub(super) fn message(&self, id: u64, is_modern: bool) -> Value {
        let mut params = self.params.clone();
        if is_modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": self.method, "params": params })
    }
}

/// The handshake of the legacy era.
pub(super) fn initialize(id: u64) -> Value {
    let client = json!({ "name": "soak", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
}

pub(super) fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}
