//! A session with the checked server: sends requests, waits for responses and collects the findings of the
//! middleware about every message from the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stickler::rules::json_rpc;
use stickler::{Finding, MessageRule, Revision};
use stickler_protocol::headers::VERSION_KEY;
use stickler_protocol::{Policy, Side, ValidationMiddleware, Verdict, error_reply};
use stickler_transport::http::ProbeEvent;

use super::connection::Connection;
use super::response::{ExpectedResponse, Outcome, Response};
use super::{SERVER, Setup};
use crate::commands::check::report::CheckFinding;
use crate::style::printable;

/// Maximum number of findings per rule about messages of the server.
const MAX_FINDINGS_PER_RULE: usize = 20;

/// Maximum number of quoted characters of a line.
const MAX_QUOTE_CHARS: usize = 80;

/// Number of lines of standard output that are kept for error messages.
const MAX_NOISE_LINES: usize = 8;

/// A session with a server.
pub(super) struct Session {
    connection: Connection,
    middleware: ValidationMiddleware,
    started: Instant,
    /// Maximum time to wait for a response.
    pub(super) timeout: Duration,
    next_id: u64,
    pub(super) is_modern: bool,
    pub(super) server_name: Option<String>,
    pub(super) has_tools: bool,
    findings: Vec<CheckFinding>,
    /// First lines of standard output that are not messages.
    noise: Vec<String>,
    /// Why the server sends no more messages.
    exit_reason: Option<String>,
}

impl Session {
    pub(super) fn new(setup: &Setup, connection: Connection) -> Self {
        let middleware = ValidationMiddleware::new(SERVER, Arc::clone(&setup.validator))
            .with_policy(Policy::observing());
        Self {
            connection,
            middleware,
            started: Instant::now(),
            timeout: setup.start_timeout,
            next_id: 1,
            is_modern: false,
            server_name: None,
            has_tools: true,
            findings: Vec::new(),
            noise: Vec::new(),
            exit_reason: None,
        }
    }

    /// Returns the negotiated revision.
    pub(super) fn revision(&self) -> Option<Revision> {
        if self.is_modern { Some(Revision::LATEST) } else { self.middleware.agreed_revision() }
    }

    pub(super) fn is_stdio(&self) -> bool {
        self.connection.is_stdio()
    }

    /// Returns what the server wrote besides messages: lines of standard output, then the end of its standard
    /// error.
    pub(super) fn stderr_tail(&self) -> String {
        let mut text = String::new();
        if !self.noise.is_empty() {
            text.push_str("\nit wrote to its standard output:");
            self.noise.iter().for_each(|line| text.extend(["\n  | ", line]));
        }
        text + &self.connection.stderr_tail()
    }

    /// Sends a request and waits for the response.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Response {
        self.exchange(method, params, ExpectedResponse::Id)
    }

    /// Sends an invalid request and waits for the response, which may be an error without an id.
    pub(super) fn request_invalid(&mut self, method: &str, params: Value) -> Response {
        self.exchange(method, params, ExpectedResponse::Rejection)
    }

    fn exchange(
        &mut self,
        method: &str,
        params: Value,
        expected: fn(u64) -> ExpectedResponse,
    ) -> Response {
        let id = self.next_id;
        self.next_id += 1;
        let params = if self.is_modern { with_meta(params) } else { params };
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message.to_string().as_bytes());
        let response = self.wait(&expected(id), self.timeout);
        // A modern HTTP request is cancelled by closing its stream, which `shutdown` does.
        let can_cancel = method != "initialize" && (self.is_stdio() || !self.is_modern);
        if can_cancel && matches!(response.outcome, Outcome::Timeout) {
            // Stops work on a request that has timed out.
            let params = json!({ "requestId": id, "reason": "timed out" });
            self.notify("notifications/cancelled", params);
        }
        response
    }

    /// Sends all further messages in the format of the modern era.
    pub(super) fn switch_to_modern(&mut self) {
        self.is_modern = true;
        self.connection.set_revision(Some(Revision::LATEST));
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.connection.set_revision(self.revision());
        let params = if self.is_modern { with_meta(params) } else { params };
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send(message.to_string().as_bytes());
    }

    /// Sends bytes that are not a message and waits for an error without an id.
    pub(super) fn send_malformed(&mut self, bytes: &[u8], wait: Duration) -> Response {
        self.connection.send(bytes);
        self.wait(&ExpectedResponse::ErrorWithoutId, wait)
    }

    /// Returns the findings and the connection.
    pub(super) fn close(self) -> (Vec<CheckFinding>, Connection) {
        (self.findings, self.connection)
    }

    /// Takes over the findings of an earlier session.
    pub(super) fn take_findings(&mut self, earlier: Self) {
        let mut findings = earlier.findings;
        findings.append(&mut self.findings);
        self.findings = findings;
    }

    fn send(&mut self, message: &[u8]) {
        // Probes are invalid on purpose, so findings about sent messages are ignored.
        let now = self.started.elapsed();
        let _ = self.middleware.handle(Side::Client, message, now);
        self.connection.send(message);
    }

    fn wait(&mut self, expected: &ExpectedResponse, timeout: Duration) -> Response {
        let sent_at = Instant::now();
        let mut response = Response { outcome: Outcome::Timeout, millis: 0, raw: Vec::new() };
        while let Some(left) = timeout.checked_sub(sent_at.elapsed()) {
            if let Some(reason) = &self.exit_reason {
                response.outcome = Outcome::Exited(reason.clone());
                break;
            }
            let Some(event) = self.connection.receive(left) else { break };
            if let Some(outcome) = self.handle_event(expected, &event) {
                response.outcome = outcome;
                if let ProbeEvent::Message(message) = event {
                    response.raw = message;
                }
                break;
            }
        }
        response.millis = u64::try_from(sent_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        response
    }

    /// Handles an event and returns the outcome if it is the expected response.
    fn handle_event(&mut self, expected: &ExpectedResponse, event: &ProbeEvent) -> Option<Outcome> {
        let now = self.started.elapsed();
        match event {
            ProbeEvent::Ended(reason) => {
                self.exit_reason = Some(reason.clone());
                None
            }
            ProbeEvent::Status(status) => Some(Outcome::Status(*status)),
            ProbeEvent::TooLong(partial) => {
                let verdict = self.middleware.handle_oversized(Side::Server, partial.clone());
                self.record_findings(expected, verdict, &[]);
                None
            }
            ProbeEvent::Message(message) => {
                let verdict = self.middleware.handle(Side::Server, message, now);
                self.record_findings(expected, verdict, message);
                let value: Value = serde_json::from_slice(message).ok()?;
                self.answer_request(&value);
                expected.outcome(value)
            }
        }
    }

    /// Answers requests of the server: `ping` with a result, others with "method not found".
    fn answer_request(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let response = if method == "ping" {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string().into_bytes()
        } else {
            let message = "this client only checks servers";
            error_reply(Some(&id.to_string()), json_rpc::METHOD_NOT_FOUND, message)
        };
        self.send(&response);
    }

    fn record_findings(&mut self, expected: &ExpectedResponse, verdict: Verdict, bytes: &[u8]) {
        let method = verdict.header.method.clone().unwrap_or_default();
        for finding in verdict.findings {
            // JSON-RPC requires a `null` id if none could be read; newer MCP schemas do not allow it.
            let is_expected = matches!(expected, ExpectedResponse::ErrorWithoutId)
                && (finding.rule == MessageRule::UnpairedResponse || finding.path == "/id");
            // Tools have lint rules that report these problems.
            let is_of_tool = finding.path.starts_with("/result/tools/");
            if !is_expected && !is_of_tool && finding.rule != MessageRule::UnusableSchema {
                self.record_finding(&method, finding, bytes);
            }
        }
    }

    fn record_finding(&mut self, method: &str, finding: Finding, bytes: &[u8]) {
        let Some(rule) = finding.rule.rule() else { return };
        let about = if method.is_empty() { String::new() } else { format!("{method}: ") };
        let quote = if finding.rule == MessageRule::StdoutNoise {
            let line = printable(&String::from_utf8_lossy(bytes), MAX_QUOTE_CHARS);
            if self.noise.len() < MAX_NOISE_LINES {
                self.noise.push(line.clone());
            }
            format!(": `{line}`")
        } else {
            String::new()
        };
        let found = CheckFinding {
            rule,
            severity: finding.severity,
            tool: None,
            path: finding.path,
            message: format!("{about}{}{quote}", finding.message),
            fix: rule.fix.to_owned(),
            place: None,
        };
        let is_new = !self.findings.iter().any(|known| {
            known.rule.id == found.rule.id
                && known.path == found.path
                && known.message == found.message
        });
        let same_rule = self.findings.iter().filter(|known| known.rule.id == found.rule.id).count();
        if is_new && same_rule < MAX_FINDINGS_PER_RULE {
            self.findings.push(found);
        }
    }
}

/// Adds the `_meta` members of a modern request.
fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        VERSION_KEY: Revision::LATEST.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client_info(),
    });
    params
}

pub(super) fn client_info() -> Value {
    json!({ "name": "stickler", "version": env!("CARGO_PKG_VERSION") })
}
