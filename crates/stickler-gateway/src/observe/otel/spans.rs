//! The spans and durations of requests, by the OpenTelemetry conventions for MCP.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::SystemTime;

use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::trace::{
    Link, Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags,
    TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;
use serde::Deserialize;
use stickler::rules::json_rpc;
use stickler_protocol::envelope::{MessageKind, RequestId};
use stickler_protocol::{Header, Side};

use super::Downstream;
use super::ids::PlannedIds;
use crate::observe::trace_context::TraceParent;
use crate::observe::{MessageEvent, Session, SpanIds, Target};

/// Upper limits of the buckets in seconds, from the conventions.
const BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Maximum number of requests without an answer.
const MAX_PENDING: usize = 10_000;

/// Errors that are the client's fault and do not count as errors of the server.
const CLIENT_FAULTS: [i32; 5] = [
    json_rpc::PARSE_ERROR,
    json_rpc::INVALID_REQUEST,
    json_rpc::METHOD_NOT_FOUND,
    json_rpc::INVALID_PARAMS,
    -32002,
];

/// The label of tools that the server does not list, in metrics.
const UNKNOWN_TOOL: &str = "unknown";

pub(super) struct Spans {
    tracer: SdkTracer,
    ids: PlannedIds,
    downstream: Downstream,
    server_durations: Histogram<f64>,
    client_durations: Histogram<f64>,
    server_sessions: Histogram<f64>,
    client_sessions: Histogram<f64>,
    pending: HashMap<(u64, u64, RequestId), Pending>,
    sessions: HashMap<u64, Arc<Session>>,
}

/// A request without an answer.
struct Pending {
    received: SystemTime,
    name: String,
    attributes: Vec<KeyValue>,
    /// The attributes of its metrics, which are few.
    labels: Vec<KeyValue>,
    parent: Context,
    /// The context of the HTTP request, if the request itself has another parent.
    link: Option<SpanContext>,
    span: Option<SpanIds>,
    rule: Option<&'static str>,
}

impl Spans {
    pub(super) fn new(tracer: SdkTracer, meter: &Meter, downstream: Downstream) -> Self {
        let histogram = |name: &'static str| {
            meter.f64_histogram(name).with_unit("s").with_boundaries(BUCKETS.to_vec()).build()
        };
        Self {
            tracer,
            ids: PlannedIds::default(),
            downstream,
            server_durations: histogram("mcp.server.operation.duration"),
            client_durations: histogram("mcp.client.operation.duration"),
            server_sessions: histogram("mcp.server.session.duration"),
            client_sessions: histogram("mcp.client.session.duration"),
            pending: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    /// Sets the generator of the tracer's ids.
    pub(super) fn with_ids(self, ids: PlannedIds) -> Self {
        Self { ids, ..self }
    }

    pub(super) fn message(&mut self, event: &MessageEvent) {
        let session = &event.session;
        self.sessions.entry(session.number).or_insert_with(|| Arc::clone(session));
        for part in event.parts() {
            let Some(id) = part.header.id.clone() else { continue };
            let key = (event.session.number, event.connection, id);
            match (event.sender, part.header.kind) {
                (Side::Client, MessageKind::Request)
                    if !event.is_gateway && self.pending.len() < MAX_PENDING =>
                {
                    self.pending.insert(key, pending(event, part.header));
                }
                (Side::Server, MessageKind::Response) => {
                    if let Some(pending) = self.pending.remove(&key) {
                        self.answered(event, part.header, pending);
                    }
                }
                _ => {}
            }
        }
    }

    /// Ends all sessions, because the process exits.
    pub(super) fn finish(&mut self) {
        let sessions = std::mem::take(&mut self.sessions);
        for session in sessions.values() {
            self.session_ended(session);
        }
    }

    pub(super) fn session_ended(&mut self, session: &Session) {
        self.sessions.remove(&session.number);
        self.pending.retain(|(number, ..), _| *number != session.number);
        let seconds = session.started.elapsed().unwrap_or_default().as_secs_f64();
        let mut labels = Vec::new();
        labels.extend(version(session));
        self.server_sessions.record(seconds, &labels);
        self.client_sessions.record(seconds, &labels);
    }

    fn answered(&self, event: &MessageEvent, header: &Header, pending: Pending) {
        let Pending { received, name, attributes, labels, parent, link, span, rule } = pending;
        let answered = event.time.max(received);
        let mut ours = attributes.clone();
        ours.extend(transport(self.downstream == Downstream::Tcp));
        ours.extend(rule.map(|rule| KeyValue::new("stickler.rule", rule)));
        let failure = failure(header);
        let counts = header.code.is_none_or(|code| !CLIENT_FAULTS.contains(&code));
        let builder = self.tracer.span_builder(name.clone()).with_kind(SpanKind::Server);
        let builder = builder.with_start_time(received).with_attributes(ours);
        let builder = builder.with_links(link.into_iter().map(Link::with_context).collect());
        self.ids.plan(span);
        let mut server = self.tracer.build_with_context(builder, &parent);
        server.set_attributes(outcome(header));
        let counted = failure.clone().filter(|_| counts);
        if let Some(failure) = &counted {
            server.set_status(Status::error(""));
            server.set_attribute(KeyValue::new("error.type", failure.clone()));
        }
        let context = parent.with_remote_span_context(server.span_context().clone());
        let seconds = |from: SystemTime| answered.duration_since(from).unwrap_or_default();
        let durations = labeled(&labels, counted.as_deref());
        self.server_durations.record(seconds(received).as_secs_f64(), &durations);
        if let Some(duration) = header.duration {
            let started = answered.checked_sub(duration).unwrap_or(received).max(received);
            let builder = self.tracer.span_builder(name).with_kind(SpanKind::Client);
            let mut theirs = attributes;
            theirs.extend(server_address(&event.session.server.target));
            let builder = builder.with_start_time(started).with_attributes(theirs);
            let mut client = self.tracer.build_with_context(builder, &context);
            client.set_attributes(outcome(header));
            if let Some(failure) = &failure {
                client.set_status(Status::error(""));
                client.set_attribute(KeyValue::new("error.type", failure.clone()));
            }
            client.end_with_timestamp(answered);
            let durations = labeled(&labels, failure.as_deref());
            self.client_durations.record(duration.as_secs_f64(), &durations);
        }
        server.end_with_timestamp(answered);
        self.ids.plan(None);
    }
}

/// What a span takes from the text of a request.
#[derive(Debug, Default, Deserialize)]
struct RequestText {
    #[serde(default)]
    params: ParamsText,
}

#[derive(Debug, Default, Deserialize)]
struct ParamsText {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    uri: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: TraceText,
}

#[derive(Debug, Default, Deserialize)]
struct TraceText {
    #[serde(default)]
    traceparent: Option<String>,
    #[serde(default)]
    tracestate: Option<String>,
}

fn pending(event: &MessageEvent, header: &Header) -> Pending {
    let text = event.message.as_deref().unwrap_or_default();
    let RequestText { params } = serde_json::from_slice(text).unwrap_or_default();
    let method = header.method.as_deref().unwrap_or_default();
    let mut attributes = vec![KeyValue::new("mcp.method.name", method.to_owned())];
    let mut labels = attributes.clone();
    let mut target = None;
    match method {
        "tools/call" => {
            attributes.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
            target = header.tool.as_deref().map(str::to_owned);
            if let Some(tool) = &target {
                attributes.push(KeyValue::new("gen_ai.tool.name", tool.clone()));
                let is_unknown = event.rule() == Some("STK-106");
                let label = if is_unknown { UNKNOWN_TOOL.to_owned() } else { tool.clone() };
                labels.push(KeyValue::new("gen_ai.tool.name", label));
            }
        }
        "prompts/get" => {
            target = params.name;
            attributes.extend(target.clone().map(|one| KeyValue::new("gen_ai.prompt.name", one)));
        }
        _ => {
            let uri = params.uri.filter(|_| method.starts_with("resources/"));
            attributes.extend(uri.map(|uri| KeyValue::new("mcp.resource.uri", uri)));
        }
    }
    let id = header.id.as_ref().map(|id| match id {
        RequestId::Integer(number) => number.to_string(),
        RequestId::Large(text) | RequestId::String(text) => text.to_string(),
    });
    attributes.extend(id.map(|id| KeyValue::new("jsonrpc.request.id", id)));
    let session = &event.session;
    let revision = version(session);
    labels.extend(revision.clone());
    attributes.extend(revision);
    // Revision 2026-07-28 has no sessions.
    let has_session = session.revision.get().is_some_and(|one| one.as_str() < "2026");
    let id = session.id.get().filter(|_| has_session);
    attributes.extend(id.map(|id| KeyValue::new("mcp.session.id", id.clone())));
    let name = target.map_or_else(|| method.to_owned(), |target| format!("{method} {target}"));
    let TraceText { traceparent, tracestate } = &params.meta;
    let own = traceparent.as_deref().and_then(|text| remote(text, tracestate.as_deref()));
    let http = event.trace.as_deref();
    let http = http.and_then(|http| remote(&http.traceparent, http.tracestate.as_deref()));
    let (parent, link) = if own.is_some() { (own, http) } else { (http, None) };
    Pending {
        received: event.time,
        name,
        attributes,
        labels,
        link: link.filter(|link| parent.as_ref() != Some(link)),
        parent: parent
            .map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent)),
        span: event.span,
        rule: event.rule(),
    }
}

/// Returns the context of another program's span.
fn remote(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    let TraceParent { trace, span, flags } = TraceParent::parse(traceparent)?;
    let state = tracestate.and_then(|text| TraceState::from_str(text).ok());
    let (trace, span, flags) = (TraceId::from(trace), SpanId::from(span), TraceFlags::new(flags));
    Some(SpanContext::new(trace, span, flags, true, state.unwrap_or_default()))
}

fn version(session: &Session) -> Option<KeyValue> {
    session.revision.get().map(|one| KeyValue::new("mcp.protocol.version", one.clone()))
}

fn outcome(header: &Header) -> Vec<KeyValue> {
    let code = header.code.map(|code| KeyValue::new("rpc.response.status_code", code.to_string()));
    code.into_iter().collect()
}

/// Returns the type of the error that a response reports.
fn failure(header: &Header) -> Option<String> {
    match header.code {
        Some(code) => Some(code.to_string()),
        None => header.is_failed_call.then(|| "tool_error".to_owned()),
    }
}

fn labeled(labels: &[KeyValue], failure: Option<&str>) -> Vec<KeyValue> {
    let failure = failure.map(|failure| KeyValue::new("error.type", failure.to_owned()));
    labels.iter().cloned().chain(failure).collect()
}

fn transport(is_tcp: bool) -> Vec<KeyValue> {
    if is_tcp {
        vec![
            KeyValue::new("network.transport", "tcp"),
            KeyValue::new("network.protocol.name", "http"),
            // Both sides of the gateway speak no other version.
            KeyValue::new("network.protocol.version", "1.1"),
        ]
    } else {
        vec![KeyValue::new("network.transport", "pipe")]
    }
}

fn server_address(target: &Target) -> Vec<KeyValue> {
    let Target::Url(url) = target else { return transport(false) };
    let mut attributes = transport(true);
    let Ok(uri) = url.parse::<hyper::Uri>() else { return attributes };
    attributes.extend(uri.host().map(|host| KeyValue::new("server.address", host.to_owned())));
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let port = Some(i64::from(uri.port_u16().unwrap_or(default)));
    attributes.extend(port.map(|port| KeyValue::new("server.port", port)));
    attributes
}
