//! No sequence of messages, timeouts, work and restarts makes a connection panic, and every request that is not
//! cancelled is answered exactly once.
//!
//! Input: one byte for the settings, then steps, each one byte for the kind, one for its parameter, and a JSON text up
//! to a line break.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;
use stickler::{Code, McpValidator, Repair, ValidationConfig};
use stickler_protocol::{
    Action, Actions, Connection, ConnectionSettings, Policy, RequestContext, Side, Work,
};

const METHODS: [&str; 8] = [
    "tools/call", "tools/call", "tools/list", "initialize", "ping", "x/y", "server/discover",
    "tools/call",
];

const LIST: &str = r#"{"tools":[{"name":"stat","inputSchema":{"type":"object","properties":{
    "path":{"type":"string"},"depth":{"type":"integer"}},"required":["path"]}}]}"#;

/// What a client knows about a request that it has sent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Open,
    Cancelled,
    Answered,
}

/// A client and a server with a connection between them.
struct Pair {
    connection: Connection,
    now: Duration,
    requests: HashMap<u64, State>,
    /// Ids of the requests that the server has not answered, as written, with their methods.
    at_server: Vec<(String, String)>,
    work: Vec<Work>,
}

impl Pair {
    fn new(bits: u8) -> Self {
        let mut config = ValidationConfig::default();
        config.limits.requests_in_flight = 16;
        config.limits.verdict_steps = 200_000;
        config.limits.explain_steps = 20_000;
        config.repair = if bits & 1 == 0 { Repair::Suggest } else { Repair::Apply };
        let mut settings = ConnectionSettings::default();
        settings.defer_work = bits & 2 != 0;
        settings.subscribe = bits & 4 != 0;
        settings.hold_calls = bits & 8 == 0;
        settings.request_timeout = (bits & 16 != 0).then_some(Duration::from_secs(9));
        let connection = Connection::new("s", Arc::new(McpValidator::new(config)), settings);
        Self {
            // With another policy, the server can answer a request twice.
            connection: connection.with_policy(Policy::strict()),
            now: Duration::ZERO,
            requests: HashMap::new(),
            at_server: Vec::new(),
            work: Vec::new(),
        }
    }

    fn step(&mut self, kind: u8, parameter: u8, text: &str) {
        match kind % 8 {
            0 | 1 => self.client_requests(parameter, text),
            2 => self.client_sends(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{parameter}}}}}"#
            )),
            3 => self.server_answers(parameter, text),
            4 => self.server_sends(text),
            5 => self.time_passes(parameter),
            6 => self.work_ends(parameter),
            _ => self.server_is_lost(parameter),
        }
    }

    fn client_requests(&mut self, parameter: u8, text: &str) {
        let id = self.requests.len() as u64;
        let method = METHODS[usize::from(parameter) % METHODS.len()];
        let params = if parameter >= 128 && method == "tools/call" {
            format!(r#"{{"name":"stat","arguments":{text}}}"#)
        } else {
            text.to_owned()
        };
        self.requests.insert(id, State::Open);
        self.client_sends(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ));
    }

    fn client_sends(&mut self, message: &str) {
        let sent: Value = serde_json::from_str(message).unwrap_or_default();
        if let Some(cancelled) = sent["params"]["requestId"].as_u64()
            && sent["method"] == "notifications/cancelled"
            && let Some(state) = self.requests.get_mut(&cancelled)
            && *state == State::Open
        {
            *state = State::Cancelled;
        }
        let context = RequestContext::default();
        let actions = self.connection.handle_client(message.as_bytes(), &context, self.now);
        let effects = effects(&actions);
        self.carry_out(effects);
    }

    fn server_sends(&mut self, message: &str) {
        let effects = effects(&self.connection.handle_server(message.as_bytes(), self.now));
        self.carry_out(effects);
    }

    fn server_answers(&mut self, parameter: u8, text: &str) {
        if self.at_server.is_empty() {
            return;
        }
        let (id, method) = self.at_server.remove(usize::from(parameter) % self.at_server.len());
        let outcome = match (parameter >> 4, method.as_str()) {
            (0, _) => format!(r#""error":{text}"#),
            (1, _) => r#""error":{"code":-32602,"message":"missing field `path`"}"#.to_owned(),
            (2, _) => format!(r#""result":{text}"#),
            (_, "tools/list") => format!(r#""result":{LIST}"#),
            (_, "initialize") => r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":
                {"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}"#
                .to_owned(),
            _ => r#""result":{"content":[]}"#.to_owned(),
        };
        let response = format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#).replace('\n', " ");
        for _ in 0..=usize::from(parameter & 8 != 0) {
            self.server_sends(&response);
        }
    }

    fn time_passes(&mut self, parameter: u8) {
        self.now += Duration::from_millis(u64::from(parameter) * 100);
        let actions = self.connection.handle_timeout(self.now);
        self.carry_out(effects(&actions));
        let next = self.connection.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "the timer does not advance");
    }

    fn work_ends(&mut self, parameter: u8) {
        let Some(work) = self.work.pop() else { return };
        let done = if parameter & 1 == 0 { work.run() } else { work.not_done() };
        let actions = self.connection.handle_done(&done, self.now);
        self.carry_out(effects(&actions));
    }

    fn server_is_lost(&mut self, parameter: u8) {
        let actions = self.connection.server_gone(Code::ServerGone, "gone", self.now);
        self.carry_out(effects(&actions));
        self.at_server.clear();
        if parameter & 1 == 0 {
            self.connection.server_replaced();
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Work(work) => self.work.push(work),
                Effect::Message(Side::Client, message) => self.client_receives(&message),
                Effect::Message(Side::Server, message) => self.server_receives(&message),
            }
        }
    }

    fn client_receives(&mut self, message: &Value) {
        if message.get("method").is_some() {
            return;
        }
        let id = message["id"].as_u64();
        if let Some(state) = id.and_then(|id| self.requests.get_mut(&id)) {
            // A client ignores responses to a request that it has cancelled.
            if *state != State::Cancelled {
                assert_ne!(*state, State::Answered, "answered twice: {message}");
                *state = State::Answered;
            }
        }
    }

    fn server_receives(&mut self, message: &Value) {
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.at_server.push((id.to_string(), method.to_owned()));
        }
    }
}

/// What a connection asks for.
enum Effect {
    Work(Work),
    Message(Side, Value),
}

fn effects(actions: &Actions<'_>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for action in actions {
        if let Action::Compile { work } | Action::Explain { work } = action {
            effects.push(Effect::Work(work.clone()));
        }
        if let (Some(receiver), Some(message)) = (action.receiver(), action.message()) {
            let messages = match serde_json::from_slice(message).expect("sent messages are JSON") {
                Value::Array(messages) => messages,
                message => vec![message],
            };
            effects.extend(messages.into_iter().map(|one| Effect::Message(receiver, one)));
        }
    }
    effects
}

fuzz_target!(|data: &[u8]| {
    let Some((&bits, steps)) = data.split_first() else { return };
    let mut pair = Pair::new(bits);
    for step in steps.split(|byte| *byte == b'\n').take(64) {
        let [kind, parameter, text @ ..] = step else { continue };
        let text = str::from_utf8(text).ok();
        // A text that is not JSON could close the message that contains it.
        let text = text.filter(|text| serde_json::from_str::<&RawValue>(text).is_ok());
        pair.step(*kind, *parameter, text.unwrap_or("{}"));
    }
    pair.server_is_lost(1);
    let is_open = |state: &State| *state == State::Open;
    assert!(!pair.requests.values().any(is_open), "unanswered: {:?}", pair.requests);
});
