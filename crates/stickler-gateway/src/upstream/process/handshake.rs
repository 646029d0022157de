//! Records the client's handshake and replays it to a restarted server process.

use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::Header;
use stickler_protocol::envelope::{MessageKind, RoutingHeader};

/// Prefix of the request ids of replayed handshakes.
const PREFIX: &str = "stickler:initialize:";

/// The recorded handshake.
#[derive(Debug, Default)]
pub(crate) struct Handshake {
    initialize: Option<Vec<u8>>,
    is_initialized: bool,
    replays: u32,
}

/// The server's response to a replayed handshake.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The server accepted and selected this protocol version.
    Accepted(String),
    Rejected(String),
}

impl Handshake {
    /// Records the handshake messages among those forwarded to the server.
    pub(crate) fn watch(&mut self, header: &Header, message: &[u8]) {
        if self.is_initialized {
            return;
        }
        match header.kind {
            MessageKind::Request if header.has_method("initialize") => {
                self.initialize = Some(message.to_vec());
            }
            MessageKind::Notification if header.has_method("notifications/initialized") => {
                self.is_initialized = true;
            }
            _ => {}
        }
    }

    /// Returns the client's `initialize` request with a new gateway id.
    pub(crate) fn replay(&mut self) -> Option<Vec<u8>> {
        let message = self.initialize.as_ref()?;
        let id = RoutingHeader::of(message).id?;
        self.replays += 1;
        let (before, after) = (message.get(..id.start)?, message.get(id.end..)?);
        let gateway_id = format!("\"{}\"", self.id());
        Some([before, gateway_id.as_bytes(), after].concat())
    }

    /// Returns the notification that confirms an accepted handshake, if the client had sent it.
    pub(crate) fn confirmation(&self) -> Option<&'static [u8]> {
        let notice = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.is_initialized.then_some(notice)
    }

    /// Returns the server's response if the message answers the last replay.
    pub(crate) fn response(&self, message: &[u8]) -> Option<Reply> {
        let id = self.id();
        memchr::memmem::find(message, id.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 10).ok()?;
        let root = tape.root();
        let is_gateway_id =
            root.get("id").and_then(Node::as_str).is_some_and(|one| one == id.as_str());
        if !is_gateway_id || root.get("method").is_some() {
            return None;
        }
        let text = |pointer| root.pointer(pointer).and_then(Node::as_str).map(String::from);
        Some(match root.get("result") {
            Some(_) => Reply::Accepted(text("/result/protocolVersion").unwrap_or_default()),
            None => Reply::Rejected(text("/error/message").unwrap_or_default()),
        })
    }

    fn id(&self) -> String {
        format!("{PREFIX}{}", self.replays)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use stickler::{McpValidator, ValidationConfig};
    use stickler_protocol::{Action, Connection, ConnectionSettings, Policy, RequestContext};

    use super::{Handshake, Reply};

    /// Passes a client message through a connection and watches what it forwards.
    fn watch(handshake: &mut Handshake, message: &[u8]) {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let settings = ConnectionSettings::default();
        let mut connection =
            Connection::new("server", validator, settings).with_policy(Policy::observing());
        for action in connection.handle_client(message, &RequestContext::default(), Duration::ZERO)
        {
            if let Action::Forward { header, bytes, .. } = action {
                handshake.watch(&header, &bytes);
            }
        }
    }

    #[test]
    fn handshake_is_replayed_with_a_gateway_id() {
        let mut handshake = Handshake::default();
        assert_eq!(handshake.replay(), None);
        let initialize = br#"{"jsonrpc":"2.0", "id":"x","method":"initialize","params":{"a":1.0}}"#;
        watch(&mut handshake, initialize);
        assert_eq!(handshake.confirmation(), None);
        // A JSON writer may escape slashes.
        watch(&mut handshake, br#"{"jsonrpc":"2.0","method":"notifications\/initialized"}"#);
        assert!(handshake.confirmation().is_some());
        let replayed = String::from_utf8(handshake.replay().unwrap()).unwrap();
        let expected = r#"{"jsonrpc":"2.0", "id":"stickler:initialize:1","method":"initialize","params":{"a":1.0}}"#;
        assert_eq!(replayed, expected);
        let response = br#"{"id":"stickler:initialize:1","result":{"protocolVersion":"v"}}"#;
        assert_eq!(handshake.response(response), Some(Reply::Accepted("v".to_owned())));
        assert_eq!(handshake.response(br#"{"id":"x","result":"stickler:initialize:1"}"#), None);
    }
}
