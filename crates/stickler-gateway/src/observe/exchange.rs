//! Builds the events of messages from what a connection received and what it emitted.
//!
//! Contract: the received message yields one event, and so does each message that the gateway makes itself. A held
//! message yields its event when it is released, with the time at which it was received.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use memchr::memmem;
use serde::Deserialize;
use stickler_protocol::envelope::MessageKind;
use stickler_protocol::headers::VERSION_KEY;
use stickler_protocol::{Event, Header, Side, TraceHeaders, Verdict};

use super::emitted::{Emitted, Payload, Received};
use super::session::{Held, Session};
use super::trace_context;
use super::{Client, MessageEvent, ObservedServer, Observers};
use crate::driver::message::{Message, Origin};

const CLIENT_KEY: &str = "\"io.modelcontextprotocol/clientInfo\"";

/// The observers of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    observers: Observers,
    session: Arc<SessionGuard>,
    connection: u64,
}

/// Reports the end of a session when its last connection is dropped.
#[derive(Debug)]
struct SessionGuard {
    session: Arc<Session>,
    observers: Observers,
    is_started: AtomicBool,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        if self.is_started.load(Ordering::Relaxed) {
            self.observers.session_ended(&self.session);
        }
    }
}

impl Observed {
    pub(crate) fn new(observers: Observers, server: Arc<ObservedServer>, id: Option<&str>) -> Self {
        let session = Session::new(server, id);
        let is_started = AtomicBool::new(false);
        let guard = SessionGuard { session, observers: observers.clone(), is_started };
        Self { observers, session: Arc::new(guard), connection: 0 }
    }

    /// Begins another session of the same server.
    pub(crate) fn for_session(&self, id: Option<&str>) -> Self {
        Self::new(self.observers.clone(), Arc::clone(&self.session().server), id)
    }

    /// Begins another connection of the session.
    pub(crate) fn for_connection(self) -> Self {
        Self { connection: self.session().next_connection(), ..self }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session.session
    }

    pub(crate) fn server_restarted(&self) {
        self.observers.server_restarted(&self.session().server);
    }

    /// Observes a received message and what the connection emitted in consequence. `log` gets each event first.
    pub(crate) fn observe<'a>(
        &self,
        mut received: Option<Received<'a>>,
        emitted: impl Iterator<Item = Emitted<'a>> + Clone,
        log: impl Fn(&MessageEvent),
    ) {
        let now = SystemTime::now();
        let emit = |event: MessageEvent| {
            log(&event);
            self.emit(event);
        };
        for one in emitted.clone() {
            match one {
                Emitted::Hold(header) => {
                    // A server message can make a held call wait for something else; the call is kept already.
                    let is_call = |received: &mut Received<'_>| received.sender == Side::Client;
                    if let Some(received) = received.take_if(is_call) {
                        self.hold(header, &received, now);
                    }
                }
                Emitted::Cancelled(id) => drop(self.session().release(self.connection, id)),
                _ => {}
            }
        }
        let is_checked =
            |one| matches!(one, Emitted::Event(Event::Checked { sender: Side::Server, .. }));
        if let Some(Received { sender: Side::Server, message, .. }) = received
            && !emitted.clone().any(is_checked)
        {
            received = None;
            emit(self.gateway_response(message, now));
        }
        for one in emitted.clone() {
            let Emitted::Event(Event::Checked { sender, verdict }) = one else { continue };
            let own = received.take_if(|received| received.sender == *sender);
            let event = match own {
                Some(Received { message, trace, .. }) => MessageEvent {
                    trace: trace.cloned(),
                    ..self.checked(*sender, verdict, Some(message), now, emitted.clone())
                },
                None => self.released(*sender, verdict, now, emitted.clone()),
            };
            emit(event);
        }
        for one in emitted {
            if let Emitted::Message { to, origin, header, bytes, .. } = one
                && origin != Origin::Peer
            {
                emit(self.gateway_message(to, header, bytes, now));
            }
        }
    }

    fn emit(&self, event: MessageEvent) {
        if self.observers.is_empty() {
            return;
        }
        if !self.session.is_started.swap(true, Ordering::Relaxed) {
            self.observers.session_started(self.session());
        }
        self.observers.message(event);
    }

    fn hold(&self, header: &Header, message: &Received<'_>, received: SystemTime) {
        let Some(id) = header.requests().next().cloned() else { return };
        let (connection, trace) = (self.connection, message.trace.cloned());
        let message = message.message.to_bytes();
        self.session().hold(Held { connection, id, received, message, trace });
    }

    /// Puts the trace context of forwarded requests into them, if an observer is configured to do so. `trace` is the
    /// context of the HTTP request that is handled; a request that was held has its own.
    pub(crate) fn inject_context(
        &self,
        to_server: &mut [Message],
        trace: Option<&Arc<TraceHeaders>>,
    ) {
        if !self.observers.inject_context() {
            return;
        }
        for message in to_server {
            let id = message.header.id.clone();
            let held = || self.session().held_trace(self.connection, id.as_ref()?);
            let trace = trace.cloned().or_else(held);
            trace_context::inject(message, trace.as_deref());
        }
    }

    /// Returns the event of a message that was held until now.
    fn released<'a>(
        &self,
        sender: Side,
        verdict: &Verdict,
        now: SystemTime,
        emitted: impl Iterator<Item = Emitted<'a>>,
    ) -> MessageEvent {
        let of_part = || verdict.parts.iter().find_map(|part| part.header.requests().next());
        let id = verdict.header.requests().next().or_else(of_part);
        let held = id.and_then(|id| self.session().release(self.connection, id));
        let message = held.as_ref().map(|held| Payload::Shared(&held.message));
        let received = held.as_ref().map_or(now, |held| held.received);
        let event = self.checked(sender, verdict, message, received, emitted);
        MessageEvent { trace: held.and_then(|held| held.trace), ..event }
    }

    fn checked<'a>(
        &self,
        sender: Side,
        verdict: &Verdict,
        message: Option<Payload<'_>>,
        time: SystemTime,
        mut emitted: impl Iterator<Item = Emitted<'a>>,
    ) -> MessageEvent {
        let bytes = message.as_ref().map_or(&[][..], Payload::as_slice);
        self.learn(sender, &verdict.header, bytes);
        let is_sent = |one: &Emitted<'_>| {
            let Emitted::Message { to, origin: Origin::Peer, header, .. } = one else {
                return false;
            };
            *to == sender.other()
                && (Arc::ptr_eq(header, &verdict.header) || !verdict.parts.is_empty())
        };
        let (mut sent, mut span) = (None, None);
        if self.observers.read_messages()
            && let Some(Emitted::Message { bytes: other, span: ids, .. }) = emitted.find(is_sent)
        {
            span = ids;
            if message.is_some() && other.as_slice() != bytes {
                sent = Some(other.to_bytes());
            }
        }
        let is_plain = verdict.is_forward()
            && verdict.findings.is_empty()
            && verdict.edits.is_empty()
            && verdict.parts.is_empty();
        MessageEvent {
            client: self.client(sender, bytes),
            verdict: (!is_plain).then(|| Arc::new(verdict.clone())),
            sent,
            span,
            ..self.event(sender, Arc::clone(&verdict.header), message, time)
        }
    }

    fn event(
        &self,
        sender: Side,
        header: Arc<Header>,
        message: Option<Payload<'_>>,
        time: SystemTime,
    ) -> MessageEvent {
        let kept = message.filter(|_| self.observers.read_messages());
        MessageEvent {
            time,
            session: Arc::clone(self.session()),
            connection: self.connection,
            client: self.session().client.get().cloned(),
            sender,
            is_gateway: false,
            header,
            bytes: message.map_or(0, |message| message.as_slice().len()),
            verdict: None,
            message: kept.map(Payload::to_bytes),
            sent: None,
            trace: None,
            span: None,
        }
    }

    fn gateway_message(
        &self,
        to: Side,
        header: &Arc<Header>,
        bytes: Payload<'_>,
        time: SystemTime,
    ) -> MessageEvent {
        let event = self.event(to.other(), Arc::clone(header), Some(bytes), time);
        MessageEvent { is_gateway: true, ..event }
    }

    /// Returns the event of the response to a request of the gateway, which the connection consumed.
    fn gateway_response(&self, message: Payload<'_>, time: SystemTime) -> MessageEvent {
        let mut header = Header::default();
        header.kind = MessageKind::Response;
        let event = self.event(Side::Server, Arc::new(header), Some(message), time);
        MessageEvent { is_gateway: true, ..event }
    }

    /// Learns client and revision of the session.
    fn learn(&self, sender: Side, header: &Header, message: &[u8]) {
        let session = self.session();
        let is_handshake = header.method.as_deref() == Some("initialize");
        match (sender, header.kind) {
            (Side::Client, MessageKind::Request) if is_handshake => {
                if let Ok(Handshake { params: Some(params), .. }) = serde_json::from_slice(message)
                    && let Some(client) = params.client_info
                {
                    let _ = session.client.set(Arc::new(client));
                }
            }
            (Side::Server, MessageKind::Response) if is_handshake => {
                if let Ok(Handshake { result: Some(result), .. }) = serde_json::from_slice(message)
                    && let Some(revision) = result.protocol_version
                {
                    let _ = session.revision.set(revision);
                }
            }
            (Side::Client, MessageKind::Request) if session.revision.get().is_none() => {
                let key = format!("\"{VERSION_KEY}\"");
                if let Some(revision) = value_of::<String>(&key, message) {
                    let _ = session.revision.set(revision);
                }
            }
            _ => {}
        }
    }

    /// Returns the client of a message: that of its session, or the one that the message itself names.
    fn client(&self, sender: Side, message: &[u8]) -> Option<Arc<Client>> {
        let of_session = self.session().client.get().cloned();
        match sender {
            Side::Client => of_session.or_else(|| value_of(CLIENT_KEY, message).map(Arc::new)),
            Side::Server => of_session,
        }
    }
}

#[derive(Deserialize)]
struct Handshake {
    params: Option<Params>,
    result: Option<Outcome>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "clientInfo")]
    client_info: Option<Client>,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(rename = "protocolVersion")]
    protocol_version: Option<String>,
}

/// Reads the value of a quoted key without parsing the message. The key does not occur with these quotes within a
/// string.
fn value_of<T: for<'d> Deserialize<'d>>(key: &str, message: &[u8]) -> Option<T> {
    let start = memmem::find(message, key.as_bytes())? + key.len();
    let value = message.get(start..)?.trim_ascii_start().strip_prefix(b":")?;
    serde_json::Deserializer::from_slice(value).into_iter().next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::{CLIENT_KEY, value_of};
    use crate::observe::Client;

    #[test]
    fn value_of_a_key_is_read_but_not_from_within_a_string() {
        let info = r#"{"x":"\"io.modelcontextprotocol/clientInfo\":{}","_meta":{"io.modelcontextprotocol/clientInfo" : {"name":"a","version":"1"}}}"#;
        let client: Client = value_of(CLIENT_KEY, info.as_bytes()).unwrap();
        assert_eq!((client.name.as_str(), client.version.as_str()), ("a", "1"));
        assert!(value_of::<Client>(CLIENT_KEY, b"{}").is_none());
    }
}
