//! The event of a message: the only input of all observers.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use stickler_protocol::envelope::MessageKind;
use stickler_protocol::{Decision, Header, Side, TraceHeaders, Verdict};

use super::session::{Client, Session};
use super::trace_context::SpanIds;

/// A message that the gateway received or made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MessageEvent {
    /// When the gateway received or made the message.
    pub time: SystemTime,
    /// The session, with its server.
    pub session: Arc<Session>,
    /// The number of the connection within the session. Request ids are unique within a connection.
    pub connection: u64,
    /// The client, if it is known.
    pub client: Option<Arc<Client>>,
    /// The side that sent the message; for a message of the gateway, the side that it speaks for.
    pub sender: Side,
    /// The gateway itself made the message, or received the response to its own request.
    pub is_gateway: bool,
    /// Kind, method, tool, id, error code and duration.
    pub header: Arc<Header>,
    /// The size of the message as received.
    pub bytes: usize,
    /// The verdict; `None` if the message has no findings and is forwarded, or was not checked.
    pub verdict: Option<Arc<Verdict>>,
    /// The message as received, if a consumer reads it and it was not too large to be kept.
    pub message: Option<Bytes>,
    /// What was forwarded instead of the message, if a consumer reads it.
    pub sent: Option<Bytes>,
    /// The trace context of the HTTP request.
    pub trace: Option<Arc<TraceHeaders>>,
    /// The ids of the spans of the request, if the forwarded message names one of them.
    pub span: Option<SpanIds>,
}

/// One message of an event: the message itself, or each message of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Part<'e> {
    /// The header of the message.
    pub header: &'e Header,
    /// The decision; `None` for plain forwarding.
    pub decision: Option<&'e Decision>,
}

impl MessageEvent {
    /// Returns the message, or the messages of a batch.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let parts = self.verdict.as_ref().map_or(&[][..], |verdict| verdict.parts.as_slice());
        let whole = Part {
            header: &self.header,
            decision: self.verdict.as_ref().map(|verdict| &verdict.decision),
        };
        let whole = parts.is_empty().then_some(whole);
        let of_batch =
            parts.iter().map(|part| Part { header: &part.header, decision: Some(&part.decision) });
        whole.into_iter().chain(of_batch)
    }

    /// Returns the rule of the first problem, without notes.
    pub fn rule(&self) -> Option<&'static str> {
        let findings = &self.verdict.as_ref()?.findings;
        let problem = findings.iter().find(|one| one.severity > stickler::Severity::Note)?;
        Some(problem.rule.as_str())
    }

    /// Returns whether the message would be rejected if the server were not only observed.
    pub fn would_reject(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.would_reject)
    }
}

impl Part<'_> {
    /// Returns whether this is a request to call a tool.
    pub fn is_call(&self) -> bool {
        self.header.kind == MessageKind::Request && self.method() == Some("tools/call")
    }

    /// Returns whether this answers a call of a tool.
    pub fn is_call_response(&self) -> bool {
        self.header.kind == MessageKind::Response && self.method() == Some("tools/call")
    }

    fn method(&self) -> Option<&str> {
        self.header.method.as_deref()
    }

    /// Returns whether the message was not forwarded.
    pub fn is_stopped(&self) -> bool {
        matches!(self.decision, Some(Decision::Answer(_) | Decision::Drop))
    }
}
