//! Converts protocol events to `tracing` events with the fields of their connection.
//!
//! A `Log` belongs to one connection and has one span with its server, session and client. The span has
//! level `error`, so that every line has these fields at any level. Tool, rule and request id are fields
//! of the event. Each message produces at most one line for problems and one for notes. Argument values
//! are never logged. A valid message costs two comparisons.

use std::fmt::{self, Display};
use std::sync::Arc;

use stickler::tape::{Node, TapeBuffer};
use stickler::{Discovery, Edit, Finding, Severity};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Decision, Event, Header, Side, Verdict};
use tracing::field::{Empty, Value};
use tracing::{Span, debug, error_span, info, warn};

/// Number of logged session id characters: enough to find its lines, too few to hijack the session.
const SESSION_CHARACTERS: usize = 8;

/// The log of one connection.
#[derive(Debug, Clone)]
pub struct Log {
    server: Arc<str>,
    span: Span,
}

impl Log {
    /// Creates the log of a connection to the server with that name.
    pub fn new(server: Arc<str>) -> Self {
        let span = error_span!("connection", server = &*server, session = Empty, client = Empty);
        Self { server, span }
    }

    /// Creates the log of another connection to the same server, in a session.
    pub(crate) fn for_session(&self, id: Option<&str>) -> Self {
        let log = Self::new(Arc::clone(&self.server));
        if let Some(id) = id {
            log.set_session(id);
        }
        log
    }

    /// Returns the parent span of the connection's events.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records the beginning of the session id.
    pub(crate) fn set_session(&self, id: &str) {
        let shown = SESSION_CHARACTERS.min(id.chars().count() / 2);
        let begin: String = id.chars().take(shown).collect();
        self.span.record("session", begin);
    }

    /// Logs an event. `message` is the client message that caused it, if available; it may name the client.
    pub(crate) fn event(&self, event: &Event, message: Option<&[u8]>) {
        match event {
            Event::Checked { sender, verdict } => {
                if *sender == Side::Client && verdict.header.method.as_deref() == Some("initialize")
                {
                    let client = message.and_then(|one| client(one, "/params/clientInfo"));
                    self.span.record("client", client);
                }
                self.checked(*sender, verdict, message);
            }
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

    fn checked(&self, sender: Side, verdict: &Verdict, message: Option<&[u8]>) {
        // The common case.
        let is_clean = verdict.findings.is_empty() && verdict.edits.is_empty();
        if is_clean && !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let client = message
            .filter(|_| sender == Side::Client && !is_clean)
            .and_then(|one| client(one, "/params/_meta/io.modelcontextprotocol~1clientInfo"));
        let client = client.as_deref();
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

/// Returns the name and version of the client in a message.
fn client(message: &[u8], pointer: &str) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    let implementation = tape.root().pointer(pointer)?;
    let text = |name| implementation.get(name).and_then(Node::as_str).map(String::from);
    let name = text("name")?;
    Some(text("version").map_or(name.clone(), |version| format!("{name} {version}")))
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
    use super::{client, is_within};

    #[test]
    fn finding_path_selects_the_message_of_a_batch() {
        assert!(is_within("/1/params", 1) && is_within("/1", 1));
        assert!(!is_within("/10/params", 1) && !is_within("", 0) && !is_within("/x", 0));
    }

    #[test]
    fn client_name_includes_the_version() {
        let message = br#"{"params":{"clientInfo":{"name":"agent","version":"1.2"}}}"#;
        assert_eq!(client(message, "/params/clientInfo").as_deref(), Some("agent 1.2"));
        assert_eq!(client(message, "/params/_meta"), None);
    }
}
