//! Logs the events of messages and connections as `tracing` events with the fields of their connection.
//!
//! A `Log` belongs to one connection and has one span with its server, session and client. The span has
//! level `error`, so that every line has these fields at any level. Tool, rule and request id are fields
//! of the event. Each message produces at most one line for problems and one for notes. Argument values
//! are never logged. A `Log` is also where a driver reports what its connection received and emitted;
//! `observe` turns that into events for all observers.

use std::fmt::{self, Display};
use std::sync::Arc;

use stickler::{Discovery, Edit, Finding, Mode, Severity};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Decision, Event, Header, Side, TraceHeaders, Verdict};
use tracing::field::{Empty, Value};
use tracing::{Span, debug, error_span, info, warn};

use crate::driver::message::Message;
use crate::observe::emitted::{Emitted, Received};
use crate::observe::exchange::Observed;
use crate::observe::session::shown_id;
use crate::observe::{Client, MessageEvent, ObservedServer, Observers, RecordedValues, Target};
use crate::page_trimming;

/// The log of one connection, and the way to its other observers.
#[derive(Debug, Clone)]
pub struct Log {
    span: Span,
    observed: Observed,
}

impl Log {
    /// Creates the log of a connection to the server with that name.
    pub fn new(name: Arc<str>) -> Self {
        let target = Target::Command(Vec::new());
        let values = RecordedValues::default();
        let server = ObservedServer { name, mode: Mode::default(), target, values };
        Self::observed(Observed::new(Observers::default(), Arc::new(server), None))
    }

    /// Creates the log of a connection that others observe too.
    pub fn with_observers(observers: &Observers, server: ObservedServer) -> Self {
        Self::observed(Observed::new(observers.clone(), Arc::new(server), None))
    }

    fn observed(observed: Observed) -> Self {
        let server = &*observed.session().server.name;
        let span = error_span!("connection", server, session = Empty, client = Empty);
        Self { span, observed }
    }

    /// Creates the log of another connection to the same server, in a session.
    pub(crate) fn for_session(&self, id: Option<&str>) -> Self {
        let log = Self::observed(self.observed.for_session(id));
        if let Some(id) = id {
            log.set_session(id);
        }
        log
    }

    /// Creates the log of another connection in the same session.
    #[must_use]
    pub(crate) fn for_connection(self) -> Self {
        Self { observed: self.observed.for_connection(), ..self }
    }

    /// Returns the parent span of the connection's events.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records the beginning of the session id.
    pub(crate) fn set_session(&self, id: &str) {
        self.span.record("session", shown_id(id));
        let _ = self.observed.session().id.set(shown_id(id));
    }

    /// Reports that the server process is started again after a failure.
    pub(crate) fn server_restarted(&self) {
        self.observed.server_restarted();
    }

    /// Observes a message that a connection received, and what the connection emitted in consequence.
    pub(crate) fn observe<'a>(
        &self,
        received: Option<Received<'a>>,
        emitted: impl Iterator<Item = Emitted<'a>> + Clone,
    ) {
        for one in emitted.clone() {
            if let Emitted::Event(event) = one {
                self.event(event);
                page_trimming::observe(event);
            }
        }
        self.observed.observe(received, emitted, |event| self.message(event));
    }

    /// Puts the trace context of forwarded requests into them, if an observer is configured to do so.
    pub(crate) fn inject_context(
        &self,
        to_server: &mut [Message],
        trace: Option<&Arc<TraceHeaders>>,
    ) {
        self.observed.inject_context(to_server, trace);
    }

    /// Logs an event that is not about a message.
    fn event(&self, event: &Event) {
        match event {
            Event::ToolsLearned { discovery } => self.tools_learned(discovery),
            Event::Subscription { status } => info!(parent: &self.span, "{status}"),
            Event::Degraded { reason } => {
                warn!(parent: &self.span, "calls are forwarded without validation: {reason}");
            }
            _ => {}
        }
    }

    fn tools_learned(&self, discovery: &Discovery) {
        let tools = if discovery.usable == 1 { "tool" } else { "tools" };
        info!(parent: &self.span, "learned {} {tools}", discovery.usable);
        if discovery.nameless > 0 {
            let nameless = discovery.nameless;
            warn!(parent: &self.span, "the server's tool list has {nameless} entries without a name");
        }
        if discovery.over_limit > 0 {
            let others = discovery.over_limit;
            warn!(
                parent: &self.span,
                "the server lists more tools than are allowed; calls of the other {others} are not validated"
            );
        }
        for rejected in &discovery.quarantined {
            warn!(parent: &self.span, "{rejected}");
        }
    }

    fn message(&self, event: &MessageEvent) {
        let MessageEvent { sender, header, .. } = event;
        if event.is_gateway {
            return;
        }
        if *sender == Side::Client && header.has_method("initialize") {
            let client = event.client.as_deref().map(Client::to_string);
            self.span.record("client", client);
        }
        let Some(verdict) = &event.verdict else {
            if tracing::enabled!(tracing::Level::DEBUG) {
                let line =
                    Line { sender: *sender, header, decision: &Decision::Forward, client: None };
                self.report(&line, &[]);
            }
            return;
        };
        self.checked(event, verdict);
    }

    fn checked(&self, event: &MessageEvent, verdict: &Verdict) {
        let is_clean = verdict.findings.is_empty() && verdict.edits.is_empty();
        if is_clean && !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        // The client of a session is a field of the span.
        let is_own = event.sender == Side::Client && event.session.client.get().is_none();
        let client = event.client.as_deref().filter(|_| is_own).map(Client::to_string);
        let (sender, client) = (event.sender, client.as_deref());
        let (header, decision) = (&verdict.header, &verdict.decision);
        let mut remaining: Vec<&Finding> = verdict.findings.iter().collect();
        for (index, part) in verdict.parts.iter().enumerate() {
            let (in_part, rest): (Vec<&Finding>, _) =
                remaining.into_iter().partition(|finding| is_within(&finding.path, index));
            remaining = rest;
            if !in_part.is_empty() {
                let line = Line { sender, header: &part.header, decision: &part.decision, client };
                self.report(&line, &in_part);
            }
        }
        let line = Line { sender, header, decision, client };
        self.repaired(&line, &verdict.edits);
        if is_clean || !remaining.is_empty() {
            self.report(&line, &remaining);
        }
    }

    /// Logs one line for the problems of a message and one for its notes.
    fn report(&self, line: &Line<'_>, findings: &[&Finding]) {
        let Line { sender, header, client, .. } = *line;
        let (tool, request_id) = (header.tool.as_deref(), id_value(header));
        let (notes, problems): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| finding.severity == Severity::Note);
        let outcome = line.outcome(problems.is_empty());
        if let [first, more @ ..] = problems.as_slice() {
            let rule = first.rule.as_str();
            warn!(
                parent: &self.span, client, request_id, tool, rule,
                "{line} from the {sender} {outcome}: {}{}", first.masked(), More(more.len(), "problem")
            );
        }
        if let [first, more @ ..] = notes.as_slice() {
            let rule = first.rule.as_str();
            info!(
                parent: &self.span, client, request_id, tool, rule,
                "{line} from the {sender}: {}{}", first.masked(), More(more.len(), "note")
            );
        }
        if findings.is_empty() {
            debug!(parent: &self.span, client, request_id, tool, "{line} from the {sender}: {outcome}");
        }
    }

    /// Logs the repairs of a message: every change to a forwarded message must be visible.
    fn repaired(&self, line: &Line<'_>, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let Line { sender, header, client, .. } = *line;
        let (tool, request_id) = (header.tool.as_deref(), id_value(header));
        let edits: Vec<String> = edits.iter().map(describe_edit).collect();
        warn!(
            parent: &self.span, client, request_id, tool,
            "{line} from the {sender} repaired: {}", edits.join("; ")
        );
    }
}

/// The message that a log line describes.
struct Line<'v> {
    sender: Side,
    header: &'v Header,
    decision: &'v Decision,
    client: Option<&'v str>,
}

impl Line<'_> {
    fn outcome(&self, is_valid: bool) -> &'static str {
        match self.decision {
            Decision::Forward => "forwarded",
            Decision::Rewrite(_) if self.sender == Side::Server => "replaced by an error",
            Decision::Rewrite(_) => "changed",
            // A gateway tool was called. Notes alone never cause a rejection.
            Decision::Answer(_) if is_valid => "answered",
            Decision::Answer(_) => "rejected",
            Decision::Split { .. } => "rejected in part",
            Decision::Drop => "dropped",
        }
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.header.method, &self.header.tool, self.sender) {
            (_, Some(tool), Side::Client) => write!(f, "call of `{tool}`"),
            (_, Some(tool), Side::Server) => write!(f, "response to a call of `{tool}`"),
            (Some(method), None, _) => write!(f, "`{method}`"),
            (None, None, _) => f.write_str("message"),
        }
    }
}

/// The number of further problems or notes.
struct More(usize, &'static str);

impl Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(0, _) => Ok(()),
            Self(1, noun) => write!(f, ", and 1 more {noun}"),
            Self(more, noun) => write!(f, ", and {more} more {noun}s"),
        }
    }
}

/// Returns whether a path points into that message of a batch.
fn is_within(path: &str, index: usize) -> bool {
    let first = path.strip_prefix('/').and_then(|path| path.split('/').next());
    first.and_then(|first| first.parse::<usize>().ok()) == Some(index)
}

fn id_value(header: &Header) -> Option<Box<dyn Value + '_>> {
    header.id.as_ref().map(|id| match id {
        RequestId::Integer(number) => Box::new(number) as Box<dyn Value>,
        RequestId::Large(text) | RequestId::String(text) => Box::new(&**text),
    })
}

/// Describes an edit by field names, without values.
fn describe_edit(edit: &Edit) -> String {
    let Edit { path, from, to, .. } = edit;
    let kind = edit.kind.name();
    let place = if path.is_empty() { "arguments" } else { path };
    match (from.is_empty(), to.is_empty()) {
        (false, false) if from != to => format!("{kind} at {place}: {from} to {to}"),
        _ => format!("{kind} at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn finding_path_selects_the_message_of_a_batch() {
        assert!(is_within("/1/params", 1) && is_within("/1", 1));
        assert!(!is_within("/10/params", 1) && !is_within("", 0) && !is_within("/x", 0));
    }
}
