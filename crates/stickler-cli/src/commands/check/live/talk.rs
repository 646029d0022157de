//! Questions and answers. Everything that the server says goes through the middleware, and what
//! that finds is kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stickler::rules::json_rpc;
use stickler::{Finding, MessageRule, Revision};
use stickler_protocol::headers::VERSION_KEY;
use stickler_protocol::{Policy, Side, ValidationMiddleware, Verdict, error_reply};
use stickler_transport::http::Heard;

use super::connection::Connection;
use super::reply::{Awaited, Outcome, Reply};
use super::{SERVER, Setup};
use crate::commands::check::report::Found;
use crate::style::printable;

/// Findings of one rule about messages that are kept; a server may be very noisy.
const MOST_ALIKE: usize = 20;

/// How much of a line is repeated.
const LONGEST_QUOTE: usize = 80;

/// One conversation with a server.
pub(super) struct Talk {
    connection: Connection,
    middleware: ValidationMiddleware,
    started: Instant,
    /// How long an answer is waited for.
    pub(super) timeout: Duration,
    next_id: u64,
    pub(super) is_modern: bool,
    pub(super) server_name: Option<String>,
    pub(super) has_tools: bool,
    findings: Vec<Found>,
    /// Why nothing more will come.
    gone: Option<String>,
}

impl Talk {
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
            gone: None,
        }
    }

    /// The revision that was agreed on.
    pub(super) fn revision(&self) -> Option<Revision> {
        if self.is_modern { Some(Revision::LATEST) } else { self.middleware.agreed_revision() }
    }

    pub(super) fn is_stdio(&self) -> bool {
        self.connection.is_stdio()
    }

    pub(super) fn complaints(&self) -> String {
        self.connection.complaints()
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Reply {
        self.exchange(method, params, Awaited::Id)
    }

    /// Asks what should be refused, and waits for the answer.
    pub(super) fn ask_wrongly(&mut self, method: &str, params: Value) -> Reply {
        self.exchange(method, params, Awaited::Refusal)
    }

    fn exchange(&mut self, method: &str, params: Value, awaited: fn(u64) -> Awaited) -> Reply {
        let id = self.next_id;
        self.next_id += 1;
        let params = if self.is_modern { with_meta(params) } else { params };
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message.to_string().as_bytes());
        let reply = self.wait(&awaited(id), self.timeout);
        // Over HTTP a modern request is cancelled by closing its stream, which ending does.
        let can_cancel = method != "initialize" && (self.is_stdio() || !self.is_modern);
        if can_cancel && matches!(reply.outcome, Outcome::Silence) {
            // Whatever is still at work need not go on.
            let params = json!({ "requestId": id, "reason": "it took too long" });
            self.notify("notifications/cancelled", params);
        }
        reply
    }

    /// From now on everything is said in the modern way.
    pub(super) fn be_modern(&mut self) {
        self.is_modern = true;
        self.connection.agree(Some(Revision::LATEST));
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.connection.agree(self.revision());
        let params = if self.is_modern { with_meta(params) } else { params };
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send(message.to_string().as_bytes());
    }

    /// Sends bytes that are no message, and waits for an error that answers nobody.
    pub(super) fn say_nonsense(&mut self, bytes: &[u8], wait: Duration) -> Reply {
        self.connection.send(bytes);
        self.wait(&Awaited::Nobody, wait)
    }

    /// All that was found, and the connection to say goodbye on.
    pub(super) fn close(self) -> (Vec<Found>, Connection) {
        (self.findings, self.connection)
    }

    /// Goes on in another conversation with what was found in this one.
    pub(super) fn inherit(&mut self, earlier: Self) {
        let mut findings = earlier.findings;
        findings.append(&mut self.findings);
        self.findings = findings;
    }

    fn send(&mut self, message: &[u8]) {
        // What we send is wrong on purpose; only what the server makes of it matters.
        let now = self.started.elapsed();
        let _ = self.middleware.handle(Side::Client, message, now);
        self.connection.send(message);
    }

    fn wait(&mut self, awaited: &Awaited, longest: Duration) -> Reply {
        let asked = Instant::now();
        let mut reply = Reply { outcome: Outcome::Silence, millis: 0, raw: Vec::new() };
        while let Some(left) = longest.checked_sub(asked.elapsed()) {
            if let Some(reason) = &self.gone {
                reply.outcome = Outcome::Gone(reason.clone());
                break;
            }
            let Some(heard) = self.connection.receive(left) else { break };
            if let Some(outcome) = self.hear(awaited, &heard) {
                reply.outcome = outcome;
                if let Heard::Message(message) = heard {
                    reply.raw = message;
                }
                break;
            }
        }
        reply.millis = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
        reply
    }

    /// Takes what the server says; gives the outcome when that is the answer.
    fn hear(&mut self, awaited: &Awaited, heard: &Heard) -> Option<Outcome> {
        let now = self.started.elapsed();
        match heard {
            Heard::Ended(reason) => {
                self.gone = Some(reason.clone());
                None
            }
            Heard::Status(status) => Some(Outcome::Status(*status)),
            Heard::TooLong(glimpse) => {
                let verdict = self.middleware.handle_overlong(Side::Server, glimpse.clone());
                self.keep(awaited, verdict, &[]);
                None
            }
            Heard::Message(message) => {
                let verdict = self.middleware.handle(Side::Server, message, now);
                self.keep(awaited, verdict, message);
                let value: Value = serde_json::from_slice(message).ok()?;
                self.answer_request(&value);
                awaited.outcome(value)
            }
        }
    }

    /// A server may ask too. It gets an answer, if only that we do not do such things.
    fn answer_request(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let answer = if method == "ping" {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string().into_bytes()
        } else {
            let message = "this client only checks servers";
            error_reply(Some(&id.to_string()), json_rpc::METHOD_NOT_FOUND, message)
        };
        self.send(&answer);
    }

    fn keep(&mut self, awaited: &Awaited, verdict: Verdict, bytes: &[u8]) {
        let method = verdict.subject.method.unwrap_or_default();
        for finding in verdict.findings {
            // JSON-RPC asks for a `null` id where none could be read; the newer schemas have none.
            let is_expected = matches!(awaited, Awaited::Nobody)
                && (finding.rule == MessageRule::UnpairedResponse || finding.path == "/id");
            // What is wrong with a single tool is told by its definition's own rules.
            let is_of_tool = finding.path.starts_with("/result/tools/");
            if !is_expected && !is_of_tool && finding.rule != MessageRule::UnusableSchema {
                self.keep_finding(&method, finding, bytes);
            }
        }
    }

    fn keep_finding(&mut self, method: &str, finding: Finding, bytes: &[u8]) {
        let Some(rule) = finding.rule.rule() else { return };
        let about = if method.is_empty() { String::new() } else { format!("{method}: ") };
        let quote = if finding.rule == MessageRule::StdoutNoise {
            format!(": `{}`", printable(&String::from_utf8_lossy(bytes), LONGEST_QUOTE))
        } else {
            String::new()
        };
        let found = Found {
            rule,
            severity: finding.severity,
            tool: None,
            path: finding.path,
            message: format!("{about}{}{quote}", finding.message),
            fix: rule.fix.to_owned(),
            place: None,
        };
        let is_news = !self.findings.iter().any(|known| {
            known.rule.id == found.rule.id
                && known.path == found.path
                && known.message == found.message
        });
        let alike = self.findings.iter().filter(|known| known.rule.id == found.rule.id).count();
        if is_news && alike < MOST_ALIKE {
            self.findings.push(found);
        }
    }
}

/// What every modern request carries.
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
