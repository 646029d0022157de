//! The beginning of a conversation: the handshake of either era, then the list of tools.

use std::collections::HashSet;

use serde_json::{Value, json};
use stickler::Revision;
use stickler::tape::{Node, TapeBuffer};

use super::Setup;
use super::connection::Connection;
use super::talk::{Outcome, Reply, Talk, client_info};
use crate::exit::Failure;

/// The list of tools, all pages in one.
pub(super) struct Listed {
    /// As an array of the definitions as they came.
    pub(super) text: Vec<u8>,
    pub(super) tools: Vec<Value>,
}

/// More pages than anybody has.
const MOST_PAGES: usize = 1000;

/// As deep as a definition can be for its schema to be used, and some.
const DEEPEST: usize = 1 << 12;

/// Connects and shakes hands. A server that has no handshake, or ends because of it, is asked in
/// the modern way.
pub(super) fn open(setup: &Setup) -> Result<Talk, Failure> {
    let mut talk = Talk::new(setup, Connection::open(setup)?);
    if setup.revision == Some(Revision::V2026_07_28) {
        return discover(setup, talk);
    }
    let wanted = setup.revision.unwrap_or(Revision::V2025_11_25);
    let params = json!({
        "protocolVersion": wanted.as_str(), "capabilities": {}, "clientInfo": client_info(),
    });
    let reply = talk.ask("initialize", params);
    match reply.outcome {
        Outcome::Result(result) => {
            talk.server_name = server_name(&result);
            talk.has_tools = result["capabilities"].get("tools").is_some();
            talk.notify("notifications/initialized", json!({}));
            Ok(talk)
        }
        Outcome::Gone(_) if talk.is_stdio() => {
            let complaints = talk.complaints();
            drop(talk);
            let talk = Talk::new(setup, Connection::open(setup)?);
            discover(setup, talk).map_err(|_| ended(setup, &complaints))
        }
        Outcome::Error { .. } | Outcome::Status(400..=499) => {
            let told = describe("initialize", &reply);
            discover(setup, talk).map_err(|_| unreachable(setup, &told))
        }
        _ => {
            let told = describe("initialize", &reply);
            Err(unreachable(setup, &format!("{told}{}", talk.complaints())))
        }
    }
}

fn discover(setup: &Setup, mut talk: Talk) -> Result<Talk, Failure> {
    talk.be_modern();
    let reply = talk.ask("server/discover", json!({}));
    let Outcome::Result(result) = &reply.outcome else {
        let told = describe("server/discover", &reply);
        return Err(unreachable(setup, &format!("{told}{}", talk.complaints())));
    };
    talk.server_name = server_name(result);
    talk.has_tools = result["capabilities"].get("tools").is_some();
    Ok(talk)
}

/// Asks for all pages of the list.
pub(super) fn list_tools(talk: &mut Talk) -> Result<Listed, Failure> {
    let mut parts: Vec<String> = Vec::new();
    let mut tools = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = json!({});
    if !talk.has_tools {
        return Ok(Listed { text: b"[]".to_vec(), tools });
    }
    for _ in 0..MOST_PAGES {
        let reply = talk.ask("tools/list", params);
        let Outcome::Result(result) = &reply.outcome else {
            let told = describe("tools/list", &reply);
            return Err(Failure::Unreachable(format!(
                "[STK-103] the tools cannot be listed: {told}{}",
                talk.complaints()
            )));
        };
        parts.extend(raw_tools(&reply.raw));
        tools.extend(result["tools"].as_array().cloned().unwrap_or_default());
        let next = result["nextCursor"].as_str().map(str::to_owned);
        match next.filter(|next| cursors.insert(next.clone())) {
            Some(next) => params = json!({ "cursor": next }),
            None => break,
        }
    }
    Ok(Listed { text: format!("[{}]", parts.join(",")).into_bytes(), tools })
}

/// The definitions as they are written, big numbers and repeated keys included.
fn raw_tools(message: &[u8]) -> Vec<String> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(message, DEEPEST) else { return Vec::new() };
    let tools = tape.root().pointer("/result/tools");
    tools.into_iter().flat_map(Node::elements).map(|tool| tool.raw().to_owned()).collect()
}

fn server_name(result: &Value) -> Option<String> {
    let info = &result["serverInfo"];
    let name = info["name"].as_str()?;
    let version = info["version"].as_str().unwrap_or_default();
    Some(format!("{name} {version}").trim_end().to_owned())
}

/// What came of a question that should have been answered.
fn describe(method: &str, reply: &Reply) -> String {
    match &reply.outcome {
        Outcome::Result(_) => format!("`{method}` was answered"),
        Outcome::Error { code, message, .. } => {
            format!("`{method}` was answered with the error {code}: {message}")
        }
        Outcome::Status(401) => format!(
            "`{method}` was answered with HTTP status 401: the server wants authorization \
             (`--bearer-token-env`)"
        ),
        Outcome::Status(status) => format!("`{method}` was answered with HTTP status {status}"),
        Outcome::Silence => format!(
            "[STK-104] `{method}` was not answered within {} s (`--timeout` allows more)",
            reply.millis / 1000
        ),
        Outcome::Gone(reason) => format!("{reason} before it answered `{method}`"),
    }
}

fn unreachable(setup: &Setup, told: &str) -> Failure {
    let name = setup.server.name();
    Failure::Unreachable(format!("[STK-101] cannot talk to `{name}`: {told}"))
}

fn ended(setup: &Setup, complaints: &str) -> Failure {
    let said = if complaints.is_empty() { " and wrote nothing to its standard error" } else { "" };
    unreachable(setup, &format!("it ended before it answered `initialize`{said}{complaints}"))
}
