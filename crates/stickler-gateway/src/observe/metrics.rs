//! Metrics in the format `OpenMetrics`, which Prometheus reads.
//!
//! Names and buckets of the durations follow the OpenTelemetry conventions for MCP. The gateway is a server towards its
//! clients (`mcp_server_…`) and a client towards its servers (`mcp_client_…`). Sets of labels are bounded: tools that
//! the server does not list are one label, and so is everything beyond the limits.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use stickler::MessageRule;
use stickler_protocol::envelope::{MessageKind, RequestId};
use stickler_protocol::{Decision, Header, Side};

use super::event::Part;
use super::{Consumer, MessageEvent, ObservedServer, Session};

/// Upper limits of the buckets in seconds, from the conventions.
const BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Maximum number of distinct tools of a server, and of distinct methods.
const MAX_TOOLS: usize = 500;
const MAX_METHODS: usize = 64;

/// Maximum number of pending requests whose duration is measured.
const MAX_PENDING: usize = 10_000;

const UNKNOWN_TOOL: &str = "unknown";
const OTHER: &str = "other";

/// Counts messages for `GET /metrics`.
pub struct Metrics {
    registry: Registry,
    server_durations: Family<Operation, Histogram>,
    client_durations: Family<Operation, Histogram>,
    verdicts: Family<VerdictLabels, Counter>,
    repairs: Family<EditLabel, Counter>,
    sessions: Family<ServerLabel, Gauge>,
    children: Family<ServerLabel, Gauge>,
    restarts: Family<ServerLabel, Counter>,
    pending: Family<ServerLabel, Gauge>,
    dropped: Counter<u64, AtomicU64>,
    /// Reads how many events other observers lost.
    read_dropped: Box<dyn Fn() -> u64 + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Requests of clients that are not answered.
    requests: HashMap<(u64, u64, RequestId), Request>,
    tools: HashMap<Arc<str>, HashSet<Arc<str>>>,
    methods: HashSet<String>,
}

struct Request {
    received: SystemTime,
    operation: Operation,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    server: String,
    mcp_method_name: String,
    gen_ai_tool_name: String,
    error_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VerdictLabels {
    server: String,
    tool: String,
    rule: &'static str,
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EditLabel {
    edit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabel {
    server: String,
}

impl Metrics {
    /// Creates metrics. `read_dropped` returns how many events other observers have lost.
    pub fn new(read_dropped: impl Fn() -> u64 + Send + Sync + 'static) -> Arc<Self> {
        let histogram = || Histogram::new(BUCKETS);
        let mut metrics = Self {
            registry: Registry::default(),
            server_durations: Family::new_with_constructor(histogram),
            client_durations: Family::new_with_constructor(histogram),
            verdicts: Family::default(),
            repairs: Family::default(),
            sessions: Family::default(),
            children: Family::default(),
            restarts: Family::default(),
            pending: Family::default(),
            dropped: Counter::default(),
            read_dropped: Box::new(read_dropped),
            state: Mutex::default(),
        };
        metrics.register();
        Arc::new(metrics)
    }

    fn register(&mut self) {
        let all = &mut self.registry;
        let seconds = prometheus_client::registry::Unit::Seconds;
        let help = "Duration of a request from its arrival to its answer";
        let name = "mcp_server_operation_duration";
        all.register_with_unit(name, help, seconds.clone(), self.server_durations.clone());
        let help = "Duration of a request from its forwarding to the server's answer";
        let name = "mcp_client_operation_duration";
        all.register_with_unit(name, help, seconds, self.client_durations.clone());
        all.register("stickler_verdicts", "Checked messages", self.verdicts.clone());
        all.register("stickler_repairs", "Edits of repaired calls", self.repairs.clone());
        let help = "Open sessions; requests without a session count as one";
        all.register("stickler_sessions", help, self.sessions.clone());
        all.register("stickler_children", "Running server processes", self.children.clone());
        let help = "Restarts of server processes after a failure";
        all.register("stickler_restarts", help, self.restarts.clone());
        let help = "Requests of clients without an answer";
        all.register("stickler_pending_requests", help, self.pending.clone());
        let help = "Events that an observer has lost";
        all.register("stickler_dropped_events", help, self.dropped.clone());
    }

    /// Returns all metrics as text. `children` are the numbers of running processes by server.
    pub fn text(&self, children: &[(Arc<str>, usize)]) -> String {
        for (server, number) in children {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            self.children.get_or_create(&label(server)).set(number);
        }
        let dropped = (self.read_dropped)();
        self.dropped.inc_by(dropped.saturating_sub(self.dropped.get()));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_verdict(&self, event: &MessageEvent, part: &Part<'_>, tool: &str) {
        let decision = match part.decision {
            None | Some(Decision::Forward) if event.would_reject() => "would_reject",
            None | Some(Decision::Forward) => "forward",
            Some(Decision::Rewrite(_)) => "rewrite",
            Some(Decision::Answer(_)) => "answer",
            Some(Decision::Split { .. }) => "split",
            Some(Decision::Drop) => "drop",
        };
        let server = event.session.server.name.to_string();
        let (tool, rule) = (tool.to_owned(), event.rule().unwrap_or_default());
        self.verdicts.get_or_create(&VerdictLabels { server, tool, rule, decision }).inc();
    }

    fn measure(&self, event: &MessageEvent, header: &Header, operation: Operation) {
        let Some(id) = header.id.clone() else { return };
        let key = |id| (event.session.number, event.connection, id);
        let mut state = self.state();
        match (event.sender, header.kind) {
            (Side::Client, MessageKind::Request)
                if !event.is_gateway && state.requests.len() < MAX_PENDING =>
            {
                let request = Request { received: event.time, operation };
                if state.requests.insert(key(id), request).is_none() {
                    self.pending.get_or_create(&label(&event.session.server.name)).inc();
                }
            }
            (Side::Server, MessageKind::Response) => {
                let Some(request) = state.requests.remove(&key(id)) else { return };
                drop(state);
                self.pending.get_or_create(&label(&event.session.server.name)).dec();
                let answered = SystemTime::now().duration_since(request.received);
                let error_type = error_type(header);
                let operation = Operation { error_type, ..request.operation };
                if let Some(duration) = header.duration {
                    let seconds = duration.as_secs_f64();
                    self.client_durations.get_or_create(&operation).observe(seconds);
                }
                let seconds = answered.unwrap_or_default().as_secs_f64();
                self.server_durations.get_or_create(&operation).observe(seconds);
            }
            _ => {}
        }
    }

    /// Forgets a request that its client cancelled.
    fn cancel(&self, event: &MessageEvent, id: &RequestId) {
        let key = (event.session.number, event.connection, id.clone());
        if self.state().requests.remove(&key).is_some() {
            self.pending.get_or_create(&label(&event.session.server.name)).dec();
        }
    }
}

impl State {
    /// Returns the label of the tool of a message. A response has that of its request.
    fn tool(&mut self, event: &MessageEvent, header: &Header) -> String {
        let Some(tool) = &header.tool else { return String::new() };
        if header.kind == MessageKind::Response {
            let key = header.id.clone().map(|id| (event.session.number, event.connection, id));
            let request = key.and_then(|key| self.requests.get(&key));
            let label = request.map(|request| request.operation.gen_ai_tool_name.clone());
            return label.unwrap_or_else(|| OTHER.to_owned());
        }
        let unknown = MessageRule::UnknownTool;
        let findings = event.verdict.as_ref().map_or(&[][..], |verdict| &verdict.findings);
        if findings.iter().any(|finding| finding.rule == unknown) {
            return UNKNOWN_TOOL.to_owned();
        }
        let known = self.tools.entry(Arc::clone(&event.session.server.name)).or_default();
        if known.contains(tool) || (known.len() < MAX_TOOLS && known.insert(Arc::clone(tool))) {
            return tool.to_string();
        }
        OTHER.to_owned()
    }

    /// Returns the label of a method.
    fn method(&mut self, method: Option<&str>) -> String {
        let Some(method) = method else { return String::new() };
        let is_known = self.methods.contains(method);
        if is_known || (self.methods.len() < MAX_METHODS && self.methods.insert(method.to_owned()))
        {
            return method.to_owned();
        }
        OTHER.to_owned()
    }
}

impl Consumer for Metrics {
    fn message(&self, event: &Arc<MessageEvent>) {
        for part in event.parts() {
            let mut state = self.state();
            let tool = state.tool(event, part.header);
            let method = state.method(part.header.method.as_deref());
            drop(state);
            if !event.is_gateway {
                self.count_verdict(event, &part, &tool);
            }
            let server = event.session.server.name.to_string();
            let operation = Operation {
                server,
                mcp_method_name: method,
                gen_ai_tool_name: tool,
                error_type: String::new(),
            };
            self.measure(event, part.header, operation);
            if let Some(id) = &part.header.cancels
                && event.sender == Side::Client
                && !event.is_gateway
            {
                self.cancel(event, id);
            }
        }
        let edits = event.verdict.as_ref().map_or(&[][..], |verdict| &verdict.edits);
        for edit in edits {
            self.repairs.get_or_create(&EditLabel { edit: edit.kind.name() }).inc();
        }
    }

    fn session_started(&self, session: &Arc<Session>) {
        self.sessions.get_or_create(&label(&session.server.name)).inc();
    }

    fn session_ended(&self, session: &Arc<Session>) {
        self.sessions.get_or_create(&label(&session.server.name)).dec();
        let mut state = self.state();
        let before = state.requests.len();
        state.requests.retain(|(number, ..), _| *number != session.number);
        let gone = i64::try_from(before - state.requests.len()).unwrap_or_default();
        drop(state);
        self.pending.get_or_create(&label(&session.server.name)).dec_by(gone);
    }

    fn server_restarted(&self, server: &ObservedServer) {
        self.restarts.get_or_create(&label(&server.name)).inc();
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

fn label(server: &str) -> ServerLabel {
    ServerLabel { server: server.to_owned() }
}

/// Returns the convention's type of an error: `tool_error` for a failed call, else the JSON-RPC code.
fn error_type(header: &Header) -> String {
    match header.code {
        Some(code) => code.to_string(),
        None if header.is_failed_call => "tool_error".to_owned(),
        None => String::new(),
    }
}
