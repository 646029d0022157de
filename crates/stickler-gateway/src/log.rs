//! Turns what the core reports into `tracing` events with the fields of their connection.
//!
//! A `Log` belongs to one connection and has one span with its server, session and client, at the
//! level `error`, so that every line has these fields whatever the level is. Facts about one message (the
//! tool, the rule, the id) are fields of its event. A message gets one line, however many problems it has.
//! Values of arguments never become part of a line. A valid message costs two comparisons.

use std::fmt::{self, Display};
use std::sync::Arc;

use stickler::tape::{Node, TapeBuffer};
use stickler::{Discovery, Edit, Finding, Severity};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Decision, Event, Side, Subject, Verdict};
use tracing::field::{Empty, Value};
use tracing::{Span, debug, error_span, info, warn};

/// Characters of a session's id that are logged: enough to find its lines, too few to take it over.
const SESSION_CHARACTERS: usize = 8;

/// What is logged of one connection.
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

    /// For another connection to the same server, in a session.
    pub(crate) fn for_session(&self, id: Option<&str>) -> Self {
        let log = Self::new(Arc::clone(&self.server));
        if let Some(id) = id {
            log.set_session(id);
        }
        log
    }

    /// The parent of the connection's events.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// States the session of the connection, by the beginning of its id.
    pub(crate) fn set_session(&self, id: &str) {
        let shown = SESSION_CHARACTERS.min(id.chars().count() / 2);
        let begin: String = id.chars().take(shown).collect();
        self.span.record("session", begin);
    }

    /// Logs what the core reports. `message` is the client's message that it is about, where it is at hand:
    /// it may name the client.
    pub(crate) fn event(&self, event: &Event, message: Option<&[u8]>) {
        match event {
            Event::Judged { sender, verdict } => {
                if *sender == Side::Client
                    && verdict.subject.method.as_deref() == Some("initialize")
                {
                    let client = message.and_then(|one| client(one, "/params/clientInfo"));
                    self.span.record("client", client);
                }
                self.judged(*sender, verdict, message);
            }
            Event::Learnt { discovery } => self.learnt(discovery),
            Event::Subscription { news } => info!(parent: &self.span, "{news}"),
            Event::Degraded { reason } => {
                warn!(parent: &self.span, "calls are forwarded without validation: {reason}");
            }
            _ => {}
        }
    }

    fn learnt(&self, discovery: &Discovery) {
        let tools = if discovery.usable == 1 { "tool" } else { "tools" };
        info!(parent: &self.span, "learnt {} {tools}", discovery.usable);
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

    fn judged(&self, sender: Side, verdict: &Verdict, message: Option<&[u8]>) {
        // Nearly every message.
        let is_plain = verdict.findings.is_empty() && verdict.edits.is_empty();
        if is_plain && !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let client = message
            .filter(|_| sender == Side::Client && !is_plain)
            .and_then(|one| client(one, "/params/_meta/io.modelcontextprotocol~1clientInfo"));
        let client = client.as_deref();
        let (subject, decision) = (&verdict.subject, &verdict.decision);
        let mut whole: Vec<&Finding> = verdict.findings.iter().collect();
        for (index, part) in verdict.parts.iter().enumerate() {
            let (own, rest): (Vec<&Finding>, _) =
                whole.into_iter().partition(|finding| is_within(&finding.path, index));
            whole = rest;
            if !own.is_empty() {
                let line =
                    Line { sender, subject: &part.subject, decision: &part.decision, client };
                self.report(&line, &own);
            }
        }
        let line = Line { sender, subject, decision, client };
        self.edited(&line, &verdict.edits);
        if is_plain || !whole.is_empty() {
            self.report(&line, &whole);
        }
    }

    /// One line for the problems of a message, one for what is only noted of it.
    fn report(&self, line: &Line<'_>, findings: &[&Finding]) {
        let Line { sender, subject, client, .. } = *line;
        let (tool, request_id) = (subject.tool.as_deref(), id_value(subject));
        let (notes, problems): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| finding.severity == Severity::Note);
        let fate = line.fate(problems.is_empty());
        if let [first, more @ ..] = problems.as_slice() {
            let rule = first.rule.as_str();
            warn!(
                parent: &self.span, client, request_id, tool, rule,
                "{line} from the {sender} {fate}: {}{}", first.masked(), More(more.len(), "problem")
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
            debug!(parent: &self.span, client, request_id, tool, "{line} from the {sender}: {fate}");
        }
    }

    /// What was changed in a message of another must be visible in the log.
    fn edited(&self, line: &Line<'_>, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let Line { sender, subject, client, .. } = *line;
        let (tool, request_id) = (subject.tool.as_deref(), id_value(subject));
        let edits: Vec<String> = edits.iter().map(described).collect();
        warn!(
            parent: &self.span, client, request_id, tool,
            "{line} from the {sender} repaired: {}", edits.join("; ")
        );
    }
}

/// A message that a line is about; displayed by what it is.
struct Line<'v> {
    sender: Side,
    subject: &'v Subject,
    decision: &'v Decision,
    client: Option<&'v str>,
}

impl Line<'_> {
    fn fate(&self, is_sound: bool) -> &'static str {
        match self.decision {
            Decision::Forward => "forwarded",
            Decision::Rewrite(_) if self.sender == Side::Server => "replaced by an error",
            Decision::Rewrite(_) => "changed",
            // A call for the gateway itself: a note is never the reason for a rejection.
            Decision::Answer(_) if is_sound => "answered",
            Decision::Answer(_) => "rejected",
            Decision::Split { .. } => "rejected in part",
            Decision::Drop => "dropped",
        }
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.subject.method, &self.subject.tool, self.sender) {
            (_, Some(tool), Side::Client) => write!(f, "call of `{tool}`"),
            (_, Some(tool), Side::Server) => write!(f, "answer to a call of `{tool}`"),
            (Some(method), None, _) => write!(f, "`{method}`"),
            (None, None, _) => f.write_str("message"),
        }
    }
}

/// How many others there are.
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

/// Whether a path leads into that message of a batch.
fn is_within(path: &str, index: usize) -> bool {
    let first = path.strip_prefix('/').and_then(|path| path.split('/').next());
    first.and_then(|first| first.parse::<usize>().ok()) == Some(index)
}

fn id_value(subject: &Subject) -> Option<&dyn Value> {
    subject.id.as_ref().map(|id| match id {
        RequestId::Integer(number) => number as &dyn Value,
        RequestId::Large(text) | RequestId::String(text) => text as &dyn Value,
    })
}

/// Name and version of the client that a message introduces.
fn client(message: &[u8], place: &str) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    let implementation = tape.root().pointer(place)?;
    let text = |name| implementation.get(name).and_then(Node::as_str).map(String::from);
    let name = text("name")?;
    Some(text("version").map_or(name.clone(), |version| format!("{name} {version}")))
}

/// An edit by the names that it is about; it has no values.
fn described(edit: &Edit) -> String {
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
    fn findings_of_a_batch_belong_to_the_message_that_their_path_leads_into() {
        assert!(is_within("/1/params", 1) && is_within("/1", 1));
        assert!(!is_within("/10/params", 1) && !is_within("", 0) && !is_within("/x", 0));
    }

    #[test]
    fn a_client_is_named_with_its_version() {
        let message = br#"{"params":{"clientInfo":{"name":"agent","version":"1.2"}}}"#;
        assert_eq!(client(message, "/params/clientInfo").as_deref(), Some("agent 1.2"));
        assert_eq!(client(message, "/params/_meta"), None);
    }
}
