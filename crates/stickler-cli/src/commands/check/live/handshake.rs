//! Opens a session: the handshake of either protocol era, then the tool list.

use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};
use stickler::{ListPages, Revision};

use super::Setup;
use super::connection::Connection;
use super::response::{Outcome, Response};
use super::session::{Session, client_info};
use crate::exit::Failure;

/// The tool list, all pages merged.
pub(in crate::commands) struct ToolListing {
    /// JSON array of the definitions as received.
    pub(in crate::commands) text: Vec<u8>,
    pub(in crate::commands) tools: Vec<Value>,
}

/// Maximum nesting depth, above that of any usable schema.
const MAX_DEPTH: usize = 1 << 12;

/// Connects and performs the handshake. If the server rejects `initialize` or exits because of it,
/// `server/discover` is tried instead.
pub(super) fn open(setup: &Setup) -> Result<Session, Failure> {
    let mut session = Session::new(setup, Connection::open(setup)?);
    if setup.revision == Some(Revision::V2026_07_28) {
        return discover(setup, session);
    }
    let requested = setup.revision.unwrap_or(Revision::V2025_11_25);
    let params = json!({
        "protocolVersion": requested.as_str(), "capabilities": {}, "clientInfo": client_info(),
    });
    let response = session.request("initialize", params);
    match response.outcome {
        Outcome::Result(result) => {
            session.server_name = server_name(&result);
            session.has_tools = result["capabilities"].get("tools").is_some();
            session.notify("notifications/initialized", json!({}));
            Ok(session)
        }
        Outcome::Exited(_) if session.is_stdio() => {
            let stderr_tail = session.stderr_tail();
            drop(session);
            let session = Session::new(setup, Connection::open(setup)?);
            discover(setup, session).map_err(|_| ended(setup, &stderr_tail))
        }
        Outcome::Error { .. } | Outcome::Status(400..=499) => {
            let reason = describe("initialize", &response);
            discover(setup, session).map_err(|_| unreachable(setup, &reason))
        }
        _ => {
            let reason = describe("initialize", &response);
            Err(unreachable(setup, &format!("{reason}{}", session.stderr_tail())))
        }
    }
}

fn discover(setup: &Setup, mut session: Session) -> Result<Session, Failure> {
    session.switch_to_modern();
    let response = session.request("server/discover", json!({}));
    let Outcome::Result(result) = &response.outcome else {
        let reason = describe("server/discover", &response);
        return Err(unreachable(setup, &format!("{reason}{}", session.stderr_tail())));
    };
    session.server_name = server_name(result);
    session.has_tools = result["capabilities"].get("tools").is_some();
    Ok(session)
}

/// Requests all pages of the tool list.
pub(super) fn list_tools(session: &mut Session) -> Result<ToolListing, Failure> {
    let mut parts: Vec<String> = Vec::new();
    let mut tools = Vec::new();
    let mut pages = ListPages::default();
    if !session.has_tools {
        return Ok(ToolListing { text: b"[]".to_vec(), tools });
    }
    loop {
        let params = pages.cursor().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let response = session.request("tools/list", params);
        let Outcome::Result(result) = &response.outcome else {
            let reason = describe("tools/list", &response);
            return Err(Failure::Unreachable(format!(
                "[STK-103] cannot list the tools: {reason}{}",
                session.stderr_tail()
            )));
        };
        parts.extend(raw_tools(&response.raw));
        tools.extend(result["tools"].as_array().cloned().unwrap_or_default());
        // The tools of an endless list are checked as far as they are known.
        if pages.follow(result["nextCursor"].as_str().map(str::to_owned)) != Ok(true) {
            break;
        }
    }
    Ok(ToolListing { text: format!("[{}]", parts.join(",")).into_bytes(), tools })
}

/// Returns the definitions as received, including large numbers and duplicate keys.
fn raw_tools(message: &[u8]) -> Vec<String> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(message, MAX_DEPTH) else { return Vec::new() };
    let tools = tape.root().pointer("/result/tools");
    tools.into_iter().flat_map(Node::elements).map(|tool| tool.raw().to_owned()).collect()
}

fn server_name(result: &Value) -> Option<String> {
    let info = &result["serverInfo"];
    let name = info["name"].as_str()?;
    let version = info["version"].as_str().unwrap_or_default();
    Some(format!("{name} {version}").trim_end().to_owned())
}

/// Describes why a request failed.
fn describe(method: &str, response: &Response) -> String {
    match &response.outcome {
        Outcome::Result(_) => format!("`{method}` was answered"),
        Outcome::Error { code, message, .. } => {
            format!("`{method}` failed with error {code}: {message}")
        }
        Outcome::Status(401) => format!(
            "`{method}` failed with HTTP status 401: the server requires authorization \
             (`--bearer-token-env`)"
        ),
        Outcome::Status(status) => format!("`{method}` failed with HTTP status {status}"),
        Outcome::Timeout => format!(
            "[STK-104] no response to `{method}` within {} s (see `--start-timeout`)",
            response.millis / 1000
        ),
        Outcome::Exited(reason) => format!("{reason} before it responded to `{method}`"),
    }
}

fn unreachable(setup: &Setup, reason: &str) -> Failure {
    let name = setup.server.name();
    Failure::Unreachable(format!("[STK-101] cannot connect to `{name}`: {reason}"))
}

fn ended(setup: &Setup, stderr_tail: &str) -> Failure {
    let no_stderr =
        if stderr_tail.is_empty() { " and wrote nothing to its standard error" } else { "" };
    unreachable(
        setup,
        &format!("it exited before it responded to `initialize`{no_stderr}{stderr_tail}"),
    )
}
